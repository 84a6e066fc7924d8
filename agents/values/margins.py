"""The margin of each hand against each other hand, as a matrix for one board.

The margin is the probability to win minus that to lose, over all complete boards that may follow.
"""

import functools
import math
from itertools import combinations

import numpy as np

from plurispiel.abstraction.holdem.all_in_margins import all_in_margins, hand_classes
from plurispiel.abstraction.holdem.rules import HoldemRules, is_holdem
from plurispiel.abstraction.holdem.showdown import HandRanker, rank_hands
from plurispiel.agents.values import margin_kernels as kernels

__all__ = ["margin_matrix", "writeable_margins"]


def margin_matrix(rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    """Return the margin of each hand (row) against each other hand (column): float32[num_hands, num_hands].

    Hands are in the order of `showdown.rank_hands` on the board. The margin of two hands that share a card is 0. A flop
    takes a quarter of a second. Before the flop of hold'em, an entry is instead the mean margin of the row's hand
    against all hands of the column's class. Hands that share a card with the row's hand count as 0. So products with
    ranges are exact if all hands of a class have one weight.

    The array is shared between calls, and read-only.

    Raises
    ------
    ValueError
        If the game deals three hole cards.
    """
    margins = writeable_margins(rules, board).view()
    margins.setflags(write=False)
    return margins


@functools.lru_cache(maxsize=4)
def writeable_margins(rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    """Return the array of `margin_matrix` for kernels, which are compiled for writeable arrays: do not write to it."""
    hands = rank_hands(rules, board)
    if not board and is_holdem(rules):
        return _before_the_flop(rules, hands.combos)
    missing = rules.board_size(rules.num_streets - 1) - len(board)
    left = [card for card in rules.cards.tolist() if card not in board]
    ends = list(combinations(left, missing))
    ranker = HandRanker(rules)
    strengths = np.full((len(ends), rules.num_combos), -1, np.int16)
    for row, new in zip(strengths, ends, strict=True):
        there = ranker.rank(board + new)
        row[there.combos] = np.repeat(np.arange(len(there.groups) - 1), np.diff(there.groups))
    wins = np.zeros((len(hands.combos), len(hands.combos)), np.int16)
    kernels.add_wins(np.ascontiguousarray(strengths[:, hands.combos]), wins)
    cards = hands.cards
    shared = (cards[:, None, :, None] == cards[None, :, None, :]).any(axis=(2, 3))
    margins = (wins - wins.T).astype(np.float32)
    margins[shared] = 0.0
    margins /= math.comb(len(left) - 2 * rules.num_hole_cards, missing)
    return margins


def _before_the_flop(rules: HoldemRules, combos: np.ndarray) -> np.ndarray:
    classes = hand_classes(rules)
    of_class = all_in_margins(rules) / np.bincount(classes)
    return of_class.astype(np.float32)[np.ix_(classes[combos], classes[combos])]


def warmup() -> None:
    """Compile every kernel that this module calls."""
    kernels.add_wins(np.zeros((1, 2), np.int16), np.zeros((2, 2), np.int16))
