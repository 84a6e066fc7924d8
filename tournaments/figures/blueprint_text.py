"""A blueprint as text, as plain values and as pictures.

Each form shows the training. If the starting hands are hold'em's, each form also shows the *first-in* strategies: for
each seat but the big blind, the strategy when all earlier seats have folded. The text and the plain values also give
the blueprint's size.
"""

from pathlib import Path
from typing import Any

from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.agents.base import Strategy
from plurispiel.agents.baselines.tight_aggressive import has_starting_hands
from plurispiel.agents.blueprint.blueprint import FOLDER, Blueprint
from plurispiel.agents.blueprint.config import MenuConfig
from plurispiel.agents.blueprint.first_in import first_in, shares
from plurispiel.agents.blueprint.training_record import CI95, Mark, mark_from_dict, summarised, work_done
from plurispiel.tournaments.figures.picture import require_drawable
from plurispiel.tournaments.figures.preflop_grid import draw_grids, grid_text
from plurispiel.tournaments.figures.training_curve import draw_marks, marks_text

_MIB = 1 << 20


def blueprint_record(blueprint: Blueprint, folder: Path, packed: Path | None = None) -> dict[str, Any]:
    """Return a blueprint's configuration, size, training and first-in strategies as plain values.

    Parameters
    ----------
    folder : Path
        The blueprint's folder.
    packed : Path, optional
        The packed file from which the folder was unpacked; None for other folders.
    """
    config, rows = blueprint.config, blueprint.num_rows()
    return {
        "folder": str(folder),
        "packed": str(packed) if packed else None,
        "name": blueprint_name(blueprint),
        "digest": blueprint.digest,
        "config": config.as_dict() if config else None,
        "nodes": len(blueprint.tree.actor),
        "buckets": list(blueprint.cards.num_buckets),
        "rows": [number for number, _ in rows],
        "rows_learnt": [learnt for _, learnt in rows],
        "packed_bytes": packed.stat().st_size if packed else None,
        "bytes": _folder_bytes(folder),
        "memory_bytes": _memory_bytes(blueprint),
        "training": summarised(blueprint.training),
        "first_in": {seat: shares(found) for seat, found in _first_in(blueprint).items()},
    }


def blueprint_text(blueprint: Blueprint, folder: Path, packed: Path | None = None) -> str:
    """Return a blueprint's training, size, bet sizes, number of rows by street, marks and self-play values as text.

    The parameters are those of `blueprint_record`.
    """
    config = blueprint.config
    known: dict[str, Any] = {"seconds": 0.0, "nodes": 0, "threads": 1, "device": "cpu"}
    training = known | summarised(blueprint.training)
    hours = training["seconds"] / 3600
    lines = [f"{blueprint_name(blueprint)}, {blueprint.digest[:16]}: {packed or folder}"]
    if config and config.text:
        lines.append(config.text)
    lines += [
        f"{training['iterations']:,} iterations, {training['nodes']:,} nodes met, {hours:.2f} hours on "
        + _where_text(training)
        + (f"; seed {config.seed}" if config else ""),
        *_start_lines(blueprint),
        _doubling_text(training),
        (f"{packed.stat().st_size / 1e6:,.1f} MB packed, " if packed else "")
        + f"{_folder_bytes(folder) / 1e6:,.1f} MB on disk, up to {_memory_bytes(blueprint) / _MIB:,.0f} MiB of memory "
        f"for rows and betting; {blueprint.rules.num_seats} seats, {len(blueprint.tree.actor):,} nodes",
    ]
    if config and config.menu:
        lines += ["", *_menu_lines(config.menu, len(blueprint.cards.num_buckets))]
    lines += ["", f"street    buckets          rows {'kept' if packed else 'learnt':>13}"]
    for street, (number, learnt) in enumerate(blueprint.num_rows()):
        buckets = blueprint.cards.num_buckets[street]
        lines.append(
            f"{STREETS[street]:8} {buckets:8,} {number:13,} {learnt:13,}  {100 * learnt / max(number, 1):5.1f}%"
        )
    if marks := _marks(blueprint):
        lines += ["", marks_text(marks)]
        last = marks[-1]
        values = "  ".join(
            f"{name} {mean:+.0f} ± {CI95 * deviation:.0f}"
            for name, mean, deviation in zip(
                _seat_names(blueprint), last.seat_values, last.seat_deviations, strict=True
            )
        )
        lines += ["", f"seats in self-play, mbb/hand: {values}"]
    return "\n".join(lines)


