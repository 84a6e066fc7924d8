"""Nested search through a hand: Algorithm 2 of Brown and Sandholm (2019), as a function of the public state.

A hand falls into segments (`segments`). All searches of a segment begin at the segment's root, and the latest search
gives the strategies and the beliefs from then on. When a raise comes that the search does not offer, the raise is added
and the subgame is solved again from the same root. The strategies of the seat's own earlier decisions in the segment
are frozen. The paper changes state at each event of the hand; here every result is computed when it is first asked for,
and kept. So a later question gets the answer that was played.

The order of calls, in `NestedSearch`:

1. `strategy(public)` finds the segment of the decision and asks for its solution; `beliefs(public)` begins at 6.
2. `_solution(before, here)` returns the search that serves after the actions `here` of a segment, from memory or by 3.
3. `_search(before, here)` asks for the root (4), and finds the latest raise of `here` that the root's menu does not
   offer, or at which the root's subgame would end (`Root.off_tree_raises`). If actions come after this raise, the
   search right after the raise serves (2 with fewer actions). If `here` has actions but no such raise, the search at
   the root serves. Two cases are left: `here` is empty, or its last action is such a raise. Then `_search` solves. If
   the seat has already decided in `here`, `_search` first asks for the search at the latest of these decisions (2 with
   fewer actions), and freezes all these decisions.
4. `_root(before)` takes the beliefs at the end of the previous segment (5), and updates them for new board cards.
5. `_beliefs_at_end(before)` finds the segment that ends with the last action of `before`, and continues with 6. Before
   any action beliefs are uniform.
6. `_beliefs_after(segment)` begins with the beliefs at the segment's root (4), and updates them for each action of the
   segment: by the segment's last search (2), or by the blueprint if the segment was not searched.

The recursion ends: 3 calls 2 with fewer actions after the same root, and 5 leads to an earlier root.

References
----------
N. Brown and T. Sandholm: Superhuman AI for multiplayer poker, supplementary material. Science 365 (2019).
"""

import copy
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, PublicState, Strategy
from plurispiel.agents.blueprint.cards import BucketLookup
from plurispiel.agents.blueprint.translated_rows import nearest_rows
from plurispiel.agents.search.beliefs import initial_beliefs, likelihood, see_action, see_board
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.later_buckets import later_buckets
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.multiway import solve_multiway
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import AddedRaises, Root, can_search_two
from plurispiel.agents.search.segments import Actions, Segment, Segments, path_of
from plurispiel.agents.search.solution import Deadline, SearchedNode, Solutions, StreetSolution
from plurispiel.agents.search.street_tree import Path
from plurispiel.agents.search.two_seats import solve_two_seats

__all__ = ["FoundStrategy", "NestedSearch", "RootBeliefs", "SearchBlueprint"]

RootBeliefs = Callable[[Root], np.ndarray]
"""Maps a root to the beliefs that replace the root's own beliefs: float64[num_seats, num_combos]."""


class FoundStrategy(NamedTuple):
    """A strategy for a public state.

    Attributes
    ----------
    played : Strategy
        The strategy that acts, for every combo.
    solution : StreetSolution or None
        The search that found the strategy; None where the blueprint plays.
    """

    played: Strategy
    solution: StreetSolution | None


class SearchBlueprint(NamedTuple):
    """The parts of a blueprint that searches use.

    Attributes
    ----------
    agent : Agent
        The blueprint's agent in this hand; it must have `range_strategy`.
    buckets : BucketLookup
        The bucket of every combo on a board.
    planned : PlannedRows
        The blueprint's strategies, translated to the betting of searches.
    continuations : Continuations or None
        None for a blueprint without a bucket table, and in a game of one street: then the blueprint plays before the
        flop, and on later streets with more than two players.
    """

    agent: Agent
    buckets: BucketLookup
    planned: PlannedRows
    continuations: Continuations | None


