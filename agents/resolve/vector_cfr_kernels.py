"""Kernels of vector CFR, which pass whole ranges through the betting of one street on one board.

Rows of reach, tables and values are numbered by `StreetLayout`; each row is cut into blocks of sixteen hands of the
board. Values are counterfactual: weighted by the opponent's reach, and by the probability of each board given both
hands. ``float`` is float32 or float64, the same throughout. An array of shape [n, 16] has n blocks.

Arguments that recur
--------------------
street : StreetArrays
board, batch : int
    Numbers of a board of the street and of a batch of the street's roots.
seat : int
    The traverser, unless the kernel's docstring says otherwise.
above : ReachAbove
work : Workspace
    Modified in place.

References
----------
M. Johanson, K. Waugh, M. Bowling and M. Zinkevich: Accelerating best response calculation in large extensive games.
IJCAI (2011): values of all hands at once, showdowns in linear time.
N. Brown and T. Sandholm: Solving imperfect-information games via discounted regret minimization. AAAI (2019).
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
"""Kinds of values: of a best response, and of the seat's own strategy."""

GAIN, LOSS, DECAY = 0, 1, 2
"""Entries of a step: the factors of positive regrets, of negative regrets and of the earlier strategy sums."""

_LEAST_TOTAL = 2.0**-126
"""The smallest normal float32. Totals up to this number count as 0, as a division by less may give infinity.

Discounts shrink the strategy sums of hands that no longer reach a decision, in the end below this number."""


@kernel
def enter_board(street, board, batch, seat, tables, above, work):
    """Fill both seats' reach at the nodes of a batch, and ``work.shares`` with the strategy of `seat`.

    Parameters
    ----------
    tables : tuple of float[n, 16]
        Regrets or strategy sums of each seat. Strategies are proportional to the positive entries.
    """
    layout = street.layout
    for player in range(2):
        hands = street.deals.seats[player]
        blocks = hands.block[board + 1] - hands.block[board]
        gather(street, board, batch, player, above, work)
        table, start = tables[player], hands.block[board] * work.table_rows[player]
        if player == seat:
            _pass_own_reach(layout, seat, batch, table, start, blocks, work)
        else:
            _pass_reach(layout, player, batch, table, start, blocks, work.reach[player])


