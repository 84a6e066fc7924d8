"""Strategies of the 169 starting hands as 13 x 13 grids, as text and as pictures."""

import math
import textwrap
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from plurispiel.abstraction.cards.preflop import preflop_names
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import RANKS
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Strategy
from plurispiel.tournaments.figures.hand_squares import draw_squares
from plurispiel.tournaments.figures.picture import CALL_COLOUR, FOLD_COLOUR, picture, raise_colours

CELL = 5
"""Width of a cell of a text grid, in characters."""

_COLOURS = {"raise": raise_colours(1)[0], "call": CALL_COLOUR, "fold": FOLD_COLOUR}

_PANEL_INCHES = 5.2
_LINE = 62
"""Width of the text below a panel, in characters."""


def hand_places() -> dict[str, tuple[int, int]]:
    """Return the row and the column of each starting hand, by its name.

    Aces are in the first row and column, suited hands above the diagonal.
    """
    places = {}
    for name in preflop_names():
        high, low = (12 - RANKS.index(rank) for rank in name[:2])
        places[name] = (low, high) if name.endswith("o") else (high, low)
    return places


def hand_weights() -> np.ndarray:
    """Return the number of combos of each starting hand, in the order of `preflop_names`: int64[169]."""
    return np.array([{"s": 4, "o": 12}.get(name[2:], 6) for name in preflop_names()])


def grid_text(title: str, strategy: Strategy, rules: HoldemRules) -> str:
    """Return a strategy of starting hands as text: a grid with a cell for each hand.

    A cell shows the percentage of raises. Where a hand calls more often than it raises, the cell shows ``c`` and the
    percentage of calls instead. A dot stands for less than 0.5 % of raises and less than 0.5 % of calls.

    Parameters
    ----------
    title : str
        The line above the grid.
    strategy : Strategy
        A strategy with a row for each of the 169 starting hands, in the order of `preflop_names`.
    rules : HoldemRules
        The game, in whose big blinds raises are given.
    """
    kinds = _kinds(strategy)
    cells = [["".rjust(CELL)] * 13 for _ in range(13)]
    for (row, column), raise_share, call_share in zip(
        hand_places().values(), kinds["raise"], kinds["call"], strict=True
    ):
        cells[row][column] = cell_text(raise_share, call_share)
    sizes = _sizes_text(strategy, rules)
    header = (
        f"{title}: raises {_percent(kinds['raise'])}{f' ({sizes})' if sizes else ''}, "
        f"calls {_percent(kinds['call'])}, folds {_percent(kinds['fold'])}"
    )
    lines = ["   " + "".join(rank.rjust(CELL) for rank in RANKS[::-1])]
    lines += [RANKS[::-1][row].rjust(3) + "".join(cells[row]) for row in range(13)]
    return "\n".join([header, *lines])


def draw_grids(path: Path, title: str, strategies: Mapping[str, Strategy], rules: HoldemRules) -> None:
    """Draw strategies of starting hands, a panel for each position.

    Parameters
    ----------
    path : Path
        The picture's file.
    title : str
        Beginning of the picture's heading, such as the blueprint's name.
    strategies : dict of str to Strategy
        The strategy of each position, as in `grid_text`.
    rules : HoldemRules
        The game, in whose big blinds raises are given.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    across = min(len(strategies), 3)
    down = math.ceil(len(strategies) / across)
    width, height = _PANEL_INCHES * across, (_PANEL_INCHES + 0.7) * down + 0.7
    with picture(path, width, height, f"{title}: when all before have folded") as figure:
        panels = figure.subplots(down, across, squeeze=False).flat
        for seat, strategy in strategies.items():
            axes, kinds = next(panels), _kinds(strategy)
            grid = np.full((13, 13, len(_COLOURS)), np.nan)
            for number, (row, column) in enumerate(hand_places().values()):
                grid[row, column] = [kinds[kind][number] for kind in _COLOURS]
            draw_squares(axes, grid, list(_COLOURS.values()), fontsize=7.0)
            axes.set_title(f"{seat}   {'   '.join(f'{kind} {_percent(kinds[kind])}' for kind in _COLOURS)}")
            # No-break spaces keep each size on one line.
            sizes = _sizes_text(strategy, rules).replace("to ", "to\u00a0").replace(" bb", "\u00a0bb")
            axes.set_xlabel("\n".join(textwrap.wrap(f"raises: {sizes or 'none'}", _LINE)), fontsize=8.5)
        for empty in panels:
            empty.set_axis_off()
        handles = [axes.barh(-1, 0, color=colour) for colour in _COLOURS.values()]
        figure.legend(handles, list(_COLOURS), loc="outside lower center", ncols=len(_COLOURS))


def _kinds(strategy: Strategy) -> dict[str, np.ndarray]:
    """Return the probability of each kind of action, by ``raise``, ``call`` and ``fold``: float64[169] each."""
    actions, rows = strategy.actions, strategy.probabilities
    columns = {"raise": actions > CALL, "call": actions == CALL, "fold": actions == FOLD}
    return {kind: rows[:, chosen].sum(axis=1) for kind, chosen in columns.items()}


def _sizes_text(strategy: Strategy, rules: HoldemRules) -> str:
    """Return the sizes of raises in big blinds, each with the percentage of combos that raise to this size."""
    return ", ".join(
        f"{'all-in' if _is_all_in(action, rules) else f'to {action / rules.big_blind:g} bb'} {_percent(shares)}"
        for action, shares in zip(strategy.actions.tolist(), strategy.probabilities.T, strict=True)
        if action > CALL
    )


def _is_all_in(action: int, rules: HoldemRules) -> bool:
    return rules.stacks is not None and action >= max(rules.stacks)


def _percent(shares: np.ndarray) -> str:
    """Return the mean over all combos as a text in per cent; `shares` is by starting hand, float64[169]."""
    weights = hand_weights()
    return f"{100 * (weights @ shares) / weights.sum():.1f} %"


def cell_text(raise_share: float, call_share: float) -> str:
    """Return the text of a cell with these shares of raises and calls, as `grid_text` describes it."""
    if max(raise_share, call_share) < 0.005:
        return ".".rjust(CELL)
    if call_share > raise_share:
        return f"c{100 * call_share:.0f}".rjust(CELL)
    return f"{100 * raise_share:.0f}".rjust(CELL)
