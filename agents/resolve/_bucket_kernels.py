"""Kernels of vector CFR with strategies by bucket: all hands of a bucket share a strategy, on all boards of a street.

A table holds a block of sixteen actions for each bucket, in the order of ``layout.action_rows``. The changes that the
boards of an iteration make to regrets and sums are collected by chunks of boards, and added at the iteration's end:
boards share the tables, and threads must neither race for them nor decide the order of the sums.

Arguments that recur are those of `_vector_cfr_kernels`; `plans` is a `BucketPlans`.
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
        Number of buckets.
    table, plan : float[n * width, 16]
        Bucket after bucket for sixteen actions at a time, in the order of ``layout.action_rows``. `plan` is modified
        in place.
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
    """Write the action of largest regret in each bucket, and return the number of buckets whose action changes.

    Parameters
    ----------
    changes : float[num_chunks, 2, n * width, 16]
        As in `settle_buckets`: the regrets of one walk. Set to 0.
    plan : float[n * width, 16]
        Modified in place. A bucket keeps its action unless another one's regret is positive.
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
    """Add the changes of all chunks of boards to a seat's tables, and discount as `learn` does.

    Parameters
    ----------
    regrets, sums : float[n, 16]
        Of a seat. Modified in place.
    changes : float[num_chunks, 2, n, 16]
        Counterfactual regrets, and reach times strategy. Set to 0.
    step : float[3]
    """
    gain, loss, decay = spread(regrets, step[GAIN]), spread(regrets, step[LOSS]), spread(regrets, step[DECAY])
    zeros = spread(regrets, regrets.dtype.type(0))
    for row in range(regrets.shape[0]):
        # Discounts come once an iteration, however many boards add to the row.
        regret, reached = load(regrets, row), load(sums, row) * decay
        for chunk in range(changes.shape[0]):
            regret = regret + load(changes[chunk, 0], row)
            reached = reached + load(changes[chunk, 1], row)
            store(changes[chunk, 0], row, zeros)
            store(changes[chunk, 1], row, zeros)
        store(regrets, row, regret * where_positive(regret, gain, loss))
        store(sums, row, reached)


@kernel
def enter_board_by_buckets(street, plans, board, batch, seat, above, work):
    """Fill both seats' reach at the nodes of a batch, and in ``work.shares`` the strategy of `seat`, by buckets."""
    layout = street.layout
    for player in range(2):
        hands, reach = street.deals.seats[player], work.reach[player]
        blocks = hands.block[board + 1] - hands.block[board]
        gather(street, board, batch, player, above, work)
        # The opponent's strategy is not needed again, and is overwritten by the reach in its own rows.
        factors = work.shares if player == seat else reach
        _expand(street, plans, board, batch, player, factors, work)
        for node in range(layout.batch_node[batch], layout.batch_node[batch + 1]):
            if layout.kind[node] != player:
                continue
            first = layout.child_first[node]
            num_actions = np.int64(layout.child_first[node + 1] - first)
            source = layout.reach_row[player, node] * blocks
            into = layout.reach_row[player, layout.children[first]] * blocks
            for entry in range(num_actions * blocks):
                store(reach, into + entry, load(factors, into + entry) * load(reach, source + entry % blocks))


