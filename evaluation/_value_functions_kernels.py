"""Kernels of checkdown values: all combos of one seat against known hands on many boards."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel


class Counts(NamedTuple):
    """Workspace of `fill_equity`.

    Attributes
    ----------
    points : uint16[num_combos]
        For each combo, the sum over boards: two for a board that it wins, one for a tie with a single opponent.
    ties : uint16[MAX_SEATS, num_combos]
        For each combo, the number of boards tied with k = 2 or more opponents, in row k; all 0 between calls.
    best : uint16[num_boards]
        The opponents' highest rank on each board.
    num_best : uint8[num_boards]
        The number of opponents with that rank on each board.
    """

    points: np.ndarray
    ties: np.ndarray
    best: np.ndarray
    num_best: np.ndarray


@kernel
def count_boards(ranks, rows, num_boards):
    """Count for every combo the boards with which it shares no card.

    Parameters
    ----------
    ranks, rows
        As in `fill_equity`.
    num_boards : uint16[num_combos]
        Modified in place.
    """
    num_boards[:] = 0
    for b in range(len(rows)):
        row = ranks[rows[b]]
        for combo in range(len(row)):
            num_boards[combo] += np.uint16(row[combo] != 0)  # a combo that touches the board has rank 0


@kernel
def fill_equity(ranks, rows, opponents, scale, counts, equity):
    """Write the mean share of the pot that every combo wins.

    On a board the share is 1 / (1 + number of tied opponents) if no opponent has a better hand, else 0.

    Parameters
    ----------
    ranks : uint16[n, num_combos]
        The ranks of all combos on n boards, by `hand_rank_kernels.fill_ranks`: 0 if a combo touches the board.
    rows : int32[num_boards]
        The rows of `ranks` to take the mean over; at most 32,000, as each board adds 0, 1 or 2 to the 16 bits of a
        combo's `points`.
    opponents : int32[num_opponents]
        The opponents' combos; at least one.
    scale : float64[num_combos]
        One over the number of boards from `count_boards`; 0 for impossible combos.
    counts : Counts
        Workspace with room for all boards.
    equity : float64[num_combos]
        Modified in place.
    """
    best, num_best, points, ties = counts.best, counts.num_best, counts.points, counts.ties
    num_combos = ranks.shape[1]
    max_ties = 1
    for b in range(len(rows)):
        row = ranks[rows[b]]
        best[b] = 0
        for k in range(len(opponents)):
            rank = row[opponents[k]]
            if rank > best[b]:
                best[b] = rank
                num_best[b] = 1
            elif rank == best[b]:
                num_best[b] += 1
        if num_best[b] > max_ties:
            max_ties = int(num_best[b])
    # No board holds an opponent's cards, so `best` is at least 1. A combo that touches the board has rank 0: no points.
    points[:] = 0
    for b in range(len(rows)):
        row, limit = ranks[rows[b]], best[b]
        if num_best[b] == 1:
            for combo in range(num_combos):  # uint16 throughout: SIMD compares twice as many combos as in 32 bits
                points[combo] += np.uint16(row[combo] > limit) + np.uint16(row[combo] >= limit)
        else:
            tied = ties[num_best[b]]
            for combo in range(num_combos):
                points[combo] += np.uint16(row[combo] > limit) << 1
                tied[combo] += np.uint16(row[combo] == limit)
    for combo in range(num_combos):
        equity[combo] = 0.5 * points[combo]
    for number in range(2, max_ties + 1):
        tied = ties[number]
        share = 1.0 / (number + 1)
        for combo in range(num_combos):
            equity[combo] += share * tied[combo]
            tied[combo] = 0
    for combo in range(num_combos):
        equity[combo] *= scale[combo]