class NestedSearch:
    """One seat's searches in one hand.

    Parameters
    ----------
    rules : HoldemRules
    seat : int
        The seat whose decisions stay frozen when a subgame is solved again.
    blueprint : SearchBlueprint
    config : SearchConfig
    solutions : Solutions
        The memory of earlier solutions, where each solution is looked up first.
    counts : Counter
        Counts ``searches`` without frozen decisions, ``searches again`` with the seat's earlier decisions frozen, and
        the searches of both kinds that were ``solved`` instead of found in `solutions`. Also counts ``off-model
        actions``, to which the strategy assumed for the acting seat gave probability 0 with every hand of its range.
        Such an action is counted each time that beliefs are inferred from it.
    root_beliefs : callable, optional
        Maps a root to the beliefs that replace the root's own beliefs.

    Attributes
    ----------
    searched : list of StreetSolution
        The searches of the hand, in the order in which they were solved or taken from `solutions`.
    combo : int or None
        The combo that the seat holds, for ``freeze=hand``.
    """

    def __init__(
        self,
        rules: HoldemRules,
        seat: int,
        blueprint: SearchBlueprint,
        config: SearchConfig,
        solutions: Solutions[StreetSolution],
        counts: Counter[str],
        root_beliefs: RootBeliefs | None = None,
    ):
        self._rules = rules
        self._seat = seat
        self._blueprint = blueprint
        self._config = config
        self._solutions = solutions
        self._counts = counts
        self._root_beliefs = root_beliefs
        has_continuations = blueprint.continuations is not None
        self._segments = Segments(rules, seat, blueprint.agent, config, has_continuations=has_continuations)
        self._roots: dict[tuple[Path, tuple[int, ...]], Root] = {}
        self._streets: dict[tuple[Path, Path, tuple[int, ...]], StreetSolution] = {}
        self._strategies: dict[tuple[Path, tuple[int, ...]], FoundStrategy] = {}
        self._deadline = Deadline()
        self.searched: list[StreetSolution] = []
        self.combo: int | None = None

    def copy(self, agent: Agent, solutions: Solutions[StreetSolution], counts: Counter[str]) -> "NestedSearch":
        """Return independent searches of the same hand, with a copy of the blueprint's agent."""
        twin = copy.copy(self)
        twin._blueprint, twin._solutions, twin._counts = self._blueprint._replace(agent=agent), solutions, counts
        twin._segments = self._segments.copy(agent)
        twin._deadline = Deadline()
        # Shallow copies: roots and solutions never change once they are made.
        for name in ("_roots", "_streets", "_strategies"):
            setattr(twin, name, getattr(self, name).copy())
        twin.searched = self.searched.copy()
        return twin

    def strategy(self, public: PublicState) -> FoundStrategy:
        """Return the strategy of the seat to act, for every combo."""
        key = path_of(public.actions), public.board
        self._deadline.begin(self._config.time)
        if key not in self._strategies:
            self._strategies[key] = self._find(public)
        return self._strategies[key]

    def beliefs(self, public: PublicState) -> np.ndarray:
        """Return the beliefs at a public state: float64[num_seats, num_combos]."""
        self._deadline.begin(self._config.time)
        return self._beliefs_after(self._segments.at(public.actions, public.street, public.board), public.board)

    def _find(self, public: PublicState) -> FoundStrategy:
        segment = self._segments.at(public.actions, public.street, public.board)
        if not segment.is_searched:
            return FoundStrategy(self._planned(public), None)
        solution = self._solution(segment.before, segment.here, public.board)
        node = solution.nodes[path_of(segment.here)]
        # Two kinds of hands play the blueprint. Hands outside the search's ranges have no strategy there (NaN). Hands
        # that never take the seat's earlier actions have reach 0, so the search learnt nothing for them.
        reach = self._seat_reach(solution, segment.here, public.actor)
        use_blueprint = ~(reach > 0.0)[:, None] | np.isnan(node.played[:, :1])
        played = np.where(use_blueprint, 1.0 / len(node.actions), node.played)
        # Blocked combos keep the uniform row: nobody can hold them, and the blueprint need not be asked for them.
        use_blueprint[~self._rules.free_combos(public.board)] = False
        if use_blueprint.any():
            played = np.where(use_blueprint, nearest_rows(self._planned(public), node.actions), played)
        return FoundStrategy(Strategy(np.array(node.actions), played), solution)

    def _seat_reach(self, solution: StreetSolution, here: Actions, seat: int) -> np.ndarray:
        """Return the probability, by combo, of the actions that a seat took since the root: float64[num_combos]."""
        reach = np.ones(self._rules.num_combos)
        for number, action in enumerate(here):
            if action.seat == seat:
                reach *= _action_probability(solution.nodes[path_of(here[:number])], action.action)
        return reach

    def _planned(self, public: PublicState) -> Strategy:
        strategy = self._blueprint.agent.range_strategy(public)
        assert strategy is not None
        return strategy

    def _solution(self, before: Actions, here: Actions, board: tuple[int, ...]) -> StreetSolution:
        """Return the search that serves after the actions `here` of a segment."""
        key = path_of(before), path_of(here), board
        if key not in self._streets:
            self._streets[key] = self._search(before, here, board)
        return self._streets[key]

    def _search(self, before: Actions, here: Actions, board: tuple[int, ...]) -> StreetSolution:
        """Search, or find the earlier search that serves.

        The search that serves is made right after the latest raise that is not offered or at which the subgame ends. If
        there is no such raise, it is the search at the root. Several such raises since the seat's last decision take
        one search together.
        """
        with self._deadline.half():
            root = self._root(before, board)
        added, stop = root.off_tree_raises(self._config, path_of(here))
        if stop < len(here):
            return self._solution(before, here[:stop], board)
        decisions = [number for number, action in enumerate(here) if action.seat == self._seat]
        frozen = {}
        if decisions:
            with self._deadline.half():
                # The search that served the last decision also holds the earlier decisions: it served them, too, or
                # they were frozen in it.
                known = self._solution(before, here[: decisions[-1]], board)
            frozen = self._frozen(known, here, decisions)
        self._counts["searches again" if frozen else "searches"] += 1
        return self._solve(root, before, here, added, frozen)

    def _frozen(self, known: StreetSolution, here: Actions, decisions: list[int]) -> dict[Path, np.ndarray]:
        """Return the frozen strategy of each of the seat's decisions so far; rows of NaN stay free."""
        frozen = {}
        for number in decisions:
            path = path_of(here[:number])
            if here[number].action not in known.nodes[path].actions:
                continue  # no search offered this action, so another agent played the seat then
            rows = known.nodes[path].played
            if self._config.freeze == "range":
                # NaN would mean that the row is not frozen. In `rows` it marks hands outside the root's ranges, which
                # are the same in the new search, so that any strategy will do for these hands.
                frozen[path] = np.where(np.isnan(rows), 1.0 / rows.shape[1], rows)
            elif self.combo is not None and not np.isnan(rows[self.combo]).any():
                # As published (Algorithm 2, line 13): only the hand held. Strategies of other hands then depend on it.
                frozen[path] = np.full_like(rows, np.nan)
                frozen[path][self.combo] = rows[self.combo]
        return frozen

    def _solve(
        self, root: Root, before: Actions, here: Actions, added: AddedRaises, frozen: dict[Path, np.ndarray]
    ) -> StreetSolution:
        blueprint, config = self._blueprint, self._config
        history, path = path_of(before), path_of(here)
        continuations = None if can_search_two(root.state) else blueprint.continuations

        def make() -> StreetSolution:
            self._counts["solved"] += 1
            began, deadline = time.perf_counter(), self._deadline.due
            if continuations is not None:
                return solve_multiway(
                    root,
                    config,
                    continuations,
                    blueprint.planned,
                    history,
                    path,
                    added=added,
                    frozen=frozen,
                    began=began,
                    deadline=deadline,
                )
            return solve_two_seats(
                root,
                config,
                later_buckets(config, self._rules, blueprint.buckets, root.board),
                blueprint.planned,
                history,
                self._seat,
                added=added,
                frozen=frozen,
                began=began,
                deadline=deadline,
            )

        key = (
            self._rules,
            # The depth of a multiway subgame depends on the path, the gadget of a safe search on the seat.
            (history, path) if continuations is not None else (history, self._seat if config.safe else -1),
            root.board,
            root.beliefs.tobytes(),
            tuple(sorted(added.items())),
            tuple((path, rows.tobytes()) for path, rows in sorted(frozen.items(), key=lambda item: item[0])),
        )
        solution = self._solutions.get(key, make)
        self.searched.append(solution)
        return solution

    def _root(self, before: Actions, board: tuple[int, ...]) -> Root:
        """Return the root of the segment that begins after some actions."""
        key = path_of(before), board
        if key not in self._roots:
            beliefs = see_board(self._beliefs_at_end(before, board), self._rules, board)
            root = Root(self._segments.state(before), board, beliefs)
            if self._root_beliefs is not None:
                root = Root(root.state, board, self._root_beliefs(root))
            self._roots[key] = root
        return self._roots[key]

    def _beliefs_at_end(self, actions: Actions, board: tuple[int, ...]) -> np.ndarray:
        """Return the beliefs after `actions`, whose last action ends a segment, before new board cards."""
        if not actions:
            return initial_beliefs(self._rules)
        street = actions[-1].street
        seen = board[: self._rules.board_size(street)]
        # `at` gets the actions before the last one. With the last action, too, it could find a segment that begins
        # after that action.
        segment = self._segments.at(actions[:-1], street, seen)
        return self._beliefs_after(segment._replace(here=(*segment.here, actions[-1])), seen)

    def _beliefs_after(self, segment: Segment, board: tuple[int, ...]) -> np.ndarray:
        """Return the beliefs after the actions of a segment.

        The segment's *last* search gives the probabilities of all these actions, as it knows every action that was
        taken. So the beliefs that earlier actions lead to change with each search, as in the paper.
        """
        beliefs = self._root(segment.before, board).beliefs
        last = None
        if segment.is_searched and segment.here:
            last = self._solution(segment.before, segment.here, board)
        for number, action in enumerate(segment.here):
            past = segment.here[:number]
            if last is None:
                public = self._segments.public((*segment.before, *past), board)
                strategy = self._planned(public)
                probability, num_actions = likelihood(strategy, public, action.action), len(strategy.actions)
            else:
                node = last.nodes[path_of(past)]
                probability, num_actions = _action_probability(node, action.action), len(node.actions)
            beliefs, is_expected = see_action(beliefs, action.seat, probability, num_actions)
            self._counts["off-model actions"] += not is_expected
        return beliefs


def _action_probability(node: SearchedNode, action: int) -> np.ndarray:
    """Return each combo's probability of an action, 0 outside the search's ranges: float64[num_combos]."""
    # Beliefs follow the average even where the final iterate plays, as in the supplement.
    return np.nan_to_num(node.average[:, node.actions.index(action)], nan=0.0)