@kernel
def gather(street, board, batch, seat, above, work):
    """Write a seat's reach at a batch's roots, sorted from the parent's order of hands into this board's order.

    `seat` may be either seat.
    """
    layout, hands, reach = street.layout, street.deals.seats[seat], above.reach[seat]
    above_blocks, blocks = above.blocks[seat], hands.block[board + 1] - hands.block[board]
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    first_group = np.int64(layout.batch_root[batch]) // LANES
    for group in range(first_group, np.int64(layout.batch_root[batch + 1] - 1) // LANES + 1):
        start = group * above_blocks * LANES
        # Each hand's reach at sixteen roots is copied as one block, and the blocks are transposed after that. To copy
        # into the rows directly would take one copy for each number.
        for k in range(num_hands):
            store(work.out, k, load(reach, start + np.int64(hands.above[first + k])))
        clear(work.out, num_hands, -num_hands % LANES)
        entry = (batch + group - first_group) * LANES
        for lane in range(LANES):
            work.rows[lane] = np.int64(layout.root_reach[seat, entry + lane]) * blocks
        tile_to_rows(work.out, work.rows, blocks, work.reach[seat])


@kernel
def rows_to_tile(source, rows, blocks, tile, into):
    """Transpose sixteen rows into a tile, hand after hand; row k begins with block ``rows[k]``.

    `tile` is modified in place, from block `into` on.
    """
    for block in range(blocks):
        transpose_in(source, rows, 0, block, tile, into + block * LANES)


@kernel
def tile_to_rows(tile, rows, blocks, target):
    """Transpose a tile into sixteen rows, the inverse of `rows_to_tile`. `target` is modified in place."""
    for block in range(blocks):
        transpose_out(tile, block * LANES, target, rows, 0, block)


@kernel(inline=True)
def _positive_total(table, row, num_actions, blocks, block, zeros):
    """Return, for each hand of one block, the sum of the positive entries over a decision's actions."""
    total = zeros
    for action in range(num_actions):
        total = total + larger(load(table, row + action * blocks + block), zeros)
    return total


@kernel
def _pass_reach(layout, seat, batch, table, start, blocks, reach):
    """Multiply a seat's reach by its strategy from the roots of a batch down to its leaves.

    The seat is the traverser's opponent, and an opponent's strategy is not needed on the way up. Dividing the reach by
    the total of the entries takes one division for each hand and decision; dividing the entries would take one for each
    action. `reach` is modified in place.
    """
    zeros, least = spread(table, table.dtype.type(0)), spread(table, table.dtype.type(_LEAST_TOTAL))
    for node in range(layout.batch_node[batch], layout.batch_node[batch + 1]):
        if layout.kind[node] != seat:
            continue
        first = layout.child_first[node]
        num_actions = np.int64(layout.child_first[node + 1] - first)
        row = start + layout.table_row[node] * blocks
        source = layout.reach_row[seat, node] * blocks
        into = layout.reach_row[seat, layout.children[first]] * blocks
        even = spread(table, table.dtype.type(1.0 / num_actions))
        if num_actions == 2:  # most decisions: both actions' entries stay in registers and are loaded once
            for block in range(blocks):
                one = larger(load(table, row + block), zeros)
                other = larger(load(table, row + blocks + block), zeros)
                total = one + other
                weight = load(reach, source + block)
                # A total of 0 or near 0 gives inf or NaN in its lane, which the selection drops.
                scaled = where_positive(total - least, weight / total, zeros)
                spare = where_positive(total - least, zeros, weight * even)
                store(reach, into + block, one * scaled + spare)
                store(reach, into + blocks + block, other * scaled + spare)
            continue
        for block in range(blocks):
            total = _positive_total(table, row, num_actions, blocks, block, zeros)
            weight = load(reach, source + block)
            scaled = where_positive(total - least, weight / total, zeros)
            # In each lane one of `scaled` and `spare` is 0: the sum below replaces a branch.
            spare = where_positive(total - least, zeros, weight * even)
            for action in range(num_actions):
                entry = action * blocks + block
                store(reach, into + entry, larger(load(table, row + entry), zeros) * scaled + spare)


@kernel
def _pass_own_reach(layout, seat, batch, table, start, blocks, work):
    """Multiply the traverser's reach by its strategy, and keep the strategy in ``work.shares``.

    The *share* of an action is its probability. The row of a share in ``work.shares`` has the number of the row that
    holds the seat's reach after the action. `mix_children` needs the shares on the way up, so the reach is computed
    from shares. `_pass_reach` keeps no shares, since nothing needs the opponent's shares.
    """
    reach, shares = work.reach[seat], work.shares
    zeros, least = spread(table, table.dtype.type(0)), spread(table, table.dtype.type(_LEAST_TOTAL))
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
            total = _positive_total(table, row, num_actions, blocks, block, zeros)
            # `_pass_reach` rounds differently: the lowest bits of a seat's reach depend on which seat traverses.
            inverse = where_positive(total - least, ones / total, zeros)
            spare = where_positive(total - least, zeros, even)
            weight = load(reach, source + block)
            for action in range(num_actions):
                entry = action * blocks + block
                share = larger(load(table, row + entry), zeros) * inverse + spare
                store(shares, into + entry, share)
                store(reach, into + entry, weight * share)


@kernel
def fill_terminals(street, board, batch, seat, work):
    """Write the values of a seat's hands at the folds and showdowns of a batch, for a stake of one chip.

    Stakes are multiplied in later (``layout.scale``). So folds with the same reach of the opponent share a row here, as
    do showdowns.
    """
    layout, deals = street.layout, street.deals
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
    """Transpose sixteen rows of reach into the workspace's tile."""
    for lane in range(LANES):
        work.rows[lane] = np.int64(rows[first + lane]) * blocks
    rows_to_tile(reach, work.rows, blocks, work.tile, np.int64(FIRST_HAND))


@kernel
def _empty_tile(row, blocks, work):
    """Transpose the workspace's tile of results into sixteen rows of values, and return the block after them."""
    for lane in range(LANES):
        work.rows[lane] = row + lane * blocks
    tile_to_rows(work.out, work.rows, blocks, work.values)
    return row + LANES * blocks


@kernel
def learn(street, board, batch, seat, regrets, sums, step, work):
    """Carry a seat's values up a batch, and update its regrets and strategy sums.

    Parameters
    ----------
    regrets, sums : float[n, 16]
        The seat's tables on this street. Modified in place.
    step : float[3]
        `GAIN`, `LOSS` and `DECAY`.

    Notes
    -----
    The update is that of discounted CFR (Brown and Sandholm 2019). Let r be the counterfactual regret of this iteration
    and R the regret so far. R becomes (R + r) * GAIN if R + r is positive, else (R + r) * LOSS. The strategy sum S
    becomes S * DECAY + reach * strategy. In iteration t, without restarts of the average, GAIN is
    t^alpha / (t^alpha + 1), LOSS is t^beta / (t^beta + 1) and DECAY is ((t - 1) / t)^gamma. The discount comes after
    the addition of r: discounting R first is another algorithm, with other numbers on Leduc.
    """
    layout, hands = street.layout, street.deals.seats[seat]
    reach, values = work.reach[seat], work.values
    blocks = hands.block[board + 1] - hands.block[board]
    start = hands.block[board] * work.table_rows[seat]
    one_kind = np.int64(0)
    gain, loss, decay = spread(values, step[GAIN]), spread(values, step[LOSS]), spread(values, step[DECAY])
    for node in range(layout.batch_node[batch + 1] - 1, layout.batch_node[batch] - 1, -1):  # children before parents
        kind = layout.kind[node]
        if kind >= FOLD_END:
            continue
        if kind != seat:
            add_children(layout, seat, node, one_kind, blocks, values)
            continue
        mix_children(layout, seat, node, one_kind, blocks, work.shares, values)
        if layout.locked[node] == 1:
            continue
        first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
        out = np.int64(layout.value_row[seat, node]) * blocks
        into = layout.reach_row[seat, layout.children[first]] * blocks
        rows = start + layout.table_row[node] * blocks
        for k in range(first, last):
            child, reached = layout.children[k], into + (k - first) * blocks
            row, chips = np.int64(layout.value_row[seat, child]) * blocks, spread(values, layout.scale[seat, child])
            entry = rows + (k - first) * blocks
            for block in range(blocks):
                gained = load(values, row + block) * chips - load(values, out + block)
                regret = load(regrets, entry + block) + gained
                store(regrets, entry + block, regret * where_positive(regret, gain, loss))
                # The seat's reach after the action is its own reach times the action's probability.
                store(sums, entry + block, load(sums, entry + block) * decay + load(reach, reached + block))


@kernel(inline=True)
def add_children(layout, seat, node, shift, blocks, values):
    """Write the value of an opponent's node: the sum of the children's values.

    These values already contain the opponent's probabilities.

    Parameters
    ----------
    shift : int
        The distance in rows from the first kind of values: 0 for the first kind, ``work.slots[seat]`` for the second.
        Terminal nodes have one value for both kinds, so only rows from ``layout.slot_row`` on are shifted.
    values : float[n, 16]
        Modified in place.
    """
    value_row, scale, children = layout.value_row[seat], layout.scale[seat], layout.children
    first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
    from_row, out = np.int64(layout.slot_row[seat]), (np.int64(value_row[node]) + shift) * blocks
    zeros = spread(values, values.dtype.type(0))
    for block in range(blocks):
        total = zeros
        for k in range(first, last):
            child = children[k]
            row = np.int64(value_row[child])
            row += shift * (row >= from_row)
            # Unweighted: line 31 of DeepStack's Algorithm S1. There the right side has the acting player's values, a
            # misprint.
            total = total + load(values, row * blocks + block) * spread(values, scale[child])
        store(values, out + block, total)


@kernel(inline=True)
def mix_children(layout, seat, node, shift, blocks, shares, values):
    """Write the value of the seat's own node: the mean of the children's values, weighted by the seat's strategy.

    The strategy is in `shares`; the other parameters are those of `add_children`.
    """
    value_row, scale, children = layout.value_row[seat], layout.scale[seat], layout.children
    first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
    from_row, out = np.int64(layout.slot_row[seat]), (np.int64(value_row[node]) + shift) * blocks
    into = layout.reach_row[seat, children[first]] * blocks
    zeros = spread(values, values.dtype.type(0))
    for block in range(blocks):
        total = zeros
        for k in range(first, last):
            child = children[k]
            row = np.int64(value_row[child])
            row += shift * (row >= from_row)
            # Line 30 of DeepStack's Algorithm S1: the seat's own reach is in no counterfactual value.
            share = load(shares, into + (k - first) * blocks + block)
            total = total + share * (load(values, row * blocks + block) * spread(values, scale[child]))
        store(values, out + block, total)


@kernel
def evaluate(street, board, batch, seat, work):
    """Carry both kinds of values up a batch: those of a best response, and those of the strategy in ``work.shares``.

    Values of the second kind are ``work.slots[seat]`` rows after those of the first kind. Terminal nodes have one row
    for both.
    """
    layout, hands = street.layout, street.deals.seats[seat]
    shares, values = work.shares, work.values
    blocks = hands.block[board + 1] - hands.block[board]
    zeros = spread(values, values.dtype.type(0))
    value_row, scale, children = layout.value_row[seat], layout.scale[seat], layout.children
    slot, slots = np.int64(layout.slot_row[seat]), work.slots[seat]
    for node in range(layout.batch_node[batch + 1] - 1, layout.batch_node[batch] - 1, -1):
        kind = layout.kind[node]
        if kind >= FOLD_END:
            continue
        if kind != seat:
            for number in range(2):
                add_children(layout, seat, node, number * slots, blocks, values)
            continue
        if layout.locked[node] == 1:  # a best response must play locked strategies, too
            for number in range(2):
                mix_children(layout, seat, node, number * slots, blocks, shares, values)
            continue
        first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
        out = np.int64(value_row[node]) * blocks
        into = layout.reach_row[seat, children[first]] * blocks
        for block in range(blocks):
            child = children[first]
            best = load(values, value_row[child] * blocks + block) * spread(values, scale[child])
            own = zeros
            for k in range(first, last):
                child = children[k]
                row = np.int64(value_row[child])
                chips = spread(values, scale[child])
                # The maximum comes after the sum over the opponent's hands: a choice by infoset, not by history.
                best = larger(load(values, row * blocks + block) * chips, best)
                row += slots * (row >= slot)
                share = load(shares, into + (k - first) * blocks + block)
                own = own + share * (load(values, row * blocks + block) * chips)
            store(values, out + block, best)
            store(values, out + slots * blocks + block, own)
        if layout.locked[node] > 1:
            keep_to_locks(street, board, node, seat, work)


@kernel(inline=True)
def keep_to_locks(street, board, node, seat, work):
    """Write the best-response values of the locked hands at a decision where other hands are free.

    The value is the mean of the children's values, weighted by the locked strategy.
    """
    layout, hands, shares, values = street.layout, street.deals.seats[seat], work.shares, work.values
    blocks, locked_hands = hands.block[board + 1] - hands.block[board], street.locked_hands[seat]
    value_row, scale, children = layout.value_row[seat], layout.scale[seat], layout.children
    num_rows = np.int64(locked_hands.shape[0]) // hands.block[-1]
    start = hands.block[board] * num_rows + (np.int64(layout.locked[node]) - 2) * blocks
    first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
    out, into = np.int64(value_row[node]) * blocks, layout.reach_row[seat, children[first]] * blocks
    for block in range(blocks):
        mixed = spread(values, values.dtype.type(0))
        for k in range(first, last):
            child = children[k]
            share = load(shares, into + (k - first) * blocks + block)
            value = load(values, np.int64(value_row[child]) * blocks + block)
            mixed = mixed + share * (value * spread(values, scale[child]))
        best = load(values, out + block)
        store(values, out + block, where_positive(load(locked_hands, start + block), mixed, best))


@kernel
def leave_board(street, board, batch, seat, num_kinds, factor, above, work, totals):
    """Add the values at a batch's roots to the values at the ends of the street before, on the board's parent.

    Parameters
    ----------
    num_kinds : int
        1, or 2 with both kinds of values.
    factor : float
        The board's entry of `Visits.factors`, which keeps values unbiased where boards are sampled.
    totals : float[num_kinds * ceil(num_roots / 16) * above_blocks * 16, 16]
        For each kind of values and each group of sixteen roots, a block for each hand on the parent. Modified in place.
    """
    layout, deals, hands, above_blocks = street.layout, street.deals, street.deals.seats[seat], above.blocks[seat]
    blocks = hands.block[board + 1] - hands.block[board]
    num_hands = hands.first[board + 1] - hands.first[board]
    num_entries = layout.root_scale.shape[0] // 2
    num_groups = (len(layout.roots) + LANES - 1) // LANES
    first_group = np.int64(layout.batch_root[batch]) // LANES
    for group in range(first_group, np.int64(layout.batch_root[batch + 1] - 1) // LANES + 1):
        entry = batch + group - first_group
        # `deals.weight`: the chance of one member of the board's class, given both hands. In hold'em it is 1/45 for a
        # turn and 1/44 for a river. With `last_boards` it is multiplied by the board's weight in the fixed sample.
        weight = load(layout.root_scale, seat * num_entries + entry) * spread(totals, deals.weight[board] * factor)
        for kind in range(num_kinds):
            for lane in range(LANES):
                work.rows[lane] = np.int64(layout.root_value[kind, seat, entry * LANES + lane]) * blocks
            rows_to_tile(work.values, work.rows, blocks, work.out, np.int64(0))
            start = (kind * num_groups + group) * above_blocks * LANES
            # The board stands for a class of isomorphic boards; on each member, the values belong to renamed hands.
            for member in range(deals.member_first[board], deals.member_first[board + 1]):
                first = hands.target_first[member]
                for k in range(num_hands):
                    target = start + np.int64(hands.targets[first + k])
                    store(totals, target, load(totals, target) + load(work.out, k) * weight)


@kernel
def show_ends(street, board, work):
    """Write both seats' reach at the street's ends to ``work.below``, as `Workspace` describes."""
    layout = street.layout
    for seat in range(2):
        hands = street.deals.seats[seat]
        blocks = hands.block[board + 1] - hands.block[board]
        work.below.blocks[seat] = blocks
        for first in range(0, layout.ends.shape[1], LANES):
            for lane in range(LANES):
                work.rows[lane] = np.int64(layout.ends[seat, first + lane]) * blocks
            rows_to_tile(work.reach[seat], work.rows, blocks, work.below.reach[seat], np.int64(first * blocks))


@kernel
def take_ends(layout, seat, num_kinds, blocks, totals, work):
    """Write the values at the street's ends, summed over the totals of all chunks of boards.

    The chunks are summed in their order, whichever thread worked on them. So results do not depend on the number of
    threads.

    Parameters
    ----------
    blocks : int
        The number of blocks of the seat's hands on this board.
    totals : float[num_chunks, num_kinds * ceil(num_ends / 16) * 16 * blocks, 16]
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
def update_boards(street, visits, seat, tables, sums, steps, above, work, totals):
    """Do one or more iterations for one seat, or for seat 0 and then seat 1, on boards of the last street.

    Parameters
    ----------
    visits : Visits
    seat : int
        The traverser; -1 for seat 0 and then seat 1 (alternating updates), which leaves `totals` without a meaning.
    tables, sums : tuple of float[n, 16]
        Regrets and strategy sums of each seat. Modified in place.
    steps : float[num_iterations, 3]
        The step of each iteration. Several iterations are possible only if no earlier street has to learn between
        two iterations.
    totals : float[n, 16]
        As in `leave_board`, with one kind of values.
    """
    one_kind = np.int64(1)
    for iteration in range(steps.shape[0]):
        for turn in range(2):
            # Alternating updates: seat 1 answers to the regrets that seat 0 has just changed.
            if seat >= 0 and turn != seat:
                continue
            for k in range(len(visits.boards)):
                board, factor = visits.boards[k], visits.factors[k]
                # The walk goes down and up in one batch before the next, while the batch's rows are in the cache.
                for batch in range(len(street.layout.batch_root) - 1):
                    enter_board(street, board, batch, turn, tables, above, work)
                    fill_terminals(street, board, batch, turn, work)
                    learn(street, board, batch, turn, tables[turn], sums[turn], steps[iteration], work)
                    leave_board(street, board, batch, turn, one_kind, factor, above, work, totals)


@kernel
def evaluate_boards(street, visits, seat, sums, above, work, totals):
    """Add to `totals` a seat's best-response values and average-strategy values on boards of the last street.

    Parameters are as in `update_boards`, but `totals` have two kinds of values, `BEST` before `OWN`.
    """
    for k in range(len(visits.boards)):
        board, factor = visits.boards[k], visits.factors[k]
        for batch in range(len(street.layout.batch_root) - 1):
            enter_board(street, board, batch, seat, sums, above, work)
            fill_terminals(street, board, batch, seat, work)
            evaluate(street, board, batch, seat, work)
            leave_board(street, board, batch, seat, np.int64(2), factor, above, work, totals)
