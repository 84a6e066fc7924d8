"""Kernels of vector CFR with strategies by bucket: all hands of a bucket share a strategy, on all boards of a street.

The actions of a seat's decisions on the street are numbered by their place in ``layout.action_rows``. `width` is the
number of buckets. A table is float[n * width, 16], with n groups of sixteen actions: action i in a bucket is entry
[(i // 16) * width + bucket, i % 16]. So a block of a table has one bucket's numbers for sixteen actions.

``work.shares`` and ``work.reach`` are by hand instead: action i has row ``layout.action_rows[seat, i]``, and a block
has sixteen hands' numbers for one action. Kernels therefore transpose between the two forms, for a group of sixteen
actions at a time; ``work.rows`` holds the first block of each of these actions' rows.

The changes that a walk makes to a seat's regrets and sums are collected for each chunk, a part of the boards, and added
after the walk. The reason is that all boards share the tables. Threads must neither race for the tables nor decide the
order of the sums.

Arguments that recur are those of `vector_cfr_kernels`; `plans` is a `BucketPlans`.
"""

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END
from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND
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
    transpose_out_times,
    where_positive,
)
from plurispiel.agents.resolve.vector_cfr_kernels import (
    DECAY,
    GAIN,
    LOSS,
    add_children,
    evaluate,
    fill_terminals,
    gather,
    leave_board,
    mix_children,
)


@kernel
def plan_buckets(layout, seat, width, table, plan, work):
    """Write a seat's strategy at each decision in each bucket, proportional to the positive entries of a table.

    Where no entry is positive the strategy is uniform.

    Parameters
    ----------
    width : int
        Number of buckets.
    table : float[n * width, 16]
        Regrets, or sums of strategies.
    plan : float[n * width, 16]
        The strategy. Modified in place.
    work : PlanWorkspace
    """
    zeros = spread(plan, plan.dtype.type(0))
    groups = np.int64(layout.action_first[seat, len(layout.batch_root) - 1]) // LANES
    for start in range(0, width, LANES):  # sixteen buckets at a time, so that a vector has one action's numbers
        for group in range(groups):
            for lane in range(LANES):
                # The last tile is filled up with repeats of the last bucket.
                work.rows[group * LANES + lane] = group * width + min(start + lane, width - 1)
            transpose_in(table, work.rows, group * LANES, 0, work.tile, group * LANES)
        for node in range(len(layout.kind)):
            if layout.kind[node] != seat:
                continue
            first = np.int64(layout.table_lane[node])
            num_actions = np.int64(layout.child_first[node + 1] - layout.child_first[node])
            even = spread(plan, plan.dtype.type(1.0 / num_actions))
            total = zeros
            for action in range(first, first + num_actions):
                total = total + larger(load(work.tile, action), zeros)
            for action in range(first, first + num_actions):
                # A total of 0 gives NaN in its lane, which the selection drops.
                store(work.out, action, where_positive(total, larger(load(work.tile, action), zeros) / total, even))
        for group in range(groups):
            transpose_out(work.out, group * LANES, plan, work.rows, group * LANES, 0)


@kernel
def plan_best(layout, seat, width, changes, plan):
    """Write the action of largest regret at each decision in each bucket, if that regret is positive.

    Parameters
    ----------
    changes : float[num_chunks, 2, n * width, 16]
        For each chunk of boards, entry 0 has the regrets that a walk over the boards has found for a seat that plays
        `plan`; entry 1 is not used. Both entries are set to 0.
    plan : float[n * width, 16]
        Probabilities. Where an action has positive regret, the best action gets probability 1 and the others 0.
        Modified in place.

    Returns
    -------
    int
        The number of pairs of decision and bucket whose strategy was written.
    """
    zeros, num_new = spread(plan, plan.dtype.type(0)), 0
    # The chunks' regrets are summed in chunk 0, which serves as workspace.
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
            for action in range(first, first + num_actions):
                regret_of_action = changes[0, 0, (action >> 4) * width + bucket, action & 15]
                if regret_of_action > most:
                    best, most = np.int64(action), regret_of_action
            if best >= 0:
                num_new += 1
                for action in range(first, first + num_actions):
                    plan[(action >> 4) * width + bucket, action & 15] = 1.0 if action == best else 0.0
    clear(changes[0, 0], np.int64(0), np.int64(plan.shape[0]))
    return num_new


