"""Kernels of rows that depend on the range, for the best response from a flop on: those of a `DefendingAgent`.

The reach that the best response carries down the betting tree is the agent's range, so the rows can be changed on the
way. The rules are those of the module `defence` of blueprints.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import LANES, clear, empty_blocks, load, spread, store


class DefendedRows(NamedTuple):
    """One seat's decisions on a street at which a given share of its range goes on, or more.

    Attributes
    ----------
    numbers : int32[num_entries of all batches]
        For each fold and call at such a decision, the number of the decision; -1 for other actions. Empty if there is
        no such decision.
    shares : float64[n, 16]
        The least share that goes on at each decision, lane by lane; 0 in a lane without a root.
    first : int64[n]
        The index of each decision's first block in `places`.
    places : uint16 or uint32[n * num_buckets, 16]
        Block ``first[number] + bucket`` is the place of a bucket in the order of calls, lane by lane; 0 calls first.
    order, ranks : int32[num_hands]
        For each board of the street, its hands from the strongest to the weakest, and the rank of each of them. Hands
        of equal strength have equal ranks.
    """

    numbers: np.ndarray
    shares: np.ndarray
    first: np.ndarray
    places: np.ndarray
    order: np.ndarray
    ranks: np.ndarray


class DefenceWorkspace(NamedTuple):
    """Scratch memory of one thread on one street, for one decision at a time.

    All hands of a bucket have one row, except at the *border*: of the hands that call with the same probability if they
    do not raise, only the strongest call.

    Attributes
    ----------
    folds, calls : float[num_buckets, 16]
        The probabilities of a fold and of a call.
    held : float[num_buckets, 16]
        The weight of the range.
    sums : float[2, 16]
        The weight of the range, and the weight that folds.
    places : uint16 or uint32[num_buckets]
        One lane's places in the order of calls.
    masses : float64[num_buckets]
        One lane's weight of each place. All zeros when `fill_defence` returns.
    num_exceptions : int64[1]
        The number of rows of single hands in single lanes.
    exceptions : int64[16 * max_hands, 2]
        The hand and the lane of each such row.
    own_folds, own_calls : float[16 * max_hands]
        Their probabilities of a fold and of a call.
    """

    folds: np.ndarray
    calls: np.ndarray
    held: np.ndarray
    sums: np.ndarray
    places: np.ndarray
    masses: np.ndarray
    num_exceptions: np.ndarray
    exceptions: np.ndarray
    own_folds: np.ndarray
    own_calls: np.ndarray


def defence_workspace(defended: DefendedRows, max_hands: int, dtype: np.dtype) -> DefenceWorkspace:
    """Return scratch memory for boards of at most `max_hands` hands; next to none if no decision is defended."""
    num_defended = len(defended.first)
    num_buckets, most = (len(defended.places) // num_defended, LANES * max_hands) if num_defended else (1, 1)
    folds, calls, held = (empty_blocks(num_buckets, dtype) for _ in range(3))
    return DefenceWorkspace(
        folds,
        calls,
        held,
        empty_blocks(2, dtype),
        np.zeros(num_buckets, defended.places.dtype),
        np.zeros(num_buckets),  # there are at most as many places
        np.zeros(1, np.int64),
        np.zeros((most, 2), np.int64),
        np.zeros(most, dtype),
        np.zeros(most, dtype),
    )


@kernel
def fill_defence(facing, number, first, num_hands, fold_block, num_entries, reach, above, work):
    """Write the probabilities of a fold and of a call at a decision, by bucket and for the exceptions, lane by lane.

    The work grows with the number of buckets, of which blueprints have a few hundred, and hardly with that of hands.

    Parameters
    ----------
    facing : FacingRows
        Its `table`, `buckets` and `defended` are read.
    number : int64
        The number of the decision.
    first, num_hands : int64
        The index of the board's first hand, and the number of its hands.
    fold_block, num_entries : int64
        The fold of a bucket is block ``fold_block + bucket * num_entries`` of the table. The call is the next one.
    reach : float[n, 16]
    above : int64
        The block of the first hand in `reach`.
    work : DefenceWorkspace
        Modified in place.
    """
    held, sums, num_buckets = work.held, work.sums, work.held.shape[0]
    clear(held, 0, num_buckets)
    for k in range(num_hands):
        of_hand = np.int64(facing.buckets[first + k])
        store(held, of_hand, load(held, of_hand) + load(reach, above + k))
    total = spread(sums, sums.dtype.type(0))
    folded = spread(sums, sums.dtype.type(0))
    for bucket in range(num_buckets):
        block = fold_block + bucket * num_entries
        fold = load(facing.table, block)
        store(work.folds, bucket, fold)
        store(work.calls, bucket, load(facing.table, block + 1))
        total = total + load(held, bucket)
        folded = folded + load(held, bucket) * fold
    store(sums, 0, total)
    store(sums, 1, folded)
    work.num_exceptions[0] = 0
    for lane in range(LANES):
        wanted = facing.defended.shares[number, lane] * np.float64(sums[0, lane])
        if np.float64(sums[0, lane]) - np.float64(sums[1, lane]) < wanted:
            _call_strongest(facing, number, first, num_hands, reach, above, lane, wanted, work)


@kernel
def _call_strongest(facing, number, first, num_hands, reach, above, lane, wanted, work):
    """Let the strongest hands call, in one lane, until the weight `wanted` of the range goes on.

    The raises alone never reach `wanted`, because raises and calls together are below it.
    """
    folds, calls, masses, places = work.folds, work.calls, work.masses, work.places
    block, num_buckets, left = facing.defended.first[number], len(places), wanted
    for bucket in range(num_buckets):
        held = np.float64(work.held[bucket, lane])
        stays = np.float64(folds[bucket, lane]) + np.float64(calls[bucket, lane])
        places[bucket] = facing.defended.places[block + bucket, lane]
        masses[np.int64(places[bucket])] += held * stays
        left -= held * (1.0 - stays)
    border = np.int64(0)
    while border < num_buckets and left > masses[border]:
        left -= masses[border]
        border += 1
    for bucket in range(num_buckets):
        stays, place = folds[bucket, lane] + calls[bucket, lane], np.int64(places[bucket])
        calls[bucket, lane] = stays if place < border else 0
        folds[bucket, lane] = stays - calls[bucket, lane]
        masses[place] = 0.0
    _call_at_border(facing, first, num_hands, reach, above, lane, border, left, work)


@kernel
def _call_at_border(facing, first, num_hands, reach, above, lane, border, left, work):
    """Let the strongest hands of one place call, in one lane, until the weight `left` calls."""
    order, ranks = facing.defended.order, facing.defended.ranks
    start, added = 0, work.num_exceptions[0]
    while start < num_hands and left > 0.0:
        rank, stop, mass, of_class = ranks[first + start], start, 0.0, added
        while stop < num_hands and ranks[first + stop] == rank:
            hand = np.int64(order[first + stop])
            bucket = np.int64(facing.buckets[first + hand])
            if np.int64(work.places[bucket]) == border:
                mass += np.float64(reach[above + hand, lane]) * np.float64(work.folds[bucket, lane])
                work.exceptions[added, 0], work.exceptions[added, 1] = hand, lane
                added += 1
            stop += 1
        part = left / mass if mass > left else 1.0
        for number in range(of_class, added):
            stays = work.folds[np.int64(facing.buckets[first + work.exceptions[number, 0]]), lane]
            work.own_calls[number] = stays * part
            work.own_folds[number] = stays - work.own_calls[number]
        left -= mass
        start = stop
    work.num_exceptions[0] = added


@kernel
def carry_defended(facing, first, num_hands, reach, above, here, is_fold, work):
    """Write the reach after a fold or a call at the decision of `fill_defence`.

    Parameters
    ----------
    reach : float[n, 16]
        The reach before the action from block `above` on, and after it from block `here` on. Modified in place.
    is_fold : bool
        A fold, else a call.
    """
    rows = work.folds if is_fold else work.calls
    own_rows = work.own_folds if is_fold else work.own_calls
    for k in range(num_hands):
        store(reach, here + k, load(reach, above + k) * load(rows, np.int64(facing.buckets[first + k])))
    for number in range(work.num_exceptions[0]):
        hand, lane = work.exceptions[number, 0], work.exceptions[number, 1]
        reach[here + hand, lane] = reach[above + hand, lane] * own_rows[number]
