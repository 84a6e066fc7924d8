"""The betting of one searched street, from its root to its ends and leaves, for any number of players."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu, StreetTooLarge
from plurispiel.agents.blueprint.roll_outs import RollOutPlace, stakes_at
from plurispiel.agents.search._multiway_kernels import DECISION, END, LEAF
from plurispiel.agents.search.leaves import Continuations

__all__ = ["MAX_NODES", "Path", "SearchBetting", "StreetTree", "is_small"]

Path = tuple[int, ...]
"""Actions since the root."""

MAX_NODES = 7_000
"""The largest number of nodes of a street's betting with all raises on offer.

A larger tree takes too long to lay out and to solve. A narrow tree (see `seen` of `SearchBetting`) may be larger."""

MAX_BYTES = 1_000_000_000
"""The largest size of a street's tables, in bytes, with which `is_small` accepts a menu.

Raises that are added later may enlarge the tables beyond this size."""


class StreetTree(NamedTuple):
    """The betting of a street as kernels read it. The children of a node stand side by side, after the node.

    Attributes
    ----------
    kinds, actors, num_actions, first_child : int32[num_nodes]
        `kinds` is the kind of each node: `DECISION`, `END` or `LEAF`. For decisions, `actors` has the seat to act,
        `num_actions` the number of actions and `first_child` the index of the first child. At ends and leaves only
        `kinds` has a meaning.
    tables : int64[num_nodes, num_seats]
        The first cell of each seat's table at each node, -1 if the seat has no choice there. Cells of decisions have
        lower numbers than cells of choices at leaves. So arrays of averages and of frozen rows can end with the last
        decision.
    reach_rows : int32[num_nodes, num_seats]
        The row of each seat's reach in the workspace. Nodes after the same decisions and actions of a seat have one row
        for the seat.
    live : int64[num_nodes]
        The set of seats that have not folded, as a bit mask.
    contributions : int64[num_nodes, num_seats]
        Chips that each seat has put in over the hand.
    is_frozen : bool[num_nodes]
        Whether some rows of the decision are frozen.
    places : int64[num_nodes]
        For leaves, the node of the blueprint's tree; -1 elsewhere.
    tree_seats : int32[num_nodes, num_seats]
        For leaves, each seat's number in the blueprint's tree, -1 for a seat that is not in the tree.
    paid, put_in, stacks : int64[num_nodes, num_seats of the blueprint]
        For leaves, the fields of `Stakes` with these names.
    most_paid, most_put_in : int64[num_nodes]
        For leaves, the fields of `Stakes` with these names.
    scales : float64[num_nodes]
        For leaves, the field `scale` of `Stakes`.
    """

    kinds: np.ndarray
    actors: np.ndarray
    num_actions: np.ndarray
    first_child: np.ndarray
    tables: np.ndarray
    reach_rows: np.ndarray
    live: np.ndarray
    contributions: np.ndarray
    is_frozen: np.ndarray
    places: np.ndarray
    tree_seats: np.ndarray
    paid: np.ndarray
    put_in: np.ndarray
    stacks: np.ndarray
    most_paid: np.ndarray
    most_put_in: np.ndarray
    scales: np.ndarray


class SearchBetting:
    """The nodes of a street's betting from a root on, parents first.

    Unless the street is the last one, there are leaves at the start of the next street and after `max_raises` raises on
    this street. Where the blueprint's tree has no node for a leaf on this street, the seats that still have to answer
    may only fold or call. Where it has no node for the start of the next street, hands are checked down.

    Parameters
    ----------
    state : BettingState
        The root.
    menu : callable
        Maps the rules and a betting state array to the raises on offer.
    continuations : Continuations or None
        Finds the blueprint's nodes for leaves. None if nodes are only counted: then no leaf has a node in the
        blueprint's tree, and `arrays` cannot be called.
    history : tuple of int
        Actions of the hand before the root.
    max_raises : int
        Number of raises on the street after which the tree ends in leaves, unless the street is the last one.
    seen : tuple of int
        Actions taken since the root. If the street has more than `MAX_NODES` nodes, no raises are on offer once the
        betting departs from this path.

    Attributes
    ----------
    paths : dict of Path to int
        The number of every node, by the actions since the root.
    actions : dict of int to tuple of int
        The actions of each decision, by the number of its node.
    num_pairs : int
        The number of (decision, action) pairs.
    depth : int
        The largest number of decisions that one seat has on a path.

    Raises
    ------
    StreetTooLarge
        If the street has more than `MAX_NODES` nodes and `seen` is empty.
    ValueError
        If no seat has a decision, or if the menu returns None, which would allow every raise.
    """

    def __init__(
        self,
        state: BettingState,
        menu: RaiseMenu,
        continuations: Continuations | None,
        history: Path,
        *,
        max_raises: int,
        seen: Path = (),
    ):
        self._rules, self._continuations, self._max_raises = state.rules, continuations, max_raises
        self._street, self._is_last = state.street, state.street == state.rules.num_streets - 1
        self._root, self._menu, self._history, self._seen = state, menu, history, seen
        try:
            self._grow(is_narrow=False)
        except StreetTooLarge:
            if not seen:
                raise
            self._grow(is_narrow=True)
        if not self.actions:
            raise ValueError("nobody has a decision on this street")
        self.num_pairs = sum(map(len, self.actions.values()))
        self.depth = max(self._num_before(node)[self._states[node].actor] + 1 for node in self.actions)

    def _grow(self, *, is_narrow: bool) -> None:
        """Find all nodes; in a narrow tree there are raises only on the path `seen`, and after the end of this path."""
        self.paths: dict[Path, int] = {(): 0}
        self.actions: dict[int, tuple[int, ...]] = {}
        self._states, self._parents = [self._root], [-1]
        self._kinds: list[int] = []
        self._first_children: list[int] = []
        self._places: list[RollOutPlace | None] = []
        for node, state in enumerate(self._states):  # the list grows while it is read
            path = self._path(node)
            kind, place = self._kind(state), None
            if kind == LEAF and self._continuations is not None:
                place = self._continuations.place((*self._history, *path))
            # A leaf without a node in the blueprint's tree becomes a decision without raises if it is on the street.
            # After the street it becomes an end, where hands are checked down.
            is_closed = kind == LEAF and place is None and state.street == self._street
            if kind == LEAF and place is None:
                kind = DECISION if is_closed else END
            self._places.append(place)
            self._kinds.append(kind)
            self._first_children.append(len(self._states))
            if kind != DECISION:
                continue
            is_closed = is_closed or (is_narrow and any(a != b for a, b in zip(path, self._seen, strict=False)))
            raises = () if is_closed else self._menu(self._rules, state.array.tolist())
            if raises is None:
                raise ValueError("the betting tree needs a menu of raises, got fullgame")
            self.actions[node] = tuple([FOLD] * state.can_fold + [CALL, *raises])
            for action in self.actions[node]:
                self.paths[(*path, action)] = len(self._states)
                child = state.copy()
                child.apply_legal(action)
                self._states.append(child)
                self._parents.append(node)
            # A narrow tree may have any size: the bets already made need an answer.
            if len(self._states) > MAX_NODES and not is_narrow:
                raise StreetTooLarge(f"the street has more than {MAX_NODES:,} nodes; offer fewer raises")

    def max_bytes(self, num_policies: int) -> int:
        """Return the bytes of all tables.

        Every node where the street ends and the hand goes on counts as a leaf.
        Decisions have regrets, averages and frozen rows. Choices at leaves have regrets only; their averages, which
        `MultiwaySolver` keeps if `with_choices` is given, are not counted.
        """
        ends = (self._states[node] for node, kind in enumerate(self._kinds) if kind != DECISION)
        num_choices = sum(int(state.array[betting.NUM_ACTING]) for state in ends if not state.is_over)
        return 4 * self._rules.num_combos * (3 * self.num_pairs + num_choices * num_policies)

    def arrays(self, num_combos: int, frozen: Mapping[Path, np.ndarray]) -> tuple[StreetTree, int]:
        """Return the tree as kernels read it, and the number of cells of all tables."""
        rules, num_nodes, after = self._rules, len(self._states), self._continuations
        assert after is not None
        num_seats = rules.num_seats
        by_tree_seat = num_nodes, after.rules.num_seats
        tree = StreetTree(
            kinds=np.array(self._kinds, np.int32),
            actors=np.full(num_nodes, -1, np.int32),
            num_actions=np.zeros(num_nodes, np.int32),
            first_child=np.array(self._first_children, np.int32),
            tables=np.full((num_nodes, num_seats), -1, np.int64),
            reach_rows=np.zeros((num_nodes, num_seats), np.int32),
            live=np.zeros(num_nodes, np.int64),
            contributions=np.zeros((num_nodes, num_seats), np.int64),
            is_frozen=np.zeros(num_nodes, np.bool_),
            places=np.full(num_nodes, -1, np.int64),
            tree_seats=np.full((num_nodes, num_seats), -1, np.int32),
            paid=np.zeros(by_tree_seat, np.int64),
            put_in=np.zeros(by_tree_seat, np.int64),
            stacks=np.zeros(by_tree_seat, np.int64),
            most_paid=np.zeros(num_nodes, np.int64),
            most_put_in=np.zeros(num_nodes, np.int64),
            scales=np.ones(num_nodes),
        )
        num_rows, cell, leaf_cell = [1] * num_seats, 0, num_combos * self.num_pairs
        for node, state in enumerate(self._states):
            tree.contributions[node] = state.contributions
            tree.live[node] = sum(1 << seat for seat, folded in enumerate(state.folded) if not folded)
            parent = self._parents[node]
            if parent >= 0:
                tree.reach_rows[node] = tree.reach_rows[parent]
                actor = tree.actors[parent]
                tree.reach_rows[node, actor] = num_rows[actor]
                num_rows[actor] += 1
            place = self._places[node]
            if self._kinds[node] == DECISION:
                tree.actors[node], tree.num_actions[node] = state.actor, len(self.actions[node])
                tree.tables[node, state.actor] = cell
                cell += num_combos * len(self.actions[node])
            elif place is not None:
                tree.places[node] = place.node
                tree.tree_seats[node] = place.seats
                stakes = stakes_at(place, state)
                tree.paid[node], tree.put_in[node], tree.stacks[node] = stakes.paid, stakes.put_in, stakes.stacks
                tree.most_paid[node], tree.most_put_in[node] = stakes.most_paid, stakes.most_put_in
                tree.scales[node] = stakes.scale
                for seat in range(num_seats):
                    if int(state.array[betting.ACTING]) >> seat & 1:
                        tree.tables[node, seat] = leaf_cell
                        leaf_cell += num_combos * after.num_policies
        for path in frozen:
            tree.is_frozen[self.paths[path]] = True
        return tree, leaf_cell

    def _kind(self, state: BettingState) -> int:
        if state.is_over:
            return END
        if self._is_last:
            return DECISION
        # As in Pluribus (supplement): a leaf is at the start of the next street, or right after raise `max_raises` (the
        # second, in Pluribus), which the other seats answer by their continuation strategies.
        is_leaf = state.street > self._street or state.array[betting.NUM_RAISES] >= self._max_raises
        return LEAF if is_leaf else DECISION

    def _path(self, node: int) -> Path:
        path: Path = ()
        while node:
            parent = self._parents[node]
            path = (self.actions[parent][node - self._first_children[parent]], *path)
            node = parent
        return path

    def _num_before(self, node: int) -> list[int]:
        """Return the number of decisions of each seat before a node."""
        counts, node = [0] * self._rules.num_seats, self._parents[node]
        while node >= 0:
            counts[self._states[node].actor] += 1
            node = self._parents[node]
        return counts


def is_small(state: BettingState, menu: RaiseMenu, max_raises: int, num_policies: int, max_nodes: int) -> bool:
    """Return whether a street has at most `max_nodes` nodes, and tables of at most `MAX_BYTES`.

    Parameters as in `SearchBetting`; `num_policies` is the number of continuation strategies at a leaf.
    """
    try:
        street = SearchBetting(state, menu, None, (), max_raises=max_raises)
    except StreetTooLarge:
        return False
    return len(street.paths) <= max_nodes and street.max_bytes(num_policies) <= MAX_BYTES
