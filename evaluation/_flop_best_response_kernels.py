"""Kernels of the best response from a flop on: sixteen subtrees of one shape at once, all hands, board after board.

Every vector of a board has a block of sixteen lanes for each hand, in the order of `StreetDeals`; each lane is a
subtree of its own (`betting_batches`). The opponent's reach is carried down by its rows, and values are carried up.
Values are counterfactual: weighted by the opponent's reach, and by the probability of each board given both hands.

Arguments that recur
--------------------
nodes : BatchNodes
deals : StreetDeals
    All boards of the street. Both seats have the same hands; the kernels read those of seat 0.
facing : FacingRows
    The opponent's rows.
seat : int
    The seat that responds.
blocks : StreetBlocks
work : ResponseWorkspace
    Modified in place.

``float`` is float32 or float64, the same throughout.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, STREET_END
from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND, held_with, sum_range, sweep_range
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import LANES, larger, load, smallest, spread, store
from plurispiel.agents.blueprint.acting_rows_kernels import EarlierRows, fill_open_row
from plurispiel.evaluation._defence_kernels import DefenceWorkspace, DefendedRows, carry_defended, fill_defence
from plurispiel.evaluation._live_hands_kernels import LiveHands, gather_live


class FacingRows(NamedTuple):
    """One seat's rows on a street, as `respond` and `descend` read them.

    Attributes
    ----------
    table : float[n, 16]
        The probability of each action in each lane: block ``table_first[batch] + bucket * num_entries + entry``; -1 for
        an *open* row, which differs between the combos of a bucket (see `acting_rows`).
    table_first : int64[num_batches]
        The index of each batch's first block in `table`.
    buckets : int32[num_hands]
        The bucket of each hand on all boards of the street, in the order of `StreetDeals`; 0 on boards for which these
        rows are not made.
    open_first : int64[num_batches]
        The index of each batch's first entry in `numbers` and `places`.
    numbers : int32[num_entries of all batches, 16]
        For each action, the number of its decision in `earlier`, lane by lane; -1 for a decision without open rows.
        Empty if no row is open.
    places : int32[num_entries of all batches]
        The column of each action in the row of its decision.
    earlier : EarlierRows
        Fills the open rows.
    past : int32[street + 1, num_combos]
        The bucket of each combo on each earlier street, the preflop first, then a row for this street, which is not
        read.
    strengths : float64[n, num_combos]
        Entry [board, combo] is the strength by which a combo without any row calls or folds on a board. Only boards for
        which these rows are made are filled in. A single row if no row is open.
    defended : DefendedRows
        The decisions at which rows are changed by the range; none of them has open rows.
    """

    table: np.ndarray
    table_first: np.ndarray
    buckets: np.ndarray
    open_first: np.ndarray
    numbers: np.ndarray
    places: np.ndarray
    earlier: EarlierRows
    past: np.ndarray
    strengths: np.ndarray
    defended: DefendedRows


class StreetBlocks(NamedTuple):
    """The reach and the values of all subtrees at both borders of a street.

    Attributes
    ----------
    above, totals : float[num_batches * above_width, 16]
        The opponent's reach at the roots (`above`), and the values at the roots (`totals`). A batch has a block for
        each hand on the board of the previous street.
    above_width : int
        The number of blocks of a batch in `above` and `totals`.
    below, below_totals : float[num_batches of the next street * below_width, 16]
        The reach and the values at the ends of the street, which are the roots of the next. A batch of the next street
        has a block for each hand on this street's board. On the last street these arrays are not read.
    below_width : int
        The number of blocks of a batch in `below` and `below_totals`.
    """

    above: np.ndarray
    totals: np.ndarray
    above_width: int
    below: np.ndarray
    below_totals: np.ndarray
    below_width: int


class ResponseWorkspace(NamedTuple):
    """Scratch memory of one thread on one street.

    Attributes
    ----------
    live : LiveHands
    reach : float[(max_depth + 1) * width, 16]
        A tile for one node of each depth: the opponent's reach, with a block for each of the live hands from block
        `FIRST_HAND` on. The blocks before are zeros.
    values : float[(max_depth + 1) * width, 16]
        The values of one node of each depth, with a block for each hand on the board from block 0 on.
    place : int64[max_depth + 1]
        The first block in `reach` of the node at a depth, 0 for a root. An action of the responding seat leaves the
        opponent's reach as it was, so the node after it shares its parent's tile.
    started : bool[max_depth + 1]
        For the node at each depth, whether the values of a child have been added to the node's values.
    mass, out : float[n, 16]
        Workspace and result of the terminal kernels.
    row : float64[MAX_ACTIONS]
        The probabilities of one open row.
    defence : DefenceWorkspace
    """

    live: LiveHands
    reach: np.ndarray
    values: np.ndarray
    place: np.ndarray
    started: np.ndarray
    mass: np.ndarray
    out: np.ndarray
    row: np.ndarray
    defence: DefenceWorkspace


@kernel
def respond(nodes, deals, facing, seat, batches, boards, blocks, work):
    """Add the values of a best response at the roots of some batches, over some boards.

    Parameters
    ----------
    batches, boards : int64[2]
        Each a range: the first number, and one past the last. Before the final street each call is for one board, whose
        `below_totals` are given.
    blocks : StreetBlocks
        Modified in place: `totals`.
    """
    hands, totals, above_width = deals.seats[0], blocks.totals, blocks.above_width
    for batch in range(batches[0], batches[1]):
        shape = nodes.shape[batch]
        start, stop = nodes.first[shape], nodes.first[shape + 1]
        for board in range(boards[0], boards[1]):
            gather_live(deals, facing, board, blocks.above, batch * above_width, work.live, work.reach)
            if work.live.counts[0] == 0:
                continue
            for node in range(start, stop):
                depth = np.int64(nodes.depth[node])
                _fill_reach(nodes, deals, facing, batch, board, node, seat, work)
                if nodes.kind[node] < FOLD_END:
                    work.started[depth] = False
                else:
                    _end(nodes, deals, batch, board, node, seat, blocks, work)
                    _close(nodes, deals, batch, board, node, seat, work)
            first, weight = hands.first[board], spread(totals, deals.weight[board])
            # The board stands for a class of isomorphic boards: on each member the values belong to renamed hands.
            for member in range(deals.member_first[board], deals.member_first[board + 1]):
                into = hands.target_first[member]
                for k in range(hands.first[board + 1] - first):
                    target = batch * above_width + np.int64(hands.targets[into + k])
                    store(totals, target, load(totals, target) + load(work.values, k) * weight)


@kernel
def descend(nodes, deals, facing, seat, batches, board, blocks, work):
    """Write the opponent's reach at the ends of a street on one board.

    Parameters
    ----------
    batches : int64[2]
        A range, as in `respond`.
    board : int
    blocks : StreetBlocks
        Modified in place: `below`, in the lanes to which the street's ends in the given batches lead. Only the blocks
        of live hands are written, so these lanes have to be 0 before.
    """
    live, below, below_width = work.live, blocks.below, blocks.below_width
    for batch in range(batches[0], batches[1]):
        gather_live(deals, facing, board, blocks.above, batch * blocks.above_width, work.live, work.reach)
        if live.counts[0] == 0:
            continue
        shape = nodes.shape[batch]
        for node in range(nodes.first[shape], nodes.first[shape + 1]):
            _fill_reach(nodes, deals, facing, batch, board, node, seat, work)
            if nodes.kind[node] == STREET_END:
                from_block = work.place[np.int64(nodes.depth[node])] + FIRST_HAND
                slots = nodes.slots[nodes.end_first[batch] + nodes.number[node]]
                for lane in range(LANES):
                    if slots[lane] >= 0:
                        into, column = slots[lane] // LANES * below_width, slots[lane] % LANES
                        for k in range(live.counts[0]):
                            below[into + np.int64(live.numbers[k]), column] = work.reach[from_block + k, lane]


@kernel(inline=True)
def _node_width(work):
    """Return the number of blocks of a node in the workspace."""
    return work.reach.shape[0] // work.started.shape[0]


@kernel
def _fill_reach(nodes, deals, facing, batch, board, node, seat, work):
    """Write the opponent's reach at a node: its reach at the parent times the probability of its action there.

    After an action of the seat that responds, the reach is that of the parent.
    """
    depth, entry = np.int64(nodes.depth[node]), np.int64(nodes.entry[node])
    if depth == 0:
        return
    shape, live, hands = nodes.shape[batch], work.live, deals.seats[0]
    actor = nodes.kind[nodes.first[shape] + nodes.parent[node]]
    if actor == seat:
        work.place[depth] = work.place[depth - 1]
        return
    work.place[depth] = depth * _node_width(work)
    before, here = work.place[depth - 1], work.place[depth]
    table, num_entries = facing.table_first[batch] + entry, nodes.num_entries[actor, shape]
    action, is_any_open = facing.open_first[batch] + entry, len(facing.numbers) > 0
    number = np.int64(facing.defended.numbers[action]) if len(facing.defended.numbers) > 0 else np.int64(-1)
    if number >= 0:
        is_fold = facing.places[action] == 0
        if is_fold:  # the call is the next node, so the workspace holds this decision until then
            fill_defence(facing, number, live, table, num_entries, work.reach, before, work.defence)
        carry_defended(live, work.reach, before, here, is_fold, work.defence)
        return
    for k in range(live.counts[0]):
        bucket, block = np.int64(live.buckets[k]), FIRST_HAND + k
        reach = load(work.reach, before + block) * load(facing.table, table + bucket * num_entries)
        store(work.reach, here + block, reach)
        # Training met few of the decisions with open rows, so most of these rows have no reach.
        if is_any_open and smallest(reach) < 0.0:
            combo = np.int64(hands.combos[hands.first[board] + live.numbers[k]])
            strength = facing.strengths[board, combo]
            for lane in range(LANES):
                if work.reach[here + block, lane] < 0.0:
                    decision = np.int64(facing.numbers[action, lane])
                    fill_open_row(facing.earlier, decision, bucket, facing.past, combo, strength, work.row)
                    work.reach[here + block, lane] = work.reach[before + block, lane] * work.row[facing.places[action]]


_FIRST, _LARGER, _SUM = 0, 1, 2
"""How the values of a node enter those of its parent.

