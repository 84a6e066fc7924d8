"""The places in a game that have networks, each with the situations on which its network is trained.

A *level* is the start of a street. A *situation* at a level is a board, a pot and the ranges of both seats.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.boards import board_classes, find_boards
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.values.range_generator import draw_ranges

__all__ = ["LEVELS", "SPLITS", "Level", "DrawnSituation", "chips_behind", "draw_situation", "find_level", "pot_of"]

SPLITS = ("train", "unseen")
"""Situations to train with, and situations to measure errors with. In hold'em the two share no class of boards."""

_PARTS = ((100, 101), (200, 400), (400, 2_000), (2_000, 6_000), (6_000, 19_951))
"""Intervals of each seat's chips in the pot, without their upper ends. The paper draws each interval with equal
probability; stacks are 20,000."""

_MANY_CLASSES = 1_000
_HELD_OUT = 25  # one class of boards in 25 is unseen
_SCATTER = 2_654_435_761  # Knuth's multiplier: neighbouring classes, which have like boards, are held out independently


@dataclass(frozen=True)
class Level:
    """The start of a street in a game of two seats.

    Attributes
    ----------
    name : str
    rules : HoldemRules
    street : int
        The street that starts; seat 0 acts first.
    menu : str
        The raises in solved situations, by OpenSpiel's names.
    num_bins : int
        Number of strength bins in which networks see ranges; 0 for each hand by itself.
    tolerance : float
        A situation is solved until half of the sum of both seats' gains by best responses is at most this share of a
        sum: the pot, and the chips behind up to twice the pot. The number of iterations has a limit, too
        (`solve_exactly`).
    """

    name: str
    rules: HoldemRules
    street: int
    menu: str
    num_bins: int
    tolerance: float

    @property
    def board_size(self) -> int:
        """Number of board cards."""
        return self.rules.board_size(self.street)

    def raises(self, rules: HoldemRules, state: list[int]) -> tuple[int, ...] | None:
        """Return the raises on offer in a betting state array, as a `RaiseMenu`."""
        return raise_menu(self._offering, state)

    @functools.cached_property
    def _offering(self) -> HoldemRules:
        return self.rules.with_menu(self.menu)

    @functools.cached_property
    def starts(self) -> list[BettingState]:
        """A state for each pot with which the street can start, all-ins excepted, in a game with few pots."""
        ends: dict[int, BettingState] = {}
        states = [BettingState(self.rules)]
        for _ in range(self.street):
            states = [end for state in states for end in _ends(state)]
        for state in states:
            ends.setdefault(pot_of(state), state)
        return list(ends.values())


LEVELS = {
    "leduc": Level("leduc", LEDUC, street=1, menu="fcpa", num_bins=0, tolerance=0.001),
    "river": Level("river", HUNL, street=3, menu="fcpa", num_bins=256, tolerance=0.005),
}


class DrawnSituation(NamedTuple):
    """A start of a street, with ranges of both seats.

    Attributes
    ----------
    state : BettingState
    board : tuple of int
    ranges : float64[2, num_combos]
        Weights in any scale, above 0 for all combos that share no card with the board.
    """

    state: BettingState
    board: tuple[int, ...]
    ranges: np.ndarray


def find_level(name: str) -> Level:
    """Return a level by its name.

    Raises
    ------
    ValueError
        If there is no such level.
    """
    if name not in LEVELS:
        raise ValueError(f"a level is {' or '.join(LEVELS)}, got {name!r}{suggestion(name, LEVELS)}")
    return LEVELS[name]


def draw_situation(level: Level, seed: int, split: str, number: int) -> DrawnSituation:
    """Return the situation with a number in the endless sequence of a seed and a split.

    The board represents its class (`boards.BoardClasses`): all boards that differ by a renaming of suits.

    Parameters
    ----------
    level : Level
    seed : int
    split : {"train", "unseen"}
    number : int
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(SPLITS.index(split), number)))
    rules = level.rules
    state = level.starts[int(rng.integers(len(level.starts)))] if rules.is_limit else _river_start(rules, rng)
    board = _draw_board(level, split, rng)
    hands = rank_hands(rules, board)
    # Shards keep the roots of weights as float16; a situation has the weights that its shard keeps.
    roots = np.sqrt(draw_ranges(hands.groups, 2, rng)).astype(np.float16).astype(np.float64)
    ranges = np.zeros((2, rules.num_combos))
    ranges[:, hands.combos] = np.maximum(roots, np.finfo(np.float16).smallest_subnormal) ** 2
    return DrawnSituation(state, board, ranges)


def pot_of(state: BettingState) -> int:
    """Return the chips of both seats in the middle."""
    return sum(state.contributions)


def chips_behind(state: BettingState) -> int:
    """Return the most chips that each seat can still put in, at the start of a street.

    Limit games have no stacks; there all raises of the streets that remain are counted.
    """
    rules = state.rules
    if rules.stacks is not None:
        return rules.stacks[0] - state.contributions[0]
    assert rules.raise_sizes is not None and rules.max_raises is not None
    streets = range(state.street, rules.num_streets)
    return sum(rules.raise_sizes[street] * rules.max_raises[street] for street in streets)


def _ends(state: BettingState) -> list[BettingState]:
    """Return the states at the start of the next street, for all betting without an all-in."""
    betting = street_betting(state)[1]
    first = {decision.root: decision.state for decision in reversed(betting.decisions)}
    return [BettingState(state.rules, np.array(first[root], state.array.dtype)) for root in sorted(first)]


def _river_start(rules: HoldemRules, rng: np.random.Generator) -> BettingState:
    """Return the river after a called raise, or a mere call, before the flop and checks on flop and turn."""
    low, high = _PARTS[int(rng.integers(len(_PARTS)))]
    part = int(rng.integers(low, high))
    state = BettingState(rules)
    state.apply(part if part > rules.big_blind else CALL)
    while state.street < rules.num_streets - 1:
        state.apply(CALL)
    return state


def _draw_board(level: Level, split: str, rng: np.random.Generator) -> tuple[int, ...]:
    rules = level.rules
    classes = board_classes(level.board_size, rules.num_suits, rules.num_ranks)
    while True:
        cards = rng.choice(rules.cards, level.board_size, replace=False)
        found = int(find_boards(cards, rules.num_suits, rules.num_ranks)[0])
        is_held_out = found * _SCATTER % (1 << 32) % _HELD_OUT == 0
        if len(classes.boards) < _MANY_CLASSES or is_held_out == (split == "unseen"):
            return tuple(classes.boards[found].tolist())
