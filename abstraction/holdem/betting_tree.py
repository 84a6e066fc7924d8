"""The betting of a heads-up game, street by street, as arrays: the public tree without its boards.

Where a street ends with both seats in the hand, cards are dealt. The betting that follows does not depend on the cards,
so the k-th end of one street is the k-th root of the next. One pass over a board of the next street therefore serves
all betting that leads to that street. After a called all-in, the roots of the remaining streets have no decisions.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, raise_menu
from plurispiel.abstraction.holdem.rules import HoldemRules

FOLD_END, SHOWDOWN, STREET_END = 2, 3, 4
"""Kinds of nodes without actions; the kind of a decision is its seat, 0 or 1."""


class StreetTooLarge(ValueError):
    """The betting of a street exceeds the limit of nodes."""


RaiseMenu = Callable[[HoldemRules, list[int]], tuple[int, ...] | None]
"""Returns the raise-to totals on offer in a betting state array (as a list), ascending; None if every size is on offer.
"""


class StreetNodes(NamedTuple):
    """The betting nodes of one street: the tree of each root in turn, every node before its children (depth first).

    Attributes
    ----------
    kind : int8[num_nodes]
        Seat to act, `FOLD_END`, `SHOWDOWN` or `STREET_END`.
    parent : int32[num_nodes]
        Index of the parent; -1 for roots.
    depth : int32[num_nodes]
        Number of actions since the root; 0 for roots.
    number : int32[num_nodes]
        A root's number among the street's roots; else -1.
    end : int32[num_nodes]
        A `STREET_END`'s number among the street's ends, which is the number of its root on the next street; else -1.
    stake : float64[num_nodes]
        Net chips that seat 0 wins at a `FOLD_END`, or that the winner wins at a `SHOWDOWN`; else 0. Each seat counts as
        having contributed half of the dead chips, so that the stakes are zero-sum: the true winnings of each seat are
        larger than its stake by half of the dead chips.
    rows : int32[2, num_nodes]
        For each seat, the node's row in the array of the seat's reaches. A node has its parent's row if the seat does
        not act at the parent.
    """

    kind: np.ndarray
    parent: np.ndarray
    depth: np.ndarray
    number: np.ndarray
    end: np.ndarray
    stake: np.ndarray
    rows: np.ndarray

    @property
    def end_nodes(self) -> np.ndarray:
        """The index of each `STREET_END`, by its number: int64[num_ends]."""
        ends = np.flatnonzero(self.kind == STREET_END)
        return ends[np.argsort(self.end[ends])]


class BettingDecision(NamedTuple):
    """A decision on a street.

    Attributes
    ----------
    node : int
        Index of the decision in `StreetNodes`.
    root : int
        Number of the root above the decision, among the street's roots.
    seat : int
        The seat to act.
    state : list of int
        The betting state array.
    actions : tuple of (int, int, int)
        Seat, action and street of every earlier action: first the actions given to `street_betting`, then the actions
        in the tree.
    children : dict of int to int
        The node after each action on offer; actions ascend.
    """

    node: int
    root: int
    seat: int
    state: list[int]
    actions: tuple[tuple[int, int, int], ...]
    children: dict[int, int]

    def state_of(self, start: BettingState) -> BettingState:
        """Return the betting state at the decision; `start`, the state before all of `actions`, is not changed."""
        state = start.copy()
        for _, action, _ in self.actions:
            state.apply_legal(action)
        return state


@dataclass(frozen=True, eq=False)
class StreetBetting:
    """The betting on one street from all its roots.

    Attributes
    ----------
    nodes : StreetNodes
    decisions : list of BettingDecision
        In the order of `nodes`.
    num_roots, num_ends, max_depth : int
        Numbers of roots and of `STREET_END` nodes, and the greatest depth of a node.
    num_rows : tuple of int
        Number of rows in the array of each seat's reaches.
    end_states : list of BettingState
        The state at each `STREET_END`, by number; they must not be changed.
    """

    nodes: StreetNodes
    decisions: list[BettingDecision]
    num_roots: int
    num_ends: int
    max_depth: int
    num_rows: tuple[int, int]
    end_states: list[BettingState]


def street_betting(
    start: BettingState,
    actions: tuple[tuple[int, int, int], ...] = (),
    *,
    menu: RaiseMenu | None = None,
    dead_chips: int = 0,
    max_nodes: int = 1_000_000,
    num_streets: int | None = None,
    by_chips: bool = False,
) -> list[StreetBetting]:
    """Return all betting from a state to the end of the hand, one entry for each street, the state's street first.

    Parameters
    ----------
    start : BettingState
        Heads-up, at a decision.
    actions : tuple of (int, int, int)
        Seat, action and street of every earlier action of the hand.
    menu : callable, optional
        A `RaiseMenu`, called with the rules and a betting state array as a list. By default the menu of the rules is
        used, for a pot that includes the dead chips.
    dead_chips : int
        Chips in the pot that neither seat has contributed.
    max_nodes : int
        Limit for the number of nodes of each street.
    num_streets : int, optional
        The number of streets to return; by default all that are left.
    by_chips : bool
        The order in which the ends of a street are numbered. False is the order of `StreetNodes`. True puts ends with
        equal contributions side by side, those without further betting last: neighbouring roots of the next street
        then have betting of the same shape.

    Raises
    ------
    ValueError
        If the game does not have two seats, or every raise size is on offer at some decision.
    StreetTooLarge
        If a street has more than `max_nodes` nodes.
    """
    rules = start.rules
    if rules.num_seats != 2:
        raise ValueError(f"the betting tree is for two seats, the game has {rules.num_seats}")
    menu = menu or functools.partial(raise_menu, dead_chips=dead_chips)
    roots = [(start, actions)]
    streets = []
    last = rules.num_streets if num_streets is None else min(start.street + num_streets, rules.num_streets)
    for street in range(start.street, last):
        builder = _StreetBuilder(rules, street, menu, dead_chips, max_nodes)
        for root, history in roots:
            builder.add_root(root, history)
        if by_chips:
            builder.sort_ends()
        streets.append(builder.built())
        roots = builder.ends
    return streets


class _StreetBuilder:
    """Collects the nodes of one street, root after root, and the betting states at the street's ends."""

    def __init__(self, rules: HoldemRules, street: int, menu: RaiseMenu, dead_chips: int, max_nodes: int):
        self._rules = rules
        self._street = street
        self._menu = menu
        self._dead_share = dead_chips / 2.0
        self._max_nodes = max_nodes
        self._num_roots = 0
        self._num_rows = [0, 0]
        # Entries in the order of StreetNodes, with a node's two rows last.
        self._records: list[tuple[int, int, int, int, int, float, int, int]] = []
        self._decisions: list[BettingDecision] = []
        self.ends: list[tuple[BettingState, tuple[tuple[int, int, int], ...]]] = []

    def add_root(self, state: BettingState, actions: tuple[tuple[int, int, int], ...]) -> None:
        rows = self._new_row(0), self._new_row(1)
        self._add(state, actions, -1, 0, rows)
        self._num_roots += 1

    def sort_ends(self) -> None:
        """Sort the ends by their contributions, those without further betting last, and number them anew."""
        order = sorted(
            range(len(self.ends)), key=lambda end: (self.ends[end][0].is_over, self.ends[end][0].contributions)
        )
        number_of = {end: number for number, end in enumerate(order)}
        self.ends = [self.ends[end] for end in order]
        self._records = [
            record if record[4] < 0 else (*record[:4], number_of[record[4]], *record[5:]) for record in self._records
        ]

    def built(self) -> StreetBetting:
        kind, parent, depth, number, end, stake, *rows = (
            np.array(column) for column in zip(*self._records, strict=True)
        )
        nodes = StreetNodes(
            kind.astype(np.int8),
            parent.astype(np.int32),
            depth.astype(np.int32),
            number.astype(np.int32),
            end.astype(np.int32),
            stake.astype(np.float64),
            np.array(rows, dtype=np.int32),
        )
        first, second = self._num_rows
        ends = [state for state, _ in self.ends]
        return StreetBetting(
            nodes, self._decisions, self._num_roots, len(ends), int(depth.max()), (first, second), ends
        )

    def _new_row(self, seat: int) -> int:
        self._num_rows[seat] += 1
        return self._num_rows[seat] - 1

    def _add(
        self,
        state: BettingState,
        actions: tuple[tuple[int, int, int], ...],
        parent: int,
        depth: int,
        rows: tuple[int, int],
    ) -> int:
        node = len(self._records)
        if node == self._max_nodes:
            raise StreetTooLarge(
                f"the betting has more than {self._max_nodes:,} nodes on street {self._street} (counted from 0); "
                "take smaller stacks or fewer raises"
            )
        kind, stake = self._ending(state)
        number = self._num_roots if parent < 0 else -1
        end = len(self.ends) if kind == STREET_END else -1
        self._records.append((kind, parent, depth, number, end, stake, *rows))
        if kind == STREET_END:
            self.ends.append((state, actions))
        elif kind < FOLD_END:
            self._act(state, actions, node, depth, rows)
        return node

    def _ending(self, state: BettingState) -> tuple[int, float]:
        """Return the kind of a state's node, and its stake."""
        if not state.is_over:
            return (state.actor if state.street == self._street else STREET_END), 0.0
        first, second = state.contributions
        if any(state.folded):
            return FOLD_END, second + self._dead_share if state.folded[1] else -first - self._dead_share
        if self._street < self._rules.num_streets - 1:
            return STREET_END, 0.0
        return SHOWDOWN, min(first, second) + self._dead_share

    def _act(
        self,
        state: BettingState,
        actions: tuple[tuple[int, int, int], ...],
        node: int,
        depth: int,
        rows: tuple[int, int],
    ) -> None:
        array = state.array.tolist()
        seat = array[betting_layout.ACTOR]
        children: dict[int, int] = {}
        raises = self._menu(self._rules, array)
        if raises is None:
            raise ValueError(
                "the betting tree needs a menu of raises (bettingAbstraction fcpa, fchpa or fc), got fullgame"
            )
        # Appended before the recursion, so that decisions have the order of their nodes.
        self._decisions.append(BettingDecision(node, self._num_roots, seat, array, actions, children))
        for action in [*([FOLD] if array[betting_layout.CAN_FOLD] else []), CALL, *raises]:
            following = state.copy()
            following.apply_legal(action)
            row = self._new_row(seat)
            child_rows = (row, rows[1]) if seat == 0 else (rows[0], row)
            history = (*actions, (seat, action, self._street))
            children[action] = self._add(following, history, node, depth + 1, child_rows)
