"""The hands of a board in order of strength, and their values without further bets, with or without cards to come.

The *strength* of a hand is its equity against the uniform range. On a complete board, a hand's strength is its rank at
a showdown instead: hands that tie are equally strong, even if their equities differ by the cards that they hold.
"""

import functools
from itertools import combinations
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.rules import HoldemRules, is_holdem
from plurispiel.abstraction.holdem.showdown import RankedHands, fold_mass, rank_hands, showdown_margin
from plurispiel.agents.values.margins import writeable_margins
from plurispiel.agents.values.products import products

__all__ = ["CheckdownValues", "OrderedHands", "RunOut", "by_strength", "ordered_hands"]

_MANY = 100
"""If more boards than this can follow, a matrix of all pairs of hands takes less time than the boards one by one."""


class RunOut(NamedTuple):
    """A complete board that may follow.

    Attributes
    ----------
    board : tuple of int
    hands : RankedHands
        The hands on this board, weakest first.
    places : int64[num_hands_there]
        The index of each of these hands in the order of the hands on the board so far (`OrderedHands.hands`).
    """

    board: tuple[int, ...]
    hands: RankedHands
    places: np.ndarray


class CheckdownValues(NamedTuple):
    """Both seats' values if they check to the showdown.

    Attributes
    ----------
    masses : float64[2, ..., num_hands]
        For each hand, the weight of the other seat's compatible hands.
    evs : float64[2, ..., num_hands]
        The expected value of each hand in pots, -1/2 to 1/2; 0 without compatible hands.
    """

    masses: np.ndarray
    evs: np.ndarray


class OrderedHands(NamedTuple):
    """The hands of a board, in order of strength.

    Attributes
    ----------
    rules : HoldemRules
    board : tuple of int
    hands : RankedHands
        Weakest first. Hands of one group have the same strength.
    run_outs : tuple of RunOut
        Every board of the last street that can follow; on a complete board only itself. Empty before the flop of
        hold'em.
    chance : float
        The probability of each board of `run_outs`, given the hands of both seats.
    """

    rules: HoldemRules
    board: tuple[int, ...]
    hands: RankedHands
    run_outs: tuple[RunOut, ...]
    chance: float

    def masses(self, ranges: np.ndarray) -> np.ndarray:
        """Return, for each hand, the weight of the other seat's compatible hands: float64[2, ..., num_hands]."""
        return fold_mass(self.hands, ranges[::-1])

    def checkdown(self, ranges: np.ndarray) -> CheckdownValues:
        """Return the values without further bets, for `ranges`, float64[2, ..., num_hands], in the order of `hands`."""
        masses = self.masses(ranges)
        if 0 < len(self.run_outs) <= _MANY:
            margins = np.zeros(ranges.shape)
            for run_out in self.run_outs:
                margins[..., run_out.places] += showdown_margin(run_out.hands, ranges[::-1][..., run_out.places])
            margins *= self.chance
        else:
            margins = self._margins_by_pairs(ranges[::-1])
        margins /= 2.0
        return CheckdownValues(masses, np.divide(margins, masses, out=np.zeros_like(margins), where=masses > 0.0))

    def _margins_by_pairs(self, others: np.ndarray) -> np.ndarray:
        """Return each hand's sum of margins, weighted by the other seat's range, to the digits of float32."""
        hands = rank_hands(self.rules, self.board)
        numbers = np.empty(self.rules.num_combos, np.int64)
        numbers[hands.combos] = np.arange(len(hands.combos))
        places = numbers[self.hands.combos]
        rows = np.zeros_like(others)
        rows[..., places] = others
        # A row of the matrix has the margins of one hand of the other seat, so the sum in a column is what its hand
        # loses.
        return -products(rows, writeable_margins(self.rules, self.board))[..., places]


@functools.lru_cache(maxsize=16)
def ordered_hands(rules: HoldemRules, board: tuple[int, ...]) -> OrderedHands:
    """Return the hands of a board in order of strength. Arrays are shared between calls: do not write to them."""
    missing = rules.board_size(rules.num_streets - 1) - len(board)
    hands = rank_hands(rules, board)
    if not board and is_holdem(rules):
        # There are too many boards to list; the order of starting hands by equity is stored.
        ordered = by_strength(hands.combos, hands.cards, preflop_classes()[hands.combos].astype(np.float64))
        return OrderedHands(rules, board, ordered, (), 1.0)
    if not missing:
        return OrderedHands(rules, board, hands, (RunOut(board, hands, np.arange(len(hands.combos))),), 1.0)
    left = [card for card in rules.cards.tolist() if card not in board]
    places = np.empty(rules.num_combos, np.int64)
    places[hands.combos] = np.arange(len(hands.combos))
    ends = [(board + new, rank_hands(rules, board + new)) for new in combinations(left, missing)]
    # With weights of 1, margins are whole numbers: their sums are exact, and equal strengths are found as such.
    margins = np.zeros(len(hands.combos))
    for _, there in ends:
        margins[places[there.combos]] += showdown_margin(there, np.ones(len(there.combos)))
    # All hands have equally many pairs of a compatible hand and a board, so the order of margins is that of equities.
    ordered = by_strength(hands.combos, hands.cards, margins)
    places[ordered.combos] = np.arange(len(margins))
    run_outs = tuple(RunOut(end, there, places[there.combos]) for end, there in ends)
    chance = 1.0 / len(list(combinations(range(len(left) - 2 * rules.num_hole_cards), missing)))
    return OrderedHands(rules, board, ordered, run_outs, chance)


def by_strength(combos: np.ndarray, cards: np.ndarray, strengths: np.ndarray) -> RankedHands:
    """Return hands in order of their strengths, float64[num_hands]; equal strengths keep the given order."""
    order = np.argsort(strengths, kind="stable")
    groups = np.flatnonzero(np.diff(strengths[order], prepend=np.nan, append=np.nan) != 0.0).astype(np.int32)
    return RankedHands(combos[order], cards[order], groups)
