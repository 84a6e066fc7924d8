"""The betting of one street of a search, from its root to its ends and leaves, for any number of players."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import _betting_kernels as betting
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu
from plurispiel.agents.blueprint.roll_outs import stakes_at
from plurispiel.agents.search._multiway_kernels import DECISION, END, LEAF
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.subgame import Path

__all__ = ["MAX_NODES", "StreetBetting", "StreetTree"]

MAX_NODES = 30_000
"""Of a street; with more, an iteration takes too long."""


class StreetTree(NamedTuple):
    """The betting of a street; children stand side by side, behind their parents.

    Attributes
    ----------
    kinds, actors, num_actions, first_child : int32[num_nodes]
        Of ends and leaves only the kind means something.
    tables : int64[num_nodes, num_seats]
        The first cell of the seat's table there, -1 where it has nothing to choose. Those of decisions come first.
    reach_rows : int32[num_nodes, num_seats]
        Nodes with the same actions of the seat before them share a row.
    live : int64[num_nodes]
        The set of seats that have not folded.
    contributions : int64[num_nodes, num_seats]
    is_frozen : bool[num_nodes]
    places : int64[num_nodes]
        Of leaves: the blueprint's node.
    tree_seats : int32[num_nodes, num_seats]
        Of leaves: the blueprint's seats, -1 for whoever is not in its tree.
    paid, put_in, stacks : int64[num_nodes, num_seats of the blueprint]
    scales : float64[num_nodes]
        Of leaves: see `Stakes`.
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
    scales: np.ndarray


class StreetBetting:
    """The nodes of a street as they are found, parents first.

    Behind its last raise the street is left for the blueprint's tree; where that has no such place, whoever still has
    to answer may fold or call.

    Attributes
    ----------
    paths : dict of Path to int
        Every node by the actions of the street that lead to it.
    actions : dict of int to tuple of int
        Of decisions.
    num_pairs : int
        Actions of all decisions.
    depth : int
        Decisions of one seat on one way, at most.
    """

    def __init__(
        self, state: BettingState, menu: RaiseMenu, continuations: Continuations, history: Path, most_raises: int
    ):
        self._rules, self._continuations, self._most_raises = state.rules, continuations, most_raises
        self._street, self._is_last = state.street, state.street == state.rules.num_streets - 1
        self.paths: dict[Path, int] = {(): 0}
        self.actions: dict[int, tuple[int, ...]] = {}
        self._states, self._parents = [state], [-1]
        self._kinds, self._first_children = [], []
        self._places = []
        for node, state in enumerate(self._states):  # grows as it goes
            path = self._path(node)
            kind = self._kind(state)
            place = continuations.place((*history, *path)) if kind == LEAF else None
            is_closed = kind == LEAF and place is None and state.street == self._street
            if kind == LEAF and place is None:
                kind = DECISION if is_closed else END
            self._places.append(place)
            self._kinds.append(kind)
            self._first_children.append(len(self._states))
            if kind != DECISION:
                continue
            raises = () if is_closed else menu(self._rules, state.array.tolist())
            if raises is None:
                raise ValueError("the betting tree needs a menu of raises, got fullgame")
            self.actions[node] = tuple([FOLD] * state.can_fold + [CALL, *raises])
            for action in self.actions[node]:
                self.paths[(*path, action)] = len(self._states)
                child = state.copy()
                child.apply_legal(action)
                self._states.append(child)
                self._parents.append(node)
            if len(self._states) > MAX_NODES:
                raise ValueError(f"the street has more than {MAX_NODES:,} nodes; offer fewer raises")
        if not self.actions:
            raise ValueError("nobody has a decision on this street")
        self.num_pairs = sum(map(len, self.actions.values()))
        self.depth = max(self._num_before(node)[self._states[node].actor] + 1 for node in self.actions)

    def arrays(self, num_combos: int, frozen: Mapping[Path, np.ndarray]) -> tuple[StreetTree, int]:
        """Return the tree as kernels read it, and the number of cells in all tables."""
        rules, num_nodes = self._rules, len(self._states)
        num_seats = rules.num_seats
        by_tree_seat = num_nodes, self._continuations.rules.num_seats
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
                tree.scales[node] = stakes.scale
                for seat in range(num_seats):
                    if int(state.array[betting.ACTING]) >> seat & 1:
                        tree.tables[node, seat] = leaf_cell
                        leaf_cell += num_combos * self._continuations.num_policies
        for path in frozen:
            tree.is_frozen[self.paths[path]] = True
        return tree, leaf_cell

    def _kind(self, state: BettingState) -> int:
        if state.is_over:
            return END
        if self._is_last:
            return DECISION
        is_leaf = state.street > self._street or state.array[betting.NUM_RAISES] >= self._most_raises
        return LEAF if is_leaf else DECISION

    def _path(self, node: int) -> Path:
        found: Path = ()
        while node:
            parent = self._parents[node]
            found = (self.actions[parent][node - self._first_children[parent]], *found)
            node = parent
        return found

    def _num_before(self, node: int) -> list[int]:
        """Return how many decisions each seat had before a node."""
        counts, node = [0] * self._rules.num_seats, self._parents[node]
        while node >= 0:
            counts[self._states[node].actor] += 1
            node = self._parents[node]
        return counts
