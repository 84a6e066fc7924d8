"""Depth-limited solving of one street: DeepStack's hybrid of CFR and CFR+, with the re-solving gadget.

Both seats learn at the same time by regret matching+. Averages omit a number of iterations at the start, and weigh all
others equally. Where the street ends, a value function gives the values of all hands. A lookahead on the last street
reaches to the end of the hand and needs no value function.

References
----------
M. Moravcik et al.: DeepStack: expert-level artificial intelligence in heads-up no-limit poker. Science (2017),
supplementary materials, Algorithm S1.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import (
    FOLD_END,
    SHOWDOWN,
    STREET_END,
    BettingDecision,
    RaiseMenu,
    StreetBetting,
    street_betting,
)
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.holdem.showdown_kernels import CARD_SLOTS
from plurispiel.agents.continual import _lookahead_kernels as kernels
from plurispiel.agents.continual.leaf_values import Boundary, CorrectableLeaves, Leaves, Line, ValueFunction

__all__ = ["BOUNDS", "Lookahead", "Means", "Opponent", "SolvedLookahead"]

BOUNDS = ("iterations", "average", "best")
"""The values that bound the opponent.

``iterations`` are means over the iterations that are not omitted, as in the paper. ``average`` are the values of the
average strategies, and ``best`` those of the opponent's best response to the average strategy.
"""

_NOBODY = -1


class Opponent(NamedTuple):
    """The opponent of a re-solving seat, who may terminate with each combo.

    Attributes
    ----------
    seat : int
    bounds : float64[num_combos]
        The value of terminating with each combo, in chips of the whole hand.
    forced : float64[num_combos]
        An additional weight of each combo, which continues without a choice.
    """

    seat: int
    bounds: np.ndarray
    forced: np.ndarray


class Means(NamedTuple):
    """Values and reach in a solved lookahead, for N nodes, E ends of the street and B boards of the next.

    With ``iterations`` (`BOUNDS`) they are means over the iterations that are not omitted, and otherwise those of the
    average strategies. But with ``best``, `values` are those of best responses to the average strategies.

    Attributes
    ----------
    values : float64[2, N, num_combos]
        Both seats' counterfactual values at each node.
    end_reach : float64[2, E, num_combos]
        Both seats' reach at the street's ends.
    end_values : float64[2, E, B, num_combos]
        The values at the ends by board, weighted by the probability of the board (`Leaves`).
    """

    values: np.ndarray
    end_reach: np.ndarray
    end_values: np.ndarray


@dataclass(frozen=True, eq=False)
class SolvedLookahead:
    """A solved lookahead.

    Attributes
    ----------
    rules : HoldemRules
    board : tuple of int
    betting : StreetBetting
        The betting of the street; the root is node 0.
    boards : list of tuple of int
        The boards of the next street; empty on the last street.
    means : Means
    reached : float64[A, num_combos]
        For each of A actions, the mean reach of the acting seat after it. The actions of a decision lie side by side,
        and decisions are in the order of their nodes.
    first_action : dict of int to int
        The row in `reached` of each decision's first action, by the decision's node.
    end_pairs : float32[n, 2, E, num_combos]
        Both seats' reach at the street's ends, in n of the iterations that count in means.
    """

    rules: HoldemRules
    board: tuple[int, ...]
    betting: StreetBetting
    boards: list[tuple[int, ...]]
    means: Means
    reached: np.ndarray
    first_action: dict[int, int]
    end_pairs: np.ndarray

    def decision(self, node: int) -> BettingDecision:
        """Return the decision at a node."""
        return next(each for each in self.betting.decisions if each.node == node)

    def reach_after(self, node: int) -> np.ndarray:
        """Return the reach of a decision's seat after each of its actions: float64[num_combos, num_actions]."""
        first = self.first_action[node]
        return self.reached[first : first + len(self.decision(node).children)].T

    def strategy(self, node: int) -> np.ndarray:
        """Return the average strategy at a decision: float64[num_combos, num_actions].

        The rows of combos that never reach the decision are uniform.
        """
        reach = self.reach_after(node)
        return normalised(reach, 1.0 / reach.shape[1])

    def board_number(self, board: tuple[int, ...]) -> int:
        """Return the number in `boards` of a board of the next street, whose new cards may be in any order."""
        return next(number for number, each in enumerate(self.boards) if set(each) == set(board))

    def follow(self, node: int, actions: Line) -> int | None:
        """Return the node after further actions of the street; None if one of them is not on offer."""
        for _, action, _ in actions:
            if self.betting.nodes.kind[node] >= FOLD_END:
                return None
            child = self.decision(node).children.get(action)
            if child is None:
                return None
            node = child
        return node


