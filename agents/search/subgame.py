"""The subgames of a search, for the players who are left.

On a board they begin with the street. With two players they go on to the end of the hand and are solved by vector CFR;
with more they end with the street (`multiway`), and so they do before the flop.

Seats that have folded leave their chips in the pot. What their cards would have told is forgotten, as in the paper:
beliefs are of each seat by itself, and cards that folded hands hold can still be dealt.
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem import betting_state
from plurispiel.abstraction.holdem.betting import CALL, BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu, StreetTooLarge, street_betting
from plurispiel.abstraction.holdem.rules import UNLIMITED_RAISES, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.resolve.discounting import DEFAULT
from plurispiel.agents.resolve.known_strategies import response_values, warm_start
from plurispiel.agents.resolve.subgame import BucketRows, Subgame
from plurispiel.agents.resolve.vector_cfr import Evaluation, VectorSolver
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.search_menu import SearchMenu, has_few_raises
from plurispiel.agents.search.street_tree import MAX_NODES, Path, is_small

__all__ = [
    "LAST_STREET_FACTOR",
    "LEAST_BELIEF",
    "MOST_PREFLOP_SEATS",
    "MOST_RAISES",
    "MOST_SEATS",
    "Added",
    "Clock",
    "NodeStrategy",
    "Path",
    "Root",
    "StreetSolution",
    "TwoSeats",
    "believed",
    "is_multiway",
    "is_searched",
    "played_rows",
    "solve_street",
]

Offer = Callable[[HoldemRules, list[int]], tuple[int, ...]]
"""From a game and a betting state array to the raises on offer."""

Added = Mapping[tuple[int, ...], tuple[int, ...]]
"""Raises that are offered besides those of the menu, by the betting state array of a decision."""

LEAST_BELIEF = 1e-5
"""Hands that are believed so many times less than the likeliest are left out of a search."""

LAST_STREET_FACTOR = 10
"""Iterations on the last street, for one elsewhere: they cost less than a tenth."""

FORCED_SHARE = 0.3
"""Of a safe search: how often the other goes on without a choice, with what it is believed to hold. Measured on rivers
with a blueprint that is far from an equilibrium: at 0 the search lost to it, at 1 it would not be safe."""

MOST_RAISES = 2
"""With more than two players, a subgame ends behind so many raises of its street, or one more than were made; but not
before the flop, and not on the last street."""

MOST_PREFLOP_SEATS = 4
"""With more players left there is no search before the flop."""

MOST_SEATS = 9
"""With more players who have chips there is none at all: a single size of a raise has more answers than can be learnt
in a second."""

TWO_SEATS_NODES = 12_000
"""Of each street of a search for two players: a gigabyte, from the flop."""

TWO_SEATS_NODES_A_SECOND = 2_500
"""So many can be laid out and solved a few times in a second."""

_MAX_ITERATIONS = 1_000
_SAMPLED = "dcfr"


@dataclass(frozen=True, eq=False)
class Root:
    """Where a search begins.

    Attributes
    ----------
    state : BettingState
        Of the table, at the first decision of a street, or before the flop behind a raise; not to be changed.
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
    def game(self) -> "TwoSeats | ManySeats":
        """The game of a search."""
        return TwoSeats(self) if is_searched(self.state) else ManySeats(self)

    @property
    def num_raises(self) -> int:
        """Raises on the street before."""
        return int(self.state.array[betting_state.NUM_RAISES])

    def strangers(self, config: SearchConfig, path: Path) -> tuple[Added, int]:
        """Return the actions of a path that the menu does not offer, and how many actions the last of them ends.

        A raise that the subgame ends behind is another such action: there a search must look further.
        """
        state, stop, num_raises = self.game.state.copy(), 0, self.num_raises
        added: dict[tuple[int, ...], tuple[int, ...]] = {}
        for number, action in enumerate(path, start=1):
            array = state.array.tolist()
            if action > CALL and action not in self.game.menu(config, added)(state.rules, array):
                added[tuple(array)] = (*added.get(tuple(array), ()), action)
                stop = number
            num_raises += action > CALL
            if action > CALL and num_raises >= self.game.most_raises:
                stop = number
            state.apply_legal(action)
        return added, stop


