"""Kernels of vector CFR: whole ranges through the betting of one street on one board.

Rows of reach, of tables and of values are those of `StreetLayout`, each in blocks of sixteen hands of the board.
Values are counterfactual: weighted by the other seat's reach, chance by the share of a board among those that two
given hands leave. ``float`` stands for float32 or float64, one of them throughout.
"""

import numpy as np

from plurispiel.abstraction._jit import kernel
from plurispiel.abstraction._lanes import (
    LANES,
    larger,
    load,
    spread,
    store,
    transpose_in,
    transpose_out,
    where_positive,
)
from plurispiel.abstraction.holdem._showdown_kernels import FIRST_HAND, fill_fold_tile, fill_margin_tile
from plurispiel.abstraction.holdem.betting_tree import FOLD_END

BEST, OWN = 0, 1
"""Kinds of values: of a best response, and of the strategy at hand."""

GAIN, LOSS, DECAY = 0, 1, 2
"""Entries of a step: the factors of positive and of negative regrets, and of the strategy sums before."""


@kernel
def enter_board(layout, deals, board, batch, tables, above, above_rows, above_blocks, work):
    """Bring both seats' reach from the board before to the nodes of a batch; see `update_boards`."""
    first_root, last_root = layout.batch_root[batch], layout.batch_root[batch + 1]
    for seat in range(2):
        hands, reach = deals.seats[seat], work.reach[seat]
        blocks = hands.block[board + 1] - hands.block[board]
        for root in range(first_root, last_root):
            row = np.int64(layout.reach_row[seat, layout.roots[root]]) * blocks
            _gather(hands, board, above[seat], np.int64(above_rows[seat, root]) * above_blocks[seat], reach, row)
        table = tables[seat]
        _pass_reach(layout, seat, batch, table, hands.block[board] * work.table_rows[seat], blocks, reach, work.shares)


@kernel
def _gather(hands, board, above, start, reach, row):
    """Write a root's reach, by the hands of the board before, in the order of this one's; 0 beyond the last."""
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    for k in range(num_hands):
        place = np.int64(hands.above[first + k])
        reach[row + (k >> 4), k & 15] = above[start + (place >> 4), place & 15]
    for k in range(num_hands, num_hands + (-num_hands % LANES)):
        reach[row + (k >> 4), k & 15] = 0


@kernel
def _pass_reach(layout, seat, batch, table, table_start, blocks, reach, shares):
    """Multiply a seat's reach with its strategy, proportional to the positive entries of a table, down a batch.

    ``shares`` keeps the strategy, in the rows of the reach that it leads to.
    """
    zeros = spread(table, table.dtype.type(0))
    ones = spread(table, table.dtype.type(1))
    for node in range(layout.batch_node[batch], layout.batch_node[batch + 1]):
        if layout.kind[node] != seat:
            continue
        first = layout.child_first[node]
        num_actions = np.int64(layout.child_first[node + 1] - first)
        rows = table_start + layout.table_row[node] * blocks
        source = layout.reach_row[seat, node] * blocks
        into = layout.reach_row[seat, layout.children[first]] * blocks
        even = spread(table, table.dtype.type(1.0 / num_actions))
        for block in range(blocks):
            total = zeros
            for action in range(num_actions):
                total = total + larger(load(table, rows + action * blocks + block), zeros)
            inverse = where_positive(total, ones / total, zeros)
            spare = where_positive(total, zeros, even)
            weight = load(reach, source + block)
            for action in range(num_actions):
                place = action * blocks + block
                share = larger(load(table, rows + place), zeros) * inverse + spare
                store(shares[seat], into + place, share)
                store(reach, into + place, weight * share)


@kernel
def fill_terminals(layout, deals, board, batch, seat, work):
    """Write the values at folds and showdowns of a batch for a seat, of one chip each."""
    own, others = deals.seats[seat], deals.seats[1 - seat]
    own_first, own_last = own.first[board], own.first[board + 1]
    own_cards = own.cards[own_first:own_last]
    other_cards = others.cards[others.first[board] : others.first[board + 1]]
    same = own.same[own_first:own_last]
    group_first, group_last = deals.group_first[board], deals.group_first[board + 1]
    own_stops = deals.group_stops[seat, group_first:group_last]
    other_stops = deals.group_stops[1 - seat, group_first:group_last]
    blocks = own.block[board + 1] - own.block[board]
    other_blocks = others.block[board + 1] - others.block[board]
    reach = work.reach[1 - seat]
    row = np.int64(0)
    for first in range(layout.fold_first[seat, batch], layout.fold_first[seat, batch + 1], LANES):
        _fill_tile(layout.fold_rows[seat], first, other_blocks, reach, work)
        fill_fold_tile(own_cards, other_cards, same, work.tile, work.mass, work.out)
        for block in range(blocks):
            transpose_out(work.out, block * LANES, work.values, row + block, blocks)
        row += LANES * blocks
    for first in range(layout.showdown_first[seat, batch], layout.showdown_first[seat, batch + 1], LANES):
        _fill_tile(layout.showdown_rows[seat], first, other_blocks, reach, work)
        fill_margin_tile(own_cards, own_stops, other_cards, other_stops, work.tile, work.mass, work.out)
        for block in range(blocks):
            transpose_out(work.out, block * LANES, work.values, row + block, blocks)
        row += LANES * blocks


