"""Random situations. A *situation* at a level is a board, a pot and the ranges of both seats."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.boards import board_classes, find_boards
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.ordered_hands import ordered_hands
from plurispiel.agents.values.range_generator import draw_ranges
from plurispiel.agents.values.self_play import play_to

__all__ = ["SPLITS", "DrawnSituation", "draw_board", "draw_situation", "is_from_play"]

SPLITS = ("train", "unseen")
"""Situations to train with, and situations to measure errors with.

In hold'em, from the flop on, the two share no class of boards.
"""

_PARTS = ((100, 101), (200, 400), (400, 2_000), (2_000, 6_000), (6_000, 19_951))
"""Intervals of each seat's chips in the pot, without their upper ends, for stacks of 20,000. As in DeepStack's paper,
all intervals are equally probable."""

_MOST_RANDOM = 0.3
"""A random range is mixed into each range from play, so that every hand has some weight. This is its largest share."""

_MANY_CLASSES = 1_000
_HELD_OUT = 25  # one class of boards in 25 is unseen
_SCATTER = 2_654_435_761  # Knuth's multiplier: neighbouring classes, of similar boards, are held out independently


class DrawnSituation(NamedTuple):
    """A start or an end of a street, with ranges of both seats.

    Attributes
    ----------
    state : BettingState
        The state before the first bet of `Level.next_street`.
    board : tuple of int
        The board on which the seats hold their ranges; at the end of a street, without the next street's cards.
    ranges : float64[2, num_combos]
        Weights in any scale, above 0 for all combos that share no card with the board.
    """

    state: BettingState
    board: tuple[int, ...]
    ranges: np.ndarray


def draw_situation(
    level: Level, seed: int, split: str, number: int, board: tuple[int, ...] | None = None
) -> DrawnSituation:
    """Return situation `number` of a level's endless sequence for a seed and a split.

    The board represents its class (`boards.BoardClasses`): all boards that differ by a renaming of suits.

    Parameters
    ----------
    level : Level
    seed : int
    split : {"train", "unseen"}
    number : int
    board : tuple of int, optional
        A board from `draw_board`. By default each situation draws its own board, or `Level.per_board` situations with
        consecutive numbers share one.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SPLITS.index(split), number)))
    rules = level.rules
    if board is None and level.per_board > 1:
        key = len(SPLITS), SPLITS.index(split), number // level.per_board
        board = draw_board(level, split, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key)))
    board = board or draw_board(level, split, rng)
    hands = ordered_hands(rules, board).hands
    weights = draw_ranges(hands.groups, 2, rng)
    if is_from_play(level, np.array(number)):
        assert level.blueprint is not None
        state, played = play_to(level.blueprint, rules, board, level.next_street, rng)
        weights += (rng.uniform(0.0, _MOST_RANDOM) - 1.0) * (weights - played[:, hands.combos])
    elif rules.is_limit:
        state = level.starts[int(rng.integers(len(level.starts)))]
    else:
        state = _start_of(level, rng)
    if not board:  # before the flop suits mean nothing, and all hands of a class have one weight
        sizes = np.diff(hands.groups)
        weights = np.repeat(np.add.reduceat(weights, hands.groups[:-1], axis=1) / sizes, sizes, axis=1)
    # Shards keep the roots of weights as float16; a situation has the weights that its shard keeps.
    roots = np.sqrt(weights).astype(np.float16).astype(np.float64)
    ranges = np.zeros((2, rules.num_combos))
    ranges[:, hands.combos] = np.maximum(roots, np.finfo(np.float16).smallest_subnormal) ** 2
    return DrawnSituation(state, board, ranges)


def is_from_play(level: Level, numbers: np.ndarray) -> np.ndarray:
    """Return, for each number, whether the situation's pot and ranges are from self-play: bool[n].

    At a level with a blueprint, one situation in three is from self-play; at other levels none is.
    """
    return (numbers % 3 == 2) & (level.blueprint is not None)


def _start_of(level: Level, rng: np.random.Generator) -> BettingState:
    """Return the start of the next street, after a called raise or a call before the flop, and checks since then."""
    low, high = _PARTS[int(rng.integers(len(_PARTS)))]
    part = int(rng.integers(low, high))
    rules = level.rules
    state = BettingState(rules)
    state.apply(part if part > rules.big_blind else CALL)
    while state.street < level.next_street:
        state.apply(CALL)
    return state


def draw_board(level: Level, split: str, rng: np.random.Generator) -> tuple[int, ...]:
    """Return a random board for a split: the representative of its class."""
    rules = level.rules
    classes = board_classes(level.board_size, rules.num_suits, rules.num_ranks)
    while True:
        cards = rng.choice(rules.cards, level.board_size, replace=False)
        found = int(find_boards(cards, rules.num_suits, rules.num_ranks)[0])
        is_held_out = found * _SCATTER % (1 << 32) % _HELD_OUT == 0
        if len(classes.boards) < _MANY_CLASSES or is_held_out == (split == "unseen"):
            return tuple(classes.boards[found].tolist())
