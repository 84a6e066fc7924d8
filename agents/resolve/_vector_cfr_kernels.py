"""Kernels of vector CFR: whole ranges through the betting of one street on one board.

Rows of reach, of tables and of values are those of `StreetLayout`, each in blocks of sixteen hands of the board.
Values are counterfactual: weighted by the other seat's reach, chance by the share of a board among those that two
given hands leave. ``float`` stands for float32 or float64, one of them throughout.
"""

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END
from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND, fill_fold_tile, fill_margin_tile
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import (
    LANES,
    clear,
    larger,
    load,
    spread,
    store,
    transpose_in,
    transpose_out,
    where_positive,
)

BEST, OWN = 0, 1
"""Kinds of values: of a best response, and of the strategy at hand."""

GAIN, LOSS, DECAY = 0, 1, 2
"""Entries of a step: the factors of positive and of negative regrets, and of the strategy sums before."""


@kernel
def enter_board(layout, deals, board, batch, seat, tables, above, above_blocks, work):
    """Bring both seats' reach from the board before to the nodes of a batch; see `update_boards`."""
    for player in range(2):
        hands = deals.seats[player]
        blocks = hands.block[board + 1] - hands.block[board]
        gather(layout, hands, board, batch, player, above[player], above_blocks[player], blocks, work)
        table, start = tables[player], hands.block[board] * work.table_rows[player]
        if player == seat:
            _pass_own_reach(layout, seat, batch, table, start, blocks, work.reach[player], work.shares)
        else:
            _pass_reach(layout, player, batch, table, start, blocks, work.reach[player])


