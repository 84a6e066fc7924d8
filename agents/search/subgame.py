"""The subgames of a search: from the start of a street, for the two players who are left, to the end of the hand.

Seats that have folded leave their chips in the pot. What their cards would have told is forgotten, as in the paper:
beliefs are of each seat by itself, and cards that folded hands hold can still be dealt.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem import _betting_kernels as kernels
from plurispiel.abstraction.holdem.betting import CALL, BettingState, raise_menu
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.resolve.discounting import DEFAULT
from plurispiel.agents.resolve.subgame import BucketRows, Subgame
from plurispiel.agents.resolve.vector_cfr import Evaluation, VectorSolver
from plurispiel.agents.search.config import SearchConfig

__all__ = ["LEAST_BELIEF", "Added", "NodeStrategy", "Path", "Root", "StreetSolution", "is_searched", "solve_street"]

Path = tuple[int, ...]
"""Actions from the start of the street on."""

Added = Mapping[tuple[int, ...], tuple[int, ...]]
"""Raises that are offered besides those of the menu, by the betting state array of a decision."""

LEAST_BELIEF = 1e-5
"""Hands that are believed so many times less than the likeliest are left out of a search."""

_MAX_ITERATIONS = 1_000
_SAMPLED = "dcfr"


@dataclass(frozen=True, eq=False)
class Root:
    """Where a search begins.

    Attributes
    ----------
    state : BettingState
        Of the table, at the first decision of a street; not to be changed.
    board : tuple of int
    beliefs : float64[num_seats, num_combos]
    """

    state: BettingState
    board: tuple[int, ...]
    beliefs: npt.NDArray[np.float64]

    @functools.cached_property
    def live_seats(self) -> tuple[int, ...]:
        """The seats that have not folded, ascending."""
        return tuple(seat for seat, folded in enumerate(self.state.folded) if not folded)

    @functools.cached_property
    def game(self) -> "TwoSeats":
        """The game of a search for two players."""
        return TwoSeats(self)

    def strangers(self, config: SearchConfig, path: Path) -> tuple[Added, int]:
        """Return the actions of a path that the menu does not offer, and how many actions the last of them ends."""
        state, stop = self.game.state.copy(), 0
        added: dict[tuple[int, ...], tuple[int, ...]] = {}
        for number, action in enumerate(path, start=1):
            array = state.array.tolist()
            if action > CALL and action not in self.game.menu(config, added)(state.rules, array):
                added[tuple(array)] = (*added.get(tuple(array), ()), action)
                stop = number
            state.apply_legal(action)
        return added, stop


@dataclass(frozen=True, eq=False)
class NodeStrategy:
    """What a search found for a decision on its street.

    Attributes
    ----------
    seat : int
        At the table.
    state : tuple of int
        The betting state array of the search's own game.
    actions : tuple of int
        Ascending.
    average, played : float64[num_combos, num_actions]
        What is believed of the seat, and what acts. NaN for combos that the search has left out.
    """

    seat: int
    state: tuple[int, ...]
    actions: tuple[int, ...]
    average: npt.NDArray[np.float64]
    played: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StreetSolution:
    """A search's result for the street it began on.

    Attributes
    ----------
    root : Root
    nodes : dict of Path to NodeStrategy
    added : Added
    frozen : dict of Path to float64[num_combos, num_actions]
        What decisions were held to; rows of NaN were free.
    num_decisions : int
        Of all streets.
    iterations : int
    seconds : float
    evaluation : Evaluation or None
        The average strategies' values and best responses, in chips; on the last street only, where it costs little.
    hands : tuple of int
        How many combos of each live seat the search has counted with.
    """

    root: Root
    nodes: Mapping[Path, NodeStrategy]
    added: Added
    frozen: Mapping[Path, np.ndarray]
    num_decisions: int
    iterations: int
    seconds: float
    evaluation: Evaluation | None
    hands: tuple[int, ...]


def is_searched(state: BettingState) -> bool:
    """Return whether a search can begin here: on a board, with two players left, both with chips."""
    array = state.array
    return state.street > 0 and array[kernels.NUM_LIVE] == 2 and array[kernels.NUM_ACTING] == 2


def solve_street(
    root: Root,
    config: SearchConfig,
    buckets: BucketRows,
    *,
    added: Added | None = None,
    frozen: Mapping[Path, np.ndarray] | None = None,
    began: float | None = None,
    deadline: float | None = None,
) -> StreetSolution:
    """Solve a subgame for two players from the start of a street.

    Parameters
    ----------
    root : Root
        As `is_searched` allows.
    buckets : callable
        Of streets after this one.
    added, frozen
        As in `StreetSolution`.
    began, deadline : float, optional
        By `time.perf_counter`: when work on it began, and when the answer is due; by default now, and the time that
        the settings give after that.
    """
    began = time.perf_counter() if began is None else began
    added, frozen = added or {}, frozen or {}
    game = root.game
    menu = game.menu(config, added)
    num_streets = root.state.rules.num_streets
    is_last = root.state.street == num_streets - 1
    locks = {game.history(path): rows for path, rows in frozen.items()}
    subgame = Subgame(
        game.state,
        root.board,
        game.ranges(config.doubt),
        menu,
        game.dead_chips,
        locks,
        None if is_last else buckets,
    )
    solver = VectorSolver(
        subgame,
        DEFAULT if is_last else _SAMPLED,
        run_outs=0 if is_last else config.run_outs,
        last_boards=config.last_boards if num_streets - root.state.street > 2 else 0,
        threads=config.num_threads,
    )
    if config.iterations:
        solver.run(config.iterations)
    else:
        solver.run(_MAX_ITERATIONS, goes_on=_Clock(began + config.time if deadline is None else deadline))
    nodes = {}
    for decision in solver.streets[0].betting.decisions:
        path = tuple(action for _, action, _ in decision.actions)
        average = solver.strategy(0, decision)
        played = solver.current_strategy(0, decision) if config.play == "final" else average
        if config.purge:
            played = _purged(played, config.purge)
        if path in frozen:
            held = ~np.isnan(frozen[path][:, :1])
            average, played = (np.where(held, frozen[path], rows) for rows in (average, played))
        nodes[path] = NodeStrategy(
            root.live_seats[decision.seat], tuple(decision.state), tuple(decision.children), average, played
        )
    return StreetSolution(
        root,
        nodes,
        added,
        frozen,
        sum(len(street.betting.decisions) for street in solver.streets),
        solver.iteration,
        time.perf_counter() - began,
        solver.evaluate() if is_last else None,
        tuple(int(np.count_nonzero(row)) for row in solver.ranges),
    )


class _Clock:
    """Says whether there is time for one more iteration like the longest so far."""

    def __init__(self, end: float):
        self._end = end
        self._asked = 0.0
        self._longest = 0.0

    def __call__(self) -> bool:
        now = time.perf_counter()
        if self._asked:
            self._longest = max(self._longest, now - self._asked)
        first, self._asked = not self._asked, now
        return first or now + self._longest < self._end


class TwoSeats:
    """The game of a search: the two players who are left, in the order of the table.

    Attributes
    ----------
    state : BettingState
    dead_chips : int
    """

    def __init__(self, root: Root):
        self._root = root
        table, rules = root.state, root.state.rules
        self._seats = root.live_seats
        self.dead_chips = sum(table.contributions) - sum(table.contributions[seat] for seat in self._seats)
        self.state = table.copy() if rules.num_seats == 2 else BettingState(self._rules(), self._array())

    def ranges(self, doubt: float) -> np.ndarray:
        """Return what is believed of both, with all hands alike mixed in; these alone where no two hands could meet."""
        rules = self._root.state.rules
        held = ~np.isin(rules.combos, self._root.board).any(axis=1)
        rows = self._root.beliefs[list(self._seats)]
        rows = np.where(rows >= LEAST_BELIEF * rows.max(axis=1, keepdims=True), rows, 0.0)
        mixed = (1.0 - doubt) * rows + doubt * held / held.sum()
        hands = rank_hands(rules, self._root.board)
        can_meet = bool(mixed[0, hands.combos] @ fold_mass(hands, mixed[1, hands.combos]) > 0.0)
        return mixed if can_meet else np.tile(held / held.sum(), (2, 1))

    def menu(self, config: SearchConfig, added: Added) -> Callable[[HoldemRules, list[int]], tuple[int, ...]]:
        """Return the raises on offer: the game's own where they are few, else the search's, and those added."""
        rules = self.state.rules
        sizes = config.menu(self.state.street, rules.num_streets)
        is_free = not rules.is_limit and rules.betting_abstraction == "fullgame"

        def raises(game: HoldemRules, array: list[int]) -> tuple[int, ...]:
            offered = sizes.raises(game, array, self.dead_chips) if is_free else raise_menu(game, array) or ()
            return tuple(sorted({*offered, *added.get(tuple(array), ())}))

        return raises

    def history(self, path: Path) -> tuple[tuple[int, int, int], ...]:
        """Return actions with the seats and the street, as in `BettingDecision.actions`."""
        state, history = self.state.copy(), []
        for action in path:
            history.append((state.actor, action, state.street))
            state.apply_legal(action)
        return tuple(history)

    def _rules(self) -> HoldemRules:
        rules, seats = self._root.state.rules, self._seats
        order = [[(first + step) % rules.num_seats for step in range(rules.num_seats)] for first in rules.first_seats]
        return dataclasses.replace(
            rules,
            blinds=(rules.big_blind, rules.big_blind),
            stacks=rules.stacks and tuple(rules.stacks[seat] for seat in seats),
            first_seats=tuple(seats.index(next(seat for seat in row if seat in seats)) for row in order),
        )

    def _array(self) -> np.ndarray:
        table = self._root.state.array
        array = table.copy()
        array[kernels.ACTOR] = self._seats.index(self._root.state.actor)
        array[kernels.ACTING] = 0b11
        array[kernels.CONTRIB : kernels.FOLDED] = 0
        array[kernels.FOLDED : kernels.STATE_SIZE] = 0
        for place, seat in enumerate(self._seats):
            array[kernels.CONTRIB + place] = table[kernels.CONTRIB + seat]
        return array


def _purged(rows: np.ndarray, least: float) -> np.ndarray:
    """Return strategies without actions that are taken less often, unless that is all of them."""
    kept = np.where(rows >= least, rows, 0.0)
    totals = kept.sum(axis=1, keepdims=True)
    return np.where(totals > 0.0, kept / np.where(totals > 0.0, totals, 1.0), rows)
