"""Hand ranks: an integer for each poker hand; the higher rank wins, and equal ranks tie.

Hands of five, six and seven cards have the ranks 1..7462 of their best five cards, and can be compared with each other.
Hands of one to four cards (Kuhn, Leduc, reduced decks) have no straights or flushes. Their ranks are 1, 2, ... without
gaps, and can be compared only with ranks of hands of the same size. In both cases, hands win and tie as in OpenSpiel's
``universal_poker``.

The look-up is a perfect hash by sums. The multiset of a hand's ranks splits into the deuces, the six ranks 3..8 and the
six ranks 9..A. Each group of six ranks has a key, the sum of its cards' keys, and the number of deuces follows from the
number of cards. All tables of one hand size fit into the level-two cache. No table is stored on disk: `rank_tables`
computes them all.
"""

import functools
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem import hand_rank_kernels as kernels

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
_LAST_RANKS = (1277, 4137, 4995, 5853, 5863, 7140, 7296, 7452, 7462)
_STRAIGHT, _FLUSH, _STRAIGHT_FLUSH = 4, 5, 8

# Every multiset of up to seven cards of six ranks, at most four of a rank, has its own sum of keys;
# each key is the smallest that keeps this true.
_KEYS = np.array([1, 5, 24, 112, 521, 2247])


class RankTables(NamedTuple):
    """The arrays that every ranking kernel reads, in the way described in `hand_rank_kernels`."""

    words: np.ndarray
    """int64[52]: the number that a card adds to a hand's word."""
    masks: np.ndarray
    """int64[52]: bit ``16 * suit + rank``."""
    starts: np.ndarray
    """int64[8]: entry k is the initial word of a hand of k cards, k = 1..7."""
    low: np.ndarray
    """uint16[65536]: for each hand size and key of the ranks 3..8, the first summand of the index into `values`."""
    high: np.ndarray
    """uint16[32768]: for each key of the ranks 9..A, the second summand; the upper half is for seven cards."""
    values: np.ndarray
    """uint16[n]: the rank of each multiset of 1..7 card ranks as if no flush were possible; then spare zeros."""
    flushes: np.ndarray
    """uint16[8192]: for each set of ranks of one suit, as bits, the rank of the flush; 0 for fewer than five cards."""