@kernel
def settle_buckets(regrets, sums, changes, step):
    """Add the changes of all chunks of boards to a seat's tables, and discount as `vector_cfr_kernels.learn` does.

    Parameters
    ----------
    regrets, sums : float[n * width, 16]
        The seat's tables. Modified in place.
    changes : float[num_chunks, 2, n * width, 16]
        For each chunk of boards, entry 0 has the additions to the counterfactual regrets, entry 1 those to the strategy
        sums (reach times strategy). Set to 0.
    step : float[3]
        `GAIN`, `LOSS` and `DECAY`.
    """
    gain, loss, decay = spread(regrets, step[GAIN]), spread(regrets, step[LOSS]), spread(regrets, step[DECAY])
    zeros = spread(regrets, regrets.dtype.type(0))
    for row in range(regrets.shape[0]):
        # Each iteration discounts once, however many boards add to the row.
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
    """Fill both seats' reach at the nodes of a batch, and ``work.shares`` with the strategy of `seat`.

    Reach and strategy are by hand; each hand plays the strategy of its bucket in `plans`.
    """
    for player in range(2):
        gather(street, board, batch, player, above, work)
        # The opponent's strategy is needed only here. It is written to the rows of the opponent's reach, where the
        # reach replaces it.
        _expand(street, plans, board, batch, player, work.shares if player == seat else work.reach[player], work)


@kernel
def _expand(street, plans, board, batch, seat, shares, work):
    """Write each hand's strategy, that of its bucket, to `shares`, and the seat's reach after each action to `work`.

    An action's probabilities have the same row in `shares` as the reach after the action has in ``work.reach[seat]``.
    This reach is the reach at the decision times the probability. `shares` may be ``work.reach[seat]`` itself.
    """
    layout, hands, plan = street.layout, street.deals.seats[seat], plans.tables[seat]
    numbers, width, reach = plans.buckets.numbers[seat], plans.width, work.reach[seat]
    blocks = hands.block[board + 1] - hands.block[board]
    first, last = hands.first[board], hands.first[board + 1] - 1
    # `group` is the number of a group's first action; the group's part of the table begins at block `start`.
    for group in range(layout.action_first[seat, batch], layout.action_first[seat, batch + 1], LANES):
        start = np.int64(group) // LANES * width
        for lane in range(LANES):
            work.rows[lane] = np.int64(layout.action_rows[seat, group + lane]) * blocks
            work.sources[lane] = np.int64(layout.action_sources[seat, group + lane]) * blocks
        for block in range(blocks):  # sixteen hands at a time, whose strategies stay in the nearest cache
            for lane in range(LANES):
                # The last block repeats the last hand: the reach of padding is 0, so any strategy will do.
                k = min(first + block * LANES + lane, last)
                store(work.out, lane, load(plan, start + np.int64(numbers[k])))
            # Actions are in depth-first order: a decision's reach is written before it is read.
            transpose_out_times(work.out, 0, shares, work.rows, 0, block, reach, work.sources, reach)


@kernel
def learn_by_buckets(street, plans, board, batch, seat, factor, changes, work):
    """Carry a seat's values up a batch, and add its regrets and its reach times strategy to `changes`, by bucket.

    Parameters
    ----------
    plans : BucketPlans
    factor : float
        The product of the factors of `leave_board` over this street and those before. Boards share the tables, so the
        regrets of a sampled board must also stand for those of boards that were not sampled.
    changes : float[2, n * width, 16]
        One chunk's entry of the `changes` of `settle_buckets`. Modified in place.
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
        for k in range(first, last):  # the regrets overwrite this node's strategy, which is no longer needed
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
        for block in range(blocks):  # sixteen hands at a time, whose numbers stay in the nearest cache
            transpose_in(shares, work.rows, 0, block, work.out, 0)
            transpose_in(reach, work.rows, 0, block, work.tile, FIRST_HAND)
            hand = start + block * LANES
            for k in range(min(LANES, num_hands - block * LANES)):
                row = entry + np.int64(numbers[hand + k])
                # A counterfactual regret does not contain the seat's own range. Hands that share a strategy must be
                # weighted by the range, or a hand that is hardly ever held would count as much as a likely hand.
                weight = spread(values, weights[hand + k]) * deals_of_board
                store(changes[0], row, load(changes[0], row) + load(work.out, k) * weight)
                # No weight of the range here: the seat's reach began with it.
                store(changes[1], row, load(changes[1], row) + load(work.tile, FIRST_HAND + k) * deals_of_board)


@kernel
def update_boards_by_buckets(street, plans, visits, times, seat, changes, above, work, totals):
    """Do an iteration for a seat on boards of the last street, with tables by bucket.

    Parameters
    ----------
    plans : BucketPlans
    visits : Visits
    times : float
        The product of the factors of `leave_board` on the streets before.
    changes : float[2, n * width, 16]
        One chunk's entry of the `changes` of `settle_buckets`. Modified in place.
    totals : float[ceil(num_roots / 16) * above_blocks * 16, 16]
        As in `leave_board`, for values of the seat's own strategy alone. Modified in place.
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
    """Add both kinds of values on boards of the last street to `totals`.

    Own strategies are by bucket; best responses tell all hands apart.
    """
    for k in range(len(visits.boards)):
        board, factor = visits.boards[k], visits.factors[k]
        for batch in range(len(street.layout.batch_root) - 1):
            enter_board_by_buckets(street, plans, board, batch, seat, above, work)
            fill_terminals(street, board, batch, seat, work)
            evaluate(street, board, batch, seat, work)
            leave_board(street, board, batch, seat, np.int64(2), factor, above, work, totals)
