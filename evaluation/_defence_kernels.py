"""Kernels of rows that depend on the range, for the best response from a flop on: those of a `DefendingAgent`.

The reach that the best response carries down the betting tree is the agent's range, so the rows can be changed on the
way. The rules are those of the module `defence` of blueprints.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import LANES, load, spread, store


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
    """Scratch memory of one thread on one street; of a single block if no decision is defended.

    Attributes
    ----------
    folds, calls : float[(max_depth + 1) * width, 16]
        The probabilities of each hand at one decision of each depth, in the order of `ResponseWorkspace.reach`.
    sums : float[2, 16]
        The weight of the range, and the weight that folds.
    masses : float64[num_buckets]
        The weight of each place.
    """

    folds: np.ndarray
    calls: np.ndarray
    sums: np.ndarray
    masses: np.ndarray


@kernel
def fill_defence(facing, number, first, num_hands, fold_block, num_entries, reach, above, work):
    """Write the probabilities of a fold and of a call of each hand at a decision, lane by lane.

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
        The block of the first hand in `reach`, and in the workspace.
    work : DefenceWorkspace
        Modified in place.
    """
    folds, calls, sums = work.folds, work.calls, work.sums
    total = spread(sums, sums.dtype.type(0))
    folded = spread(sums, sums.dtype.type(0))
    for k in range(num_hands):
        block = fold_block + np.int64(facing.buckets[first + k]) * num_entries
        fold, held = load(facing.table, block), load(reach, above + k)
        store(folds, above + k, fold)
        store(calls, above + k, load(facing.table, block + 1))
        total = total + held
        folded = folded + held * fold
    store(sums, 0, total)
    store(sums, 1, folded)
    for lane in range(LANES):
        wanted = facing.defended.shares[number, lane] * np.float64(sums[0, lane])
        if np.float64(sums[0, lane]) - np.float64(sums[1, lane]) < wanted:
            _call_strongest(facing, number, first, num_hands, reach, above, lane, wanted, work)


@kernel
def _call_strongest(facing, number, first, num_hands, reach, above, lane, wanted, work):
    """Let the strongest hands call, in one lane, until the weight `wanted` of the range goes on.

    The raises alone never reach `wanted`, because raises and calls together are below it.
    """
    folds, calls, masses = work.folds, work.calls, work.masses
    defended, buckets = facing.defended, facing.buckets
    block = defended.first[number]
    masses[:] = 0.0
    left = wanted
    for k in range(num_hands):
        held = np.float64(reach[above + k, lane])
        stays = np.float64(folds[above + k, lane]) + np.float64(calls[above + k, lane])
        masses[np.int64(defended.places[block + np.int64(buckets[first + k]), lane])] += held * stays
        left -= held * (1.0 - stays)
    border = 0
    while border < len(masses) and left > masses[border]:
        left -= masses[border]
        border += 1
    start = 0
    while start < num_hands:
        rank, stop, mass = defended.ranks[first + start], start, 0.0
        while stop < num_hands and defended.ranks[first + stop] == rank:
            hand = above + np.int64(defended.order[first + stop])
            stays = folds[hand, lane] + calls[hand, lane]
            place = np.int64(defended.places[block + np.int64(buckets[first + hand - above]), lane])
            if place == border:
                mass += np.float64(reach[hand, lane]) * np.float64(stays)
            else:
                calls[hand, lane] = stays if place < border else 0
                folds[hand, lane] = stays - calls[hand, lane]
            stop += 1
        part = 0.0
        if left > 0.0:
            part = left / mass if mass > left else 1.0
        for i in range(start, stop):
            hand = above + np.int64(defended.order[first + i])
            if np.int64(defended.places[block + np.int64(buckets[first + hand - above]), lane]) == border:
                stays = folds[hand, lane] + calls[hand, lane]
                calls[hand, lane] = stays * part
                folds[hand, lane] = stays - calls[hand, lane]
        left -= mass
        start = stop
