"""The settings of continual re-solving in small games."""

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from plurispiel.abstraction.holdem.rules import BETTING_ABSTRACTIONS
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.continual.lookahead import BOUNDS

__all__ = [
    "KINDS",
    "NET",
    "RESOLVES",
    "VALUES",
    "ContinualConfig",
    "config_from_options",
    "net_folder",
    "read_options",
    "unknown_option",
]

VALUES = ("exact", "checkdown")
NET = "net:"
"""The text before the folder of a network in `ContinualConfig.values`."""

KINDS = ("fixed", "fresh", "ranges")
RESOLVES = ("decision", "street")
_MENUS = ("rules", *BETTING_ABSTRACTIONS[1:])
_MAX_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class ContinualConfig:
    """The settings in small games; "as published" means as in DeepStack (Moravcik et al., 2017).

    Attributes
    ----------
    iterations : int
        Iterations of each solve, at least 2. The first half is not averaged.
    values : {"exact", "checkdown", "net:FOLDER"}
        The values at the end of a street that is not the last. ``exact``: those of a solver of the next street;
        ``checkdown``: those of a hand without more bets; ``net:FOLDER``: those of a network (`agents.values`).
    inner : int
        Iterations of the solver of the next street, each time that values are asked for.
    noise : float
        Root mean square, in pots, of an error that is added to these values.
    kind : {"fixed", "fresh", "ranges"}
        The kind of error, see `Noise`.
    seed : int
        Seed of the error.
    bounds : {"iterations", "average", "best"}
        The values that bound the opponent (`lookahead.BOUNDS`); ``iterations`` as published.
    resolve : {"decision", "street"}
        Whether to solve anew at each decision of the seat, as published, or only at its first decision on each street
        and after raises that the last solution does not offer.
    estimate : float
        On a seat's first decision of the second street, this share of the opponent's weight is spread in proportion to
        the range that the last solution gives the opponent; 0.9 as published. The rest is spread evenly. If the seat
        acts first on the street, this share of the weight has no choice to terminate.
    purge : float
        Actions below this probability are not played, unless all are below it.
    menu : {"rules", "fchpa", "fcpa", "fc"}
        The raises in a lookahead: those of the rules, or those of OpenSpiel's betting abstraction of this name. Raises
        of the opponent may be of any size.

    Raises
    ------
    ValueError
        If a setting is out of range.
    """

    iterations: int = 300
    values: str = "exact"
    inner: int = 60
    noise: float = 0.0
    kind: str = "fixed"
    seed: int = 1
    bounds: str = "iterations"
    resolve: str = "decision"
    estimate: float = 0.0
    purge: float = 0.0
    menu: str = "rules"

    def __post_init__(self):
        for name, least in (("iterations", 2), ("inner", 1), ("seed", 0)):
            value = getattr(self, name)
            if not least <= value <= _MAX_ITERATIONS:
                raise ValueError(f"{name} must be {least} to {_MAX_ITERATIONS:,}, got {value!r}")
        if self.values not in VALUES and not self.net:
            raise ValueError(f"values is {', '.join(VALUES)} or {NET}FOLDER, got {self.values!r}")
        for name, known in (
            ("kind", KINDS),
            ("bounds", BOUNDS),
            ("resolve", RESOLVES),
            ("menu", _MENUS),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {', '.join(known[:-1])} or {known[-1]}, got {getattr(self, name)!r}")
        if not (math.isfinite(self.noise) and 0.0 <= self.noise <= 10.0):
            raise ValueError(f"noise is a share of the pot, 0 to 10, got {self.noise!r}")
        for name in ("estimate", "purge"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} is a probability, 0 or more and below 1, got {getattr(self, name)!r}")

    @property
    def net(self) -> str:
        """The folder of the network that `values` names; empty if it names none."""
        return net_folder(self.values)

    @property
    def omitted(self) -> int:
        """Number of iterations at the start that are not averaged."""
        return self.iterations // 2


def net_folder(values: str) -> str:
    """Return the folder of a network in a text like `ContinualConfig.values`; empty if the text names none."""
    return values.removeprefix(NET) if values.startswith(NET) else ""


def config_from_options(options: Mapping[str, str]) -> ContinualConfig:
    """Return the settings that options describe, given as a mapping of names to texts.

    Raises
    ------
    ValueError
        If an option is unknown, cannot be read or is out of range.

    Examples
    --------
    >>> config_from_options({"iterations": "100", "noise": "0.03"}).omitted
    50
    """
    return ContinualConfig(**read_options(options, ContinualConfig))


def read_options(options: Mapping[str, str], config: type) -> dict[str, Any]:
    """Return the values of options, each converted to the type that its default has in the dataclass `config`.

    Raises
    ------
    ValueError
        If an option is unknown or cannot be read.
    """
    kinds = {field.name: type(field.default) for field in dataclasses.fields(config)}
    if unknown := sorted(set(options) - set(kinds)):
        raise ValueError(unknown_option(unknown[0], kinds))
    return {name: _read(name, text, kinds[name]) for name, text in options.items()}


def unknown_option(name: str, known: Collection[str]) -> str:
    """Return the message about an option that continual re-solving does not have."""
    return f"continual re-solving takes the options {', '.join(known)}, got {name}{suggestion(name, known)}"


def _read(name: str, text: str, kind: type) -> str | int | float:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{name} is a {'whole ' * (kind is int)}number, got {text!r}") from None