def hand_rank(cards: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """Return the ranks of many hands.

    Parameters
    ----------
    cards : array-like of int, [..., k]
        Card ids of hands with k = 1..7 cards, in any order. A writeable, C-contiguous uint8 array
        is read without a copy. Repeated cards are not detected.
    out : uint16[...], optional
        Where to write the ranks; C-contiguous.

    Returns
    -------
    uint16[...]
        `out`, or a new array.

    Raises
    ------
    ValueError
        If the cards are not card ids 0..51, a hand has another size, or `out` has another shape, dtype or layout.

    >>> from plurispiel.abstraction.holdem.cards import parse_cards
    >>> hand_rank([parse_cards("AsKsQsJsTs"), parse_cards("7c5d4h3s2c")])
    array([7462,    1], dtype=uint16)
    """
    hands = _as_cards(cards, 1, 7, "a hand")
    out = _as_out(out, hands.shape[:-1])
    kernels.fill_hand_ranks(rank_tables(), hands.reshape(-1, hands.shape[-1]), out.reshape(-1))
    return out


def board_ranks(board: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """Return the rank of every two-card combo of the full deck on one or many boards.

    Parameters
    ----------
    board : array-like of int, [..., 3..5]
        Card ids of a flop, turn or river. Repeated cards are not detected.
    out : uint16[..., 1326], optional
        Where to write the ranks; C-contiguous.

    Returns
    -------
    uint16[..., 1326]
        Rank of each combo, by board and combo id; 0 where the combo shares a card with the board.

    Raises
    ------
    ValueError
        As in `hand_rank`.
    """
    boards = _as_cards(board, 3, 5, "a board")
    out = _as_out(out, (*boards.shape[:-1], 1326))
    kernels.fill_boards_ranks(rank_tables(), boards.reshape(-1, boards.shape[-1]), out.reshape(-1, 1326))
    return out


def combo_ranks(board: npt.ArrayLike, combos: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
    """Return the ranks of given hole cards on one board, for any deck and number of hole cards.

    Parameters
    ----------
    board : array-like of int, [b]
        Card ids; may be empty.
    combos : array-like of int, [num_combos, h]
        Card ids with h = 1..3 and h + b <= 7, such as `cards.combo_cards` returns.
    out : uint16[num_combos], optional
        Where to write the ranks; C-contiguous.

    Returns
    -------
    uint16[num_combos]
        Rank of each combo; 0 where a combo shares a card with the board or has a card twice.

    Raises
    ------
    ValueError
        As in `hand_rank`.
    """
    hole = _as_cards(combos, 1, 3, "a combo")
    known = _as_cards(board, 0, 7 - hole.shape[-1], f"a board for {hole.shape[-1]} hole cards")
    if hole.ndim != 2 or known.ndim != 1:
        raise ValueError(f"expected board[b] and combos[num_combos, h], got shapes {known.shape} and {hole.shape}")
    out = _as_out(out, hole.shape[:1])
    kernels.fill_combo_ranks(rank_tables(), known, hole, out)
    return out


def rank_category(rank: int) -> str:
    """Return the name of the category, such as ``flush``, to which a rank of five or more cards belongs.

    Raises
    ------
    ValueError
        If the rank is not 1..7462.

    >>> rank_category(7462)
    'straight flush'
    """
    if not 1 <= rank <= _LAST_RANKS[-1]:
        raise ValueError(f"ranks of five or more cards are 1..{_LAST_RANKS[-1]}, got {rank}")
    return CATEGORIES[bisect_left(_LAST_RANKS, rank)]


def warmup() -> None:
    """Compile every kernel that this module calls."""
    hand_rank([0])
    board_ranks([0, 1, 2])
    combo_ranks([], [[0]])


@functools.cache
def rank_tables() -> RankTables:
    """Return the tables, computed on the first call."""
    # The multisets of six ranks, ordered by size: both halves of the hash use these multisets.
    multisets = np.arange(5**6)[:, None] // 5 ** np.arange(6) % 5
    multisets = multisets[multisets.sum(axis=1) <= 7]
    multisets = multisets[np.argsort(multisets.sum(axis=1), kind="stable")]
    sizes, keys = multisets.sum(axis=1), multisets @ _KEYS
    first_of_size = np.searchsorted(sizes, np.arange(9))

    low = np.zeros(1 << 16, np.uint16)
    high = np.zeros((2, 1 << 14), np.uint16)
    high[0, keys] = np.arange(len(keys))
    starts = np.zeros(8, np.int64)
    scores_of_size = []
    low_start = entry = base = 0
    for num_cards in range(1, 8):
        starts[num_cards] = 0x3333 << 32 | low_start
        if num_cards == 7:  # the 76,154 entries do not fit into 16 bits: seven cards have a `high` table with an offset
            base = entry
            high[1, keys] = base + high[0, keys]
            starts[7] |= 1 << 30
        counts = []
        # One block of entries for each multiset of the ranks 3..8, with the multisets of 9..A that leave room for
        # 0-4 deuces. Large multisets come first: otherwise `entry - highs.start` below could be negative.
        for size in range(num_cards, -1, -1):
            lows = slice(first_of_size[size], first_of_size[size + 1])
            highs = slice(first_of_size[max(0, num_cards - size - 4)], first_of_size[num_cards - size + 1])
            num_lows, num_highs = lows.stop - lows.start, highs.stop - highs.start
            low[low_start + keys[lows]] = entry - base + num_highs * np.arange(num_lows) - highs.start
            entry += num_lows * num_highs
            block = np.empty((num_lows, num_highs, 13), np.int64)
            block[:, :, 0] = num_cards - size - sizes[highs]
            block[:, :, 1:7] = multisets[lows, None]
            block[:, :, 7:] = multisets[None, highs]
            counts.append(block.reshape(-1, 13))
        scores_of_size.append(_scores(np.concatenate(counts)))
        low_start += keys[: first_of_size[num_cards + 1]].max() + 1

    masks = np.arange(1 << 13)[:, None] >> np.arange(13) & 1
    is_flush = masks.sum(axis=1) >= 5
    flush_scores = _scores(masks[is_flush])
    is_straight = flush_scores >= _STRAIGHT << 21
    flush_scores += np.where(is_straight, _STRAIGHT_FLUSH - _STRAIGHT, _FLUSH) << 21

    classes = np.union1d(scores_of_size[4], flush_scores)
    flushes = np.zeros(1 << 13, np.uint16)
    flushes[is_flush] = np.searchsorted(classes, flush_scores) + 1
    values = [np.searchsorted(classes if k >= 5 else np.unique(s), s) + 1 for k, s in enumerate(scores_of_size, 1)]
    # Spare entries at the end keep the look-up of a hand with repeated cards within the table.
    values.append(np.zeros(len(keys), np.int64))

    rank, suit = np.divmod(np.arange(52), 4)
    key = np.concatenate([[0], _KEYS, _KEYS << 16])
    return RankTables(
        words=key[rank] + (1 << (32 + 4 * suit)),
        masks=1 << (16 * suit + rank),
        starts=starts,
        low=low,
        high=high.reshape(-1),
        values=np.concatenate(values).astype(np.uint16),
        flushes=flushes,
    )


def _scores(counts: np.ndarray) -> np.ndarray:
    """Return a score for each hand, higher for a stronger one: int64[n].

    `counts`, int64[n, 13], has each hand's number of cards of each rank. Hands may have any number of cards, and
    flushes do not count.

    A score holds, from bit 21 on, the category; below bit 21, the rank of the largest group (4 bits), the rank of the
    second pair (4 bits) and the set of the kickers (13 bits). In the score of a straight, the number of its run takes
    the place of the rank of the largest group, and the lower bits are 0.
    """
    rows, ranks = np.arange(len(counts)), np.arange(13)
    # The largest group, of the highest rank among groups of equal size.
    lead = (counts * 13 + ranks).argmax(axis=1)
    num_lead = counts[rows, lead]
    rest = counts.copy()
    rest[rows, lead] = 0
    pair = (np.minimum(rest, 2) * 13 + ranks).argmax(axis=1)
    paired = (rest[rows, pair] >= 2) & ((num_lead == 2) | (num_lead == 3))
    rest[rows[paired], pair[paired]] = 0

    num_kickers = 5 - num_lead - 2 * paired
    held = rest > 0
    higher = held[:, ::-1].cumsum(axis=1)[:, ::-1] - held
    kickers = (held & (higher < num_kickers[:, None])) @ (1 << ranks)

    # Indices of `CATEGORIES`: a second pair turns a pair into two pair, and three of a kind into a full house.
    category = np.array([0, 0, 1, 3, 7])[num_lead] + np.where(paired, np.where(num_lead == 3, 3, 1), 0)
    scores = category << 21 | lead << 17 | np.where(paired, pair, 0) << 13 | kickers

    # Straights: runs of five ranks, where the ace also counts below the deuce. `top` is the number of the highest run.
    low_aces = np.concatenate([counts[:, 12:], counts], axis=1) > 0
    runs = np.stack([low_aces[:, first : first + 5].all(axis=1) for first in range(10)], axis=1)
    top = 9 - runs[:, ::-1].argmax(axis=1)
    return np.where(runs.any(axis=1), _STRAIGHT << 21 | top << 17, scores)


def _as_cards(cards: npt.ArrayLike, fewest: int, most: int, name: str) -> np.ndarray:
    """Return checked card ids as a writeable C-contiguous uint8 array, so that each kernel has one signature."""
    array = np.asarray(cards)
    if array.ndim == 0 or not fewest <= array.shape[-1] <= most:
        raise ValueError(f"{name} has {fewest} to {most} cards along the last axis, got shape {array.shape}")
    kind = array.dtype.kind
    if array.size and kind not in "iu":
        raise ValueError(f"{name} holds card ids 0..51, got {array.dtype}")
    if array.size and (array.max() >= 52 or (kind == "i" and array.min() < 0)):
        raise ValueError(f"{name} holds card ids 0..51, got {array.dtype} from {array.min()} to {array.max()}")
    return np.require(array, np.uint8, ["C", "W"])


def _as_out(out: np.ndarray | None, shape: tuple[int, ...]) -> np.ndarray:
    """Return `out`, checked, or a new array for the ranks."""
    if out is None:
        return np.empty(shape, np.uint16)
    if out.shape != shape or out.dtype != np.uint16 or not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(f"out must be a writeable C-contiguous uint16{list(shape)}, got {out.dtype}{list(out.shape)}")
    return out
