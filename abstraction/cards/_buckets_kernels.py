"""Kernels of bucket rows; a *row* holds the bucket of each of the 1326 combos on one board.

The marker of combos that share a card with the board is the highest number of the dtype in which rows are stored.
``num_live`` is the number of combos that are free on a board; arrays over free combos are in the order of combo ids.
"""

import numpy as np

from plurispiel.abstraction.holdem.boards_kernels import PERMUTATION_BITS, board_entry, board_rank
from plurispiel.abstraction.machine.jit import kernel


@kernel
def fill_row(entries, relabel, rows, board, out):
    """Write the row of one board, looked up in the rows of all board classes.

    Parameters
    ----------
    entries : int32[num_boards]
        `BoardClasses.entries` of the full deck. Passing all of `BoardClasses` would cost time on each call from Python.
    relabel : uint16[24, 1326]
        Each combo's id after each renaming of suits (`boards.relabel_combos`).
    rows : uint8 or uint16[num_classes, 1326]
        The row of the representative of each class.
    board : uint8[3..5]
    out : uint8 or uint16[1326]
        The row of the board, with the dtype of `rows`. Modified in place.
    """
    entry = np.int64(entries[board_rank(4, board)])
    row = rows[entry >> PERMUTATION_BITS]
    renamed = relabel[entry & ((1 << PERMUTATION_BITS) - 1)]
    for combo in range(1326):
        out[combo] = row[renamed[combo]]


@kernel
def fill_rows(classes, relabel, rows, boards, out):
    """Write the row of each board (uint8[n, 3..5]) to `out` ([n, 1326], modified in place), as in `fill_row`."""
    for b in range(len(boards)):
        entry = board_entry(classes, boards[b])
        row = rows[entry >> PERMUTATION_BITS]
        renamed = relabel[entry & ((1 << PERMUTATION_BITS) - 1)]
        target = out[b]
        for combo in range(1326):
            target[combo] = row[renamed[combo]]


@kernel
def spread_labels(boards, labels, marker, out):
    """Write the labels of the free combos into full rows, and the marker for all other combos.

    Parameters
    ----------
    boards : uint8[n, 3..5]
    labels : int32[n, num_live]
        The bucket of each free combo.
    marker : int
        Written for combos that share a card with the board.
    out : uint16[n, 1326]
        Modified in place.
    """
    for b in range(len(boards)):
        dead = np.int64(0)
        for j in range(boards.shape[1]):
            dead |= np.int64(1) << np.int64(boards[b, j])
        combo = place = 0
        for high in range(52):
            for low in range(high):
                if (dead >> high | dead >> low) & 1 == 0:
                    out[b, combo] = labels[b, place]
                    place += 1
                else:
                    out[b, combo] = marker
                combo += 1


@kernel
def count_next_buckets(board, next_rows, next_cards, mass, out):
    """Write, for every free combo, a histogram of its buckets on the next street over all next cards.

    Parameters
    ----------
    board : uint8[3..4]
    next_rows : uint16[num_next_cards, 1326]
        The row of the board extended by each next card.
    next_cards : uint8[num_next_cards]
        The next card of each row.
    mass : int
        Weight of one next card in the histogram.
    out : uint8[num_live, num_buckets]
        Must hold zeros at the call. Modified in place.
    """
    dead = np.int64(0)
    for j in range(len(board)):
        dead |= np.int64(1) << np.int64(board[j])
    for r in range(len(next_rows)):
        card = np.int64(next_cards[r])
        combo = place = 0
        for high in range(52):
            for low in range(high):
                if (dead >> high | dead >> low) & 1 == 0:
                    if high != card and low != card:
                        out[place, next_rows[r, combo]] += mass  # at most `POTENTIAL_MASS` times 47 cards: fits a byte
                    place += 1
                combo += 1


@kernel
def add_statistics(labels, sums, weights, num_rivers, moments):
    """Add the hands on some boards to the statistics of their buckets.

    Parameters
    ----------
    labels : int32[n, num_live]
        The bucket of each free combo.
    sums : int64[n, num_live]
        Each free combo's sum of river equities, in 1/1980, over the `num_rivers` river boards that it can reach.
    weights : int64[n]
        Number of boards in the class of each board.
    moments : int64[num_buckets, 4]
        Four weighted sums for each bucket: the number of hands, their `sums`, their mean equities, and the squares of
        these means. Means are rounded to whole units of 1/1980, so that all sums are exact. Modified in place.
    """
    for b in range(len(labels)):
        for k in range(labels.shape[1]):
            row, equity = moments[labels[b, k]], sums[b, k]
            row[0] += weights[b]
            row[1] += weights[b] * equity
            mean = (equity + num_rivers // 2) // num_rivers  # rounded, in integers: the same in any order of the boards
            row[2] += weights[b] * mean
            row[3] += weights[b] * mean * mean
