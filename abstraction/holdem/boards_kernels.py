"""Kernels of suit isomorphism; `boards.BoardClasses` describes the arrays that these kernels read.

A board's rank is its colexicographic number among all boards with the same number of cards, where a card's position
in the deck is ``rank * num_suits + suit``. A board's entry is an integer: bits 0 to 4 are the permutation that maps the
board to the representative of its class, as a row of `boards.suit_permutations`; the higher bits are the class.
"""

from math import comb

import numpy as np

from plurispiel.abstraction.machine.jit import kernel

PERMUTATION_BITS = 5
_CHOOSE = np.array([[comb(n, k) for k in range(9)] for n in range(53)], dtype=np.int64)


@kernel(inline=True)
def board_rank(num_suits, board):
    """Return the rank of a board, k different cards in uint8[k], in any order."""
    rank = np.int64(0)
    for i in range(len(board)):
        card = np.int64(board[i])
        below = np.int64(1)
        for j in range(len(board)):
            below += np.int64(board[j]) < card
        rank += _CHOOSE[(card >> 2) * num_suits + (card & 3), below]
    return rank


@kernel(inline=True)
def board_entry(classes, board):
    """Return the entry of a board, k different cards in uint8[k], in any order."""
    return np.int64(classes.entries[board_rank(classes.num_suits, board)])


@kernel
def fill_entries(classes, boards, out):
    """Write the entry of each board, a row of `boards` (uint8[n, k]), to `out` (int64[n], modified in place)."""
    for i in range(len(boards)):
        out[i] = board_entry(classes, boards[i])


@kernel(inline=True)
def _first_board(num_suits, board):
    """Write the board of rank 0. Modified in place: `board`."""
    for j in range(len(board)):
        board[j] = (j // num_suits) * 4 + j % num_suits


@kernel(inline=True)
def _next_board(num_suits, board):
    """Step to the board of the next rank. Modified in place: `board`, its cards ascending."""
    j = 0
    while j + 1 < len(board) and _next_card(num_suits, board[j]) == board[j + 1]:
        board[j] = (j // num_suits) * 4 + j % num_suits
        j += 1
    if j < len(board):
        board[j] = _next_card(num_suits, board[j])


@kernel(inline=True)
def _next_card(num_suits, card):
    """Return the next card of the deck."""
    return np.int64(card) + (1 if (card & 3) + 1 < num_suits else 5 - num_suits)


@kernel(inline=True)
def _canonical_permutation(num_suits, board, masks, order):
    """Write the suits of a board to `order`, by descending masks of ranks; suits with equal masks keep their order.

    Parameters
    ----------
    masks : int64[4]
        Afterwards the set of ranks of each suit, as bits. Modified in place.
    order : int64[4]
        Modified in place.

    Returns
    -------
    bool
        Whether the masks of the suits 0, 1, ... descend already, so that no suit need be renamed.
    """
    for suit in range(num_suits):
        masks[suit] = 0
    for j in range(len(board)):
        masks[board[j] & 3] |= 1 << np.int64(board[j] >> 2)
    ordered = True
    for suit in range(num_suits):
        place = suit
        while place > 0 and masks[order[place - 1]] < masks[suit]:  # not <=: suits with equal ranks keep their order
            order[place] = order[place - 1]
            place -= 1
        order[place] = suit
        ordered = ordered and place == suit
    return ordered


@kernel
def fill_index(num_suits, codes, work, entries):
    """Write every board's entry; classes are numbered in the order of their representatives' ranks.

    Parameters
    ----------
    codes : int8[256]
        For each content of `order`, the row of `suit_permutations` that renames suit ``order[p]`` to p. The bits 2p and
        2p + 1 of the index hold ``order[p]``.
    work : BoardWorkspace
    entries : int32[num_boards]
        Modified in place.

    Returns
    -------
    int
        The number of classes.
    """
    board, image, masks, order = work.board, work.image, work.masks, work.order
    num_cards = len(board)
    num_classes = 0
    _first_board(num_suits, board)
    for rank in range(len(entries)):
        if _canonical_permutation(num_suits, board, masks, order):
            entries[rank] = num_classes << PERMUTATION_BITS
            num_classes += 1
        else:
            entries[rank] = -1
        _next_board(num_suits, board)
    _first_board(num_suits, board)
    for rank in range(len(entries)):
        if entries[rank] < 0:
            _canonical_permutation(num_suits, board, masks, order)
            code = 0
            for place in range(num_suits):
                code |= order[place] << (2 * place)
                # The sets in `masks` are no longer needed. Entry s now becomes the suit to which suit s is renamed.
                masks[order[place]] = place
            for j in range(num_cards):
                image[j] = board[j] - (board[j] & 3) + masks[board[j] & 3]
            entries[rank] = entries[board_rank(num_suits, image)] | codes[code]
        _next_board(num_suits, board)
    return num_classes


@kernel
def fill_classes(num_suits, work, entries, boards, sizes):
    """Write the representative of every class and the number of boards in the class.

    Parameters
    ----------
    work : BoardWorkspace
    entries : int32[num_boards]
        The entry of each board, from `fill_index`.
    boards : uint8[num_classes, k]
        The representative of each class. Modified in place.
    sizes : int64[num_classes]
        Number of boards in each class; must hold zeros. Modified in place.
    """
    board = work.board
    found = 0
    _first_board(num_suits, board)
    for rank in range(len(entries)):
        number = entries[rank] >> PERMUTATION_BITS
        sizes[number] += 1
        if number == found:  # ranks ascend, and the representative has the lowest rank of its class
            for j in range(len(board)):
                boards[number, j] = board[j]
            found += 1
        _next_board(num_suits, board)
