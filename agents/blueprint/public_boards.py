"""The boards of public chance sampling: the hands that are possible on a board, their ranks and their buckets."""

import math
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.hand_ranks import combo_ranks
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.cards import CardBuckets


class PublicBoard(NamedTuple):
    """A whole board, and its possible hands.

    Attributes
    ----------
    holes : int32[num_hands, num_hole_cards]
        The cards of each combo that shares no card with the board.
    ranks : int32[num_hands]
        The rank of each hand at the showdown.
    buckets : int64[num_streets, num_hands]
        The bucket of each hand on each street.
    """

    holes: np.ndarray
    ranks: np.ndarray
    buckets: np.ndarray


def num_hands(rules: HoldemRules) -> int:
    """Return the number of combos that share no card with a whole board."""
    return math.comb(len(rules.cards) - rules.num_board_cards, rules.num_hole_cards)


def num_hand_pairs(rules: HoldemRules) -> int:
    """Return the number of pairs of both seats' hands on a whole board."""
    hole = rules.num_hole_cards
    return num_hands(rules) * math.comb(len(rules.cards) - rules.num_board_cards - hole, hole)


def public_board(rules: HoldemRules, cards: CardBuckets, board: tuple[int, ...]) -> PublicBoard:
    """Return a board's hands. The cards of `board` are in the order in which they are dealt."""
    free = rules.free_combos(board)
    rows = [cards.row(board[: rules.board_size(street)], street)[free] for street in range(len(cards.num_buckets))]
    return PublicBoard(
        np.array(rules.combos[free], np.int32),
        combo_ranks(board, rules.combos[free]).astype(np.int32),
        np.array(rows, np.int64),
    )


def draw_board(rules: HoldemRules, seed: int, number: int) -> tuple[int, ...]:
    """Return the board of an iteration, which depends on the seed and the number of the iteration alone."""
    generator = np.random.default_rng((seed, number))
    return tuple(generator.choice(rules.cards, rules.num_board_cards, replace=False).tolist())
