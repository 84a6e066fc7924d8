"""A learner's observation: a vector of float32, in one of three layouts.

`information-state` and `observation` are the tensors of ``universal_poker``, number for number. In all layouts the
first n entries, one for each seat, tell the learner's seat and so its position. `compact` has the parts below, in this
order. C is the number of cards of the deck, in which a card is ``rank * num_suits + suit``. *Chips* are divided by the
largest stack, in a limit game by the largest possible contribution.

1. n: the seat;
2. one for each street: the street;
3. C: the hole cards;
4. C for each street that brings board cards: these cards;
5. n: the chips that each seat has left, in the order of the seats, beginning with the learner's; 0 in limit games;
6. n: the chips that each seat has put in on this street, blinds included, in the same order;
7. n: whether each seat has folded, in the same order;
8. two: the chips of the pot, divided by n, and the chips that a call costs;
9. for each street, the last 3n actions, oldest first, in three numbers each: whether the action is a fold, whether it
   is a check or call, and s / (1 + s) for a raise by the share s of the pot after a call.

All entries of `compact` lie in 0..1. Unlike the tensors of ``universal_poker``, `compact` tells which card came on
which street. On a street with more than 3n actions, it leaves out the oldest ones.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import game_menu
from plurispiel.abstraction.actions.tree_kernels import MAX_ACTIONS
from plurispiel.abstraction.holdem.betting_layout import MAX_STREET_ACTIONS
from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.environment import observation_kernels as kernels
from plurispiel.agents.environment import table_kernels
from plurispiel.agents.environment.tables import HandTables, TableGame, new_tables, table_game

__all__ = ["OBSERVATIONS", "Layout", "Observer"]

OBSERVATIONS = {
    "information-state": kernels.INFORMATION_STATE,
    "observation": kernels.OBSERVATION,
    "compact": kernels.COMPACT,
}
"""The layouts by name."""


class Layout(NamedTuple):
    """A layout as kernels read it.

    Attributes
    ----------
    kind : int
        One of the values of `OBSERVATIONS`.
    length : int
        OpenSpiel's bound on the length of a hand, by which its information state tensor is laid out.
    num_slots : int
        Number of actions of a street that `compact` has room for.
    scale : float
        Reciprocal of the chips that `compact` counts as 1.
    """

    kind: int
    length: int
    num_slots: int
    scale: float


class Observer:
    """Observations of one layout in one game.

    Parameters
    ----------
    rules : HoldemRules
    name : {"information-state", "observation", "compact"}

    Attributes
    ----------
    layout : Layout
    size : int
        Number of entries of an observation.
    high : float
        An upper bound of all entries; 0 is the lower bound.

    Raises
    ------
    ValueError
        If there is no such layout.
    """

    def __init__(self, rules: HoldemRules, name: str):
        if name not in OBSERVATIONS:
            meant = suggestion(name, OBSERVATIONS)
            raise ValueError(f"unknown observation {name!r}{meant}: choose from {', '.join(OBSERVATIONS)}")
        kind = OBSERVATIONS[name]
        seats, streets, deck = rules.num_seats, rules.num_streets, len(rules.cards)
        length = load_game(rules).max_game_length()
        most = _largest_contribution(rules)
        self.layout = Layout(kind, length, 3 * seats, 1.0 / most)
        self.high = 1.0
        if kind == kernels.COMPACT:
            num_boards = sum(cards > 0 for cards in rules.board_cards)
            self.size = seats + streets + deck * (1 + num_boards) + 3 * seats + 2 + streets * 3 * 3 * seats
        elif kind == kernels.OBSERVATION:
            self.size = 2 * (seats + deck)
            self.high = float(most)
        else:
            self.size = seats + 2 * deck + 3 * length
            self.high = 1.0 if rules.is_limit else float(most)

    def observe(self, game: TableGame, tables: HandTables, i: int, seat: int) -> np.ndarray:
        """Return what a seat observes at table i: float32[size]."""
        out = np.empty(self.size, np.float32)
        kernels.observe_table(game, self.layout, tables, i, seat, out)
        return out


def _largest_contribution(rules: HoldemRules) -> int:
    """Return the most chips that a seat can put in."""
    if rules.stacks is not None:
        return max(rules.stacks)
    assert rules.raise_sizes is not None, "a limit game has sizes of raises"
    most = rules.max_raises or (MAX_STREET_ACTIONS,) * rules.num_streets
    raises = [min(number, MAX_STREET_ACTIONS) for number in most]
    return rules.big_blind + sum(size * number for size, number in zip(rules.raise_sizes, raises, strict=True))


def warmup() -> None:
    """Compile the kernels of a single table."""
    game = table_game(LEDUC, game_menu(LEDUC), every_size=False)
    tables = new_tables(LEDUC, 1, np.random.SeedSequence(0))
    with np.errstate(over="ignore"):  # without the compiler, numpy warns where a uint64 wraps around
        table_kernels.begin_table(game, tables, 0)
    table_kernels.ids_at_table(game, tables, 0, np.empty(MAX_ACTIONS, np.int64), np.empty(3, np.int64))
    table_kernels.act_at_table(game, tables, 0, 1)
    Observer(LEDUC, "compact").observe(game, tables, 0, 0)
