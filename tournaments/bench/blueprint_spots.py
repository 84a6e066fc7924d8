"""Spots that the heads-up blueprint reaches in self-play, and their games with the blueprint's bet sizes."""

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.resolve.known_strategies import KnownRows
from plurispiel.agents.search.beliefs import planned_beliefs
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import Root, TwoSeats, can_search_two
from plurispiel.agents.search.street_tree import Path
from plurispiel.evaluation.hand import deal_deck, play_hand

__all__ = ["BLUEPRINT_SIZES", "BlueprintSpot", "blueprint_spots", "first_spots", "spot_solver", "write_blueprint"]

BLUEPRINT_SIZES = SearchConfig(street_sizes=("",), river_sizes=("",), later_sizes=("",), cards="blueprint", threads=2)
"""Settings whose trees offer the blueprint's raises and no others."""

_LATER_BOARDS = 3
"""Number of rivers drawn after each turn in the game of a flop; the game of a turn has all rivers."""

_SEED = 99


class BlueprintSpot(NamedTuple):
    """The start of a street, and the actions before it."""

    root: Root
    history: Path


def blueprint_spots(agent: BlueprintAgent, street: int) -> Iterator[tuple[int, BlueprintSpot]]:
    """Yield spots from hands that a blueprint plays against itself, each with the number of hands played so far.

    A hand has a spot if a seat acts on `street`, which is 1 to 3, and search is possible there (`can_search_two`).
    """
    number = 0
    while True:
        number += 1
        deck = deal_deck(HUNL, np.random.default_rng((_SEED, number)))
        hand = play_hand(HUNL, [agent, agent], deck, [np.random.default_rng((number, seat)) for seat in range(2)])
        board = tuple(deck[2 * HUNL.num_seats :].tolist())
        if not any(action.street == street for action in hand.actions):
            continue
        before = tuple(action for action in hand.actions if action.street < street)
        cards = board[: HUNL.board_size(street)]
        state, beliefs = planned_beliefs(agent, HUNL, before, cards)
        if can_search_two(state):
            root = Root(state, cards, beliefs)
            yield number, BlueprintSpot(root, tuple(action.action for action in before))


def first_spots(agent: BlueprintAgent, street: int, name: str, count: int) -> Iterator[tuple[int, BlueprintSpot]]:
    """Yield the first `count` of `blueprint_spots`, with a progress bar that shows `name`."""
    with progress_bar(total=count, desc=name, unit="spot") as progress:
        for found in itertools.islice(blueprint_spots(agent, street), count):
            yield found
            progress.update()


def spot_solver(
    spot: BlueprintSpot, planned: PlannedRows, buckets: Callable[[tuple[int, ...]], np.ndarray] | None
) -> VectorSolver:
    """Return a solver of a spot's game, with `buckets` of hands on later streets; None to distinguish all hands."""
    root, history = spot
    game = TwoSeats(root)
    menu = game.menu(BLUEPRINT_SIZES, planned.betting(history, root.state))
    subgame = Subgame(game.state, root.board, game.ranges(0.0), menu, buckets=buckets)
    return VectorSolver(subgame, last_boards=_LATER_BOARDS if root.state.street == 1 else 0)


def write_blueprint(solver: VectorSolver, known: KnownRows) -> None:
    """Set a solver's average strategies to the blueprint's, or to uniform where the blueprint has no strategy."""
    for number, street in enumerate(solver.streets):
        for decision in street.betting.decisions:
            rows = known(number, decision)
            even = np.ones((street.width or HUNL.num_combos, len(decision.children)))
            street.write(street.sums, decision, even if rows is None else rows)