@kernel
def gather(layout, hands, board, batch, seat, above, above_blocks, blocks, work):
    """Write the reach at a batch's roots, by the hands of the board before, in the order of this one's."""
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    first_group = np.int64(layout.batch_root[batch]) // LANES
    for group in range(first_group, np.int64(layout.batch_root[batch + 1] - 1) // LANES + 1):
        start = group * above_blocks * LANES
        for k in range(num_hands):
            store(work.out, k, load(above, start + np.int64(hands.above[first + k])))
        clear(work.out, num_hands, -num_hands % LANES)
        place = (batch + group - first_group) * LANES
        for lane in range(LANES):
            work.rows[lane] = np.int64(layout.root_reach[seat, place + lane]) * blocks
        tile_to_rows(work.out, work.rows, blocks, work.reach[seat])


@kernel
def rows_to_tile(source, rows, blocks, tile, into):
    """Write sixteen rows hand after hand; row k begins with the block ``rows[k]``. `tile` is modified in place."""
    for block in range(blocks):
        transpose_in(source, rows, 0, block, tile, into + block * LANES)


@kernel
def tile_to_rows(tile, rows, blocks, target):
    """Do the reverse. `target` is modified in place."""
    for block in range(blocks):
        transpose_out(tile, block * LANES, target, rows, 0, block)


@kernel
def _pass_reach(layout, seat, batch, table, start, blocks, reach):
    """Multiply a seat's reach with its strategy, proportional to the positive entries of a table, down a batch."""
    zeros = spread(table, table.dtype.type(0))
    for node in range(layout.batch_node[batch], layout.batch_node[batch + 1]):
        if layout.kind[node] != seat:
            continue
        first = layout.child_first[node]
        num_actions = np.int64(layout.child_first[node + 1] - first)
        row = start + layout.table_row[node] * blocks
        source = layout.reach_row[seat, node] * blocks
        into = layout.reach_row[seat, layout.children[first]] * blocks
        even = spread(table, table.dtype.type(1.0 / num_actions))
        if num_actions == 2:
            for block in range(blocks):
                one = larger(load(table, row + block), zeros)
                other = larger(load(table, row + blocks + block), zeros)
                total = one + other
                weight = load(reach, source + block)
                scaled = where_positive(total, weight / total, zeros)
                spare = where_positive(total, zeros, weight * even)
                store(reach, into + block, one * scaled + spare)
                store(reach, into + blocks + block, other * scaled + spare)
            continue
        for block in range(blocks):
            total = zeros
            for action in range(num_actions):
                total = total + larger(load(table, row + action * blocks + block), zeros)
            weight = load(reach, source + block)
            scaled = where_positive(total, weight / total, zeros)
            spare = where_positive(total, zeros, weight * even)
            for action in range(num_actions):
                place = action * blocks + block
                store(reach, into + place, larger(load(table, row + place), zeros) * scaled + spare)


@kernel
def _pass_own_reach(layout, seat, batch, table, start, blocks, reach, shares):
    """Do the same, and keep the strategy in the rows of the reach that it leads to. `shares` is modified in place."""
    zeros = spread(table, table.dtype.type(0))
    ones = spread(table, table.dtype.type(1))
    for node in range(layout.batch_node[batch], layout.batch_node[batch + 1]):
        if layout.kind[node] != seat:
            continue
        first = layout.child_first[node]
        num_actions = np.int64(layout.child_first[node + 1] - first)
        row = start + layout.table_row[node] * blocks
        source = layout.reach_row[seat, node] * blocks
        into = layout.reach_row[seat, layout.children[first]] * blocks
        even = spread(table, table.dtype.type(1.0 / num_actions))
        for block in range(blocks):
            total = zeros
            for action in range(num_actions):
                total = total + larger(load(table, row + action * blocks + block), zeros)
            inverse = where_positive(total, ones / total, zeros)
            spare = where_positive(total, zeros, even)
            weight = load(reach, source + block)
            for action in range(num_actions):
                place = action * blocks + block
                share = larger(load(table, row + place), zeros) * inverse + spare
                store(shares, into + place, share)
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
        row = _empty_tile(row, blocks, work)
    for first in range(layout.showdown_first[seat, batch], layout.showdown_first[seat, batch + 1], LANES):
        _fill_tile(layout.showdown_rows[seat], first, other_blocks, reach, work)
        fill_margin_tile(own_cards, own_stops, other_cards, other_stops, work.tile, work.mass, work.out)
        row = _empty_tile(row, blocks, work)


@kernel
def _fill_tile(rows, first, blocks, reach, work):
    """Write sixteen rows of reach to the workspace's tile, hand by hand."""
    for lane in range(LANES):
        work.rows[lane] = np.int64(rows[first + lane]) * blocks
    rows_to_tile(reach, work.rows, blocks, work.tile, np.int64(FIRST_HAND))


@kernel
def _empty_tile(row, blocks, work):
    """Write sixteen rows of values from the workspace's tile of results, and return the block behind them."""
    for lane in range(LANES):
        work.rows[lane] = row + lane * blocks
    tile_to_rows(work.out, work.rows, blocks, work.values)
    return row + LANES * blocks


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
    hands, reach, shares, values = deals.seats[seat], work.reach[seat], work.shares, work.values
    blocks = hands.block[board + 1] - hands.block[board]
    start = hands.block[board] * work.table_rows[seat]
    none = np.int64(0)
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
            add_children(value_row, scale, children, first, last, blocks, values, none, none, out)
            continue
        rows = start + layout.table_row[node] * blocks
        into = layout.reach_row[seat, children[first]] * blocks
        mix_children(value_row, scale, children, first, last, blocks, values, shares, into, none, none, out)
        if layout.locked[node]:
            continue
        for k in range(first, last):
            child, place = children[k], into + (k - first) * blocks
            row, chips = np.int64(value_row[child]) * blocks, spread(values, scale[child])
            entry = rows + (k - first) * blocks
            for block in range(blocks):
                gained = load(values, row + block) * chips - load(values, out + block)
                regret = load(regrets, entry + block) + gained
                store(regrets, entry + block, regret * where_positive(regret, gain, loss))
                store(sums, entry + block, load(sums, entry + block) * decay + load(reach, place + block))


@kernel
def add_children(value_row, scale, children, first, last, blocks, values, from_row, shift, out):
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
def mix_children(value_row, scale, children, first, last, blocks, values, shares, into, from_row, shift, out):
    """Write the mean of the children's values by a strategy; see `add_children`."""
    zeros = spread(values, values.dtype.type(0))
    for block in range(blocks):
        total = zeros
        for k in range(first, last):
            child = children[k]
            row = np.int64(value_row[child])
            row += shift * (row >= from_row)
            share = load(shares, into + (k - first) * blocks + block)
            total = total + share * (load(values, row * blocks + block) * spread(values, scale[child]))
        store(values, out + block, total)


@kernel
def evaluate(layout, deals, board, batch, seat, work):
    """Carry both kinds of values up a batch for a seat: of a best response, and of the strategy in ``work.shares``.

    Those of the second kind stand ``work.slots[seat]`` rows behind the first, but at terminal nodes.
    """
    hands, shares, values = deals.seats[seat], work.shares, work.values
    blocks = hands.block[board + 1] - hands.block[board]
    zeros, none = spread(values, values.dtype.type(0)), np.int64(0)
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
            add_children(value_row, scale, children, first, last, blocks, values, slot, none, out)
            add_children(value_row, scale, children, first, last, blocks, values, slot, slots, out + slots * blocks)
            continue
        into = layout.reach_row[seat, children[first]] * blocks
        if layout.locked[node]:
            mix_children(value_row, scale, children, first, last, blocks, values, shares, into, slot, none, out)
            out += slots * blocks
            mix_children(value_row, scale, children, first, last, blocks, values, shares, into, slot, slots, out)
            continue
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
def leave_board(layout, deals, board, batch, seat, num_kinds, factor, work, above_blocks, totals):
    """Add the values of a batch's roots to those of the street's ends on the board before.

    Parameters
    ----------
    num_kinds : int
        1, or 2 with both kinds of values.
    factor : float
        What the values are multiplied with, besides: where boards are drawn, what makes up for the others.
    above_blocks : int
        Blocks of the seat's hands on the board before.
    totals : float[num_kinds * ceil(num_roots / 16) * above_blocks * 16, 16]
        Hand after hand of the board before, sixteen roots at a time. Modified in place.
    """
    hands = deals.seats[seat]
    blocks = hands.block[board + 1] - hands.block[board]
    num_hands = hands.first[board + 1] - hands.first[board]
    num_places = layout.root_scale.shape[0] // 2
    num_groups = (len(layout.roots) + LANES - 1) // LANES
    first_group = np.int64(layout.batch_root[batch]) // LANES
    for group in range(first_group, np.int64(layout.batch_root[batch + 1] - 1) // LANES + 1):
        place = batch + group - first_group
        weight = load(layout.root_scale, seat * num_places + place) * spread(totals, deals.weight[board] * factor)
        for kind in range(num_kinds):
            for lane in range(LANES):
                work.rows[lane] = np.int64(layout.root_value[kind, seat, place * LANES + lane]) * blocks
            rows_to_tile(work.values, work.rows, blocks, work.out, np.int64(0))
            start = (kind * num_groups + group) * above_blocks * LANES
            for member in range(deals.member_first[board], deals.member_first[board + 1]):
                first = hands.target_first[member]
                for k in range(num_hands):
                    target = start + np.int64(hands.targets[first + k])
                    store(totals, target, load(totals, target) + load(work.out, k) * weight)


@kernel
def show_ends(layout, deals, board, work, below):
    """Write both seats' reach at the street's ends hand after hand, sixteen ends at a time.

    Parameters
    ----------
    below : tuple of float[num_ends up to a multiple of 16 * blocks, 16]
        By seat. Modified in place.
    """
    for seat in range(2):
        hands = deals.seats[seat]
        blocks = hands.block[board + 1] - hands.block[board]
        for first in range(0, layout.ends.shape[1], LANES):
            for lane in range(LANES):
                work.rows[lane] = np.int64(layout.ends[seat, first + lane]) * blocks
            rows_to_tile(work.reach[seat], work.rows, blocks, below[seat], np.int64(first * blocks))


@kernel
def take_ends(layout, seat, num_kinds, blocks, totals, work):
    """Write the values of the street's ends, summed over the totals of several chunks of boards.

    Parameters
    ----------
    blocks : int
        Of the seat's hands on this board.
    totals : float[num_chunks, num_kinds * num_ends up to a multiple of 16 * blocks, 16]
        As in `leave_board`.
    """
    num_ends = np.int64(layout.ends.shape[1])
    for kind in range(num_kinds):
        for first in range(0, num_ends, LANES):
            start = (kind * num_ends + first) * blocks
            for k in range(LANES * blocks):
                total = load(totals[0], start + k)
                for chunk in range(1, totals.shape[0]):
                    total = total + load(totals[chunk], start + k)
                store(work.out, k, total)
            _empty_tile((layout.end_row[seat] + kind * work.slots[seat] + first) * blocks, blocks, work)


@kernel
def update_boards(layout, deals, boards, factors, seat, tables, sums, steps, above, above_blocks, work, totals):
    """Do one or more iterations for a seat, or both in turn, on boards of the last street.

    Parameters
    ----------
    layout : StreetLayout
    deals : StreetDeals
    boards : int64[num_boards]
    factors : float[num_boards]
        As in `leave_board`.
    seat : int
        Whose values are wanted; -1 for both in turn, then `totals` have no meaning.
    tables, sums : tuple of float[n, 16]
        Regrets and strategy sums of each seat. Modified in place.
    steps : float[num_iterations, 3]
    above : tuple of float[num_roots up to a multiple of 16 * above_blocks, 16]
        Each seat's reach at the roots, hand after hand of the board before, sixteen roots at a time.
    above_blocks : int64[2]
        Blocks of each seat's hands on the board before.
    work : Workspace
    totals : float[n, 16]
        As in `leave_board`, with one kind of values.
    """
    one_kind = np.int64(1)
    for iteration in range(steps.shape[0]):
        for turn in range(2):
            if seat >= 0 and turn != seat:
                continue
            for k in range(len(boards)):
                board, factor = boards[k], factors[k]
                for batch in range(len(layout.batch_root) - 1):
                    enter_board(layout, deals, board, batch, turn, tables, above, above_blocks, work)
                    fill_terminals(layout, deals, board, batch, turn, work)
                    learn(layout, deals, board, batch, turn, tables[turn], sums[turn], steps[iteration], work)
                    leave_board(layout, deals, board, batch, turn, one_kind, factor, work, above_blocks[turn], totals)


@kernel
def evaluate_boards(layout, deals, boards, factors, seat, sums, above, above_blocks, work, totals):
    """Add both kinds of values of the average strategies on boards of the last street; see `update_boards`.

    ``totals`` are as in `leave_board`, with two kinds of values, `BEST` before `OWN`.
    """
    for k in range(len(boards)):
        board, factor = boards[k], factors[k]
        for batch in range(len(layout.batch_root) - 1):
            enter_board(layout, deals, board, batch, seat, sums, above, above_blocks, work)
            fill_terminals(layout, deals, board, batch, seat, work)
            evaluate(layout, deals, board, batch, seat, work)
            leave_board(layout, deals, board, batch, seat, np.int64(2), factor, work, above_blocks[seat], totals)