@dataclass(frozen=True, eq=False)
class NodeStrategy:
    """What a search found for a decision on its street.

    Attributes
    ----------
    actions : tuple of int
        Ascending.
    average, played : float64[num_combos, num_actions]
        What is believed of the seat, and what acts. NaN for combos that the search has left out.
    """

    actions: tuple[int, ...]
    average: npt.NDArray[np.float64]
    played: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StreetSolution:
    """A search's result for the street it began on.

    Attributes
    ----------
    root : Root
    nodes : mapping of Path to NodeStrategy
    added : Added
    frozen : dict of Path to float64[num_combos, num_actions]
        What decisions were held to; rows of NaN were free.
    num_decisions : int
        Of all streets.
    iterations : int
    seconds : float
    evaluation : Evaluation or None
        The average strategies' values and best responses, in chips; on the last street only, where it costs little,
        and not of a safe search, where the opponent chooses its hands.
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
    return state.street > 0 and array[betting_state.NUM_LIVE] == 2 and array[betting_state.NUM_ACTING] == 2


def is_multiway(state: BettingState) -> bool:
    """Return whether a search of one street can begin here: with more than two players left, 2 to 9 of them with chips.

    Before the flop they are at most `MOST_PREFLOP_SEATS`, and may be two.
    """
    num_live = int(state.array[betting_state.NUM_LIVE])
    fits = num_live > 2 if state.street else num_live <= MOST_PREFLOP_SEATS
    return bool(fits and 2 <= state.array[betting_state.NUM_ACTING] <= MOST_SEATS)


def solve_street(
    root: Root,
    config: SearchConfig,
    buckets: BucketRows,
    planned: PlannedRows,
    history: Path,
    seat: int,
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
    planned : PlannedRows
        What the blueprint would do.
    history : Path
        Actions before the street.
    seat : int
        At the table, whose search it is.
    added, frozen
        As in `StreetSolution`.
    began, deadline : float, optional
        By `time.perf_counter`: when work on it began, and when the answer is due; by default now, and the time that
        the settings give after that.
    """
    began = time.perf_counter() if began is None else began
    added, frozen = added or {}, frozen or {}
    game = TwoSeats(root)
    menu = game.menu(config, added)
    num_streets = root.state.rules.num_streets
    is_last = root.state.street == num_streets - 1
    locks = {game.history(path): rows for path, rows in frozen.items()}
    ranges, is_safe = game.ranges(config.doubt), config.safe and seat in root.live_seats
    opponent = int(root.live_seats[0] == seat)
    if is_safe:
        held = ~np.isin(root.state.rules.combos, root.board).any(axis=1)
        forced = FORCED_SHARE / (1.0 - FORCED_SHARE) * held.sum() * ranges[opponent] / ranges[opponent].sum()
        ranges[opponent] = held
    subgame = Subgame(
        game.state,
        root.board,
        ranges,
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
    known = planned.rows_for(solver, history)
    if is_safe:
        solver.let_turn_down(opponent, response_values(solver, known, opponent), forced)
    if config.warm_start and not is_last:
        warm_start(solver, known, config.warm_start)
    if config.iterations:
        solver.run(config.iterations * (LAST_STREET_FACTOR if is_last else 1))
    else:
        solver.run(_MAX_ITERATIONS, goes_on=Clock(began + config.time if deadline is None else deadline))
    playing = dataclasses.replace(config, purge=0.0) if is_last else config
    nodes = {}
    for decision in solver.streets[0].betting.decisions:
        path = tuple(action for _, action, _ in decision.actions)
        average = solver.strategy(0, decision)
        final = solver.current_strategy(0, decision) if config.play == "final" else average
        rows = played_rows(playing, average, final, frozen.get(path))
        nodes[path] = NodeStrategy(tuple(decision.children), *rows)
    return StreetSolution(
        root,
        nodes,
        added,
        frozen,
        sum(len(street.betting.decisions) for street in solver.streets),
        solver.iteration,
        time.perf_counter() - began,
        solver.evaluate() if is_last and not is_safe else None,
        tuple(int(np.count_nonzero(row)) for row in solver.ranges),
    )


class Clock:
    """Says, when called, whether there is time for one more iteration like the longest so far."""

    def __init__(self, end: float):
        self._end = end
        self._asked = 0.0
        self._longest = 0.0

    def __call__(self) -> bool:  # noqa: D102
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
    most_raises : int
        Of the root's street, behind which the subgame ends: it goes on to the end of the hand.
    """

    most_raises = UNLIMITED_RAISES

    def __init__(self, root: Root):
        self._root = root
        table, rules = root.state, root.state.rules
        self._seats = root.live_seats
        self.dead_chips = sum(table.contributions) - sum(table.contributions[seat] for seat in self._seats)
        self.state = table.copy() if rules.num_seats == 2 else BettingState(self._rules(), self._array())
        self._offers: dict[SearchConfig, Offer] = {}

    def ranges(self, doubt: float) -> np.ndarray:
        """Return what is believed of both, with all hands alike mixed in; these alone where no two hands could meet."""
        rules = self._root.state.rules
        held = ~np.isin(rules.combos, self._root.board).any(axis=1)
        mixed = believed(self._root, self._seats, doubt)
        hands = rank_hands(rules, self._root.board)
        can_meet = bool(mixed[0, hands.combos] @ fold_mass(hands, mixed[1, hands.combos]) > 0.0)
        return mixed if can_meet else np.tile(held / held.sum(), (2, 1))

    def menu(self, config: SearchConfig, added: Added) -> Offer:
        """Return the raises on offer: the game's own if they are few, else as `SearchMenu`; and those added."""
        if config not in self._offers:
            self._offers[config] = self._offer(config)
        return _with_added(self._offers[config], added)

    def history(self, path: Path) -> tuple[tuple[int, int, int], ...]:
        """Return actions with the seats and the street, as in `BettingDecision.actions`."""
        state, history = self.state.copy(), []
        for action in path:
            history.append((state.actor, action, state.street))
            state.apply_legal(action)
        return tuple(history)

    def _offer(self, config: SearchConfig) -> Offer:
        rules, max_nodes = self.state.rules, _most_nodes(config, TWO_SEATS_NODES, TWO_SEATS_NODES_A_SECOND)

        def fits(menu: RaiseMenu) -> bool:
            try:
                street_betting(self.state, menu=menu, dead_chips=self.dead_chips, max_nodes=max_nodes)
            except StreetTooLarge:
                return False
            return True

        def own(game: HoldemRules, array: list[int]) -> tuple[int, ...]:
            return raise_menu(game, array, self.dead_chips) or ()

        if has_few_raises(rules) and fits(own):
            return own
        menu = config.menu(self.state.street, rules.num_streets)
        return SearchMenu(rules, menu, fits, self.dead_chips).raises

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
        array[betting_state.ACTOR] = self._seats.index(self._root.state.actor)
        array[betting_state.ACTING] = 0b11
        array[betting_state.CONTRIB : betting_state.FOLDED] = 0
        array[betting_state.FOLDED : betting_state.STATE_SIZE] = 0
        for place, seat in enumerate(self._seats):
            array[betting_state.CONTRIB + place] = table[betting_state.CONTRIB + seat]
        return array


class ManySeats:
    """The game of a search of one street: the table's own, until the street ends.

    Attributes
    ----------
    state : BettingState
    most_raises : int
        Behind so many of them on the street the subgame ends before that.
    """

    def __init__(self, root: Root):
        self.state = root.state
        ends_early = 0 < self.state.street < self.state.rules.num_streets - 1
        self.most_raises = max(MOST_RAISES, 1 + root.num_raises) if ends_early else UNLIMITED_RAISES
        self._offers: dict[SearchConfig, Offer] = {}

    def menu(self, config: SearchConfig, added: Added) -> Offer:
        """Return the raises on offer: as `SearchMenu`, and those added."""
        if config not in self._offers:
            self._offers[config] = self._offer(config)
        return _with_added(self._offers[config], added)

    def _offer(self, config: SearchConfig) -> Offer:
        array, max_nodes = self.state.array, _most_nodes(config, MAX_NODES, MAX_NODES)
        if self.state.street:
            menu = config.multiway_menu(int(array[betting_state.NUM_ACTING]))
        else:
            menu = config.preflop_menu(int(array[betting_state.NUM_RAISES]))
        return SearchMenu(
            self.state.rules,
            menu,
            lambda raises: is_small(self.state, raises, self.most_raises, config.k, max_nodes),
        ).raises


def believed(root: Root, seats: Sequence[int], doubt: float) -> npt.NDArray[np.float64]:
    """Return what a search counts with for some seats: float64[len(seats), num_combos].

    Hands of `LEAST_BELIEF` are left out, and a share `doubt` of all hands alike is mixed in.
    """
    rows = root.beliefs[list(seats)]
    rows = np.where(rows >= LEAST_BELIEF * rows.max(axis=1, keepdims=True), rows, 0.0)
    held = ~np.isin(root.state.rules.combos, root.board).any(axis=1)
    return (1.0 - doubt) * rows + doubt * held / held.sum()


def played_rows(
    config: SearchConfig, average: np.ndarray, final: np.ndarray, frozen: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return what is believed of a decision's seat and what acts, where it is not held to something else."""
    played = final if config.play == "final" else average
    if config.purge:
        played = _purged(played, config.purge)
    if frozen is not None:
        held = ~np.isnan(frozen[:, :1])
        average, played = (np.where(held, frozen, rows) for rows in (average, played))
    return average, played


def _most_nodes(config: SearchConfig, most: int, in_a_second: int) -> int:
    """Return how many nodes of betting there may be."""
    return most if config.iterations else int(min(most, config.time * in_a_second))


def _with_added(offer: Offer, added: Added) -> Offer:
    def raises(game: HoldemRules, array: list[int]) -> tuple[int, ...]:
        return tuple(sorted({*offer(game, array), *added.get(tuple(array), ())}))

    return raises


def _purged(rows: np.ndarray, least: float) -> np.ndarray:
    """Return strategies without actions that are taken less often, unless that is all of them."""
    kept = np.where(rows >= least, rows, 0.0)
    totals = kept.sum(axis=1, keepdims=True)
    return np.where(totals > 0.0, kept / np.where(totals > 0.0, totals, 1.0), rows)
