"""The betting of a street as the solver's kernels walk it: the rows of each node in reach, tables and values.

A *root* is a node where the street begins, one for each way in which the betting of the street before can end. An
*end* is a node where the hand goes on to the next street. The last street is cut into batches of roots, so that
the rows of a batch stay in the processor's cache. Rows of reach and of values are numbered within a batch. A row holds
the entries of all hands of one board, in blocks of sixteen.

Values need far fewer rows than there are nodes. A depth-first pass up needs one row for each depth and action; these
rows, and the rows of roots and ends, are *slots*. Folds with the same reach of the opponent share a row, as their
values differ only by the stake; so do showdowns. There may be two *kinds* of values: those of a best response, and
those of the seat's own strategy. Each kind has its own slots.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END, StreetBetting
from plurispiel.abstraction.machine.lanes import LANES

__all__ = ["StreetLayout", "lay_out"]


class StreetLayout(NamedTuple):
    """The row numbers of a street.

    Attributes
    ----------
    kind : int8[num_nodes]
        As in `StreetNodes`.
    child_first : int32[num_nodes + 1]
        The index in `children` of each node's first child, then the length of `children`.
    children : int32[num_nodes - num_roots]
        The children of each node, in the order of the actions.
    table_row : int32[num_nodes]
        The row of a decision's first action in its actor's tables by hand; the rows of its other actions follow. 0 at
        nodes that are no decisions.
    locked : int32[num_nodes]
        0 at decisions that are free, 1 at those locked for all hands. At those locked for some hands, 2 plus the
        number of the decision's row in `StreetArrays.locked_hands`. `VectorSolver` fills this array.
    table_lane : int32[num_nodes]
        The index of a decision's first action in `action_rows`, needed for tables by bucket.
    reach_row : int32[2, num_nodes]
        The row of each seat's reach at each node; the children of the seat's own decisions have consecutive rows.
    value_row : int32[2, num_nodes]
        The row of each seat's values at each node, for the first kind.
    scale : float[2, num_nodes]
        The factor of each seat's values at each node: at a fold the stake with the seat's sign, at a showdown the
        stake, else 1.
    roots : int32[num_roots]
        The node of each root.
    ends : int32[2, num_ends rounded up to a multiple of 16]
        The row of each seat's reach at each end of the street; the last row is repeated as padding.
    root_reach : int32[2, 16 * num_groups]
        The rows of each seat's reach at roots, in groups of sixteen roots. The number of a group's first root is a
        multiple of 16. On the last street each batch has one group. Padding and the roots of other batches have the
        row after the seat's last row. On other streets the only batch has all groups.
    root_value : int32[2, 2, 16 * num_groups]
        For each kind and seat, the rows of the values at the same roots; arbitrary for other batches' roots.
    root_scale : float[2 * num_groups, 16]
        The factors (`scale`) of the values at the same roots, first for seat 0; 0 for other batches' roots.
    batch_node, batch_root : int32[num_batches + 1]
        `batch_node` has the first node of each batch, then the number of nodes. `batch_root` has the index of each
        batch's first root, then the number of roots.
    action_first : int32[2, num_batches + 1]
        For each seat, the index in `action_rows` of each batch's first entry; multiples of 16.
    action_rows : int32[2, n]
        For each seat, the rows of its reach after each of its actions, decision after decision. Each batch, and each
        group of sixteen roots, is padded to a multiple of 16 with the row after the seat's last row.
    action_sources : int32[2, n]
        For each entry of `action_rows`, the row of the seat's reach at the decision; 0 for padding.
    fold_first, showdown_first : int32[2, num_batches + 1]
        For each seat, the index of each batch's first entry in `fold_rows` or `showdown_rows`; multiples of 16.
    fold_rows, showdown_rows : int32[2, n]
        For each seat, the rows of the *other* seat's reach at folds and at showdowns. In each batch, the k-th of these
        entries, folds before showdowns, has its values in row k.
    end_row : int32[2]
        For each seat, the row of the first end's values; the rows of the other ends follow, padded to a multiple of 16.
    slot_row : int32[2]
        For each seat, the first row that is a slot. All rows before it belong to terminal nodes, whose values are the
        same for both kinds.
    """

    kind: np.ndarray
    child_first: np.ndarray
    children: np.ndarray
    table_row: np.ndarray
    locked: np.ndarray
    table_lane: np.ndarray
    reach_row: np.ndarray
    value_row: np.ndarray
    scale: np.ndarray
    roots: np.ndarray
    ends: np.ndarray
    root_reach: np.ndarray
    root_value: np.ndarray
    root_scale: np.ndarray
    batch_node: np.ndarray
    batch_root: np.ndarray
    action_first: np.ndarray
    action_rows: np.ndarray
    action_sources: np.ndarray
    fold_first: np.ndarray
    fold_rows: np.ndarray
    showdown_first: np.ndarray
    showdown_rows: np.ndarray
    end_row: np.ndarray
    slot_row: np.ndarray


class StreetSize(NamedTuple):
    """The numbers of rows that a street needs, for each seat.

    Attributes
    ----------
    table_rows : tuple of int
        Number of actions at all decisions of the seat.
    reach_rows : tuple of int
        Number of rows of reach in a batch, the maximum over batches.
    value_rows : tuple of int
        Number of rows of values in a batch for one kind, the maximum over batches.
    slots : tuple of int
        Number of slots among the rows of values; a second kind needs as many again.
    """

    table_rows: tuple[int, int]
    reach_rows: tuple[int, int]
    value_rows: tuple[int, int]
    slots: tuple[int, int]


BATCH_NODES = 250
"""A root begins a new batch once the current batch has this many nodes. Every sixteenth root begins a batch, too, since
kernels transpose sixteen roots together."""


def lay_out(betting: StreetBetting, dtype: type | np.dtype, *, batches: bool) -> tuple[StreetLayout, StreetSize]:
    """Return the layout of a street and its numbers of rows.

    Parameters
    ----------
    betting : StreetBetting
    dtype : data type
        The data type of `scale`: the solver's.
    batches : bool
        Whether to cut the street into batches. Only the last street may be cut. On other streets, the rows of all roots
        are needed until the values of the later streets have come up.
    """
    nodes = betting.nodes
    num_nodes = len(nodes.kind)
    children: list[list[int]] = [[] for _ in range(num_nodes)]
    for decision in betting.decisions:
        children[decision.node] = list(decision.children.values())
    roots = np.flatnonzero(nodes.parent < 0)
    batch_root = _batches(roots, num_nodes, batches)
    batch_node = np.array([*roots[batch_root[:-1]], num_nodes])

    table_row = np.zeros(num_nodes, np.int32)
    table_rows = [0, 0]
    for decision in betting.decisions:
        table_row[decision.node] = table_rows[decision.seat]
        table_rows[decision.seat] += len(decision.children)
    reach_row, reach_rows = _reach_rows(nodes.kind, children, batch_node, roots)

    action_first, action_rows, action_sources, table_lane = _actions(
        nodes.kind, children, batch_node, reach_row, reach_rows, roots
    )

    num_actions = max(map(len, children), default=0)
    most_roots = int(np.diff(batch_root).max())
    ends = np.ascontiguousarray(reach_row[:, nodes.end_nodes])
    if betting.num_ends:
        ends = np.pad(ends, ((0, 0), (0, -betting.num_ends % LANES)), mode="edge")
    num_slots = most_roots + betting.max_depth * num_actions + ends.shape[1]
    kind = nodes.kind.tolist()
    value_row = np.zeros((2, num_nodes), np.int32)
    scale = np.ones((2, num_nodes), dtype)
    lists: dict[int, list[list[int]]] = {FOLD_END: [[], []], SHOWDOWN: [[], []]}
    firsts: dict[int, list[list[int]]] = {FOLD_END: [[0], [0]], SHOWDOWN: [[0], [0]]}
    num_terminal = [0, 0]
    for seat in range(2):
        for first, last in zip(batch_node[:-1].tolist(), batch_node[1:].tolist(), strict=True):
            begin = 0
            for ending in (FOLD_END, SHOWDOWN):
                terminal = [node for node in range(first, last) if kind[node] == ending]
                rows = sorted({int(reach_row[1 - seat, node]) for node in terminal})
                row_of = {row: begin + number for number, row in enumerate(rows)}
                for node in terminal:
                    value_row[seat, node] = row_of[int(reach_row[1 - seat, node])]
                    # A fold's stake is signed for seat 0; a showdown's margin has the seat's sign already.
                    scale[seat, node] = nodes.stake[node] * (-1 if ending == FOLD_END and seat == 1 else 1)
                # Kernels take sixteen rows at a time; repeats of a valid row fill the last tile.
                rows += [rows[0]] * (-len(rows) % LANES) if rows else []
                lists[ending][seat] += rows
                firsts[ending][seat].append(len(lists[ending][seat]))
                begin += len(rows)
            num_terminal[seat] = max(num_terminal[seat], begin)
        _place_slots(value_row[seat], betting, children, batch_root, num_terminal[seat], most_roots, num_actions)

    root_reach, root_value, root_scale = _root_lists(roots, batch_root, reach_row, reach_rows, value_row, scale)
    for seat in range(2):
        # The slots of the second kind come after those of the first; terminal nodes have one row for both kinds.
        root_value[1, seat] += num_slots * (root_value[1, seat] >= num_terminal[seat])
    child_first = np.cumsum([0, *map(len, children)])
    layout = StreetLayout(
        kind=nodes.kind,
        child_first=child_first.astype(np.int32),
        children=np.array([child for of_node in children for child in of_node], np.int32),
        table_row=table_row,
        locked=np.zeros(num_nodes, np.int32),
        table_lane=table_lane,
        reach_row=reach_row,
        value_row=value_row,
        scale=scale,
        roots=roots.astype(np.int32),
        ends=ends,
        root_reach=root_reach,
        root_value=root_value,
        root_scale=root_scale.reshape(-1, LANES),
        batch_node=batch_node.astype(np.int32),
        batch_root=batch_root.astype(np.int32),
        action_first=action_first,
        action_rows=action_rows,
        action_sources=action_sources,
        fold_first=np.array(firsts[FOLD_END], np.int32),
        fold_rows=_even(lists[FOLD_END]),
        showdown_first=np.array(firsts[SHOWDOWN], np.int32),
        showdown_rows=_even(lists[SHOWDOWN]),
        end_row=np.array([first + num_slots - ends.shape[1] for first in num_terminal], np.int32),
        slot_row=np.array(num_terminal, np.int32),
    )
    value_rows = num_terminal[0] + num_slots, num_terminal[1] + num_slots
    size = StreetSize((table_rows[0], table_rows[1]), reach_rows, value_rows, (num_slots, num_slots))
    return layout, size


def _batches(roots: np.ndarray, num_nodes: int, several: bool) -> np.ndarray:
    """Return the index of each batch's first root, then the number of roots; one batch unless `several`."""
    starts = [0]
    if several:
        for number, node in enumerate(roots.tolist()):
            if node - roots[starts[-1]] >= BATCH_NODES or (number and number % LANES == 0):
                starts.append(number)
    return np.array([*starts, len(roots)])