def grids_text(blueprint: Blueprint) -> str:
    """Return the first-in strategies as text grids.

    The text is empty if starting hands are not those of hold'em with 52 cards.
    """
    return "\n\n".join(grid_text(seat, found, blueprint.rules) for seat, found in _first_in(blueprint).items())


def draw_blueprint(blueprint: Blueprint, path: Path) -> list[Path]:
    """Draw the first-in grids of the seats and, in a second file beside `path`, the training.

    Returns
    -------
    list of Path
        The files written. There is no file of grids if the starting hands are not hold'em's, and no file of the
        training if the training has no marks.

    Raises
    ------
    ValueError
        If there is nothing to draw, matplotlib is not installed (`MatplotlibMissing`), or `path` cannot be written.
    """
    name, grids, marks = blueprint_name(blueprint), _first_in(blueprint), _marks(blueprint)
    if not grids and not marks:
        raise ValueError(
            f"there is nothing to draw: {name} has other starting hands than hold'em, and no marks of its training"
        )
    require_drawable(path)
    beside = path.with_name(f"{path.stem}-training{path.suffix}")
    if grids:
        draw_grids(path, name, grids, blueprint.rules)
    if marks:
        draw_marks(beside, marks, f"{name}: training", _seat_names(blueprint))
    return [path] * bool(grids) + [beside] * bool(marks)


def blueprint_name(blueprint: Blueprint) -> str:
    """Return the name in a blueprint's configuration; `FOLDER` for a blueprint without a configuration."""
    return blueprint.config.name if blueprint.config else FOLDER


def _where_text(training: dict[str, Any]) -> str:
    if training["device"] != "cpu":
        return training["device"]
    return f"{training['threads']} thread(s): {training['core_hours'] or 0.0:.2f} core-hours"


def _start_lines(blueprint: Blueprint) -> list[str]:
    if not (start := blueprint.training.get("start")):
        return []
    _, core_hours = work_done(blueprint.training)
    is_public = "weight_boards" in start
    weight = f"{start['weight_boards']:,.0f} boards" if is_public else f"{start['weight_bb']:,.0f} bb of regret"
    return [
        f"started from {start['digest'][:16]} ({start['iterations']:,} iterations) with the weight of {weight}; "
        f"{core_hours:.2f} core-hours with those of the start"
    ]


def _doubling_text(training: dict[str, Any]) -> str:
    if (earlier := training["last_doubling_from"]) is None:
        return "the gain of the last doubling is not known: no mark of the first half has played the finished blueprint"
    won = f"{training['last_doubling_mbb']:+.1f} ± {training['last_doubling_ci95']:.1f} mbb/hand"
    # The last mark in the first half of the iterations may lie well before the middle.
    more = " and more" if 2 * earlier < training["iterations"] - 1 else ""
    return f"the last doubling{more} of the iterations won {won} from the blueprint of iteration {earlier:,}"


def _menu_lines(menu: MenuConfig, num_streets: int) -> list[str]:
    """Return lines with each street's raise sizes and limits of callers, by the number of earlier raises."""
    lines = ["first bet or raise (p: pots after calling) | second | third | ..."]
    for name, street in list(zip(STREETS, menu.game_menu.streets, strict=True))[:num_streets]:
        lines.append(f"{name:8} {' | '.join(street.raises) or 'none'}")
        if street.multiway not in (None, street.raises):
            lines.append(f"{'':8} {' | '.join(street.multiway or ()) or 'none'}, where three or more have not folded")
        if street.callers is not None:
            lines.append(f"{'':8} at most {' | '.join(map(str, street.callers))} callers")
    if menu.push_or_fold:
        lines.append("a player who faces a bet must raise or fold, unless no raise is legal")
    return lines


def _first_in(blueprint: Blueprint) -> dict[str, Strategy]:
    """Return the strategies of `first_in` by position; empty if starting hands are not hold'em's."""
    return first_in(blueprint) if has_starting_hands(blueprint.rules) else {}


def _seat_names(blueprint: Blueprint) -> list[str]:
    """Return each seat's position as the grids name it; in games without grids, ``seat 0``, ``seat 1``, ..."""
    if has_starting_hands(blueprint.rules):
        return list(seat_positions(blueprint.rules))
    return [f"seat {seat}" for seat in range(blueprint.rules.num_seats)]


def _marks(blueprint: Blueprint) -> list[Mark]:
    return [mark_from_dict(record) for record in blueprint.training.get("marks", [])]


def _folder_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def _memory_bytes(blueprint: Blueprint) -> int:
    """Return the bytes of memory that the rows and the betting tree take when both are read completely."""
    return blueprint.rows.nbytes + sum(values.nbytes for values in blueprint.tree)
