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
from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND, fill_fold_tile, fill_margin_tile
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import LANES, larger, load, smallest, spread, store
from plurispiel.agents.blueprint.acting_rows_kernels import EarlierRows, fill_open_row
from plurispiel.evaluation._defence_kernels import DefenceWorkspace, DefendedRows, carry_defended, fill_defence


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
    reach, values : float[(max_depth + 1) * width, 16]
        The opponent's reach and the values at one node of each depth. In `reach` hand k has block `FIRST_HAND` + k, and
        the blocks before hand 0 are zeros.
    place : int64[max_depth + 1]
        The first block in `reach` of the node at a depth. An action of the responding seat leaves the opponent's reach
        as it was, so the node after it shares its parent's blocks.
    started : bool[max_depth + 1]
        For the node at each depth, whether the values of a child have been added to the node's values.
    mass, out : float[n, 16]
        Workspace and result of the terminal kernels.
    row : float64[MAX_ACTIONS]
        The probabilities of one open row.
    defence : DefenceWorkspace
    """

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
    width = _node_width(work)
    for batch in range(batches[0], batches[1]):
        for board in range(boards[0], boards[1]):
            first = hands.first[board]
            num_hands = hands.first[board + 1] - first
            _gather(hands, first, num_hands, blocks, batch, work)
            shape = nodes.shape[batch]
            start, stop = nodes.first[shape], nodes.first[shape + 1]
            for node in range(start, stop):
                kind, depth, offset = nodes.kind[node], np.int64(nodes.depth[node]), node - start
                if depth > 0 and nodes.kind[start + nodes.parent[node]] != seat:
                    _pass(nodes, deals, facing, batch, board, node, work)
                elif depth > 0:  # the seat's own action leaves the opponent's reach as it was
                    work.place[depth] = work.place[depth - 1]
                if kind < FOLD_END:
                    work.started[depth] = False
                    continue
                _end(nodes, deals, batch, board, node, seat, blocks, work)
                _close(nodes, start, offset, seat, num_hands, width, work)
            weight = spread(totals, deals.weight[board])
            # The board stands for a class of isomorphic boards: on each member the values belong to renamed hands.
            for member in range(deals.member_first[board], deals.member_first[board + 1]):
                into = hands.target_first[member]
                for k in range(num_hands):
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
        Modified in place: `below`, in the lanes to which the street's ends in the given batches lead.
    """
    hands, below, below_width = deals.seats[0], blocks.below, blocks.below_width
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    for batch in range(batches[0], batches[1]):
        _gather(hands, first, num_hands, blocks, batch, work)
        shape = nodes.shape[batch]
        start, stop = nodes.first[shape], nodes.first[shape + 1]
        for node in range(start, stop):
            kind, depth = nodes.kind[node], np.int64(nodes.depth[node])
            if depth > 0 and nodes.kind[start + nodes.parent[node]] != seat:
                _pass(nodes, deals, facing, batch, board, node, work)
            elif depth > 0:
                work.place[depth] = work.place[depth - 1]
            if kind == STREET_END:
                slots = nodes.slots[nodes.end_first[batch] + nodes.number[node]]
                for lane in range(LANES):
                    if slots[lane] >= 0:
                        into, column = slots[lane] // LANES * below_width, slots[lane] % LANES
                        for k in range(num_hands):
                            below[into + k, column] = work.reach[work.place[depth] + FIRST_HAND + k, lane]


@kernel(inline=True)
def _node_width(work):
    """Return the number of blocks of a node in the workspace."""
    return work.reach.shape[0] // work.started.shape[0]


@kernel(inline=True)
def _gather(hands, first, num_hands, blocks, batch, work):
    """Copy the opponent's reach at a batch's roots from the order of the previous board's hands to this board's."""
    work.place[0], start = 0, batch * blocks.above_width
    for k in range(num_hands):
        store(work.reach, FIRST_HAND + k, load(blocks.above, start + np.int64(hands.above[first + k])))


@kernel(inline=True)
def _copy(blocks, source, target, count):
    """Copy `count` blocks, from block `source` on to block `target` on. `blocks` is modified in place."""
    for k in range(count):
        store(blocks, target + k, load(blocks, source + k))


