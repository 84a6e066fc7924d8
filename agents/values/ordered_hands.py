"""The hands of a board in order of strength, and their values without further bets, with or without cards to come.

The *strength* of a hand is its equity against all hands alike. On a complete board that is the order of showdowns.
"""

import functools
from itertools import combinations
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import RankedHands, fold_mass, rank_hands, showdown_margin

__all__ = ["CheckdownValues", "OrderedHands", "RunOut", "ordered_hands"]


class RunOut(NamedTuple):
    """A complete board that may follow.

    Attributes
    ----------
    board : tuple of int
    hands : RankedHands
        The hands on it, weakest first.
    places : int64[num_hands_there]
        The place of each of these hands in the order on the board so far.
    """

    board: tuple[int, ...]
    hands: RankedHands
    places: np.ndarray


class CheckdownValues(NamedTuple):
    """Both seats' values if they check to the showdown.

    Attributes
    ----------
    masses : float64[2, ..., num_hands]
        For each hand, the weight of the other seat's matching hands.
    evs : float64[2, ..., num_hands]
        The expected value of each hand in pots, -1/2 to 1/2; 0 without matching hands.
    """

    masses: np.ndarray
    evs: np.ndarray


class OrderedHands(NamedTuple):
    """The hands of a board, in order of strength.

    Attributes
    ----------
    board : tuple of int
    hands : RankedHands
        Weakest first. Hands of one group have the same equity against all hands alike.
    run_outs : tuple of RunOut
        Every board of the last street that can follow; on a complete board only itself.
    chance : float
        The probability of each of them, given the hands of both seats.
    """

    board: tuple[int, ...]
    hands: RankedHands
    run_outs: tuple[RunOut, ...]
    chance: float

    def masses(self, ranges: np.ndarray) -> np.ndarray:
        """Return the weight of the other seat's matching hands: float64[2, ..., num_hands]."""
        return fold_mass(self.hands, ranges[::-1])

    def checkdown(self, ranges: np.ndarray) -> CheckdownValues:
        """Return the values without further bets, for ranges float64[2, ..., num_hands] in this order."""
        masses, margins = self.masses(ranges), np.zeros(ranges.shape)
        for run_out in self.run_outs:
            margins[..., run_out.places] += showdown_margin(run_out.hands, ranges[::-1][..., run_out.places])
        margins *= self.chance / 2.0
        return CheckdownValues(masses, np.divide(margins, masses, out=np.zeros_like(margins), where=masses > 0.0))


@functools.lru_cache(maxsize=64)
def ordered_hands(rules: HoldemRules, board: tuple[int, ...]) -> OrderedHands:
    """Return the hands of a board in order of strength. Arrays are shared between calls: do not write to them."""
    missing = rules.board_size(rules.num_streets - 1) - len(board)
    hands = rank_hands(rules, board)
    if not missing:
        return OrderedHands(board, hands, (RunOut(board, hands, np.arange(len(hands.combos))),), 1.0)
    left = [card for card in rules.cards.tolist() if card not in board]
    places = np.empty(rules.num_combos, np.int64)
    places[hands.combos] = np.arange(len(hands.combos))
    ends = [(board + new, rank_hands(rules, board + new)) for new in combinations(left, missing)]
    # With weights of 1, margins are whole numbers: their sums are exact, and equal strengths are found as such.
    margins = np.zeros(len(hands.combos))
    for _, there in ends:
        margins[places[there.combos]] += showdown_margin(there, np.ones(len(there.combos)))
    # Each hand has as many pairs of matching hands and boards, so the order of margins is that of equities.
    order = np.argsort(margins, kind="stable")
    groups = np.flatnonzero(np.diff(margins[order], prepend=np.nan, append=np.nan) != 0.0).astype(np.int32)
    ordered = RankedHands(hands.combos[order], hands.cards[order], groups)
    places[ordered.combos] = np.arange(len(order))
    run_outs = tuple(RunOut(end, there, places[there.combos]) for end, there in ends)
    chance = 1.0 / len(list(combinations(range(len(left) - 2 * rules.num_hole_cards), missing)))
    return OrderedHands(board, ordered, run_outs, chance)
