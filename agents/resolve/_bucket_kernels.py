"""Kernels of vector CFR with strategies by bucket: hands of one bucket are played alike on all boards of a street.

A table holds a block of sixteen actions for each bucket, in the order of ``layout.action_rows``. What the boards
of an iteration add to regrets and sums is collected apart, by chunks of boards, and settled at its end.
"""

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import LANES, clear, load, spread, store, where_positive
from plurispiel.agents.resolve._vector_cfr_kernels import (
    DECAY,
    GAIN,
    LOSS,
    add_children,
    evaluate,
    fill_terminals,
    gather,
    leave_board,
    mix_children,
    rows_to_tile,
    tile_to_rows,
)


@kernel
def plan_buckets(layout, seat, width, table, plan):
    """Write a seat's strategy in each bucket, proportional to the positive entries of a table.

    Parameters
    ----------
    width : int
        Buckets.
    table, plan : float[n * width, 16]
        Bucket after bucket for sixteen actions at a time, in the order of ``layout.action_rows``.
    """
    for node in range(len(layout.kind)):
        if layout.kind[node] != seat:
            continue
        first = np.int64(layout.table_lane[node])
        num_actions = np.int64(layout.child_first[node + 1] - layout.child_first[node])
        for bucket in range(width):
            total = table.dtype.type(0)
            for lane in range(first, first + num_actions):
                total += max(table[(lane >> 4) * width + bucket, lane & 15], table.dtype.type(0))
            for lane in range(first, first + num_actions):
                row = (lane >> 4) * width + bucket
                if total > 0:
                    plan[row, lane & 15] = max(table[row, lane & 15], table.dtype.type(0)) / total
                else:
                    plan[row, lane & 15] = 1.0 / num_actions


@kernel
def plan_best(layout, seat, width, changes, plan):
    """Write the action of most regret in each bucket, and return in how many it is new; `changes` are set to 0.

    Parameters
    ----------
    changes : float[num_chunks, 2, n * width, 16]
        As in `settle_buckets`.
    plan : float[n * width, 16]
        Modified in place.
    """
    zeros, num_new = spread(plan, plan.dtype.type(0)), 0
    for row in range(plan.shape[0]):
        regret = zeros
        for chunk in range(changes.shape[0]):
            regret = regret + load(changes[chunk, 0], row)
            store(changes[chunk, 0], row, zeros)
            store(changes[chunk, 1], row, zeros)
        store(changes[0, 0], row, regret)
    for node in range(len(layout.kind)):
        if layout.kind[node] != seat:
            continue
        first = np.int64(layout.table_lane[node])
        num_actions = np.int64(layout.child_first[node + 1] - layout.child_first[node])
        for bucket in range(width):
            best, most = np.int64(-1), plan.dtype.type(0)
            for lane in range(first, first + num_actions):
                regret_of_action = changes[0, 0, (lane >> 4) * width + bucket, lane & 15]
                if regret_of_action > most:
                    best, most = np.int64(lane), regret_of_action
            if best >= 0:
                num_new += 1
                for lane in range(first, first + num_actions):
                    plan[(lane >> 4) * width + bucket, lane & 15] = 1.0 if lane == best else 0.0
    clear(changes[0, 0], np.int64(0), np.int64(plan.shape[0]))
    return num_new


@kernel
def settle_buckets(regrets, sums, changes, step):
    """Add what several chunks of boards have changed, and discount; `changes` are set to 0.

    Parameters
    ----------
    regrets, sums : float[n, 16]
        Of a seat. Modified in place.
    changes : float[num_chunks, 2, n, 16]
        Counterfactual regrets, and reach times strategy.
    step : float[3]
    """
    gain, loss, decay = spread(regrets, step[GAIN]), spread(regrets, step[LOSS]), spread(regrets, step[DECAY])
    zeros = spread(regrets, regrets.dtype.type(0))
    for row in range(regrets.shape[0]):
        regret, reached = load(regrets, row), load(sums, row) * decay
        for chunk in range(changes.shape[0]):
            regret = regret + load(changes[chunk, 0], row)
            reached = reached + load(changes[chunk, 1], row)
            store(changes[chunk, 0], row, zeros)
            store(changes[chunk, 1], row, zeros)
        store(regrets, row, regret * where_positive(regret, gain, loss))
        store(sums, row, reached)


@kernel
def enter_board_by_buckets(layout, deals, buckets, board, batch, seat, plans, width, above, above_blocks, work):
    """Do what `enter_board` does, with strategies by bucket; see `update_boards_by_buckets`."""
    for player in range(2):
        hands, reach = deals.seats[player], work.reach[player]
        blocks = hands.block[board + 1] - hands.block[board]
        gather(layout, hands, board, batch, player, above[player], above_blocks[player], blocks, work)
        factors = work.shares if player == seat else reach
        _expand(
            layout, hands, buckets.numbers[player], board, batch, player, plans[player], width, blocks, factors, work
        )
        for node in range(layout.batch_node[batch], layout.batch_node[batch + 1]):
            if layout.kind[node] != player:
                continue
            first = layout.child_first[node]
            num_actions = np.int64(layout.child_first[node + 1] - first)
            source = layout.reach_row[player, node] * blocks
            into = layout.reach_row[player, layout.children[first]] * blocks
            for place in range(num_actions * blocks):
                store(reach, into + place, load(factors, into + place) * load(reach, source + place % blocks))