@kernel
def _fill_tile(rows, first, blocks, reach, work):
    """Write sixteen rows of reach to the workspace's tile, hand by hand."""
    for lane in range(LANES):
        work.rows[lane] = np.int64(rows[first + lane]) * blocks
    for block in range(blocks):
        transpose_in(reach, work.rows, 0, block, work.tile, FIRST_HAND + block * LANES)


@kernel
def learn(layout, deals, board, batch, seat, regrets, sums, step, work):
    """Carry values up a batch for a seat, and update its regrets and strategy sums.

    Parameters
    ----------
    regrets, sums : float[n, 16]
        The seat's tables on this street. Modified in place.
    step : float[3]
        `GAIN`, `LOSS` and `DECAY`.
    """
    hands, reach, shares, values = deals.seats[seat], work.reach[seat], work.shares[seat], work.values
    blocks = hands.block[board + 1] - hands.block[board]
    start = hands.block[board] * work.table_rows[seat]
    zeros = spread(values, values.dtype.type(0))
    gain, loss, decay = spread(values, step[GAIN]), spread(values, step[LOSS]), spread(values, step[DECAY])
    value_row, scale, children = layout.value_row[seat], layout.scale[seat], layout.children
    first_node = layout.batch_node[batch]
    for node in range(layout.batch_node[batch + 1] - 1, first_node - 1, -1):
        kind = layout.kind[node]
        if kind >= FOLD_END:
            continue
        first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
        out = np.int64(value_row[node]) * blocks
        if kind != seat:
            _add_children(value_row, scale, children, first, last, blocks, values, np.int64(0), np.int64(0), out)
            continue
        rows = start + layout.table_row[node] * blocks
        into = layout.reach_row[seat, children[first]] * blocks
        for block in range(blocks):
            value = zeros
            for k in range(first, last):
                child = children[k]
                of_child = load(values, value_row[child] * blocks + block) * spread(values, scale[child])
                value = value + load(shares, into + (k - first) * blocks + block) * of_child
            store(values, out + block, value)
            for k in range(first, last):
                child = children[k]
                of_child = load(values, value_row[child] * blocks + block) * spread(values, scale[child])
                place = (k - first) * blocks + block
                regret = load(regrets, rows + place) + (of_child - value)
                store(regrets, rows + place, regret * where_positive(regret, gain, loss))
                store(sums, rows + place, load(sums, rows + place) * decay + load(reach, into + place))


@kernel
def _add_children(value_row, scale, children, first, last, blocks, values, from_row, shift, out):
    """Write the sum of the children's values; rows from `from_row` on are looked for `shift` rows further."""
    zeros = spread(values, values.dtype.type(0))
    for block in range(blocks):
        total = zeros
        for k in range(first, last):
            child = children[k]
            row = np.int64(value_row[child])
            row += shift * (row >= from_row)
            total = total + load(values, row * blocks + block) * spread(values, scale[child])
        store(values, out + block, total)


@kernel
def evaluate(layout, deals, board, batch, seat, work):
    """Carry both kinds of values up a batch for a seat: of a best response, and of the strategy in ``work.shares``.

    Those of the second kind stand ``work.slots[seat]`` rows behind the first, but at terminal nodes.
    """
    hands, shares, values = deals.seats[seat], work.shares[seat], work.values
    blocks = hands.block[board + 1] - hands.block[board]
    zeros = spread(values, values.dtype.type(0))
    value_row, scale, children = layout.value_row[seat], layout.scale[seat], layout.children
    slot, slots = np.int64(layout.slot_row[seat]), work.slots[seat]
    first_node = layout.batch_node[batch]
    for node in range(layout.batch_node[batch + 1] - 1, first_node - 1, -1):
        kind = layout.kind[node]
        if kind >= FOLD_END:
            continue
        first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
        out = np.int64(value_row[node]) * blocks
        if kind != seat:
            _add_children(value_row, scale, children, first, last, blocks, values, slot, np.int64(0), out)
            _add_children(value_row, scale, children, first, last, blocks, values, slot, slots, out + slots * blocks)
            continue
        into = layout.reach_row[seat, children[first]] * blocks
        for block in range(blocks):
            child = children[first]
            best = load(values, value_row[child] * blocks + block) * spread(values, scale[child])
            own = zeros
            for k in range(first, last):
                child = children[k]
                row = np.int64(value_row[child])
                chips = spread(values, scale[child])
                best = larger(load(values, row * blocks + block) * chips, best)
                row += slots * (row >= slot)
                share = load(shares, into + (k - first) * blocks + block)
                own = own + share * (load(values, row * blocks + block) * chips)
            store(values, out + block, best)
            store(values, out + slots * blocks + block, own)


