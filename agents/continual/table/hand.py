"""Continual re-solving through a hand of heads-up hold'em, as a function of the public history.

With a blueprint, the blueprint plays before the flop, and translates bets. The flop begins with the ranges that both
seats hold if both play the blueprint. A seat's first decision on the flop is answered by a solve from the start of the
flop, without a gadget: this solve trusts these ranges. Without a blueprint, the start of the hand is solved in the same
way, as both ranges are known there. This solution serves the seat that acts first, and gives the other seat its first
bounds.

At each later decision the seat solves anew, from its own range and from bounds on the opponent's values (`Carried`),
which come from its previous solution. The solve begins at the decision. It begins with the street if no earlier
solution tells with which hands the opponent bets there (`TableHand._root`). Either way the opponent's bet keeps its
size, and none is translated.

Without a time limit, the settings, the ranges where re-solving begins, the board and the actions determine a solution.
So the result does not depend on which decisions were asked for before.

The *estimate* is the opponent's range according to the last solution. If there are no bounds, the solver takes the
estimate as the opponent's range. Otherwise a share of the opponent's weight is spread like the estimate, and enters the
subgame without the choice to terminate (`TableConfig.estimate`). This share falls if the opponent takes actions that
the estimated strategies seldom take (`trusted`). In the estimate, bets off the menu count as the mean of their two
neighbours (`likelihood`).
"""

import copy
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.actions.menu import BetMenu, parse_sizes
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Agent, PublicState, Strategy
from plurispiel.agents.blueprint.cards import BucketLookup
from plurispiel.agents.blueprint.translated_rows import nearest_rows
from plurispiel.agents.continual.carried import NOBODY, Carried, trusted
from plurispiel.agents.continual.table.config import TableConfig
from plurispiel.agents.continual.table.street import MAX_TIMED, Solved, SolvedStreet, StreetNets, solve_street
from plurispiel.agents.continual.table.subgame import solve_subgame
from plurispiel.agents.search.beliefs import OFF_MODEL_SHARE, likelihood, planned_beliefs, see_action, see_board
from plurispiel.agents.search.later_buckets import later_buckets
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import Root
from plurispiel.agents.search.search_menu import SearchMenu
from plurispiel.agents.search.segments import Actions, path_of
from plurispiel.agents.search.solution import Deadline, Solutions
from plurispiel.agents.search.street_tree import Path

__all__ = ["BlueprintPlay", "TableDecision", "TableHand", "TableNets"]

_PREFLOP = BetMenu(((tuple(map(parse_sizes, ("0.5p 1p allin", "0.5p 1p 2p allin", "1p allin"))),), (((),),)))
"""Raises in solves before the flop, by the number of raises so far, as in the paper's table S3. The flop has none:
networks give its values."""


_ENOUGH = 0.5
"""A solution of an earlier hand that took less than this share of the time left is solved again, unless it has
`MAX_TIMED` iterations. The start of the hand recurs in every hand. The big blind solves it in half of its time, the
button in all of it."""


class BlueprintPlay(NamedTuple):
    """The parts of a blueprint that a hand needs.

    Attributes
    ----------
    agent : Agent
        The blueprint's agent in this hand; it must have `range_strategy`.
    buckets : BucketLookup
    planned : PlannedRows
        The blueprint's strategies, translated to the betting of solves.
    """

    agent: Agent
    buckets: BucketLookup
    planned: PlannedRows


class TableNets(NamedTuple):
    """The networks that stand for later streets.

    Attributes
    ----------
    flop, preflop : StreetNets or None
        The networks for solves of these streets. None for `flop`: the flop is solved to the end of the hand. None for
        `preflop`: a blueprint plays before the flop.
    """

    flop: StreetNets | None = None
    preflop: StreetNets | None = None


@dataclass(frozen=True, eq=False)
class TableDecision:
    """A decision that the blueprint does not play.

    Attributes
    ----------
    carried : Carried
        The range and the bounds that the seat to act carries to the decision.
    path : Path
        The actions from the root of the decision's solution to the decision: empty, except that a seat's first
        decision on a street may have some.
    actions : tuple of int
        The actions on offer, ascending.
    played : float64[num_combos, num_actions]
        The strategy that acts. Hands that the seat's range lacks play the blueprint, or without one each action
        with equal probability.
    """

    carried: Carried
    path: Path
    actions: tuple[int, ...]
    played: npt.NDArray[np.float64]