@kernel
def _pass(nodes, deals, facing, batch, board, node, work):
    """Write the opponent's reach at a node: its reach at the parent times the probability of its action there."""
    hands, width = deals.seats[0], _node_width(work)
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    depth, entry = np.int64(nodes.depth[node]), np.int64(nodes.entry[node])
    work.place[depth] = depth * width
    above, here = work.place[depth - 1] + FIRST_HAND, depth * width + FIRST_HAND
    seat = nodes.kind[nodes.first[nodes.shape[batch]] + nodes.parent[node]]
    num_entries = nodes.num_entries[seat, nodes.shape[batch]]
    table = facing.table_first[batch] + entry
    action, is_any_open = facing.open_first[batch] + entry, len(facing.numbers) > 0
    number = np.int64(facing.defended.numbers[action]) if len(facing.defended.numbers) > 0 else np.int64(-1)
    if number >= 0:
        is_fold = facing.places[action] == 0
        if is_fold:  # the call is the next node, so the workspace holds this decision until then
            fill_defence(
                facing,
                number,
                first,
                num_hands,
                table,
                num_entries,
                work.reach,
                above,
                work.defence,
            )
        carry_defended(facing, first, num_hands, work.reach, above, here, is_fold, work.defence)
        return
    for k in range(num_hands):
        bucket = np.int64(facing.buckets[first + k])
        reach = load(work.reach, above + k) * load(facing.table, table + bucket * num_entries)
        store(work.reach, here + k, reach)
        # Training met few of the decisions with open rows, so most of these rows have no reach.
        if is_any_open and smallest(reach) < 0.0:
            combo = np.int64(hands.combos[first + k])
            strength = facing.strengths[board, combo]
            for lane in range(LANES):
                if work.reach[here + k, lane] < 0.0:
                    decision = np.int64(facing.numbers[action, lane])
                    fill_open_row(facing.earlier, decision, bucket, facing.past, combo, strength, work.row)
                    work.reach[here + k, lane] = work.reach[above + k, lane] * work.row[facing.places[action]]


@kernel
def _end(nodes, deals, batch, board, node, seat, blocks, work):
    """Write the values at an end of the street to ``work.values`` at the node's depth."""
    hands, width = deals.seats[0], _node_width(work)
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    kind, depth = nodes.kind[node], np.int64(nodes.depth[node])
    here = depth * width
    if kind == STREET_END:
        slots = nodes.slots[nodes.end_first[batch] + nodes.number[node]]
        for lane in range(LANES):
            if slots[lane] < 0:
                for k in range(num_hands):
                    work.values[here + k, lane] = 0.0
            else:
                source, column = slots[lane] // LANES * blocks.below_width, slots[lane] % LANES
                for k in range(num_hands):
                    work.values[here + k, lane] = blocks.below_totals[source + k, column]
        return
    cards = hands.cards[first : first + num_hands]
    tile = work.reach[work.place[depth] : work.place[depth] + width]
    if kind == FOLD_END:
        same = hands.same[first : first + num_hands]
        fill_fold_tile(cards, cards, same, tile, work.mass, work.out)
    else:
        stops = deals.group_stops[0, deals.group_first[board] : deals.group_first[board + 1]]
        fill_margin_tile(cards, stops, cards, stops, tile, work.mass, work.out)
    stake = load(nodes.stakes, nodes.stake_first[batch] + nodes.number[node])
    if kind == FOLD_END and seat == 1:
        stake = spread(work.out, work.out.dtype.type(0)) - stake
    for k in range(num_hands):
        store(work.values, here + k, load(work.out, k) * stake)


@kernel
def _close(nodes, start, offset, seat, num_hands, width, work):
    """Combine a node's values with its parent's, and go on with the parent if the node is the parent's last child.

    Only one node of each depth is in work at a time, so ``work.values`` holds one node's values for each depth.
    """
    values = work.values
    while True:
        node = start + offset
        depth, parent = np.int64(nodes.depth[node]), np.int64(nodes.parent[node])
        if parent < 0:
            return
        source, target = depth * width, (depth - 1) * width
        if not work.started[depth - 1]:
            work.started[depth - 1] = True
            _copy(values, source, target, num_hands)
        elif nodes.kind[start + parent] == seat:
            for k in range(num_hands):  # for each hand by itself, against the whole range: one choice in each infoset
                store(values, target + k, larger(load(values, source + k), load(values, target + k)))
        else:  # the opponent's probabilities are in its reach already, so its actions just add up
            for k in range(num_hands):
                store(values, target + k, load(values, source + k) + load(values, target + k))
        if nodes.last[node] != nodes.last[start + parent]:
            return
        offset = parent
