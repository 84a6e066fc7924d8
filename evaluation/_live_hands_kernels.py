"""Kernels of the hands that still reach a batch of subtrees, for the best response from a flop on.

In most places of a betting tree, the opponent has folded most hands already. Kernels that carry the opponent's reach
go over the others only.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import load, smallest, spread, store


class LiveHands(NamedTuple):
    """The opponent's hands on one board that reach any root of one batch, the *live* hands.

    All lists may be longer than the number of their entries.

    Attributes
    ----------
    counts : int64[2]
        The numbers of live hands and of distinct buckets.
    numbers : int32[max_hands]
        The number of each live hand among all hands on the board, ascending.
    cards : uint8[max_hands, 2]
        The cards of each live hand.
    stops : int32[max_hands]
        For each group of equal strength, the number of live hands up to the end of the group.
    blocks : int32[max_hands]
        For each of all hands on the board, its block in a tile of the live hands; 0 if the hand is not live.
    buckets, bucket_index : int32[max_hands]
        The bucket of each live hand, and the bucket's index in `distinct_buckets`.
    distinct_buckets : int32[max_hands]
        The buckets of all live hands.
    index_of : int32[num_buckets]
        The index of each bucket in `distinct_buckets`, -1 for other buckets.
    order, ranks : int32[max_hands]
        The live hands from the strongest to the weakest, as indices of `numbers`, and the rank of each of them, as in
        `DefendedRows`. Not filled in if no decision is defended.
    """

    counts: np.ndarray
    numbers: np.ndarray
    cards: np.ndarray
    stops: np.ndarray
    blocks: np.ndarray
    buckets: np.ndarray
    bucket_index: np.ndarray
    distinct_buckets: np.ndarray
    index_of: np.ndarray
    order: np.ndarray
    ranks: np.ndarray


def live_hands(max_hands: int, num_buckets: int) -> LiveHands:
    """Return room for boards of at most `max_hands` hands, whose buckets are below `num_buckets`."""
    numbers, stops, blocks, buckets, index, distinct, order, ranks = np.zeros((8, max_hands), np.int32)
    return LiveHands(
        np.zeros(2, np.int64),
        numbers,
        np.zeros((max_hands, 2), np.uint8),
        stops,
        blocks,
        buckets,
        index,
        distinct,
        np.full(num_buckets, -1, np.int32),
        order,
        ranks,
    )


@kernel
def gather_live(deals, facing, board, above, start, live, reach):
    """Find the live hands of a batch on a board, and write their reach at the batch's roots.

    Parameters
    ----------
    deals : StreetDeals
    facing : FacingRows
        Its `buckets` are read, and `order` and `ranks` of its `defended`.
    board : int64
    above : float[n, 16]
        The reach at the roots; the batch has a block for each hand on the parent board, from block `start` on.
    start : int64
    live : LiveHands
        Modified in place.
    reach : float[n, 16]
        Modified in place: a tile of the live hands from block 0 on.
    """
    for k in range(live.counts[1]):
        live.index_of[np.int64(live.distinct_buckets[k])] = -1
    hands, zeros = deals.seats[0], spread(reach, reach.dtype.type(0))
    first, stops = hands.first[board], deals.group_stops[0, deals.group_first[board] : deals.group_first[board + 1]]
    begin, count, num_buckets = np.int64(0), np.int64(0), np.int64(0)
    for group in range(len(stops)):
        for k in range(begin, np.int64(stops[group])):
            here = load(above, start + np.int64(hands.above[first + k]))
            is_live = smallest(zeros - here) < 0.0
            live.blocks[k] = FIRST_HAND + count if is_live else 0
            if is_live:
                store(reach, FIRST_HAND + count, here)
                bucket = np.int64(facing.buckets[first + k])
                if live.index_of[bucket] < 0:
                    live.index_of[bucket], live.distinct_buckets[num_buckets] = num_buckets, bucket
                    num_buckets += 1
                live.numbers[count], live.buckets[count] = k, bucket
                live.bucket_index[count] = live.index_of[bucket]
                live.cards[count, 0], live.cards[count, 1] = hands.cards[first + k, 0], hands.cards[first + k, 1]
                count += 1
        begin = np.int64(stops[group])
        live.stops[group] = count
    live.counts[0], live.counts[1] = count, num_buckets
    order, place = facing.defended.order, np.int64(0)
    if len(order) > 0:
        for k in range(first, hands.first[board + 1]):
            block = np.int64(live.blocks[np.int64(order[k])])
            if block > 0:
                live.order[place], live.ranks[place] = block - FIRST_HAND, facing.defended.ranks[k]
                place += 1
