"""The picture of `plurispiel values info --plot`: errors, the learning curve, and a few situations.

Errors are shown for *strata*, which are groups of situations with similar chips behind, or with a similar entropy of
the seats' ranges.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.hand_ranks import combo_ranks, rank_category
from plurispiel.agents.values.examples import Example, examples
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.tournaments.figures.picture import NEUTRAL, SERIES, picture, require_drawable
from plurispiel.tournaments.figures.value_net_text import refused_without_errors

__all__ = ["draw_net"]

_BARS = {"mae": "network", "mae_checkdown": "checking down", "mae_constant": "one value for all hands"}
_NET, _CHECKED_DOWN, _CONSTANT, _EXACT = SERIES[0], SERIES[4], SERIES[3], SERIES[6]
_FEW_HANDS = 20
"""The largest number of hands that are shown one by one; more hands are shown by classes of equal strength."""

_NARROW = 12.0
"""The smallest share of hands, in percent, for which a kind of made hand has a name of its own on the axis."""

_BELOW = {
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.22),
    "ncols": 3,
    "columnspacing": 1.0,
    "handlelength": 1.3,
    "fontsize": 8.5,
}
"""A legend below the axes, where it covers no line."""


def draw_net(path: Path, net: StoredNet) -> None:
    """Draw a network's errors by stratum and by epoch, and its values beside exact values in up to three situations.

    Hands are ordered by strength. Hands of equal strength share a point, the mean of their values, unless the
    situation has at most `_FEW_HANDS` hands. The picture of a network for the end of a street has no situations
    (`examples`).

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    ArtefactRefused
        If the network's manifest lacks its errors.
    ValueError
        As in `require_drawable`.
    """
    require_drawable(path)
    with refused_without_errors():
        strata = {kind: _strata(net.record["validation"]["strata"], kind) for kind in ("spr", "entropy")}
        curve, levels, loss = _curve(net.record)
    shown = examples(net)
    title = f"Value network of the level {net.level.name}, {net.digest[:16]}"
    with picture(path, 14.0, 12.0 if shown else 4.6, title) as figure:
        above, below = figure.subfigures(2, 1, height_ratios=(1.0, 2.0)) if shown else (figure, None)
        by_stacks, by_entropy, learning = above.subplots(1, 3)
        _draw_strata(by_stacks, strata["spr"], "Error by stacks", "chips behind (pots)")
        _draw_strata(by_entropy, strata["entropy"], "Error by entropy", "smaller of the two ranges' entropies (bits)")
        _draw_curve(learning, curve, levels, loss)
        if below is not None:
            _draw_examples(below, net.level, shown)


def _strata(rows: Sequence[Mapping[str, Any]], kind: str) -> dict[str, list[float]]:
    """Return the errors of `_BARS` in percent of the pot, by the name of a stratum of the given kind."""
    found = {}
    for row in rows:
        if kind in row:
            low, high = row[kind]
            form = ".2f" if kind == "entropy" else "g"
            name = f"{_finite(low):{form}} " + ("or more" if high is None else f"to {_finite(high):{form}}")
            found[name] = [100.0 * _finite(row[figure]) for figure in _BARS]
    return found


def _curve(record: Mapping[str, Any]) -> tuple[list[float], dict[str, float], str]:
    """Return the error of each epoch, the final errors on unseen situations by label, and the name of the error."""
    curve = [_finite(error) for error in record["curve"]]
    squared = record["training"].get("loss") == "squared"
    levels = {}
    for name, facts in (("unseen", record["validation"]), ("unseen, a tenth of the data", record.get("tenth"))):
        if facts:
            levels[name] = _finite(facts["rms"]) ** 2 / 2.0 if squared else _finite(facts["huber"])
    return curve, levels, "half the squared error" if squared else "Huber error"


def _finite(number: Any) -> float:
    if not math.isfinite(number):
        raise ValueError("an error is not a finite number")
    return float(number)


def _draw_strata(axes, strata: Mapping[str, Sequence[float]], title: str, label: str) -> None:
    """Draw a group of bars for each stratum."""
    places, width = np.arange(len(strata)), 0.8 / len(_BARS)
    for number, (name, colour) in enumerate(zip(_BARS.values(), (_NET, _CHECKED_DOWN, _CONSTANT), strict=True)):
        heights = [errors[number] for errors in strata.values()]
        bars = axes.bar(places + (number - 1) * width, heights, width, color=colour, label=name)
        axes.bar_label(bars, fmt="%.1f", fontsize=7.5, padding=1)
    axes.set(title=title, xlabel=label, ylabel="mean error (% of the pot)")
    axes.set_xticks(places, list(strata), fontsize=8.5)
    axes.grid(visible=False, axis="x")
    axes.legend(**_BELOW)


def _draw_curve(axes, curve: Sequence[float], levels: Mapping[str, float], loss: str) -> None:
    """Draw the error by epoch, and the final errors on unseen situations as level lines."""
    axes.plot(range(1, len(curve) + 1), curve, marker="", label="training")
    for (name, level), colour, style in zip(levels.items(), (SERIES[1], NEUTRAL), ("--", ":"), strict=False):
        axes.axhline(level, color=colour, linestyle=style, marker="", label=name)
    axes.set(title="Learning curve", xlabel="epochs", ylabel=f"{loss} (pots²)", yscale="log")
    axes.legend(**_BELOW)


def _draw_examples(figure, level: Level, shown: Sequence[Example]) -> None:
    """Draw a column for each situation and a row for each seat."""
    columns = figure.subplots(2, len(shown), sharey="col", squeeze=False).T
    for example, column in zip(shown, columns, strict=True):
        ordered = example.ordered
        places, starts, names = _classes(level, ordered.hands.combos, ordered.hands.groups)
        marks = _made_hands(level, ordered.board, ordered.hands.combos)
        for seat, axes in enumerate(column):
            counted = example.counted[seat]
            numbers = np.add.reduceat(counted.astype(float), starts)
            lines = {}
            for name in ("exact", "net", "checked_down"):
                sums = np.add.reduceat(np.where(counted, 100.0 * getattr(example, name)[seat], 0.0), starts)
                lines[name] = np.divide(sums, numbers, out=np.full(len(sums), np.nan), where=numbers > 0.0)
            missed, down = (
                100.0 * np.abs(getattr(example, name)[seat] - example.exact[seat])[counted].mean()
                for name in ("net", "checked_down")
            )
            marker = {"marker": "o" if names else ""}
            axes.fill_between(places, lines["exact"], lines["net"], color=_NET, alpha=0.2, linewidth=0.0)
            axes.plot(places, lines["checked_down"], color=_CHECKED_DOWN, label="checking down", ls="--", **marker)
            axes.plot(places, lines["exact"], color=_EXACT, label="exact", **marker)
            axes.plot(places, lines["net"], color=_NET, label="network", **marker)
            axes.axhline(0.0, color=NEUTRAL, linewidth=0.8, marker="")
            board = f"{cards_text(ordered.board)}, " if ordered.board else ""
            axes.set(
                title=f"{board}{example.spr:.3g} pots behind, seat {seat}\n"
                f"mean error {missed:.1f} %, of checking down {down:.1f} %",
                ylabel="value (% of the pot)",
                xlabel="hands, weakest first" if names or marks else "share of the hands, weakest first (%)",
            )
            if names:
                axes.set_xticks(places, names)
            elif marks:
                axes.set_xticks([(begin + end) / 2.0 for begin, end in marks.values()], list(marks), fontsize=8.5)
                for begin, _ in list(marks.values())[1:]:
                    axes.axvline(begin, color=NEUTRAL, linewidth=0.8, linestyle=":", marker="")
            axes.grid(visible=False, axis="x")
            axes.margins(x=0.02)
    handles, labels = columns[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)


def _classes(level: Level, combos: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the places of the classes of hands on the axis, the first hand of each class, and the names of the hands.

    With more than `_FEW_HANDS` hands there are no names.
    """
    if len(combos) <= _FEW_HANDS:
        places = np.arange(len(combos))
        return places, places, [cards_text(level.rules.combos[combo].tolist()) for combo in combos.tolist()]
    return 100.0 * (groups[:-1] + groups[1:]) / 2.0 / len(combos), np.asarray(groups[:-1]), []


