"""Kernels that walk over boards: down and up a street on one board, and over the last streets of a walk.

`walk_by_hand` and `walk_by_buckets` work through a `ChunkQueue`. A thread calls one of them once for each queue, with
workspaces of its own, and takes chunks from the queue until none is left. Each chunk has totals and changes of its own.
So the order in which threads take chunks changes no result.

Arguments that recur are those of `vector_cfr_kernels` and `_bucket_kernels`, and:

streets : tuple of two StreetArrays
    The street before the last, and the last street. If the queue has boards of the last street alone, both are the
    last street.
queue : ChunkQueue
num_kinds : int
    2 to measure `BEST` and `OWN`. 1 to learn, or with buckets to find the regrets of a plan (`walk.RespondByBuckets`).
works : tuple of two Workspace
    For the two streets. Modified in place.
totals : float[num_chunks, n, 16]
    As in `leave_board`, for each chunk. Modified in place.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import clear
from plurispiel.abstraction.machine.tickets import take_ticket
from plurispiel.agents.resolve._bucket_kernels import enter_board_by_buckets, evaluate_boards_by_buckets
from plurispiel.agents.resolve._terminal_tile_kernels import (
    ascend_by_buckets,
    descend_by_buckets,
    update_boards_by_buckets,
)
from plurispiel.agents.resolve.vector_cfr_kernels import (
    enter_board,
    evaluate,
    evaluate_boards,
    fill_terminals,
    learn,
    leave_board,
    show_ends,
    take_ends,
    update_boards,
)
from plurispiel.agents.resolve.visits import Visits


@kernel
def descend(street, board, seat, tables, above, work):
    """Pass reach down a street on a board to the street's ends, and write the values of terminal nodes.

    Parameters
    ----------
    tables : tuple of float[n, 16]
        As in `enter_board`.
    """
    enter_board(street, board, np.int64(0), seat, tables, above, work)
    fill_terminals(street, board, np.int64(0), seat, work)
    show_ends(street, board, work)


@kernel
def ascend(street, board, seat, num_kinds, tables, sums, step, ends, work):
    """Carry values from a street's ends up to its roots on a board, and learn if there is one kind of values.

    Parameters
    ----------
    tables, sums : tuple of float[n, 16]
        The regrets and strategy sums of each seat. Modified in place if there is one kind of values, else not read.
    step : float[3]
    ends : float[num_chunks, n, 16]
        The totals at the ends, as in `take_ends`.
    """
    take_ends(street.layout, seat, num_kinds, work.below.blocks[seat], ends, work)
    if num_kinds == 1:
        learn(street, board, np.int64(0), seat, tables[seat], sums[seat], step, work)
    else:
        evaluate(street, board, np.int64(0), seat, work)


@kernel
def descend_with_plans(street, plans, board, seat, num_kinds, above, work):
    """Do the work of `descend` with strategies by bucket; to learn, terminal nodes wait for `ascend_with_plans`."""
    if num_kinds == 1:
        descend_by_buckets(street, plans, board, above, work)
    else:
        enter_board_by_buckets(street, plans, board, np.int64(0), seat, above, work)
        fill_terminals(street, board, np.int64(0), seat, work)
        show_ends(street, board, work)


@kernel
def ascend_with_plans(street, plans, board, seat, num_kinds, factors, found, above, work, totals):
    """Do the work of `ascend` and of `leave_board` with strategies by bucket, after `take_ends`.

    Parameters
    ----------
    factors : tuple of two float
        `factor` and `times`, as in `ascend_by_buckets`.
    found, totals
        As in `ascend_by_buckets`, for one chunk.
    """
    factor, times = factors
    if num_kinds == 1:
        ascend_by_buckets(street, plans, board, seat, factor, times, found, above, work, totals)
    else:
        evaluate(street, board, np.int64(0), seat, work)
        leave_board(street, board, np.int64(0), seat, num_kinds, factor, above, work, totals)


@kernel
def walk_by_hand(streets, queue, seat, num_kinds, tables, sums, step, above, works, totals):
    """Learn or measure on the boards of a queue, with a strategy for each hand on each board.

    Parameters
    ----------
    tables, sums : tuple of tuple of float[n, 16]
        For each of the two streets, the regrets and the strategy sums of each seat, as in `update_boards`. To
        measure, both arguments are the strategy sums.
    step : float[1, 3]
    """
    work, is_deep = works[0], len(queue.boards) > 0
    chunk = take_ticket(queue.tickets)
    while chunk < len(queue.chunk_first) - 1:
        for k in range(queue.chunk_first[chunk], queue.chunk_first[chunk + 1]):
            reach, target = above, totals[chunk]
            if is_deep:
                descend(streets[0], queue.boards[k], seat, tables[0], above, work)
                num_ends = np.int64(streets[0].layout.ends.shape[1])
                clear(work.ends[0], np.int64(0), num_kinds * num_ends * work.below.blocks[seat])
                reach, target = work.below, work.ends[0]
            first, last = queue.later_first[k], queue.later_first[k + 1]
            later = Visits(queue.later_boards[first:last], queue.later_factors[first:last])
            if num_kinds == 1:
                update_boards(streets[1], later, seat, tables[1], sums[1], step, reach, works[1], target)
            else:
                evaluate_boards(streets[1], later, seat, tables[1], reach, works[1], target)
            if is_deep:
                board, factor = queue.boards[k], queue.factors[k]
                ascend(streets[0], board, seat, num_kinds, tables[0], sums[0], step[0], work.ends, work)
                leave_board(streets[0], board, np.int64(0), seat, num_kinds, factor, above, work, totals[chunk])
        chunk = take_ticket(queue.tickets)


@kernel
def walk_by_buckets(streets, plans, queue, seat, num_kinds, changes, above, works, totals):
    """Learn or measure on the boards of a queue, with strategies by bucket.

    Parameters
    ----------
    plans : tuple of two BucketPlans
        For the two streets.
    changes : tuple of float[num_chunks, n, 16]
        For each of the two streets, the seat's sums in each chunk, as in `settle_tiles`. Modified in place if there is
        one kind of values.
    """
    work, is_deep = works[0], len(queue.boards) > 0
    chunk = take_ticket(queue.tickets)
    while chunk < len(queue.chunk_first) - 1:
        for k in range(queue.chunk_first[chunk], queue.chunk_first[chunk + 1]):
            reach, target, times = above, totals[chunk], queue.times
            if is_deep:
                times = times * queue.factors[k]
                descend_with_plans(streets[0], plans[0], queue.boards[k], seat, num_kinds, above, work)
                num_ends = np.int64(streets[0].layout.ends.shape[1])
                clear(work.ends[0], np.int64(0), num_kinds * num_ends * work.below.blocks[seat])
                reach, target = work.below, work.ends[0]
            first, last, drawn = queue.later_first[k], queue.later_first[k + 1], changes[1][chunk]
            later = Visits(queue.later_boards[first:last], queue.later_factors[first:last])
            if num_kinds == 1:
                update_boards_by_buckets(streets[1], plans[1], later, times, seat, drawn, reach, works[1], target)
            else:
                evaluate_boards_by_buckets(streets[1], plans[1], later, seat, reach, works[1], target)
            if is_deep:
                board, factors, drawn = queue.boards[k], (queue.factors[k], times), changes[0][chunk]
                take_ends(streets[0].layout, seat, num_kinds, work.below.blocks[seat], work.ends, work)
                ascend_with_plans(
                    streets[0], plans[0], board, seat, num_kinds, factors, drawn, above, work, totals[chunk]
                )
        chunk = take_ticket(queue.tickets)
