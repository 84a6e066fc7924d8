"""Subgames that the tests of solvers share: small games as a whole, buckets for them, heads-up states and ranges."""

import dataclasses
import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_layout import STREET
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules, no_limit_holdem
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.resolve import Subgame, VectorSolver

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

MINI = HoldemRules(
    blinds=(100, 50),
    stacks=(400, 400),
    first_seats=(1, 0),
    board_cards=(0, 1),
    num_suits=2,
    num_ranks=4,
    betting_abstraction="fcpa",
)

THREE_STREETS = HoldemRules(
    blinds=(2, 1),
    stacks=(6, 6),
    first_seats=(1, 0, 0),
    board_cards=(0, 1, 1),
    num_suits=2,
    num_ranks=3,
    num_hole_cards=1,
    betting_abstraction="fcpa",
)

ONE_STREET = dataclasses.replace(LEDUC, first_seats=(0,), board_cards=(0,), raise_sizes=(2,), max_raises=(2,))

WIDE = dataclasses.replace(THREE_STREETS, stacks=(20, 20), num_ranks=2, betting_abstraction="fchpa")
"""More than sixteen ways into a street that is not the last."""

GAMES = {
    "leduc": ("leduc_poker", LEDUC),
    "mini": (game_string(MINI), MINI),
    "three": (None, THREE_STREETS),
    "wide": (None, WIDE),
}

NUM_COMPARED = {MINI: 3, WIDE: 3}

CARDS = LEDUC.combos[:, 0]  # of `THREE_STREETS`, too


def whole_game(rules, algorithm, **options):
    subgame = Subgame(BettingState(rules), (), np.ones((2, rules.num_combos)))
    return VectorSolver(subgame, algorithm, dtype=np.float64, **options)


def by_rank(board):
    """Lossless buckets of games with one hole card: the ranks of hand and board."""
    ranks = [card // 4 for card in board]
    return np.array([int(card) // 4 + 3 * ranks[0] + (9 * (1 + ranks[1]) if len(ranks) > 1 else 0) for card in CARDS])


def hand_by_hand(num_combos):
    """Lossless buckets of any game: every hand of every board has one of its own."""
    numbers = {}
    return lambda board: numbers.setdefault(board, len(numbers)) * num_combos + np.arange(num_combos)


def check_first(rules, array):
    """Leduc's raises on the second street only: there all hands have the same past."""
    return raise_menu(rules, array) if array[STREET] else ()


def heads_up(board, menu, stack=500, pot=100):
    """Return a public state on the board's street with so many chips in the pot, and the actions before."""
    rules = no_limit_holdem(2, stack=stack + pot // 2, blinds=(1, 2)).with_menu(menu)
    state, actions = BettingState(rules.with_menu("fullgame")), []
    for action in [pot // 2, CALL, *[CALL, CALL] * (len(board) - 3)]:
        actions.append(Action(state.actor, action, state.street))
        state.apply(action)
    state = BettingState(rules, state.array)
    return state, PublicState(rules, state.array.tolist(), board, tuple(actions))


def random_ranges(seed, texts=("random", "random")):
    rng = np.random.default_rng(seed)
    return np.stack([parse_range(text) * rng.random(1326) ** 3 for text in texts])