@kernel
def _expand(layout, hands, numbers, board, batch, seat, plan, width, blocks, shares, work):
    """Write the strategy of each hand, that of its bucket, in the rows of the reach that it leads to."""
    first = hands.first[board]
    num_hands = hands.first[board + 1] - first
    for group in range(layout.action_first[seat, batch], layout.action_first[seat, batch + 1], LANES):
        start = np.int64(group) // LANES * width
        for k in range(num_hands):
            store(work.out, k, load(plan, start + np.int64(numbers[first + k])))
        clear(work.out, num_hands, -num_hands % LANES)
        for lane in range(LANES):
            work.rows[lane] = np.int64(layout.action_rows[seat, group + lane]) * blocks
        tile_to_rows(work.out, work.rows, blocks, shares)


@kernel
def learn_by_buckets(layout, deals, buckets, board, batch, seat, width, factor, changes, work):
    """Do what `learn` does, with regrets and sums by bucket: they are added to `changes`.

    Parameters
    ----------
    buckets : Buckets
    factor : float
        How often the board counts, besides its multiplicity: where boards are drawn, what makes up for the others.
    changes : float[2, n, 16]
        As in `settle_buckets`. Modified in place.
    """
    numbers, weights = buckets.numbers[seat], buckets.weights[seat]
    hands, reach, shares, values = deals.seats[seat], work.reach[seat], work.shares, work.values
    blocks = hands.block[board + 1] - hands.block[board]
    none = np.int64(0)
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
        into = layout.reach_row[seat, children[first]] * blocks
        mix_children(value_row, scale, children, first, last, blocks, values, shares, into, none, none, out)
        for k in range(first, last):  # the strategy is not needed any more: regrets take its place
            child, place = children[k], into + (k - first) * blocks
            row, chips = np.int64(value_row[child]) * blocks, spread(values, scale[child])
            for block in range(blocks):
                gained = load(values, row + block) * chips - load(values, out + block)
                store(shares, place + block, gained)
    start, num_hands = hands.first[board], hands.first[board + 1] - hands.first[board]
    deals_of_board = spread(values, deals.multiplicity[board] * factor)
    for group in range(layout.action_first[seat, batch], layout.action_first[seat, batch + 1], LANES):
        place = np.int64(group) // LANES * width
        for lane in range(LANES):
            work.rows[lane] = np.int64(layout.action_rows[seat, group + lane]) * blocks
        rows_to_tile(shares, work.rows, blocks, work.out, np.int64(0))
        for k in range(num_hands):
            row = place + np.int64(numbers[start + k])
            weight = spread(values, weights[start + k]) * deals_of_board
            store(changes[0], row, load(changes[0], row) + load(work.out, k) * weight)
        rows_to_tile(reach, work.rows, blocks, work.out, np.int64(0))
        for k in range(num_hands):
            row = place + np.int64(numbers[start + k])
            store(changes[1], row, load(changes[1], row) + load(work.out, k) * deals_of_board)


@kernel
def update_boards_by_buckets(
    layout, deals, buckets, boards, factors, counts, seat, plans, width, changes, above, above_blocks, work, totals
):
    """Do an iteration for a seat on boards of the last street, with tables by bucket.

    Parameters
    ----------
    buckets : Buckets
    counts : float[num_boards]
        As ``factor`` in `learn_by_buckets`.
    plans : tuple of float[n * width, 16]
        See `plan_buckets`.
    changes : float[2, n * width, 16]
        See `settle_buckets`. Modified in place.
    layout, deals, boards, factors, above, above_blocks, work, totals
        As in `update_boards`.
    """
    for k in range(len(boards)):
        board, factor = boards[k], factors[k]
        for batch in range(len(layout.batch_root) - 1):
            enter_board_by_buckets(layout, deals, buckets, board, batch, seat, plans, width, above, above_blocks, work)
            fill_terminals(layout, deals, board, batch, seat, work)
            learn_by_buckets(layout, deals, buckets, board, batch, seat, width, counts[k], changes, work)
            leave_board(layout, deals, board, batch, seat, np.int64(1), factor, work, above_blocks[seat], totals)


@kernel
def evaluate_boards_by_buckets(
    layout, deals, buckets, boards, factors, seat, plans, width, above, above_blocks, work, totals
):
    """Add both kinds of values of strategies by bucket, best responses by hand; see `update_boards_by_buckets`."""
    for k in range(len(boards)):
        board, factor = boards[k], factors[k]
        for batch in range(len(layout.batch_root) - 1):
            enter_board_by_buckets(layout, deals, buckets, board, batch, seat, plans, width, above, above_blocks, work)
            fill_terminals(layout, deals, board, batch, seat, work)
            evaluate(layout, deals, board, batch, seat, work)
            leave_board(layout, deals, board, batch, seat, np.int64(2), factor, work, above_blocks[seat], totals)
