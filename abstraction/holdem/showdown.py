"""Terminal values of two ranges on one board, at folds and showdowns, with exact card removal and in linear time.

The free combos of a board are renumbered once, weakest first; ranges and values are rows in that order. A range is a
row of non-negative weights. Results are weighted by the opponent's range and not normalised; multiplied by chips, they
are counterfactual values. A hand that wins ``stake`` chips when the opponent folds has the value ``stake * fold_mass``.
At a showdown to which each player has contributed ``stake`` chips, a hand has the value ``stake * showdown_margin``.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem import showdown_kernels as kernels
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import KUHN, HoldemRules

__all__ = ["HandRanker", "RankedHands", "fold_mass", "rank_hands", "showdown_margin"]


class RankedHands(NamedTuple):
    """The free combos of a board, weakest first.

    Attributes
    ----------
    combos : int32[num_hands]
        Combo ids.
    cards : uint8[num_hands, 2]
        The two hole cards of each hand. In games with one hole card c, the second entry is the placeholder c + 52.
    groups : int32[num_groups + 1]
        Index of the first hand of each group of equal strength; the last entry is the number of hands.
    """

    combos: np.ndarray
    cards: np.ndarray
    groups: np.ndarray


class RankWorkspace(NamedTuple):
    """Memory for the ranking of one board, as `showdown_kernels` uses it."""

    ranks: np.ndarray
    spare: np.ndarray
    counts: np.ndarray


class HandRanker:
    """Ranks the hands of one game on many boards, in memory allocated once.

    Parameters
    ----------
    rules : HoldemRules
        With one or two hole cards.

    Raises
    ------
    ValueError
        If the game deals three hole cards.
    """

    def __init__(self, rules: HoldemRules):
        if rules.num_hole_cards > 2:
            raise ValueError(
                f"fold and showdown values are for one or two hole cards, the game deals {rules.num_hole_cards}"
            )
        num_combos = rules.num_combos
        self._combos = np.array(rules.combos)
        self._hands = RankedHands(
            combos=np.empty(num_combos, np.int32),
            cards=np.empty((num_combos, 2), np.uint8),
            groups=np.empty(num_combos + 1, np.int32),
        )
        self._work = RankWorkspace(
            ranks=np.empty(num_combos, np.uint16),
            spare=np.empty(num_combos, np.int32),
            counts=np.empty((2, kernels.DIGITS), np.int32),
        )

    def rank(self, board: tuple[int, ...]) -> RankedHands:
        """Return the free combos of a board in order of strength; the next call overwrites the returned arrays.

        On an incomplete board, a hand's strength is that of its cards and the board so far.
        """
        hands = self._hands
        cards = np.array(board, dtype=np.uint8)
        num_groups = kernels.rank_hands(rank_tables(), cards, self._combos, self._work, hands)
        groups = hands.groups[: num_groups + 1]
        return RankedHands(hands.combos[: groups[-1]], hands.cards[: groups[-1]], groups)


def rank_hands(rules: HoldemRules, board: tuple[int, ...]) -> RankedHands:
    """Return the free combos of one board in a game, in order of strength.

    Raises
    ------
    ValueError
        If the game deals three hole cards.

    >>> from plurispiel.abstraction.holdem.cards import parse_cards
    >>> from plurispiel.abstraction.holdem.rules import HUNL
    >>> hands = rank_hands(HUNL, parse_cards("QsJh2h7c3d"))
    >>> len(hands.combos), HUNL.combos[hands.combos[-1]].tolist()  # the strongest hand: three queens
    (1081, [41, 42])
    """
    return HandRanker(rules).rank(board)


def fold_mass(hands: RankedHands, reach: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """Return, for each hand, the total weight of the opposing range's combos that share no card with it.

    Parameters
    ----------
    hands : RankedHands
    reach : array-like of float, [..., num_hands]
        Ranges, in the order of `hands`.
    out : float64[..., num_hands], optional
        Where to write the result; C-contiguous.

    Returns
    -------
    float64[..., num_hands]

    Raises
    ------
    ValueError
        If a range has another number of hands, or `out` another shape, dtype or layout.
    """
    weights, out, rows = _checked(hands, reach, out)
    mass = np.empty((kernels.CARD_SLOTS, 4))
    kernels.fill_fold_mass(hands.cards, weights, rows, mass, out.reshape(weights.shape))
    return out


def showdown_margin(hands: RankedHands, reach: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """Return, for each hand, the weight of the compatible hands that it beats minus the weight of those that beat it.

    Parameters, errors and the shape of the result are as in `fold_mass`.
    """
    weights, out, rows = _checked(hands, reach, out)
    mass = np.empty((kernels.CARD_SLOTS, 4))
    kernels.fill_showdown_margin(hands.cards, hands.groups, weights, rows, mass, out.reshape(weights.shape))
    return out


def warmup() -> None:
    """Compile every kernel that this module calls."""
    hands = rank_hands(KUHN, ())
    fold_mass(hands, np.ones(3))
    showdown_margin(hands, np.ones(3))


def _checked(
    hands: RankedHands, reach: npt.ArrayLike, out: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ranges as float64[n, num_hands], the array for the result, and the row numbers 0..n-1."""
    given = np.asarray(reach, dtype=np.float64)
    num_hands = len(hands.combos)
    if given.ndim == 0 or given.shape[-1] != num_hands:
        raise ValueError(f"a range has a weight for each of the {num_hands} hands, got shape {given.shape}")
    if out is None:
        out = np.empty(given.shape)
    elif out.shape != given.shape or out.dtype != np.float64 or not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(
            f"out must be a writeable C-contiguous float64{list(given.shape)}, got {out.dtype}{list(out.shape)}"
        )
    weights = np.require(given.reshape(-1, num_hands), np.float64, ["C", "W"])
    return weights, out, np.arange(len(weights), dtype=np.int32)
