"""Continual re-solving of a small game: the strategy at a public state, from nothing but the public history.

The strategy at a decision follows from the range and the bounds that its seat carries there (`Carried`). These follow
from the solution at the seat's previous decision, and so on back to the start of the hand. So the strategy depends on
the public history alone, and not on earlier calls. Solutions are kept.
"""

import functools
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu
from plurispiel.abstraction.holdem.distributions import purged
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.agents.continual.carried import Carried, start
from plurispiel.agents.continual.config import ContinualConfig
from plurispiel.agents.continual.exact_values import ExactLeaves
from plurispiel.agents.continual.leaf_values import Boundary, CheckdownLeaves, Leaves, Line, Noise, NoisyLeaves
from plurispiel.agents.continual.lookahead import Lookahead, Opponent, SolvedLookahead
from plurispiel.agents.continual.net_leaves import net_leaves

__all__ = ["MAX_STREETS", "Resolved", "Resolver", "prepare"]

MAX_STREETS = 2
"""The most streets of a game, because the solver that gives exact values at a street's end solves one street alone."""

MAX_HANDS = 100_000
"""The most pairs of a combo and a complete board; Leduc poker has 36, the largest game ``leduc-N`` (N = 13) has 676."""


@dataclass(frozen=True, eq=False)
class Resolved:
    """A decision that has been solved.

    Attributes
    ----------
    solution : SolvedLookahead
    node : int
        The decision's node in `solution`: 0, unless an earlier solution of the same street is used again
        (`ContinualConfig.resolve`).
    carried : Carried
        The range and bounds that the seat carried to the decision.
    actions : list of int
        The actions on offer in the lookahead, ascending.
    played : float64[num_combos, num_actions]
        The strategy with which the seat acts: that of `solution`, purged (`ContinualConfig.purge`).
    """

    solution: SolvedLookahead
    node: int
    carried: Carried
    actions: list[int]
    played: np.ndarray


