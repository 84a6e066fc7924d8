"""The record and the text of a network that `plurispiel values info` prints."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.values.net_file import StoredNet

__all__ = ["errors_text", "net_record", "net_text", "refused_without_errors"]

_UNITS = "errors in % of the pot, Huber in squared pots; check: of checking down; mean: of one value for all hands"
_FIGURES = ("mae", "rms", "huber", "mae_checkdown", "mae_constant")


def net_record(net: StoredNet) -> dict[str, Any]:
    """Return the record of a network for ``--json``."""
    layers = net.net.layers
    return {
        "level": net.level.name,
        "digest": net.digest,
        "bins": net.net.num_bins,
        "widths": [*(len(each) for each in layers.weights), 2 * net.net.num_bins],
        "parameters": layers.num_parameters,
        "bytes": net.num_bytes,
    } | net.record


@contextlib.contextmanager
def refused_without_errors() -> Iterator[None]:
    """Raise `ArtefactRefused` if the block cannot read a network's errors from the network's manifest."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise ArtefactRefused("the network's manifest lacks its errors; train it again") from None


def net_text(net: StoredNet) -> str:
    """Return a text with the errors of a network, over all situations and by stratum.

    Raises
    ------
    ArtefactRefused
        If the network's manifest lacks its errors.
    """
    record = net_record(net)
    with refused_without_errors():
        validation, tenth = record["validation"], record.get("tenth")
        widths = " x ".join(map(str, record["widths"]))
        situations = f"{record['situations']:,} situations, " if "situations" in record else ""
        lines = [
            f"{record['level']}, {situations}{record['digest'][:16]}",
            f"{widths}, {record['parameters']:,} numbers, {record['bytes'] / 1e6:.2f} MB",
            "",
            *_table(validation),
        ]
        if tenth:
            lines += [
                "",
                f"with a tenth of the situations ({tenth['situations']:,}): mean error {100 * tenth['mae']:.2f} % of "
                f"the pot, rms {100 * tenth['rms']:.2f} %, Huber {tenth['huber']:.4f}",
            ]
        lines += [_UNITS]
    return "\n".join(lines)


def errors_text(errors: Mapping[str, Any]) -> str:
    """Return a text with the errors of `agents.values.validation.compare`, over all situations and by stratum."""
    return "\n".join([*_table(errors), _UNITS])


def _table(errors: Mapping[str, Any]) -> list[str]:
    head = f"{'unseen situations':24}  number mean error     rms   Huber   check    mean"
    return [head, _line("all", errors), *(_line(_stratum(each), each) for each in errors["strata"])]


def _line(name: str, facts: Mapping[str, Any]) -> str:
    mae, rms, huber, checkdown, constant = (facts[figure] for figure in _FIGURES)
    return (
        f"{name:24} {facts['situations']:7,} {100 * mae:10.2f} {100 * rms:7.2f} {huber:7.4f} {100 * checkdown:7.2f} "
        f"{100 * constant:7.2f}"
    )


def _stratum(facts: Mapping[str, Any]) -> str:
    if "spr" in facts:
        low, high = facts["spr"]
        return f"{low:g} pots behind or more" if high is None else f"{low:g} to {high:g} pots behind"
    if "source" in facts:
        return "from play" if facts["source"] == "play" else "random"
    low, high = facts["entropy"]
    return f"{low:.2f} to {high:.2f} bits"