def _made_hands(level: Level, board: tuple[int, ...], combos: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return the ends of each kind of made hand on the axis, in percent of the hands, by the name of the kind.

    Kinds are one pair, two pair and so on. A kind with less than `_NARROW` percent of the hands is joined to the next
    weaker kind. The weakest kinds are joined to the next stronger kind if all of them together have less than that. The
    result is empty if there are at most `_FEW_HANDS` hands. It is also empty where the order of hands by strength is
    not that of the kinds, as on an incomplete board.
    """
    if len(combos) <= _FEW_HANDS or len(board) + level.rules.num_hole_cards < 5:
        return {}
    ranks = combo_ranks(board, level.rules.combos[combos])
    if (np.diff(ranks.astype(np.int64)) < 0).any():
        return {}
    kinds = [rank_category(rank) for rank in ranks.tolist()]
    joined: list[tuple[list[str], float, float]] = []  # strongest first: kinds (strongest first), begin, end
    for kind in reversed(dict.fromkeys(kinds)):
        begin, size = 100.0 * kinds.index(kind) / len(kinds), 100.0 * kinds.count(kind) / len(kinds)
        if joined and (joined[-1][2] - joined[-1][1] < _NARROW or begin + size < _NARROW):
            names, _, end = joined.pop()
            joined.append(([*names, kind], begin, end))
        else:
            joined.append(([kind], begin, begin + size))
    found = {}
    for number, (names, begin, end) in enumerate(reversed(joined)):
        is_last = number == len(joined) - 1
        several = f"{names[-1]}\nor better" if is_last else f"{names[-1]} to\n{names[0]}"
        found[several if len(names) > 1 else names[0]] = (begin, end)
    return found