def _actions(
    kind: np.ndarray,
    children: list[list[int]],
    batch_node: np.ndarray,
    reach_row: np.ndarray,
    reach_rows: tuple[int, int],
    roots: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return `action_first`, `action_rows`, `action_sources` and `table_lane`."""
    first: list[list[int]] = [[0], [0]]
    rows: list[list[int]] = [[], []]
    sources: list[list[int]] = [[], []]
    lanes = np.zeros(len(kind), np.int32)
    ends_of_batches = batch_node[1:].tolist()
    cuts = sorted({*roots[::LANES].tolist(), *batch_node.tolist()})
    for start, stop in zip(cuts, cuts[1:], strict=False):
        for node in range(start, stop):
            if children[node]:
                seat = int(kind[node])
                lanes[node] = len(rows[seat])
                rows[seat] += [int(reach_row[seat, child]) for child in children[node]]
                sources[seat] += [int(reach_row[seat, node])] * len(children[node])
        for seat in range(2):
            rows[seat] += [reach_rows[seat]] * (-len(rows[seat]) % LANES)
            sources[seat] += [0] * (len(rows[seat]) - len(sources[seat]))
            if stop in ends_of_batches:
                first[seat].append(len(rows[seat]))
    return np.array(first, np.int32), _even(rows), _even(sources), lanes


def _root_lists(
    roots: np.ndarray,
    batch_root: np.ndarray,
    reach_row: np.ndarray,
    reach_rows: tuple[int, int],
    value_row: np.ndarray,
    scale: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `root_reach`, `root_value` (the same for both kinds) and `root_scale`."""
    bounds = [(int(first), int(last)) for first, last in zip(batch_root[:-1], batch_root[1:], strict=True)]
    num_groups = sum((last - 1) // LANES - first // LANES + 1 for first, last in bounds)
    reach, value = np.zeros((2, num_groups, LANES), np.int32), np.zeros((2, num_groups, LANES), np.int32)
    chips = np.zeros((2, num_groups, LANES), scale.dtype)
    for seat in range(2):
        reach[seat] = reach_rows[seat]
        for batch, (first, last) in enumerate(bounds):
            for number in range(first, last):
                group, lane, node = batch + number // LANES - first // LANES, number % LANES, roots[number]
                reach[seat, group, lane] = reach_row[seat, node]
                value[seat, group, lane] = value_row[seat, node]
                chips[seat, group, lane] = scale[seat, node]
    flat = value.reshape(2, -1)
    return reach.reshape(2, -1), np.stack([flat, flat]), chips.reshape(2, -1)


def _reach_rows(
    kind: np.ndarray, children: list[list[int]], batch_node: np.ndarray, roots: np.ndarray
) -> tuple[np.ndarray, tuple[int, int]]:
    """Return `reach_row`, and for each seat the maximum number of rows in a batch."""
    row = np.zeros((2, len(kind)), np.int32)
    starts, is_root = set(batch_node.tolist()), set(roots.tolist())
    used, most = [0, 0], [0, 0]
    for node in range(len(kind)):
        if node in starts:
            used = [0, 0]
        if node in is_root:
            row[:, node] = used
            used = [used[0] + 1, used[1] + 1]
        for number, child in enumerate(children[node]):
            row[:, child] = row[:, node]
            row[kind[node], child] = used[kind[node]] + number
        if children[node]:
            used[kind[node]] += len(children[node])
        most = [max(most[0], used[0]), max(most[1], used[1])]
    return row, (most[0], most[1])


def _place_slots(
    value_row: np.ndarray,
    betting: StreetBetting,
    children: list[list[int]],
    batch_root: np.ndarray,
    first: int,
    most_roots: int,
    num_actions: int,
) -> None:
    """Write the slots of one seat: roots from row `first` on, then a row for each depth and action, then ends."""
    nodes = betting.nodes
    for node, kind in enumerate(nodes.kind.tolist()):
        for number, child in enumerate(children[node]):
            if nodes.kind[child] < FOLD_END:
                # Nodes are in depth-first order: on the way up, a parent reads its children's slots before nodes
                # elsewhere in the tree write to the same rows.
                value_row[child] = first + most_roots + (nodes.depth[child] - 1) * num_actions + number
        if kind == STREET_END:
            value_row[node] = first + most_roots + betting.max_depth * num_actions + nodes.end[node]
        elif kind < FOLD_END and nodes.parent[node] < 0:
            number = nodes.number[node]
            batch = int(np.searchsorted(batch_root, number, side="right")) - 1
            value_row[node] = first + number - batch_root[batch]


def _even(lists: list[list[int]]) -> np.ndarray:
    """Return two lists as rows of one array, padded with 0."""
    rows = np.zeros((2, max(map(len, lists))), np.int32)
    for row, values in zip(rows, lists, strict=True):
        row[: len(values)] = values
    return rows
