"""The memory that a thread writes to while it deals hands, traverses the tree and plays."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions import tree_kernels
from plurispiel.abstraction.holdem.cards import deck_cards
from plurispiel.abstraction.holdem.rules import MAX_SEATS, MAX_STREETS, HoldemRules

_LINE, _PAGE = 64, 4096
"""Bytes of a cache line, and of a page of memory."""


class TraversalWorkspace(NamedTuple):
    """Memory of one thread: the deal, the ranks and buckets of every seat, and the stack of a traversal.

    Attributes
    ----------
    deck : uint8[num_cards]
        The cards; a deal permutes them.
    combos, ranks : int64[MAX_SEATS]
        The combo of each seat, and its hand rank.
    buckets, starts : int64[MAX_SEATS * MAX_STREETS]
        For each seat and street, the seat's bucket, and the index of that bucket's first cell. Both arrays are indexed
        by the slot of seat and street (`traversal_kernels.SLOT`).
    frames : int64[depth, 8]
        The stack of open decisions, one frame each (see `traversal_kernels.CHILD`).
    values, strategies : float64[depth, MAX_ACTIONS]
        The value and the probability of each action at the open decisions.
    opponent : float64[MAX_ACTIONS]
        The strategy of another seat's row while it is added to an average.
    """

    deck: np.ndarray
    combos: np.ndarray
    ranks: np.ndarray
    buckets: np.ndarray
    starts: np.ndarray
    frames: np.ndarray
    values: np.ndarray
    strategies: np.ndarray
    opponent: np.ndarray


def traversal_workspace(rules: HoldemRules) -> TraversalWorkspace:
    """Return the memory of one thread, in pages that no other thread writes to."""
    depth, actions = tree_kernels.MAX_DEPTH + 2, tree_kernels.MAX_ACTIONS
    cards = deck_cards(rules.num_suits, rules.num_ranks)
    work = TraversalWorkspace(
        *_aligned(
            (cards.shape, np.uint8),
            ((MAX_SEATS,), np.int64),
            ((MAX_SEATS,), np.int64),
            ((MAX_SEATS * MAX_STREETS,), np.int64),
            ((MAX_SEATS * MAX_STREETS,), np.int64),
            ((depth, 8), np.int64),  # five entries are used; eight fill a cache line
            ((depth, actions), np.float64),
            ((depth, actions), np.float64),
            ((actions,), np.float64),
        )
    )
    work.deck[:] = cards
    return work


def _aligned(*arrays: tuple[tuple[int, ...], type]) -> list[np.ndarray]:
    """Return arrays of zeros, one after the other in common pages, each aligned to a cache line.

    Arrays that each begin a page would compete for the same few sets of the cache.
    """
    sizes = [int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in arrays]
    room = [-(-size // _LINE) * _LINE for size in sizes]
    # One page to align the start, and one so that no other data lie in the page of the last array.
    raw = np.zeros(sum(room) + 2 * _PAGE, np.uint8)
    start = -raw.ctypes.data % _PAGE
    views: list[np.ndarray] = []
    for (shape, dtype), size, taken in zip(arrays, sizes, room, strict=True):
        views.append(raw[start : start + size].view(dtype).reshape(shape))
        start += taken
    return views
