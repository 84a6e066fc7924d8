"""Kernels of vector CFR with strategies by bucket: all hands of a bucket share a strategy, on all boards of a street.

The actions of a seat's decisions on the street are numbered by their place in ``layout.action_rows``. `width` is the
number of buckets. A table is float[n * width, 16], with n groups of sixteen actions: action i in a bucket is entry
[(i // 16) * width + bucket, i % 16]. So a block of a table has one bucket's numbers for sixteen actions.

``work.shares`` and ``work.reach`` are by hand instead: action i has row ``layout.action_rows[seat, i]``, and a block
has sixteen hands' numbers for one action. Kernels therefore transpose between the two forms, for a group of sixteen
actions at a time; ``work.rows`` holds the first block of each of these actions' rows.

Arguments that recur are those of `vector_cfr_kernels`; `plans` is a `BucketPlans`.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import (
    LANES,
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
    evaluate,
    fill_terminals,
    gather,
    leave_board,
)


@kernel
def plan_buckets(layout, seat, width, first_bucket, last_bucket, table, plan, work):
    """Write a seat's strategy at each decision in some buckets, proportional to the positive entries of a table.

    Where no entry is positive the strategy is uniform.

    Parameters
    ----------
    width : int
        Number of buckets.
    first_bucket, last_bucket : int
        The first bucket, a multiple of 16, and the bucket after the last one.
    table : float[n * width, 16]
        Regrets, or sums of strategies.
    plan : float[n * width, 16]
        The strategy. Modified in place.
    work : PlanWorkspace
    """
    zeros = spread(plan, plan.dtype.type(0))
    groups = np.int64(layout.action_first[seat, len(layout.batch_root) - 1]) // LANES
    for start in range(first_bucket, last_bucket, LANES):  # sixteen at a time: a vector has one action's numbers
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
def plan_best(layout, seat, width, regrets, plan):
    """Write the action of largest regret at each decision in each bucket, if that regret is positive.

    Parameters
    ----------
    regrets : float[n * width, 16]
        The regrets of a seat that plays `plan`.
    plan : float[n * width, 16]
        Probabilities. Where an action has positive regret, the best action gets probability 1 and the others 0.
        Modified in place.

    Returns
    -------
    int
        The number of pairs of decision and bucket whose strategy was written.
    """
    num_new = 0
    for node in range(len(layout.kind)):
        if layout.kind[node] != seat:
            continue
        first = np.int64(layout.table_lane[node])
        num_actions = np.int64(layout.child_first[node + 1] - layout.child_first[node])
        for bucket in range(width):
            best, most = np.int64(-1), plan.dtype.type(0)
            for action in range(first, first + num_actions):
                regret_of_action = regrets[(action >> 4) * width + bucket, action & 15]
                if regret_of_action > most:
                    best, most = np.int64(action), regret_of_action
            if best >= 0:
                num_new += 1
                for action in range(first, first + num_actions):
                    plan[(action >> 4) * width + bucket, action & 15] = 1.0 if action == best else 0.0
    return num_new


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