class Lookahead:
    """The betting of one street from a decision, and the values of its ends.

    Parameters
    ----------
    state : BettingState
        Heads-up, at a decision.
    board : tuple of int
        The whole board of the state's street.
    actions : tuple of (int, int, int)
        Seat, action and street of every earlier action.
    value_function : callable
        Gives the values at the ends of the street, if the street is not the last.
    menu : callable, optional
        The raises on offer, as in `street_betting`.

    Attributes
    ----------
    leaves : Leaves or None
        The values at the ends of the street; None on the last street.

    Raises
    ------
    ValueError
        If every raise size is on offer, the game does not have two seats or deals three hole cards, or the betting is
        too large.
    """

    def __init__(
        self,
        state: BettingState,
        board: tuple[int, ...],
        actions: Line,
        value_function: ValueFunction,
        menu: RaiseMenu | None = None,
    ):
        self._rules = rules = state.rules
        self._board = board
        self._hands = rank_hands(rules, board)
        self._num_combos = rules.num_combos
        streets = street_betting(state, actions, menu=menu, num_streets=2)
        self.betting = streets[0]
        self._arrays = _arrays(self.betting)
        self.leaves: Leaves | None = None
        if len(streets) > 1:
            ends = tuple(self.betting.end_states)
            self.leaves = value_function(Boundary(rules, state.street, board, streets[1], self._hands, ends))

    def solve(
        self,
        ranges: np.ndarray,
        iterations: int,
        omitted: int,
        *,
        opponent: Opponent | None = None,
        bounds: str = "iterations",
        num_pairs: int = 0,
        corrected: int = 0,
    ) -> SolvedLookahead:
        """Solve the street from ranges at its root.

        Parameters
        ----------
        ranges : float64[2, num_combos]
            Each seat's weight of each combo; for an opponent that may terminate, the weight before this choice.
        iterations, omitted : int
            The number of all iterations, and the number of those at the start that do not count in means.
        opponent : Opponent, optional
            The seat that may terminate; by default neither seat may, and both ranges stay as given.
        bounds : {"iterations", "average", "best"}
            The values and reaches that `SolvedLookahead.means` has.
        num_pairs : int
            The number of iterations whose reach is kept, evenly spaced, on a street that is not the last.
        corrected : int
            The number of iterations that count in means from one measurement of the leaves' error to the next. The
            leaves must then be `CorrectableLeaves`. 0, the default, leaves values as they are.

        Raises
        ------
        ValueError
            If values are corrected, but `bounds` is not ``iterations``: other values would lack the correction.
        """
        if corrected and bounds != "iterations":
            raise ValueError(f"corrected values are means over the iterations, got bounds={bounds!r}")
        live = self._hands.combos
        entry = self._entry(ranges[:, live], opponent)
        num_boards = len(self.leaves.boards) if self.leaves else 0
        tables = self._tables()
        board_sums = np.zeros((2, len(self._arrays.ends), num_boards, len(live)))
        reach_sums = np.zeros((2, len(self._arrays.ends), len(live)))
        kept = set(np.linspace(iterations - 1, omitted, num_pairs).astype(int).tolist())
        pairs = []
        if self.leaves is None:
            kernels.iterate(self._arrays, *self._cards, tables, entry, 0, omitted, iterations)
        else:
            values = self.leaves.values
            for number in range(iterations):
                kernels.go_down(self._arrays, *self._cards, tables, entry, tables.regrets)
                if corrected and number >= omitted and (number - omitted) % corrected == 0:
                    assert isinstance(self.leaves, CorrectableLeaves)
                    correction = self.leaves.correction(tables.end_reach)
                    values = functools.partial(self.leaves.values, correction=correction)
                found = values(tables.end_reach)
                found.sum(axis=2, out=tables.end_values)
                kernels.go_up(self._arrays, tables, entry, number >= omitted)
                if number >= omitted:
                    board_sums += found
                    reach_sums += tables.end_reach
                if number in kept:
                    pairs.append(tables.end_reach.astype(np.float32))
        counted = iterations - omitted
        reached = tables.strategy_sums / counted
        if bounds == "iterations":
            means = tables.value_sums / counted, reach_sums / counted, board_sums / counted
        else:
            means = self._measured(tables, entry, opponent, bounds)
        return self._solved(
            Means(*(self._by_combo(each) for each in means)),
            self._by_combo(reached),
            self._by_combo(np.array(pairs, np.float32).reshape(len(pairs), *reach_sums.shape)),
        )

    def restored(self, values: np.ndarray, reached: np.ndarray, end_pairs: np.ndarray) -> SolvedLookahead:
        """Return a solution made of saved arrays of a `SolvedLookahead`. Its `means` have only values at nodes."""
        num_ends = len(self._arrays.ends)
        means = Means(values, np.zeros((2, num_ends, 0)), np.zeros((2, num_ends, 0, 0)))
        return self._solved(means, reached, end_pairs)

    def _solved(self, means: Means, reached: np.ndarray, end_pairs: np.ndarray) -> SolvedLookahead:
        first_action = {each.node: int(self._arrays.child_first[each.node]) for each in self.betting.decisions}
        boards = self.leaves.boards if self.leaves else []
        return SolvedLookahead(self._rules, self._board, self.betting, boards, means, reached, first_action, end_pairs)

    @property
    def _cards(self) -> tuple[np.ndarray, np.ndarray]:
        return self._hands.cards, self._hands.groups

    def _entry(self, dealt: np.ndarray, opponent: Opponent | None) -> kernels.RootRanges:
        num_hands = dealt.shape[1]
        live = self._hands.combos
        forced, terminating = np.zeros(num_hands), np.zeros(num_hands)
        if opponent is not None:
            forced = opponent.forced[live]
            # A bound is in chips. As a counterfactual value it is weighted by the other seat's compatible hands.
            terminating = opponent.bounds[live] * fold_mass(self._hands, dealt[1 - opponent.seat])
        return kernels.RootRanges(
            seat=np.array([_NOBODY if opponent is None else opponent.seat]),
            dealt=np.ascontiguousarray(dealt),
            forced=np.ascontiguousarray(forced),
            terminating=terminating,
            accepted=np.full(num_hands, 0.5),
            regrets=np.zeros((2, num_hands)),
        )

    def _tables(self) -> kernels.LookaheadTables:
        nodes = self.betting.nodes
        num_hands, num_nodes, num_rows = len(self._hands.combos), len(nodes.kind), max(self.betting.num_rows)
        num_actions, num_ends = num_nodes - 1, len(self._arrays.ends)
        return kernels.LookaheadTables(
            regrets=np.zeros((num_actions, num_hands)),
            strategy=np.zeros((num_actions, num_hands)),
            strategy_sums=np.zeros((num_actions, num_hands)),
            reach=np.zeros((2, num_rows, num_hands)),
            values=np.zeros((2, num_nodes, num_hands)),
            value_sums=np.zeros((2, num_nodes, num_hands)),
            end_reach=np.zeros((2, num_ends, num_hands)),
            end_values=np.zeros((2, num_ends, num_hands)),
            matched=np.zeros((2, num_rows, num_hands)),
            mass=np.zeros((CARD_SLOTS, 4)),
        )

    def _measured(
        self, tables: kernels.LookaheadTables, entry: kernels.RootRanges, opponent: Opponent | None, bounds: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values at nodes, reach at ends, and values by board at ends, all of the average strategies.

        With ``best``, the values at nodes are those of best responses to the average strategies. The gadget's choices
        are not averaged: the opponent enters the root with the weights that follow the last iteration.
        """
        kernels.go_down(self._arrays, *self._cards, tables, entry, tables.strategy_sums)
        by_board = np.zeros((2, 0, 0, len(self._hands.combos)))
        if self.leaves is not None:
            by_board = self.leaves.values(tables.end_reach)
            by_board.sum(axis=2, out=tables.end_values)
        if bounds == "average":
            kernels.measure(self._arrays, tables, _NOBODY)
            return tables.values.copy(), tables.end_reach.copy(), by_board
        values = np.empty_like(tables.values)
        for seat in range(2):
            kernels.measure(self._arrays, tables, seat)
            values[seat] = tables.values[seat]
        return values, tables.end_reach.copy(), by_board

    def _by_combo(self, rows: np.ndarray) -> np.ndarray:
        """Return rows by hand as rows by combo, with 0 for combos that share a card with the board."""
        found = np.zeros((*rows.shape[:-1], self._num_combos), rows.dtype)
        found[..., self._hands.combos] = rows
        return found


def _arrays(betting: StreetBetting) -> kernels.BettingArrays:
    """Return the betting of a street as kernels take it."""
    nodes = betting.nodes
    children: list[list[int]] = [[] for _ in range(len(nodes.kind))]
    for decision in betting.decisions:
        children[decision.node] = list(decision.children.values())
    folds, showdowns = (np.flatnonzero(nodes.kind == kind).astype(np.int32) for kind in (FOLD_END, SHOWDOWN))
    return kernels.BettingArrays(
        kind=nodes.kind,
        row=np.ascontiguousarray(nodes.rows),
        child_first=np.cumsum([0, *map(len, children)]).astype(np.int32),
        children=np.array([child for each in children for child in each], np.int32),
        stake=nodes.stake,
        folds=folds,
        showdowns=showdowns,
        fold_rows=np.ascontiguousarray(nodes.rows[::-1][:, folds]),
        showdown_rows=np.ascontiguousarray(nodes.rows[::-1][:, showdowns]),
        ends=np.flatnonzero(nodes.kind == STREET_END).astype(np.int32),
    )
