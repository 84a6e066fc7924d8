"""Classes of boards that differ by a renaming of suits only: one row of a table serves all boards of a class.

Two boards are of one class if a permutation of the suits maps one board to the other. Each suit of a board has a set of
ranks, read as a bit mask; in the representative of a class, these masks descend from suit 0 on. The order of a board's
cards does not matter. If suits are renamed in hand and board alike, the hand keeps its features. A table with one row
for each class, and an entry for each combo in the row, therefore serves every board. If `find_boards` returns a class
and a permutation for a board, and `row` is the class's row, ``row[relabel_combos()[permutation]]`` is the board's row.
"""

import functools
from itertools import permutations
from math import comb, prod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem import boards_kernels as kernels
from plurispiel.abstraction.holdem.cards import NUM_RANKS, NUM_SUITS, combo_cards

MAX_BOARD_CARDS = 5


class BoardClasses(NamedTuple):
    """All classes of the boards with k cards of one deck.

    Attributes
    ----------
    num_suits : int
        Number of suits in the deck.
    boards : uint8[num_classes, k]
        The representative of each class, its cards ascending. A full deck has 1,755 classes of flops, 16,432 of turns
        and 134,459 of rivers.
    sizes : int64[num_classes]
        Number of boards in each class.
    entries : int32[num_boards]
        Class and permutation of every board, coded as in `boards_kernels`. The index is the board's number among all
        boards in colexicographic order (`boards_kernels.board_rank`).
    """

    num_suits: int
    boards: np.ndarray
    sizes: np.ndarray
    entries: np.ndarray


class BoardWorkspace(NamedTuple):
    """Memory for one board.

    Attributes
    ----------
    board, image : uint8[k]
        A board, and the same board with its suits renamed.
    masks : int64[4]
        Set of ranks of each suit, as bits. `boards_kernels.fill_index` later reuses the array: entry s becomes the suit
        to which suit s is renamed.
    order : int64[4]
        Suits in descending order of their sets of ranks, read as numbers.
    """

    board: np.ndarray
    image: np.ndarray
    masks: np.ndarray
    order: np.ndarray


def board_classes(num_cards: int, num_suits: int = NUM_SUITS, num_ranks: int = NUM_RANKS) -> BoardClasses:
    """Return the classes of all boards of a size, computed on the first call.

    Parameters
    ----------
    num_cards : int
        Cards of a board, 0..5.
    num_suits, num_ranks : int
        Numbers of suits and ranks in the deck.

    Raises
    ------
    ValueError
        If `num_cards` is not 0..5, or is above the number of cards in the deck.

    >>> board_classes(3).sizes.sum()
    np.int64(22100)
    """
    return _board_classes(num_cards, num_suits, num_ranks)  # the cache distinguishes defaults from given arguments


@functools.cache
def _board_classes(num_cards: int, num_suits: int, num_ranks: int) -> BoardClasses:
    deck = num_suits * num_ranks
    if not 0 <= num_cards <= min(MAX_BOARD_CARDS, deck):
        raise ValueError(f"boards have 0..{min(MAX_BOARD_CARDS, deck)} of the {deck} cards, got {num_cards}")
    work = BoardWorkspace(
        board=np.zeros(num_cards, np.uint8),
        image=np.zeros(num_cards, np.uint8),
        masks=np.zeros(4, np.int64),
        order=np.zeros(4, np.int64),
    )
    codes = np.zeros(256, np.int8)
    for number, renamed in enumerate(suit_permutations(num_suits).tolist()):
        codes[sum(suit << (2 * place) for suit, place in enumerate(renamed))] = number
    entries = np.empty(comb(deck, num_cards), np.int32)
    num_classes = kernels.fill_index(num_suits, codes, work, entries)
    boards, sizes = np.empty((num_classes, num_cards), np.uint8), np.zeros(num_classes, np.int64)
    kernels.fill_classes(num_suits, work, entries, boards, sizes)
    return BoardClasses(num_suits, boards, sizes, entries)


def find_boards(
    boards: npt.ArrayLike, num_suits: int = NUM_SUITS, num_ranks: int = NUM_RANKS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class of each board, and the permutation that maps the board to the class's representative.

    Parameters
    ----------
    boards : array-like of int, [..., k]
        Card ids of boards with k = 0..5 different cards, in any order.
    num_suits, num_ranks : int
        Numbers of suits and ranks in the deck.

    Returns
    -------
    class_ids : int64[...]
        Rows of `BoardClasses.boards`.
    permutations : int64[...]
        Rows of `suit_permutations`.

    Raises
    ------
    ValueError
        If `boards` does not hold integers along a last axis of 0..5 cards, a card is not in the deck, or a card
        occurs twice on a board.
    """
    cards = np.asarray(boards)
    if cards.ndim == 0 or (cards.size and cards.dtype.kind not in "iu"):
        raise ValueError(f"boards are card ids along the last axis, got {cards.dtype} of shape {cards.shape}")
    if cards.size:
        known = (cards >= 0) & (cards >> 2 < num_ranks) & (cards & 3 < num_suits)
        ascending = np.sort(cards, axis=-1)
        if not known.all() or (np.diff(ascending, axis=-1) == 0).any():
            raise ValueError(f"a board has different cards of {num_suits} suits and {num_ranks} ranks, got {boards!r}")
    flat = np.require(cards.reshape(prod(cards.shape[:-1]), cards.shape[-1]), np.uint8, ["C", "W"])
    found = np.empty(len(flat), np.int64)
    kernels.fill_entries(board_classes(cards.shape[-1], num_suits, num_ranks), flat, found)
    entries = found.reshape(cards.shape[:-1])
    return entries >> kernels.PERMUTATION_BITS, entries & ((1 << kernels.PERMUTATION_BITS) - 1)


@functools.cache
def suit_permutations(num_suits: int = NUM_SUITS) -> np.ndarray:
    """Return all renamings of suits: uint8[num_suits!, num_suits], read-only.

    Entry s of a row is the suit to which suit s is renamed; row 0 renames no suit.
    """
    renamings = np.array(list(permutations(range(num_suits))), dtype=np.uint8)
    renamings.setflags(write=False)
    return renamings


def relabel_cards(cards: npt.ArrayLike, permutation: int, num_suits: int = NUM_SUITS) -> np.ndarray:
    """Return cards with suits renamed by row `permutation` of `suit_permutations`, in the given order: uint8[...]."""
    given = np.asarray(cards, dtype=np.uint8)
    return (given & ~np.uint8(3)) | suit_permutations(num_suits)[permutation][given & 3]


@functools.cache
def relabel_combos(num_suits: int = NUM_SUITS, num_ranks: int = NUM_RANKS, num_hole_cards: int = 2) -> np.ndarray:
    """Return each combo's id after each renaming of `suit_permutations`: int32[num_suits!, num_combos], read-only."""
    combos = combo_cards(num_suits, num_ranks, num_hole_cards)
    ids = {frozenset(cards): number for number, cards in enumerate(combos.tolist())}
    renamed = [relabel_cards(combos, row, num_suits).tolist() for row in range(len(suit_permutations(num_suits)))]
    table = np.array([[ids[frozenset(cards)] for cards in rows] for rows in renamed], dtype=np.int32)
    table.setflags(write=False)
    return table


def warmup() -> None:
    """Compile every kernel that this module calls."""
    find_boards([0, 1, 2])
