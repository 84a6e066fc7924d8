"""Strategies of the 169 starting hands as 13 x 13 grids."""

import numpy as np

from plurispiel.abstraction.cards.preflop import preflop_names
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import RANKS
from plurispiel.agents.base import Strategy

CELL = 4


def hand_places() -> dict[str, tuple[int, int]]:
    """Return the row and the column of each starting hand: aces first, suited hands above the diagonal."""
    places = {}
    for name in preflop_names():
        high, low = (12 - RANKS.index(rank) for rank in name[:2])
        places[name] = (low, high) if name.endswith("o") else (high, low)
    return places


def hand_weights() -> np.ndarray:
    """Return the number of combos of each starting hand: int64[169]."""
    return np.array([{"s": 4, "o": 12}.get(name[2:], 6) for name in preflop_names()])


def grid_text(title: str, strategy: Strategy) -> str:
    """Return a strategy of starting hands as text: raised and called per cent in each cell, a point for fold.

    Parameters
    ----------
    title : str
    strategy : Strategy
        With a row for each of the 169 starting hands.
    """
    actions, weights = strategy.actions, hand_weights()
    raised = strategy.probabilities[:, actions > CALL].sum(axis=1)
    called = strategy.probabilities[:, actions == CALL].sum(axis=1)
    total = weights.sum()
    sizes = ", ".join(
        f"to {action} {100 * (weights @ strategy.probabilities[:, column]) / total:.1f} %"
        for column, action in enumerate(actions.tolist())
        if action > CALL
    )
    cells = [["".rjust(CELL)] * 13 for _ in range(13)]
    for (row, column), raise_share, call_share in zip(hand_places().values(), raised, called, strict=True):
        cells[row][column] = _cell(raise_share, call_share)
    folded = 100 * (weights @ strategy.probabilities[:, actions == FOLD].sum(axis=1)) / total
    header = (
        f"{title}: raises {100 * (weights @ raised) / total:.1f} % ({sizes}), "
        f"calls {100 * (weights @ called) / total:.1f} %, folds {folded:.1f} %"
    )
    lines = ["   " + "".join(rank.rjust(CELL) for rank in RANKS[::-1])]
    lines += [RANKS[::-1][row].rjust(3) + "".join(cells[row]) for row in range(13)]
    return "\n".join([header, *lines])


def _cell(raise_share: float, call_share: float) -> str:
    """Return a hand's per cent: of raises, or of calls behind a c where these are more; a point for next to none."""
    if max(raise_share, call_share) < 0.005:
        return ".".rjust(CELL)
    if call_share > raise_share:
        return f"c{100 * call_share:.0f}".rjust(CELL)
    return f"{100 * raise_share:.0f}".rjust(CELL)
