"""The boards of the next street that may follow a board, with their hands in order of strength."""

import functools
import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import RankedHands, showdown_margin
from plurispiel.agents.values.encoding import Bins, bins_of, board_features, canonical_hands
from plurispiel.agents.values.ordered_hands import OrderedHands, by_strength, ordered_hands

__all__ = ["NextBoard", "cards_of_next_boards", "chance_of_a_next_board", "count_next_boards", "next_boards"]


class NextBoard(NamedTuple):
    """A board of the next street.

    Attributes
    ----------
    hands : RankedHands
        Weakest first.
    places : int64[num_hands]
        The index of each of these hands in the order of the present board (`OrderedHands`).
    bins : Bins
    features : float64[...]
        The `board_features`.
    """

    hands: RankedHands
    places: np.ndarray
    bins: Bins
    features: np.ndarray


def cards_of_next_boards(rules: HoldemRules, board: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all sets of cards that the next street may bring, in ascending order."""
    left = [card for card in rules.cards.tolist() if card not in board]
    return list(combinations(left, _num_new(rules, board)))


def count_next_boards(rules: HoldemRules, board: tuple[int, ...]) -> int:
    """Return the number of boards of the next street that may follow a board."""
    return math.comb(len(rules.cards) - len(board), _num_new(rules, board))


def chance_of_a_next_board(rules: HoldemRules, board: tuple[int, ...]) -> float:
    """Return the probability of each board of the next street, given the hands of both seats."""
    left = len(rules.cards) - len(board) - 2 * rules.num_hole_cards
    return 1.0 / math.comb(left, _num_new(rules, board))


@functools.lru_cache(maxsize=2)
def next_boards(
    rules: HoldemRules, board: tuple[int, ...], num_bins: int, chosen: tuple[int, ...] | None = None
) -> tuple[NextBoard, ...]:
    """Return the boards of the next street; arrays are shared between calls: do not write to them.

    Parameters
    ----------
    rules : HoldemRules
    board : tuple of int
        The present board.
    num_bins : int
        Number of bins of strength.
    chosen : tuple of int, optional
        Numbers of the boards, as in `cards_of_next_boards`; by default all.
    """
    every, ordered = cards_of_next_boards(rules, board), ordered_hands(rules, board)
    new = every if chosen is None else [every[number] for number in chosen]
    is_last = len(board) + len(new[0]) == rules.board_size(rules.num_streets - 1)
    if is_last or not board:
        hands = [canonical_hands(rules, board + cards)[1:] for cards in new]
    else:
        hands = [(there, there.combos) for there in _by_run_outs(ordered, new)]
    numbers = np.empty(rules.num_combos, np.int64)
    numbers[ordered.hands.combos] = np.arange(len(ordered.hands.combos))
    return tuple(
        NextBoard(there, numbers[combos], bins_of(there, num_bins), board_features(rules, board + cards))
        for cards, (there, combos) in zip(new, hands, strict=True)
    )


def _num_new(rules: HoldemRules, board: tuple[int, ...]) -> int:
    sizes = (rules.board_size(street) for street in range(rules.num_streets))
    return next(size for size in sizes if size > len(board)) - len(board)


def _by_run_outs(ordered: OrderedHands, new: list[tuple[int, ...]]) -> list[RankedHands]:
    """Return the hands of each next board by strength, computed from the complete boards that follow the present board.

    Each complete board counts for every next board that it can follow. Hands of equal strength come in another order
    than on the representative, but get the same bins.
    """
    margins = {cards: np.zeros(len(ordered.hands.combos)) for cards in new}
    for end, there, places in ordered.run_outs:
        following = [cards for cards in combinations(end[len(ordered.board) :], len(new[0])) if cards in margins]
        if following:
            found = showdown_margin(there, np.ones(len(there.combos)))
            for cards in following:
                margins[cards][places] += found
    hands = []
    for cards, sums in margins.items():
        free = ~np.isin(ordered.hands.cards, cards).any(axis=1)
        hands.append(by_strength(ordered.hands.combos[free], ordered.hands.cards[free], sums[free]))
    return hands
