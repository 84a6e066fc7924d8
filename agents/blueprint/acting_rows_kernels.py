"""Kernels of the rows that a blueprint acts by: stored rows as probabilities, and *open* rows.

An open row has neither a stored row nor a stand-in for its whole bucket, so it is filled combo by combo (see the module
`acting_rows`).
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel

STREET, CELL, PAIRS, NUM_ACTIONS = 0, 1, 2, 3
"""Columns of `EarlierRows.sources`."""


class EarlierRows(NamedTuple):
    """For each decision with open rows, its *sources*: the earlier decisions of its seat, the latest first.

    Attributes
    ----------
    rows : float32 or uint8[num_cells]
        The rows of the blueprint as they are stored.
    first : int64[num_decisions + 1]
        The index in `sources` of each decision's first source, and at the end the number of all sources.
    sources : int64[num_sources, 4]
        The columns are `STREET`, the source's street; `CELL`, the first cell of its row in bucket 0; `PAIRS`, the
        stride in cells between buckets; and `NUM_ACTIONS`, its number of actions.
    transfer_first : int64[num_sources + 1]
        The index in `transfers` of each source's matrix, and at the end the length of `transfers`.
    transfers : float64[n]
        The sources' matrices, row by row. Entry [a, b] is the share of action a of the source that goes to action b of
        the decision.
    num_actions, call : int64[num_decisions]
        The number of each decision's actions, and the column of its call.
    threshold : float64[num_decisions]
        Hands without a row at any source call from this strength on, and fold below it. Where there is no bet, the
        threshold is below 0, and all these hands check.
    """

    rows: np.ndarray
    first: np.ndarray
    sources: np.ndarray
    transfer_first: np.ndarray
    transfers: np.ndarray
    num_actions: np.ndarray
    call: np.ndarray
    threshold: np.ndarray


@kernel
def fill_acting_rows(cells, rows, table, missing):
    """Write one street's stored rows as probabilities.

    Parameters
    ----------
    cells : StreetCells
    rows : float32 or uint8[num_cells]
    table : float[num_buckets, num_pairs]
        All zeros on entry. Modified in place.
    missing : bool[num_buckets, num_decisions]
        Whether a row is not stored. All False on entry. Modified in place.

    Notes
    -----
    The kernel does the operations of `read_rows` and `KeptRows` in the same order, so the probabilities are bitwise
    equal to theirs.
    """
    for bucket in range(cells.num_buckets):
        for d in range(len(cells.rows)):
            num_actions = np.int64(cells.num_actions[d])
            cell, column = cells.base + bucket * cells.pairs + cells.rows[d], np.int64(cells.rows[d])
            stored = np.float32(0.0)
            for a in range(num_actions):
                stored += np.float32(rows[cell + a])
            if not stored > 0.0:
                missing[bucket, d] = True
                continue
            total = 0.0
            for a in range(num_actions):
                total += np.float64(np.float32(rows[cell + a]) / stored)
            for a in range(num_actions):
                table[bucket, column + a] = np.float64(np.float32(rows[cell + a]) / stored) / total


@kernel(inline=True)
def fill_open_row(earlier, decision, bucket, past, combo, strength, row):
    """Write a combo's row at a decision, from its row at the latest source that has one, else by its strength.

    Parameters
    ----------
    earlier : EarlierRows
    decision : int
        The number of the decision in `earlier`.
    bucket : int
        The combo's bucket on the decision's street.
    past : int32[num_streets, num_combos]
        The bucket of each combo on each street up to the decision's street. The last row, for the decision's street, is
        not read: `bucket` replaces it.
    combo : int
    strength : float
        The combo's strength, for a combo without a row at any source.
    row : float64[at least num_actions]
        Modified in place.
    """
    num_actions = earlier.num_actions[decision]
    first, last = earlier.first[decision], earlier.first[decision + 1]
    here = past.shape[0] - 1
    for source in range(first, last):
        street = earlier.sources[source, STREET]
        there = bucket if street == here else np.int64(past[street, combo])
        cell = earlier.sources[source, CELL] + there * earlier.sources[source, PAIRS]
        count = earlier.sources[source, NUM_ACTIONS]
        stored = np.float32(0.0)
        for a in range(count):
            stored += np.float32(earlier.rows[cell + a])
        if not stored > 0.0:
            continue
        total = 0.0
        for b in range(num_actions):
            row[b] = 0.0
            for a in range(count):
                share = earlier.transfers[earlier.transfer_first[source] + a * num_actions + b]
                row[b] += np.float64(np.float32(earlier.rows[cell + a]) / stored) * share
            total += row[b]
        for b in range(num_actions):
            row[b] /= total
        return
    for b in range(num_actions):
        row[b] = 0.0
    if strength >= earlier.threshold[decision]:
        row[earlier.call[decision]] = 1.0
    else:
        row[0] = 1.0


@kernel
def fill_open_rows(earlier, decision, past, strengths, combos, rows):
    """Write the open rows of some combos at a decision.

    Parameters
    ----------
    earlier, decision, past
        As in `fill_open_row`, but the last row of `past`, for the decision's street, is read.
    strengths : float64[num_combos]
    combos : int64[n]
    rows : float64[num_combos, num_actions]
        Modified in place.
    """
    here = past.shape[0] - 1
    for combo in combos:
        fill_open_row(earlier, decision, np.int64(past[here, combo]), past, combo, strengths[combo], rows[combo])
