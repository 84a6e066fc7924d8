"""Kernels of rows that depend on the range, for the best response from a flop on: those of a `DefendingAgent`.

The reach that the best response carries down the betting tree is the agent's range, so the rows can be changed on the
way. The rules are those of the module `defence` of blueprints.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND
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
    do not raise, only the strongest call. Buckets in `folds`, `calls`, `held` and `places` are indices in
    `LiveHands.distinct_buckets`; later entries are not used.

    Attributes
    ----------
    folds, calls : float[num_buckets, 16]
        The probabilities of a fold and of a call.
    held : float[num_buckets, 16]
        The weight of the range.
    sums : float[2, 16]
        The weight of the range, and the weight that folds.
    places : uint16 or uint32[num_buckets]
        One lane's places in the order of calls; those of buckets without reach are left over from before.
    masses : float64[num_buckets]
        One lane's weight of each place; there are at most `num_buckets`. All zeros when `fill_defence` returns.
    num_exceptions : int64[1]
        The number of rows of single hands in single lanes.
    exceptions : int64[16 * max_hands, 2]
        The live hand and the lane of each such row.
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
def fill_defence(facing, number, live, fold_block, num_entries, reach, tile, work):
    """Write the probabilities of a fold and of a call at a decision, by bucket and for the exceptions, lane by lane.

    Most of the work is done for each bucket of live hands, not for each hand.

    Parameters
    ----------
    facing : FacingRows
        Its `table` and `defended` are read.
    number : int64
        The number of the decision.
    live : LiveHands
    fold_block, num_entries : int64
        The fold of a bucket is block ``fold_block + bucket * num_entries`` of the table. The call is the next one.
    reach : float[n, 16]
    tile : int64
        The first block of the tile in `reach` that has the range.
    work : DefenceWorkspace
        Modified in place.
    """
    held, sums, num_buckets = work.held, work.sums, live.counts[1]
    clear(held, 0, num_buckets)
    for k in range(live.counts[0]):
        of_hand = np.int64(live.bucket_index[k])
        store(held, of_hand, load(held, of_hand) + load(reach, tile + FIRST_HAND + k))
    total = spread(sums, sums.dtype.type(0))
    folded = spread(sums, sums.dtype.type(0))
    for bucket in range(num_buckets):
        block = fold_block + np.int64(live.distinct_buckets[bucket]) * num_entries
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
            _call_strongest(facing, number, live, reach, tile, lane, wanted, work)


@kernel
def _call_strongest(facing, number, live, reach, tile, lane, wanted, work):
    """Let the strongest hands call, in one lane, until the weight `wanted` of the range goes on.

    The raises alone never reach `wanted`, because raises and calls together are below it.
    """
    folds, calls, masses, places = work.folds, work.calls, work.masses, work.places
    block, num_buckets, left = facing.defended.first[number], live.counts[1], wanted
    for bucket in range(num_buckets):
        held = np.float64(work.held[bucket, lane])
        if held == 0.0:  # most buckets have no reach in most lanes
            continue
        stays = np.float64(folds[bucket, lane]) + np.float64(calls[bucket, lane])
        places[bucket] = facing.defended.places[block + np.int64(live.distinct_buckets[bucket]), lane]
        masses[np.int64(places[bucket])] += held * stays
        left -= held * (1.0 - stays)
    border = np.int64(0)
    while border < len(masses) and left > masses[border]:
        left -= masses[border]
        border += 1
    for bucket in range(num_buckets):
        if work.held[bucket, lane] == 0.0:
            continue
        stays, place = folds[bucket, lane] + calls[bucket, lane], np.int64(places[bucket])
        calls[bucket, lane] = stays if place < border else 0
        folds[bucket, lane] = stays - calls[bucket, lane]
        masses[place] = 0.0
    _call_at_border(live, reach, tile, lane, border, left, work)


@kernel
def _call_at_border(live, reach, tile, lane, border, left, work):
    """Let the strongest hands of one place call, in one lane, until the weight `left` calls."""
    start, added, num_hands = np.int64(0), work.num_exceptions[0], live.counts[0]
    while start < num_hands and left > 0.0:
        rank, stop, mass, of_class = live.ranks[start], start, 0.0, added
        while stop < num_hands and live.ranks[stop] == rank:
            hand = np.int64(live.order[stop])
            bucket = np.int64(live.bucket_index[hand])
            held = np.float64(reach[tile + FIRST_HAND + hand, lane])
            if held > 0.0 and np.int64(work.places[bucket]) == border:
                mass += held * np.float64(work.folds[bucket, lane])
                work.exceptions[added, 0], work.exceptions[added, 1] = hand, lane
                added += 1
            stop += 1
        part = left / mass if mass > left else 1.0
        for number in range(of_class, added):
            stays = work.folds[np.int64(live.bucket_index[work.exceptions[number, 0]]), lane]
            work.own_calls[number] = stays * part
            work.own_folds[number] = stays - work.own_calls[number]
        left -= mass
        start = stop
    work.num_exceptions[0] = added


@kernel
def carry_defended(live, reach, before, after, is_fold, work):
    """Write the reach after a fold or a call at the decision of `fill_defence`.

    Parameters
    ----------
    live : LiveHands
    reach : float[n, 16]
        Modified in place.
    before, after : int64
        The first blocks in `reach` of two tiles: the reach before and after the action.
    is_fold : bool
        A fold, else a call.
    work : DefenceWorkspace
    """
    rows = work.folds if is_fold else work.calls
    own_rows = work.own_folds if is_fold else work.own_calls
    for k in range(live.counts[0]):
        here = load(reach, before + FIRST_HAND + k) * load(rows, np.int64(live.bucket_index[k]))
        store(reach, after + FIRST_HAND + k, here)
    for number in range(work.num_exceptions[0]):
        k, lane = FIRST_HAND + work.exceptions[number, 0], work.exceptions[number, 1]
        reach[after + k, lane] = reach[before + k, lane] * own_rows[number]