class TableHand:
    """The re-solving of both seats in one hand.

    Parameters
    ----------
    rules : HoldemRules
    blueprint : BlueprintPlay or None
        None to re-solve from the start of the hand, with `nets.preflop`.
    config : TableConfig
    solutions : Solutions
        The memory of solutions from the flop on. A solution in memory is not computed again.
    counts : Counter
        ``solves`` counts all solves. ``anew`` counts solves without bounds after a seat's first solve. They are needed
        if no hand of the seat's range takes the seat's last action. For ``clamped`` see `base.TellsOrigins`.
    nets : TableNets
    lines : Solutions
        The memory of solutions before the flop, which many hands need, because many begin with the same actions.
    """

    def __init__(
        self,
        rules: HoldemRules,
        blueprint: BlueprintPlay | None,
        config: TableConfig,
        solutions: Solutions[Solved],
        counts: Counter[str],
        nets: TableNets,
        lines: Solutions[Solved],
    ):
        self._rules, self._blueprint, self._lines = rules, blueprint, lines
        self._first_street = 0 if blueprint is None else 1
        self._config, self._search = config, config.search
        self._solutions, self._counts, self._nets = solutions, counts, nets
        self._deadline = Deadline()
        self._states: dict[Path, BettingState] = {(): BettingState(rules)}
        self._flops: dict[tuple[Path, tuple[int, ...]], np.ndarray] = {}
        self._carried: dict[tuple[Path, tuple[int, ...]], Carried] = {}
        self._decisions: dict[tuple[Path, tuple[int, ...]], TableDecision] = {}
        self._asked: set[tuple] = set()  # the keys of the solutions that this hand has asked for

    def copy(
        self,
        agent: Agent | None,
        solutions: Solutions[Solved],
        counts: Counter[str],
        lines: Solutions[Solved],
    ) -> "TableHand":
        """Return an independent copy in the same hand, with a copy of the blueprint's agent."""
        twin = copy.copy(self)
        twin._solutions, twin._lines, twin._counts, twin._deadline = solutions, lines, counts, Deadline()
        if self._blueprint is not None and agent is not None:
            twin._blueprint = self._blueprint._replace(agent=agent)
        # Shallow copies: states and decisions never change once they are made.
        for name in ("_states", "_flops", "_carried", "_decisions", "_asked"):
            setattr(twin, name, getattr(self, name).copy())
        return twin

    def strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of the seat to act, for every combo."""
        if public.street < self._first_street:
            assert self._blueprint is not None
            strategy = self._blueprint.agent.range_strategy(public)
            assert strategy is not None, "a blueprint reports its strategy"
            return strategy
        found = self.decision(public)
        return Strategy(np.array(found.actions), found.played)

    def decision(self, public: PublicState) -> TableDecision:
        """Return the decision at a public state where the seat to act re-solves."""
        self._deadline.begin(self._config.time)
        return self._decision(public.actions, public.board)

    def solution(self, public: PublicState) -> Solved:
        """Return the solution behind the decision at a public state where the seat to act re-solves."""
        self._deadline.begin(self._config.time)
        return self._solution(public.actions, public.board)

    def _decision(self, actions: Actions, board: tuple[int, ...]) -> TableDecision:
        key = path_of(actions), board
        if key not in self._decisions:
            self._decisions[key] = self._decide(actions, board)
        return self._decisions[key]

    def _decide(self, actions: Actions, board: tuple[int, ...]) -> TableDecision:
        solved, carried = self._solution(actions, board), self._root_carried(actions, board)
        path = path_of(actions[len(solved.history) :])
        # The estimate so far is that of the root; the solution tells how the opponent has acted since.
        estimate, trust = self._estimate(solved, carried, actions, len(path), board, self._state(actions).actor)
        strategy = solved.played(path, self._config.purge)
        assert strategy is not None, "the raises that were made are on offer"
        public, offered = self._public(actions, board), tuple(strategy.actions.tolist())
        left_out = np.isnan(strategy.probabilities[:, :1])
        played = np.where(left_out, 1.0 / len(offered), strategy.probabilities)
        left_out[~self._rules.free_combos(board)] = False
        if left_out.any() and self._blueprint is not None:
            blueprint = self._blueprint.agent.range_strategy(public)
            assert blueprint is not None, "a blueprint reports its strategy"
            played = np.where(left_out, nearest_rows(blueprint, offered), played)
        return TableDecision(Carried(carried.range, carried.bounds, estimate, trust), path, offered, played)

    def _last(self, actions: Actions) -> int | None:
        """Return the number of actions before the actor's last decision that was re-solved; None without one."""
        seat = self._state(actions).actor
        own = [
            number
            for number, action in enumerate(actions)
            if action.seat == seat and action.street >= self._first_street
        ]
        return own[-1] if own else None

    def _root_carried(self, actions: Actions, board: tuple[int, ...]) -> Carried:
        """Return the range and bounds that the seat to act carries to the root of its decision's solution.

        The root is the start of the street, or the decision itself (`_root`).
        """
        key = path_of(actions), board
        if key not in self._carried:
            self._carried[key] = self._carry(actions, board)
        return self._carried[key]

    def _carry(self, actions: Actions, board: tuple[int, ...]) -> Carried:
        seat, before = self._state(actions).actor, self._last(actions)
        if before is None:
            beliefs = self._first_beliefs(actions, board)
            if self._first_street or not actions:
                return Carried(beliefs[seat], None, beliefs[1 - seat])
            with self._deadline.half():  # the opponent has acted: its values at the start are bounds
                start = self._solution((), ())
            assert isinstance(start, SolvedStreet)
            begun = Carried(beliefs[seat], None, beliefs[1 - seat])
            estimate, trust = self._estimate(start, begun, actions, len(actions), (), seat)
            return Carried(beliefs[seat], start.root_values(1 - seat), estimate, trust)
        _, action, street = actions[before]
        then = board[: self._rules.board_size(street)]
        with self._deadline.half():
            last, solved = self._decision(actions[:before], then), self._solution(actions[:before], then)
        free = self._rules.free_combos(board)
        estimate, trust = self._estimate(solved, last.carried, actions, len(actions) - before, board, seat)
        taken = last.played[:, last.actions.index(action)] if action in last.actions else np.zeros(len(free))
        left = last.carried.range * taken * free
        if left.sum() < NOBODY:
            return Carried(free / free.sum(), None, estimate, trust)
        on_street = path_of(tuple(each for each in actions[before:] if each.street == street))
        dealt = board[len(then) :]
        bounds = solved.bounds_after((*last.path, *(on_street if dealt else on_street[:1])), dealt)
        return Carried(left / left.sum(), bounds, estimate, trust)

    def _estimate(
        self,
        solved: Solved,
        carried: Carried,
        actions: Actions,
        num_since: int,
        board: tuple[int, ...],
        own_seat: int,
    ) -> tuple[np.ndarray, float]:
        """Return the opponent's range by a solution's average strategies, float64[num_combos], and the trust in it.

        Parameters
        ----------
        carried : Carried
            Its estimate and trust are those before the last `num_since` actions.
        own_seat : int
            The seat that estimates. It can differ from `solved.seat`, as both seats use the solution of the start of
            the hand.
        """
        estimate, trust = carried.estimate, carried.trust
        assert estimate is not None
        root = len(solved.history)
        for number in range(len(actions) - num_since, len(actions)):
            seat, action, street = actions[number]
            seen = board[: self._rules.board_size(street)]
            estimate = see_board(estimate[None], self._rules, seen)[0]
            if seat == own_seat:
                continue
            strategy = solved.strategy(path_of(actions[root:number]), seen[len(solved.root.board) :])
            if strategy is not None:
                known = Strategy(strategy.actions, np.nan_to_num(strategy.probabilities, nan=0.0))
                chances = likelihood(known, self._public(actions[:number], seen), action)
                trust = min(1.0, trust * max(dot(estimate, chances) * len(known.actions), OFF_MODEL_SHARE))
                estimate = see_action(estimate[None], 0, chances, len(known.actions))[0][0]
        return see_board(estimate[None], self._rules, board)[0], trust

    def _first_beliefs(self, actions: Actions, board: tuple[int, ...]) -> np.ndarray:
        """Return both seats' ranges where re-solving begins: on the flop with a blueprint, else at the hand's start."""
        if self._blueprint is None:
            return np.full((2, self._rules.num_combos), 1.0 / self._rules.num_combos)
        before = tuple(action for action in actions if not action.street)
        flop = board[: self._rules.board_size(1)]
        key = path_of(before), flop
        if key not in self._flops:
            self._flops[key] = planned_beliefs(self._blueprint.agent, self._rules, before, flop)[1]
        return self._flops[key]

    def _solution(self, actions: Actions, board: tuple[int, ...]) -> Solved:
        """Return the solution that serves a decision, from memory or by solving."""
        carried, is_first = self._root_carried(actions, board), self._last(actions) is None
        size = self._root(actions)
        history, path = path_of(actions[:size]), path_of(actions[size:])
        seat, blueprint = self._state(actions).actor, self._blueprint
        assert carried.estimate is not None
        beliefs = np.empty((2, self._rules.num_combos))
        beliefs[seat], beliefs[1 - seat] = carried.range, carried.estimate
        root = Root(self._state(actions[:size]), board, beliefs)
        added = root.off_tree_raises(self._search, path)[0] if path else {}

        def make() -> Solved:
            self._counts["solves"] += 1
            self._counts["anew"] += carried.bounds is None and not is_first
            nets, share = self._street_nets(root.state.street), trusted(self._config.estimate, carried.trust)
            if nets is not None:
                street = solve_street(
                    root,
                    seat,
                    carried.bounds,
                    self._config,
                    share,
                    root.game.menu(self._search, added) if root.state.street else _preflop_menu(self._rules),
                    nets,
                    history,
                    deadline=self._deadline.due,
                )
                self._counts["clamped"] += street.num_clamped
                return street
            return solve_subgame(
                root,
                seat,
                carried.bounds,
                self._search,
                share,
                later_buckets(self._search, self._rules, blueprint.buckets if blueprint else None, board),
                blueprint.planned if blueprint else None,
                history,
                added=added,
                deadline=self._deadline.due,
            )

        # Solutions in memory have the same settings. So their keys need only what else determines a solution. One
        # solution serves all bets of its menu.
        raises = tuple(sorted(added.items()))
        key = self._rules, history, seat, raises, board, self._first_beliefs(actions, board).tobytes()
        memory = self._solutions if board else self._lines
        if key not in self._asked:  # later in this hand, the solution behind an action must stay
            self._asked.add(key)
            kept = memory.find(key)
            if kept and kept.iterations < MAX_TIMED and kept.seconds < _ENOUGH * self._deadline.left:
                memory.drop(key)
        return memory.get(key, make)

    def _root(self, actions: Actions) -> int:
        """Return the number of actions before the root of a decision's solution.

        A seat's first decision of a street is solved from the start of the street, together with the opponent's bet,
        where no earlier solution tells with which hands the opponent bets. Such are the first decision after the
        blueprint, and the first one after a street that networks ended.
        """
        street, before = self._state(actions).street, self._last(actions)
        if before is None:
            is_known = not self._first_street
        else:
            then = actions[before].street
            is_known = then == street or self._street_nets(then) is None
        return len(actions) if is_known else sum(action.street < street for action in actions)

    def _street_nets(self, street: int) -> StreetNets | None:
        """Return the networks that end solves of a street; None for solves to the end of the hand."""
        return (self._nets.preflop, self._nets.flop, None, None)[street]

    def _public(self, actions: Actions, board: tuple[int, ...]) -> PublicState:
        return PublicState(self._rules, self._state(actions).array.tolist(), board, actions)

    def _state(self, actions: Actions) -> BettingState:
        """Return the betting state after some actions; it must not be changed."""
        path = path_of(actions)
        if path not in self._states:
            state = self._state(actions[:-1]).copy()
            state.apply_legal(path[-1])
            self._states[path] = state
        return self._states[path]


def _preflop_menu(rules: HoldemRules) -> RaiseMenu:
    return SearchMenu(rules, _PREFLOP, lambda raises: True).raises