class Resolver:
    """Continual re-solving for both seats of a game of at most two streets.

    Parameters
    ----------
    rules : HoldemRules
    config : ContinualConfig

    Attributes
    ----------
    counts : Counter
        ``decisions`` counts the decisions resolved, and ``solves`` the lookaheads solved for them. ``anew`` counts the
        lookaheads that were solved without a gadget because no bounds were known, except at the start of the hand.
        ``inner_solves`` and ``inner_iterations`` count the work of the solver of the next street (`Leaves.num_solves`,
        `Leaves.num_iterations`).

    Raises
    ------
    ValueError
        If the game has other than two seats, more than `MAX_STREETS` streets, board cards on the first street, more
        than two hole cards, or more than `MAX_HANDS` pairs of a combo and a complete board. Also if neither the game
        nor `config.menu` restricts the sizes of raises.
    ArtefactRefused
        If the folder of `config.values` holds no sound network, or one for another game or street.
    """

    def __init__(self, rules: HoldemRules, config: ContinualConfig):
        if rules.num_seats != 2 or rules.num_streets > MAX_STREETS:
            raise ValueError(
                f"continual re-solving plays games of two seats and one or two streets, got {rules.num_seats} seats "
                f"and {rules.num_streets} streets"
            )
        if rules.board_size(0) or rules.num_hole_cards > 2:
            raise ValueError(
                "continual re-solving plays games of one or two hole cards without board cards on the first street, "
                f"got {rules.num_hole_cards} hole cards and {rules.board_size(0)} board cards"
            )
        hands = rules.num_combos * math.comb(len(rules.cards), rules.num_board_cards)
        if hands > MAX_HANDS:
            raise ValueError(
                f"continual re-solving takes at most {MAX_HANDS:,} pairs of a combo and a complete board, got {hands:,}"
            )
        self.rules, self.config = rules, config
        self.counts: Counter[str] = Counter()
        menu = rules if config.menu == "rules" else rules.with_menu(config.menu)
        if menu.betting_abstraction == "fullgame":
            raise ValueError("continual re-solving needs a menu of raises, as in menu=fcpa: the game offers any size")
        self._net = net_leaves(Path(config.net), rules) if config.net else None
        self._menu: RaiseMenu = functools.partial(_offered, menu)
        self._first: SolvedLookahead | None = None
        self._found: dict[tuple[tuple[int, ...], Line], Resolved] = {}

    def resolved(self, board: tuple[int, ...], actions: Line) -> Resolved:
        """Return the solution at a decision, from the board so far and all actions so far.

        Raises
        ------
        ValueError
            If the betting is too large.
        """
        key = board, actions
        if key not in self._found:
            self._found[key] = self._resolve(board, actions)
        return self._found[key]

    def _resolve(self, board: tuple[int, ...], actions: Line) -> Resolved:
        state = self._state(actions)
        seat, street = state.actor, state.street
        before = next((number for number in range(len(actions) - 1, -1, -1) if actions[number][0] == seat), None)
        carried = self._begun(board, actions, seat) if before is None else self._continued(board, actions, seat, before)
        self.counts["decisions"] += 1
        if before is not None and self.config.resolve == "street" and actions[before][2] == street:
            last = self.resolved(board, actions[:before])
            node = last.solution.follow(last.node, actions[before:])
            if node is not None:
                return self._resolved(last.solution, node, carried)
        if not actions:
            return self._resolved(self._root(), 0, carried)
        return self._resolved(self._solve(state, board, actions, carried), 0, carried)

    def _resolved(self, solution: SolvedLookahead, node: int, carried: Carried) -> Resolved:
        played = purged(solution.strategy(node), self.config.purge)
        return Resolved(solution, node, carried, list(solution.decision(node).children), played)

    def _begun(self, board: tuple[int, ...], actions: Line, seat: int) -> Carried:
        """Return the range and bounds that a seat carries to its first decision of the hand."""
        if not actions or board:
            return start(self.rules, board)
        first = self._root()
        carried = start(self.rules, board)
        return carried.bounded(first, 0, 1 - seat)

    def _continued(self, board: tuple[int, ...], actions: Line, seat: int, before: int) -> Carried:
        """Return the range and bounds that a seat carries here from its previous decision, after `before` actions."""
        _, action, street = actions[before]
        then = board[: self.rules.board_size(street)]
        last = self.resolved(then, actions[:before])
        carried = last.carried.after_action(last.solution, last.node, action, last.played, seat)
        if len(then) == len(board):
            return carried
        node = last.solution.follow(last.node, tuple(each for each in actions[before:] if each[2] == street))
        if node is None or last.solution.betting.nodes.end[node] < 0:
            return start(self.rules, board)
        return carried.after_cards(last.solution, node, board, seat)

    def _root(self) -> SolvedLookahead:
        """Return the solution of the start of the hand, in which both seats hold all combos equally often."""
        if self._first is None:
            self._first = self._solve(BettingState(self.rules), (), (), start(self.rules, ()))
        return self._first

    def _solve(self, state: BettingState, board: tuple[int, ...], actions: Line, carried: Carried) -> SolvedLookahead:
        config, seat, other = self.config, state.actor, 1 - state.actor
        lookahead = Lookahead(state, board, actions, self._leaves, self._menu)
        even = start(self.rules, board).range
        ranges = np.stack([even, even])
        ranges[seat] = carried.range
        opponent = None
        if carried.bounds is not None:
            share = 0.0 if carried.estimate is None else config.estimate
            guess = even if carried.estimate is None else carried.estimate
            acts_first = not actions or actions[-1][2] < state.street
            forced = share * guess if acts_first else np.zeros_like(even)
            ranges[other] = (1.0 - share) * even + (0.0 if acts_first else share * guess)
            opponent = Opponent(other, carried.bounds, forced)
        elif actions:
            self.counts["anew"] += 1
        solution = lookahead.solve(ranges, config.iterations, config.omitted, opponent=opponent, bounds=config.bounds)
        self.counts["solves"] += 1
        if lookahead.leaves is not None:
            self.counts["inner_solves"] += lookahead.leaves.num_solves
            self.counts["inner_iterations"] += lookahead.leaves.num_iterations
        return solution

    def _leaves(self, boundary: Boundary) -> Leaves:
        config = self.config
        if self._net is not None:
            leaves = self._net(boundary)
        else:
            leaves = ExactLeaves(boundary, config.inner) if config.values == "exact" else CheckdownLeaves(boundary)
        return NoisyLeaves(leaves, boundary, Noise(config.noise, config.kind, config.seed)) if config.noise else leaves

    def _state(self, actions: Line) -> BettingState:
        state = BettingState(self.rules)
        for _, action, _ in actions:
            state.apply(action)
        return state


def _offered(offering: HoldemRules, rules: HoldemRules, state: list[int]) -> tuple[int, ...] | None:
    """Return the raises that the menu of `offering` has at a state; the menu of `rules` does not count."""
    return raise_menu(offering, state)


def prepare(values: str) -> None:
    """Compile the kernels that a kind of values needs (`ContinualConfig.values`), by two solves in Leduc poker.

    Raises
    ------
    ArtefactRefused
        If `values` names a network that is not sound, or not for Leduc poker.
    """
    resolver = Resolver(LEDUC, ContinualConfig(iterations=2, inner=1, values=values, bounds="best"))
    resolver.resolved((), ())
    resolver.resolved((0,), ((0, 1, 0), (1, 1, 0)))


def warmup() -> None:
    """Compile every kernel of lookaheads, but not the kernel of exact values.

    `prepare` with ``exact`` compiles the kernel of exact values, and the kernels of `agents.resolve` that it calls with
    arrays of float64.
    """
    prepare("checkdown")
