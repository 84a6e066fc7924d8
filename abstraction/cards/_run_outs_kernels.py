"""Kernels of run-outs: the river equities of every combo over all ways to complete a flop or turn.

The equities on a river board come from a table of all river boards up to a renaming of suits, or are computed as
needed. In both cases the same code sums them as integers, so that the results are equal to the bit.
"""

import numpy as np

from plurispiel.abstraction.cards._river_kernels import CONFLICT, fill_equities
from plurispiel.abstraction.holdem.boards_kernels import PERMUTATION_BITS, board_entry
from plurispiel.abstraction.machine.jit import kernel

NUM_BINS = 50


@kernel(inline=True)
def fill_live(board, live):
    """Write the ids of the combos that share no card with a board, ascending. Modified in place: `live`."""
    dead = np.int64(0)
    for j in range(len(board)):
        dead |= np.int64(1) << np.int64(board[j])
    combo = place = 0
    for high in range(52):
        for low in range(high):
            if (dead >> high | dead >> low) & 1 == 0:
                live[place] = combo
                place += 1
            combo += 1


@kernel(inline=True)
def _extend(board, run_out, river):
    """Write to `river` the cards of `board` and of a run-out.

    `run_out` holds the ascending positions of its cards in the rest of the deck. Modified in place: `river`.
    """
    known = len(board)
    for j in range(known):
        river[j] = board[j]
    dead = np.int64(0)
    for j in range(known):
        dead |= np.int64(1) << np.int64(board[j])
    for j in range(len(run_out)):
        card = np.int64(-1)
        for _ in range(np.int64(run_out[j]) + 1):
            card += 1
            while dead >> card & 1:
                card += 1
        river[known + j] = card


@kernel(inline=True)
def _add_row(row, relabel, live, bins, histogram, sums, squares):
    """Add one river board to the histogram, sum and sum of squares of each free combo of the flop or turn.

    The combo's equity is ``row[relabel[combo]]``. If the combo holds a card of the run-out, this entry is CONFLICT,
    which is counted in the last bin and added to the sums like an equity; `_finish` subtracts it from the sums.

    Modified in place: `histogram`, `sums`, `squares`.
    """
    for k in range(len(live)):
        equity = np.int64(row[relabel[live[k]]])
        histogram[k, bins[equity]] += 1
        sums[k] += equity
        squares[k] += equity * equity


@kernel(inline=True)
def _finish(histogram, unit, num_conflicts, out, sums, squares):
    """Write cumulative histograms as bytes and subtract the conflicts from the sums.

    Only run-outs that share no card with the combo count. Entry b of a row is the share of them whose equity is in one
    of the bins 0..b, in units of 1/230. `unit` is the share of a single run-out in these units, times 2**16.

    Modified in place: `out`, `sums`, `squares`.
    """
    for k in range(len(histogram)):
        # Every free combo has the same number of run-outs with one of its cards. `_add_row` added CONFLICT for each of
        # these run-outs, to avoid a branch; one subtraction removes all of them.
        sums[k] -= num_conflicts * CONFLICT
        squares[k] -= num_conflicts * CONFLICT * CONFLICT
        counts, row = histogram[k], out[k]
        total = np.int64(1 << 15)  # one half in 16.16 fixed point, so that the shift rounds
        for b in range(NUM_BINS - 1):  # the last entry would always be 1
            total += np.int64(counts[b]) * unit
            row[b] = np.uint8(total >> 16)


@kernel
def sum_stored_run_outs(rivers, plan, boards, work, out):
    """Write histograms and sums of river equities for every free combo of flops or turns.

    Parameters
    ----------
    rivers : RiverTable
    plan : RunOutPlan
    boards : uint8[n, 3..4]
    work : RunOutWorkspace
    out : RunOuts
        Modified in place, except for the last seven entries of each histogram.
    """
    run_outs, bins = plan.run_outs, plan.bins
    for b in range(len(boards)):
        fill_live(boards[b], work.live)
        work.histogram[:] = 0
        out.sums[b] = 0
        out.squares[b] = 0
        for r in range(len(run_outs)):
            _extend(boards[b], run_outs[r], work.river)
            entry = board_entry(rivers.classes, work.river)
            renamed = rivers.relabel[entry & ((1 << PERMUTATION_BITS) - 1)]
            row = rivers.equities[entry >> PERMUTATION_BITS]
            _add_row(row, renamed, work.live, bins, work.histogram, out.sums[b], out.squares[b])
        num_conflicts = len(run_outs) - plan.num_rivers
        _finish(work.histogram, plan.unit, num_conflicts, out.histograms[b], out.sums[b], out.squares[b])


@kernel
def sum_run_outs(hands, plan, boards, work, out):
    """Write the results of `sum_stored_run_outs` without a table, by computing the equities on every river board.

    Parameters
    ----------
    hands : RiverHands
    plan, boards, work, out
        As in `sum_stored_run_outs`.
    """
    run_outs, bins = plan.run_outs, plan.bins
    for b in range(len(boards)):
        fill_live(boards[b], work.live)
        work.histogram[:] = 0
        out.sums[b] = 0
        out.squares[b] = 0
        for r in range(len(run_outs)):
            _extend(boards[b], run_outs[r], work.river)
            fill_equities(hands.tables, hands.combos, work.river, hands.work, work.row)
            # Row 0 of `relabel` renames no suit.
            _add_row(work.row, hands.relabel[0], work.live, bins, work.histogram, out.sums[b], out.squares[b])
        num_conflicts = len(run_outs) - plan.num_rivers
        _finish(work.histogram, plan.unit, num_conflicts, out.histograms[b], out.sums[b], out.squares[b])


@kernel
def count_by_class(equities, weights, preflop_classes, bins, histogram):
    """Count the river equities of each of the 169 starting hands in bins, over all combos and boards.

    Parameters
    ----------
    equities : uint16[n, 1326]
        Equity of each combo on each class of river boards, in 1/1980 or CONFLICT.
    weights : int64[n]
        Number of boards in the class of each row.
    preflop_classes : uint8[1326]
        The class of each combo, 0..168.
    bins : uint8[1982]
        The bin of each equity, see `run_outs.equity_bins`.
    histogram : int64[169, num_bins + 1]
        Number of (combo, board) pairs of each class in each bin; the last bin counts pairs that share a card. Modified
        in place.
    """
    for b in range(len(equities)):
        for combo in range(1326):
            histogram[preflop_classes[combo], bins[equities[b, combo]]] += weights[b]