@kernel
def _expand(street, plans, board, batch, seat, shares, work):
    """Write each hand's strategy, that of its bucket, in the rows of the reach that its actions lead to."""
    layout, hands, plan = street.layout, street.deals.seats[seat], plans.tables[seat]
    numbers, width = plans.buckets.numbers[seat], plans.width
    blocks = hands.block[board + 1] - hands.block[board]
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
def learn_by_buckets(street, plans, board, batch, seat, factor, changes, work):
    """Carry a seat's values up a batch, and add its regrets and strategy, by bucket, to `changes`.

    Parameters
    ----------
    plans : BucketPlans
    factor : float
        The product of the factors of `leave_board` over this street and those before. Boards share the tables, so the
        regrets of a sampled board must also stand for those of the boards left out.
    changes : float[2, n, 16]
        As in `settle_buckets`. Modified in place.
    """
    layout, hands = street.layout, street.deals.seats[seat]
    numbers, weights, width = plans.buckets.numbers[seat], plans.buckets.weights[seat], plans.width
    reach, shares, values = work.reach[seat], work.shares, work.values
    blocks = hands.block[board + 1] - hands.block[board]
    one_kind = np.int64(0)
    for node in range(layout.batch_node[batch + 1] - 1, layout.batch_node[batch] - 1, -1):
        kind = layout.kind[node]
        if kind >= FOLD_END:
            continue
        if kind != seat:
            add_children(layout, seat, node, one_kind, blocks, values)
            continue
        mix_children(layout, seat, node, one_kind, blocks, shares, values)
        first, last = np.int64(layout.child_first[node]), np.int64(layout.child_first[node + 1])
        out = np.int64(layout.value_row[seat, node]) * blocks
        into = layout.reach_row[seat, layout.children[first]] * blocks
        for k in range(first, last):  # the strategy of this node is no longer needed: regrets take its rows
            child, entry = layout.children[k], into + (k - first) * blocks
            row, chips = np.int64(layout.value_row[seat, child]) * blocks, spread(values, layout.scale[seat, child])
            for block in range(blocks):
                gained = load(values, row + block) * chips - load(values, out + block)
                store(shares, entry + block, gained)
    start, num_hands = hands.first[board], hands.first[board + 1] - hands.first[board]
    deals_of_board = spread(values, street.deals.multiplicity[board] * factor)
    for group in range(layout.action_first[seat, batch], layout.action_first[seat, batch + 1], LANES):
        entry = np.int64(group) // LANES * width
        for lane in range(LANES):
            work.rows[lane] = np.int64(layout.action_rows[seat, group + lane]) * blocks
        rows_to_tile(shares, work.rows, blocks, work.out, np.int64(0))
        for k in range(num_hands):
            row = entry + np.int64(numbers[start + k])
            # A counterfactual regret does not contain the seat's own range. Hands that share a strategy must be
            # weighted by it, or a hand that is hardly ever held would count as much as a likely one.
            weight = spread(values, weights[start + k]) * deals_of_board
            store(changes[0], row, load(changes[0], row) + load(work.out, k) * weight)
        rows_to_tile(reach, work.rows, blocks, work.out, np.int64(0))
        for k in range(num_hands):
            row = entry + np.int64(numbers[start + k])
            # No weight of the range here: the seat's reach began with it.
            store(changes[1], row, load(changes[1], row) + load(work.out, k) * deals_of_board)


@kernel
def update_boards_by_buckets(street, plans, visits, times, seat, changes, above, work, totals):
    """Do an iteration for a seat on boards of the last street, with tables by bucket.

    Parameters
    ----------
    plans : BucketPlans
    visits : Visits
    times : float
        The product of the factors on the streets before.
    changes : float[2, n * width, 16]
        As in `settle_buckets`. Modified in place.
    totals : float[n, 16]
        As in `leave_board`, with one kind of values.
    """
    for k in range(len(visits.boards)):
        board, factor = visits.boards[k], visits.factors[k]
        for batch in range(len(street.layout.batch_root) - 1):
            enter_board_by_buckets(street, plans, board, batch, seat, above, work)
            fill_terminals(street, board, batch, seat, work)
            learn_by_buckets(street, plans, board, batch, seat, factor * times, changes, work)
            leave_board(street, board, batch, seat, np.int64(1), factor, above, work, totals)


@kernel
def evaluate_boards_by_buckets(street, plans, visits, seat, above, work, totals):
    """Add both kinds of values on boards of the last street: own strategies by bucket, best responses by hand."""
    for k in range(len(visits.boards)):
        board, factor = visits.boards[k], visits.factors[k]
        for batch in range(len(street.layout.batch_root) - 1):
            enter_board_by_buckets(street, plans, board, batch, seat, above, work)
            fill_terminals(street, board, batch, seat, work)
            evaluate(street, board, batch, seat, work)
            leave_board(street, board, batch, seat, np.int64(2), factor, above, work, totals)