@kernel
def leave_board(layout, deals, board, batch, seat, num_kinds, work, above_blocks, totals):
    """Add the values of a batch's roots to those of the street's ends on the board before.

    Parameters
    ----------
    num_kinds : int
        1, or 2 with both kinds of values.
    above_blocks : int
        Blocks of the seat's hands on the board before.
    totals : float[num_kinds * num_roots * above_blocks, 16]
        Modified in place.
    """
    hands, values = deals.seats[seat], work.values
    blocks = hands.block[board + 1] - hands.block[board]
    num_hands = hands.first[board + 1] - hands.first[board]
    num_roots = np.int64(len(layout.roots))
    for root in range(layout.batch_root[batch], layout.batch_root[batch + 1]):
        node = layout.roots[root]
        weight = layout.scale[seat, node] * deals.weight[board]
        for kind in range(num_kinds):
            row = np.int64(layout.value_row[seat, node])
            if kind == OWN and row >= layout.slot_row[seat]:
                row += work.slots[seat]
            row *= blocks
            total = (kind * num_roots + root) * above_blocks
            for member in range(deals.member_first[board], deals.member_first[board + 1]):
                first = hands.target_first[member]
                for k in range(num_hands):
                    target = np.int64(hands.targets[first + k])
                    totals[total + (target >> 4), target & 15] += weight * values[row + (k >> 4), k & 15]


@kernel
def take_ends(layout, seat, num_kinds, blocks, totals, work):
    """Write the values of the street's ends, summed over the totals of several chunks of boards.

    Parameters
    ----------
    blocks : int
        Of the seat's hands on this board.
    totals : float[num_chunks, num_kinds * num_ends * blocks, 16]
    """
    num_ends = np.int64(layout.ends.shape[1])
    for kind in range(num_kinds):
        row = layout.end_row[seat] + kind * work.slots[seat]
        for place in range(num_ends * blocks):
            total = load(totals[0], kind * num_ends * blocks + place)
            for chunk in range(1, totals.shape[0]):
                total = total + load(totals[chunk], kind * num_ends * blocks + place)
            store(work.values, row * blocks + place, total)


@kernel
def update_boards(layout, deals, first, last, seat, tables, sums, steps, above, above_rows, above_blocks, work, totals):
    """Do one or more iterations for a seat, or both in turn, on boards of the last street.

    Parameters
    ----------
    layout : StreetLayout
    deals : StreetDeals
    first, last : int
        The boards.
    seat : int
        Whose values are wanted; -1 for both in turn, then `totals` have no meaning.
    tables, sums : tuple of float[n, 16]
        Regrets and strategy sums of each seat. Modified in place.
    steps : float[num_iterations, 3]
    above : tuple of float[n, 16]
        Each seat's reach on the board before.
    above_rows : int32[2, num_roots]
        The row of each root in them.
    above_blocks : int64[2]
        Blocks of a row.
    work : Workspace
    totals : float[num_roots * above_blocks, 16]
        Values by the hands of the board before; added to.
    """
    for iteration in range(steps.shape[0]):
        for turn in range(2):
            if seat >= 0 and turn != seat:
                continue
            for board in range(first, last):
                for batch in range(len(layout.batch_root) - 1):
                    enter_board(layout, deals, board, batch, tables, above, above_rows, above_blocks, work)
                    fill_terminals(layout, deals, board, batch, turn, work)
                    learn(layout, deals, board, batch, turn, tables[turn], sums[turn], steps[iteration], work)
                    leave_board(layout, deals, board, batch, turn, np.int64(1), work, above_blocks[turn], totals)


@kernel
def evaluate_boards(layout, deals, first, last, seat, sums, above, above_rows, above_blocks, work, totals):
    """Add both kinds of values of the average strategies on boards of the last street; see `update_boards`.

    ``totals`` are float[2 * num_roots * above_blocks, 16], `BEST` before `OWN`.
    """
    for board in range(first, last):
        for batch in range(len(layout.batch_root) - 1):
            enter_board(layout, deals, board, batch, sums, above, above_rows, above_blocks, work)
            fill_terminals(layout, deals, board, batch, seat, work)
            evaluate(layout, deals, board, batch, seat, work)
            leave_board(layout, deals, board, batch, seat, np.int64(2), work, above_blocks[seat], totals)
