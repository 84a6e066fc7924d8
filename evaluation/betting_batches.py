"""The betting of a heads-up tree, street by street: subtrees of one shape, sixteen at a time.

Where a street begins, the tree has one subtree for each sequence of betting on the earlier streets. The first nodes of
these subtrees are the street's *roots*. Many subtrees have the same decisions in the same order and differ in chips
only; they have one *shape*. A *batch* is up to sixteen roots of one shape, so that kernels work on sixteen subtrees as
on one, each in a lane of its own.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END
from plurispiel.abstraction.machine.lanes import LANES

__all__ = ["BatchNodes", "StreetBatches", "street_batches"]


class BatchNodes(NamedTuple):
    """The shapes and the batches of one street, as kernels read them.

    Attributes
    ----------
    first : int64[num_shapes + 1]
        The index of each shape's first node. A shape's nodes stand depth first: each before its children.
    kind : int8[num_nodes]
        Seat to act, `FOLD_END`, `SHOWDOWN` or `STREET_END`, as in `betting_tree`.
    depth : int32[num_nodes]
        The number of actions since the root.
    parent, last : int32[num_nodes]
        Each node's parent and last descendant, as offsets in the shape; the root has the parent -1.
    entry : int32[num_nodes]
        The index of the action that leads to a node, among all actions that the acting seat has in the shape; 0 for the
        root.
    number : int32[num_nodes]
        The number of an end in its shape. Folds and showdowns, which win chips, are numbered together; the
        `STREET_END` nodes, which lead to the next street, are numbered by themselves. 0 at decisions.
    num_entries : int64[2, num_shapes]
        The number of actions of each seat in each shape.
    shape : int64[num_batches]
        The shape of each batch.
    stake_first : int64[num_batches + 1]
        The index of each batch's first block in `stakes`.
    stakes : float[n, 16]
        A block for each fold and showdown of each batch, with the chips in each lane. At a fold they are the chips that
        seat 0 wins, below 0 if seat 0 folds. At a showdown they are the chips that the winner wins.
    end_first : int64[num_batches + 1]
        The index of each batch's first row in `slots`.
    slots : int64[n, 16]
        A row for each `STREET_END` of each batch: for each lane, the root of the next street to which the node leads,
        as 16 * batch + lane; -1 in a lane without a root.
    """

    first: np.ndarray
    kind: np.ndarray
    depth: np.ndarray
    parent: np.ndarray
    last: np.ndarray
    entry: np.ndarray
    number: np.ndarray
    num_entries: np.ndarray
    shape: np.ndarray
    stake_first: np.ndarray
    stakes: np.ndarray
    end_first: np.ndarray
    slots: np.ndarray


class StreetBatches(NamedTuple):
    """The batches of one street.

    Attributes
    ----------
    nodes : BatchNodes
    roots : int64[num_roots]
        The tree's node of each root, ascending.
    slots : int64[num_roots]
        The place of each root: 16 * batch + lane.
    members : list of int64[num_shape_nodes, 16]
        For each batch, the number in the tree of each node of the batch's shape, lane by lane; -1 in a lane without a
        root.
    max_depth : int
        The greatest depth of a node.
    """

    nodes: BatchNodes
    roots: np.ndarray
    slots: np.ndarray
    members: list[np.ndarray]
    max_depth: int


class _Shape:
    """The nodes of one shape under construction; lists as in `BatchNodes`."""

    def __init__(self):
        self.kind: list[int] = []
        self.depth: list[int] = []
        self.parent: list[int] = []
        self.last: list[int] = []
        self.entry: list[int] = []
        self.number: list[int] = []
        self.num_entries = [0, 0]
        self.num_stakes = self.num_ends = 0
        self.members: list[list[int]] = []  # for each root of the shape, its nodes


def street_batches(tree: BettingTree, num_streets: int, dtype: np.dtype | type) -> list[StreetBatches]:
    """Return the batches of every street from the second one on.

    Parameters
    ----------
    tree : BettingTree
        Of a game of two seats.
    num_streets : int
        The number of streets of the game. A hand that is all-in passes through all remaining streets.
    dtype : data type
        Type of `BatchNodes.stakes`.

    Notes
    -----
    Hands that are all-in before the first board have no root here, as their value does not depend on a flop (see
    `preflop_response`).
    """
    parents = np.maximum(tree.parent, 0)
    begins = (tree.actor >= 0) & (tree.street == 1) & (tree.street[parents] == 0)
    roots = np.flatnonzero(begins)
    found = []
    for street in range(1, num_streets):
        batches, roots = _batched(tree, street, street == num_streets - 1, roots, dtype)
        found.append(batches)
    for before, after in zip(found, found[1:], strict=False):
        _link(before, after)
    return found


def _batched(
    tree: BettingTree, street: int, is_last: bool, roots: np.ndarray, dtype: np.dtype | type
) -> tuple[StreetBatches, np.ndarray]:
    """Return a street's batches, and the roots of the next street, ascending."""
    shapes: dict[tuple, _Shape] = {}
    places = []  # of each root: its shape, and its number among the roots of the shape
    for root in roots.tolist():
        subtree, signature = _subtree(tree, street, is_last, root)
        shape = shapes.get(signature)
        if shape is None:
            shape = shapes[signature] = _shaped(signature)
        places.append((shape, len(shape.members)))
        shape.members.append(subtree)
    members: list[np.ndarray] = []
    of_batch: list[int] = []
    stakes, slots = [], []
    stake_first, end_first = [0], [0]
    first_batch = {}
    for number, shape in enumerate(shapes.values()):
        kind = np.array(shape.kind)
        first_batch[id(shape)] = len(of_batch)
        for start in range(0, len(shape.members), LANES):
            block = np.full((len(kind), LANES), -1, np.int64)
            lanes = np.array(shape.members[start : start + LANES], np.int64).T
            block[:, : lanes.shape[1]] = lanes
            members.append(block)
            of_batch.append(number)
            stakes.append(_stakes(tree, block[(kind == FOLD_END) | (kind == SHOWDOWN)]))
            slots.append(block[kind == STREET_END])  # nodes for now; `_link` replaces them
            stake_first.append(stake_first[-1] + len(stakes[-1]))
            end_first.append(end_first[-1] + len(slots[-1]))
    all_slots = np.concatenate([*slots, np.empty((0, LANES), np.int64)])
    built = list(shapes.values())
    nodes = BatchNodes(
        first=np.cumsum([0, *(len(shape.kind) for shape in built)]),
        kind=_joined(built, "kind", np.int8),
        depth=_joined(built, "depth", np.int32),
        parent=_joined(built, "parent", np.int32),
        last=_joined(built, "last", np.int32),
        entry=_joined(built, "entry", np.int32),
        number=_joined(built, "number", np.int32),
        num_entries=np.array([shape.num_entries for shape in built], np.int64).reshape(-1, 2).T.copy(),
        shape=np.array(of_batch, np.int64),
        stake_first=np.array(stake_first),
        stakes=np.concatenate([*stakes, np.empty((0, LANES))]).astype(dtype),
        end_first=np.array(end_first),
        slots=all_slots,
    )
    root_slots = np.array(
        [LANES * (first_batch[id(shape)] + number // LANES) + number % LANES for shape, number in places], np.int64
    )
    max_depth = max((max(shape.depth) for shape in built), default=0)
    return StreetBatches(nodes, roots, root_slots, members, max_depth), np.sort(all_slots[all_slots >= 0])


def _link(before: StreetBatches, after: StreetBatches) -> None:
    """Replace the nodes in the slots of a street by their places on the next street. `before` is modified in place."""
    slots = before.nodes.slots
    is_used = slots >= 0
    slots[is_used] = after.slots[np.searchsorted(after.roots, slots[is_used])]


def _subtree(tree: BettingTree, street: int, is_last: bool, root: int) -> tuple[list[int], tuple]:
    """Return the nodes of a root's subtree on its street, depth first, and the kind and depth of each."""
    nodes, signature = [], []
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        kind = int(tree.actor[node])
        if kind < 0 and tree.folded[tree.first_child[node]]:
            kind = FOLD_END
        elif kind < 0 and is_last:
            kind = SHOWDOWN
        elif kind < 0 or int(tree.street[node]) != street:
            kind = STREET_END
        else:
            first = int(tree.first_child[node])
            stack += [(first + k, depth + 1) for k in reversed(range(int(tree.num_actions[node])))]
        nodes.append(node)
        signature.append((kind, depth))
    return nodes, tuple(signature)


def _shaped(signature: tuple) -> _Shape:
    """Return a shape, without roots, from the kind and depth of its nodes."""
    shape = _Shape()
    path: list[int] = []
    children: list[list[int]] = []
    for node, (kind, depth) in enumerate(signature):
        del path[depth:]
        parent = path[-1] if path else -1
        if parent >= 0:
            children[parent].append(node)
        path.append(node)
        children.append([])
        shape.kind.append(kind)
        shape.depth.append(depth)
        shape.parent.append(parent)
        shape.last.append(node)
        for above in path:
            shape.last[above] = node
        number = 0
        if kind in (FOLD_END, SHOWDOWN):
            number, shape.num_stakes = shape.num_stakes, shape.num_stakes + 1
        elif kind == STREET_END:
            number, shape.num_ends = shape.num_ends, shape.num_ends + 1
        shape.number.append(number)
    shape.entry = [0] * len(signature)
    for node, below in enumerate(children):
        seat = shape.kind[node]
        for child in below:  # a decision's actions have consecutive entries
            shape.entry[child] = shape.num_entries[seat]
            shape.num_entries[seat] += 1
    return shape


def _stakes(tree: BettingTree, nodes: np.ndarray) -> np.ndarray:
    """Return the stakes of folds and showdowns; 0 in lanes without a root: float64[n, 16]."""
    ends = tree.first_child[np.maximum(nodes, 0)]
    ends[nodes < 0] = 0
    lost = tree.contributions[ends].min(axis=-1).astype(np.float64)
    # At a fold the seat that folded loses its contribution, which is the smaller one.
    lost[(tree.folded[ends] & 1) != 0] *= -1.0
    lost[nodes < 0] = 0.0
    return lost


def _joined(shapes: list[_Shape], name: str, dtype: type) -> np.ndarray:
    """Return the lists of one name of all shapes, joined in the order of the shapes."""
    return np.concatenate([*(getattr(shape, name) for shape in shapes), np.empty(0)]).astype(dtype)
