"""Nested search through a hand: Algorithm 2 of Brown and Sandholm (2019), as a function of what everybody has seen.

A search begins at the start of each street, from the beliefs there, and what it finds serves the whole street. Before
the flop the blueprint plays, and a search begins behind the first raise that its sizes are too far from. An action that
is not in the betting of a search is added, and the search is done again from where it began, with what was done at the
own decisions on the way held as it was. Beliefs at the next street come from the last search of the one before.

Everything is found once for each public history and kept, so that whoever asks later is told what was played.

References
----------
N. Brown and T. Sandholm: Superhuman AI for multiplayer poker, supplementary material. Science 365 (2019).
"""

import contextlib
import copy
import functools
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards.flops import FlopBuckets, flop_buckets, is_kept
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, PublicState, Strategy
from plurispiel.agents.blueprint.cards import BucketLookup
from plurispiel.agents.resolve.subgame import BucketRows
from plurispiel.agents.search.beliefs import initial_beliefs, likelihood, see_action, see_board
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.multiway import solve_multiway
from plurispiel.agents.search.planned import PlannedRows, nearest_action
from plurispiel.agents.search.subgame import (
    Added,
    NodeStrategy,
    Path,
    Root,
    StreetSolution,
    is_multiway,
    is_searched,
    solve_street,
)

__all__ = ["FoundStrategy", "NestedSearch", "Solutions"]

_NUM_KEPT = 16

Actions = tuple[Action, ...]


class Solutions:
    """Searches of other hands that may come again: what is asked for by the same content is found once.

    Parameters
    ----------
    num_kept : int
    """

    def __init__(self, num_kept: int = _NUM_KEPT):
        self._num_kept = num_kept
        self._found: OrderedDict[tuple, StreetSolution] = OrderedDict()

    def copy(self) -> "Solutions":
        """Return an independent store of the same searches."""
        twin = Solutions(self._num_kept)
        twin._found = self._found.copy()
        return twin

    def get(self, key: tuple, make: Callable[[], StreetSolution]) -> StreetSolution:
        """Return what is kept under a key, or make it."""
        if key in self._found:
            self._found.move_to_end(key)
        else:
            self._found[key] = make()
            if len(self._found) > self._num_kept:
                self._found.popitem(last=False)
        return self._found[key]


class FoundStrategy(NamedTuple):
    """A strategy for a public state.

    Attributes
    ----------
    played : Strategy
        What acts.
    solution : StreetSolution or None
        The search that it is from; None where the blueprint plays.
    """

    played: Strategy
    solution: StreetSolution | None


class _Part(NamedTuple):
    """A street as far as it has been played, by the blueprint or by searches from the same place.

    Attributes
    ----------
    before, here : tuple of Action
        The actions up to where it begins, and those since.
    is_searched : bool
    """

    before: Actions
    here: Actions
    is_searched: bool