``_FIRST``: they replace them, as the node is the first child. ``_LARGER``: the responding seat has taken the action,
and takes the best one for each hand. ``_SUM``: the opponent has taken the action, whose probability is in the reach.
"""


@kernel(inline=True)
def _way_up(nodes, start, node, seat, work):
    """Return how the values of a node enter those of its parent, and the parent's first block in ``work.values``.

    The parent counts as started from then on. The values of a root are written to block 0.
    """
    depth = np.int64(nodes.depth[node])
    if depth == 0:
        return _FIRST, np.int64(0)
    target = (depth - 1) * _node_width(work)
    if not work.started[depth - 1]:
        work.started[depth - 1] = True
        return _FIRST, target
    return (_LARGER if nodes.kind[start + nodes.parent[node]] == seat else _SUM), target


@kernel(inline=True)
def _enter(values, block, found, way):
    """Let one hand's values enter those of the parent. `values` is modified in place."""
    if way == _LARGER:  # for each hand by itself, against the whole range: one choice in each infoset
        store(values, block, larger(load(values, block), found))
    elif way == _SUM:
        store(values, block, load(values, block) + found)
    else:
        store(values, block, found)


@kernel
def _end(nodes, deals, batch, board, node, seat, blocks, work):
    """Let the values at an end of the street enter those of the parent."""
    hands, live, width = deals.seats[0], work.live, _node_width(work)
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    kind, depth = nodes.kind[node], np.int64(nodes.depth[node])
    values, mass, out = work.values, work.mass, work.out
    way, target = _way_up(nodes, nodes.first[nodes.shape[batch]], node, seat, work)
    if kind == STREET_END:
        slots = nodes.slots[nodes.end_first[batch] + nodes.number[node]]
        for lane in range(LANES):
            if slots[lane] < 0:
                for k in range(num_hands):
                    out[k, lane] = 0.0
            else:
                source, column = slots[lane] // LANES * blocks.below_width, slots[lane] % LANES
                for k in range(num_hands):
                    out[k, lane] = blocks.below_totals[source + k, column]
        for k in range(num_hands):
            _enter(values, target + k, load(out, k), way)
        return
    own, others = hands.cards[first : first + num_hands], live.cards[: live.counts[0]]
    tile = work.reach[work.place[depth] : work.place[depth] + width]
    stake = load(nodes.stakes, nodes.stake_first[batch] + nodes.number[node])
    if kind == FOLD_END:
        if seat == 1:
            stake = spread(out, out.dtype.type(0)) - stake
        total = sum_range(others, tile, mass)
        for k in range(num_hands):
            kept = total - (held_with(own, k, mass) - load(tile, np.int64(live.blocks[k])))
            _enter(values, target + k, kept * stake, way)
        return
    stops = deals.group_stops[0, deals.group_first[board] : deals.group_first[board + 1]]
    total = sweep_range(own, stops, others, live.stops, tile, mass, out)
    for k in range(num_hands):
        margin = load(out, k) - (total - held_with(own, k, mass))
        _enter(values, target + k, margin * stake, way)


@kernel
def _close(nodes, deals, batch, board, end, seat, work):
    """Let the values of all decisions whose last descendant is `end` enter those of their parents.

    Only one node of each depth is in work at a time, so ``work.values`` holds one node's values for each depth.
    """
    start, width, values = nodes.first[nodes.shape[batch]], _node_width(work), work.values
    num_hands = deals.seats[0].first[board + 1] - deals.seats[0].first[board]
    node = start + np.int64(nodes.parent[end])
    while node > start and nodes.last[node] == nodes.last[end]:
        source = np.int64(nodes.depth[node]) * width
        way, target = _way_up(nodes, start, node, seat, work)
        for k in range(num_hands):
            _enter(values, target + k, load(values, source + k), way)
        node = start + np.int64(nodes.parent[node])