class NestedSearch:
    """One seat's searches in one hand.

    Parameters
    ----------
    rules : HoldemRules
    seat : int
        Whose decisions stay as they were when a search is done again.
    blueprint : Agent
        With `range_strategy`, in this hand.
    buckets : BucketLookup
        The blueprint's.
    planned : PlannedRows
        The blueprint's strategies.
    continuations : Continuations or None
        Of the blueprint; without them it plays before the flop and on streets of more than two players.
    config : SearchConfig
    solutions : Solutions
    counts : Counter
        Of ``searches`` without own decisions before, ``searches again`` with such held, how many were ``solved`` (and
        not kept from before), and ``off-model actions``, which no hand should have taken.

    Attributes
    ----------
    searched : list of StreetSolution
        In the order in which they were done or taken from `solutions`.
    """

    def __init__(
        self,
        rules: HoldemRules,
        seat: int,
        blueprint: Agent,
        buckets: BucketLookup,
        planned: PlannedRows,
        continuations: Continuations | None,
        config: SearchConfig,
        solutions: Solutions,
        counts: Counter[str],
    ):
        self._rules = rules
        self._seat = seat
        self._blueprint = blueprint
        self._buckets = buckets
        self._planned = planned
        self._continuations = continuations
        self._config = config
        self._solutions = solutions
        self._counts = counts
        self._states: dict[Path, BettingState] = {(): BettingState(rules)}
        self._strange: dict[Path, bool] = {}
        self._roots: dict[tuple[Path, tuple[int, ...]], Root] = {}
        self._streets: dict[tuple[Path, Path, tuple[int, ...]], StreetSolution] = {}
        self._strategies: dict[tuple[Path, tuple[int, ...]], FoundStrategy] = {}
        self._due = 0.0
        self.searched: list[StreetSolution] = []
        self.combo: int | None = None

    def copy(self, blueprint: Agent, solutions: Solutions, counts: Counter[str]) -> "NestedSearch":
        """Return independent searches of the same hand."""
        twin = copy.copy(self)
        twin._blueprint, twin._solutions, twin._counts = blueprint, solutions, counts
        for name in ("_states", "_strange", "_roots", "_streets", "_strategies"):
            setattr(twin, name, getattr(self, name).copy())
        twin.searched = self.searched.copy()
        return twin

    def strategy(self, public: PublicState) -> FoundStrategy:
        """Return what the seat to act does with every combo."""
        key = _path(public.actions), public.board
        self._due = time.perf_counter() + self._config.time
        if key not in self._strategies:
            self._strategies[key] = self._find(public)
        return self._strategies[key]

    def beliefs(self, public: PublicState) -> np.ndarray:
        """Return the beliefs at a public state: float64[num_seats, num_combos]."""
        self._due = time.perf_counter() + self._config.time
        return self._after(self._part(public.actions, public.street, public.board), public.board)

    def _find(self, public: PublicState) -> FoundStrategy:
        part = self._part(public.actions, public.street, public.board)
        if not part.is_searched:
            strategy = self._blueprint.range_strategy(public)
            assert strategy is not None
            return FoundStrategy(strategy, None)
        solution = self._solution(part.before, part.here, public.board)
        node = solution.nodes[_path(part.here)]
        left_out = ~(self._own_reach(solution, part.here, public.actor) > 0.0)[:, None] | np.isnan(node.played[:, :1])
        played = np.where(left_out, 1.0 / len(node.actions), node.played)
        left_out[np.isin(self._rules.combos, public.board).any(axis=1)] = False
        if left_out.any():
            played = np.where(left_out, self._spare_rows(public, node), played)
        return FoundStrategy(Strategy(np.array(node.actions), played), solution)

    def _own_reach(self, solution: StreetSolution, here: Actions, seat: int) -> np.ndarray:
        """Return with which probability each combo has done what its seat did since the root of a search."""
        reach = np.ones(self._rules.num_combos)
        for number, action in enumerate(here):
            if action.seat == seat:
                reach *= self._chances(solution.nodes[_path(here[:number])], action.action)
        return reach

    def _spare_rows(self, public: PublicState, node: NodeStrategy) -> np.ndarray:
        """Return what the blueprint does with every combo, by the nearest actions of a decision."""
        strategy = self._blueprint.range_strategy(public)
        assert strategy is not None
        rows = np.zeros((self._rules.num_combos, len(node.actions)))
        for column, action in enumerate(strategy.actions.tolist()):
            rows[:, nearest_action(node.actions, action)] += strategy.probabilities[:, column]
        return rows

    def _part(self, actions: Actions, street: int, board: tuple[int, ...]) -> _Part:
        """Return where a decision on a street belongs.

        A search begins with the street, or with the last own decision where it can (`SearchConfig.root`); before the
        flop, behind the first raise that is strange to the blueprint.
        """
        first = _street_start(actions, street)
        if not street:
            starts = [stop for stop, action in enumerate(actions, start=1) if action.action > CALL]
        elif self._config.root == "street":
            starts = [first]
        else:
            seats = [*(action.seat for action in actions[first:]), self._state(actions).actor]
            starts = [first + number for number, seat in enumerate(seats) if seat == self._seat][::-1] + [first]
        for start in starts:
            before = actions[:start]
            if self._is_searched(self._state(before)) and (street or self._is_strange(before, board)):
                return _Part(before, actions[start:], True)
        return _Part(actions[:first], actions[first:], False)

    def _is_strange(self, actions: Actions, board: tuple[int, ...]) -> bool:
        """Return whether the last action is a raise more than a big blind away from all that the blueprint offers."""
        path = _path(actions)
        if path not in self._strange:
            strategy = self._blueprint.range_strategy(self._public(actions[:-1], board))
            assert strategy is not None
            offered = strategy.actions[strategy.actions > CALL]
            self._strange[path] = bool((abs(offered - path[-1]) > self._rules.big_blind).all())
        return self._strange[path]

    def _solution(self, before: Actions, here: Actions, board: tuple[int, ...]) -> StreetSolution:
        """Return the search that serves at a point behind where searches of a street begin."""
        key = _path(before), _path(here), board
        if key not in self._streets:
            self._streets[key] = self._search(before, here, board)
        return self._streets[key]

    def _search(self, before: Actions, here: Actions, board: tuple[int, ...]) -> StreetSolution:
        """Search, or find out which search serves.

        A search is done where the searched part of a street begins, or after the last action that is not on the menu,
        and then only once, however many of them came before the own first decision.
        """
        with self._in_half_the_time():
            root = self._root(before, board)
        added, stop = root.strangers(self._config, _path(here))
        if stop < len(here):
            return self._solution(before, here[:stop], board)
        own = [number for number, action in enumerate(here) if action.seat == self._seat]
        frozen = {}
        if own:
            with self._in_half_the_time():
                known = self._solution(before, here[: own[-1]], board)
            frozen = self._frozen(known, here, own)
        self._counts["searches again" if frozen else "searches"] += 1
        return self._solve(root, before, here, added, frozen)

    @contextlib.contextmanager
    def _in_half_the_time(self) -> Iterator[None]:
        """Do searches of what came before in half of the time that is left."""
        due = self._due
        self._due = 0.5 * (time.perf_counter() + due)
        yield
        self._due = due

    def _is_searched(self, state: BettingState) -> bool:
        """Return whether what begins like this is searched."""
        return is_searched(state) or (self._continuations is not None and is_multiway(state))

    def _frozen(self, known: StreetSolution, here: Actions, own: list[int]) -> dict[Path, np.ndarray]:
        """Return what the own decisions so far are held to."""
        frozen = {}
        for number in own:
            path = _path(here[:number])
            if here[number].action not in known.nodes[path].actions:
                continue  # not an action of this search: the hand was taken over
            rows = known.nodes[path].played
            if self._config.freeze == "range":
                frozen[path] = np.where(np.isnan(rows), 1.0 / rows.shape[1], rows)
            elif self.combo is not None and not np.isnan(rows[self.combo]).any():
                frozen[path] = np.full_like(rows, np.nan)
                frozen[path][self.combo] = rows[self.combo]
        return frozen

    def _solve(
        self, root: Root, before: Actions, here: Actions, added: Added, frozen: dict[Path, np.ndarray]
    ) -> StreetSolution:
        after = None if is_searched(root.state) else self._continuations
        paths = _path(before), _path(here)

        def make() -> StreetSolution:
            self._counts["solved"] += 1
            began, deadline = time.perf_counter(), self._due
            if after is not None:
                return solve_multiway(
                    root,
                    self._config,
                    after,
                    self._planned,
                    *paths,
                    added=added,
                    frozen=frozen,
                    began=began,
                    deadline=deadline,
                )
            return solve_street(
                root,
                self._config,
                self._bucket_rows(root.board),
                self._planned,
                paths[0],
                self._seat,
                added=added,
                frozen=frozen,
                began=began,
                deadline=deadline,
            )

        key = (
            self._rules,
            paths if after is not None else (paths[0], self._seat if self._config.safe else -1),
            root.board,
            root.beliefs.tobytes(),
            tuple(sorted(added.items())),
            tuple((path, rows.tobytes()) for path, rows in sorted(frozen.items(), key=lambda item: item[0])),
        )
        solution = self._solutions.get(key, make)
        self.searched.append(solution)
        return solution

    def _bucket_rows(self, board: tuple[int, ...]) -> BucketRows:
        """Return what puts hands in buckets on streets after this one."""
        config = self._config
        if config.cards == "flop-500" and _is_holdem(self._rules) and len(board) < self._rules.num_board_cards:
            if config.iterations or is_kept(board[:3]):
                return _flop_buckets(board[:3], config.num_threads).row
        return lambda cards: self._buckets.row(cards, self._rules.street_of_board(cards))

    def _root(self, before: Actions, board: tuple[int, ...]) -> Root:
        """Return where a part of the hand begins."""
        key = _path(before), board
        if key not in self._roots:
            beliefs = see_board(self._at_end(before, board), self._rules, board)
            self._roots[key] = Root(self._state(before), board, beliefs)
        return self._roots[key]

    def _at_end(self, actions: Actions, board: tuple[int, ...]) -> np.ndarray:
        """Return the beliefs after the last action of a part, before new cards."""
        if not actions:
            return initial_beliefs(self._rules)
        street = actions[-1].street
        seen = board[: self._rules.board_size(street)]
        part = self._part(actions[:-1], street, seen)
        return self._after(part._replace(here=(*part.here, actions[-1])), seen)

    def _after(self, part: _Part, board: tuple[int, ...]) -> np.ndarray:
        """Return the beliefs after the actions of a part, by the last search of it."""
        root = self._root(part.before, board)
        beliefs = root.beliefs
        last = self._solution(part.before, part.here, board) if part.is_searched and part.here else None
        for number, action in enumerate(part.here):
            past = part.here[:number]
            if last is None:
                public = self._public((*part.before, *past), board)
                strategy = self._blueprint.range_strategy(public)
                assert strategy is not None
                chances, num_actions = likelihood(strategy, public, action.action), len(strategy.actions)
            else:
                node = last.nodes[_path(past)]
                chances, num_actions = self._chances(node, action.action), len(node.actions)
            beliefs, is_expected = see_action(beliefs, action.seat, chances, num_actions)
            self._counts["off-model actions"] += not is_expected
        return beliefs

    def _chances(self, node: NodeStrategy, action: int) -> np.ndarray:
        """Return with which probability each combo takes an action; combos that were left out have none."""
        return np.nan_to_num(node.average[:, node.actions.index(action)], nan=0.0)

    def _public(self, actions: Actions, board: tuple[int, ...]) -> PublicState:
        return PublicState(self._rules, self._state(actions).array.tolist(), board, actions)

    def _state(self, actions: Actions) -> BettingState:
        path = _path(actions)
        if path not in self._states:
            state = self._state(actions[:-1]).copy()
            state.apply_legal(path[-1])
            self._states[path] = state
        return self._states[path]


@functools.lru_cache(4)
def _flop_buckets(flop: tuple[int, ...], threads: int) -> FlopBuckets:
    return flop_buckets(flop, threads=threads)


def _path(actions: Actions) -> Path:
    return tuple(action for _, action, _ in actions)


def _street_start(actions: Actions, street: int) -> int:
    """Return how many actions came before a street."""
    return sum(action.street < street for action in actions)


def _is_holdem(rules: HoldemRules) -> bool:
    return (rules.num_suits, rules.num_ranks, rules.num_hole_cards) == (4, 13, 2) and rules.board_cards == (0, 3, 1, 1)
