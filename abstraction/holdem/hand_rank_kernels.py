"""Kernels of the hand evaluator; `hand_ranks.RankTables` describes the tables that these kernels read.

A kernel ranks a hand of k cards by two sums, its word and its masks. Helpers sum the cards of an array slice, as in the
first line; the next three lines do the same card by card::

    rank = rank_word(tables, sum_words(tables, cards), sum_masks(tables, cards))

    word = tables.starts[k] + tables.words[first card] + ... + tables.words[k-th card]
    masks = tables.masks[first card] + ... + tables.masks[k-th card]
    rank = rank_word(tables, word, masks)

where `k` is the number of cards of the finished hand. A repeated card is not detected, but never leads outside the
tables. These helpers should be called directly in the loop, where LLVM inlines them. A further helper around them is
not inlined, and is three times slower.

A word holds, from bit 0 on, the key of the ranks 3..8 (16 bits), the key of the ranks 9..A (16 bits) and four bits for
each suit. Both keys start from offsets in ``starts``, which depend on the number of cards. The four bits count the
suit's cards, starting from 3, so that the highest bit is set from five cards on. Seven cards with a flush hold no full
house and no four of a kind, so the flush alone ranks the hand.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel

FLUSH_BITS = 0x8888 << 32
_LANE = 0x1FFF  # the 13 ranks of one suit in a sum of masks


@kernel(inline=True)
def rank_ignoring_suits(tables, word):
    """Return the rank of a finished hand's word as if no flush were possible."""
    low = np.int64(tables.low[word & 0xFFFF])
    high = np.int64(tables.high[(word >> 16) & 0xFFFF])
    return np.int64(tables.values[low + high])


@kernel(inline=True)
def rank_flush(tables, masks):
    """Return the rank of a hand's flush, from the hand's masks; 0 without a flush."""
    # At most one suit has five cards, and fewer than five cards have the entry 0.
    flushes = tables.flushes
    return np.int64(
        flushes[masks & _LANE]
        | flushes[(masks >> 16) & _LANE]
        | flushes[(masks >> 32) & _LANE]
        | flushes[(masks >> 48) & _LANE]
    )


@kernel(inline=True)
def rank_word(tables, word, masks):
    """Return the rank of a finished hand, from its word and the sum of its cards' masks."""
    if word & FLUSH_BITS:
        return rank_flush(tables, masks)
    return rank_ignoring_suits(tables, word)


@kernel(inline=True)
def sum_words(tables, cards):
    """Return the word of a finished hand, the k = 1..7 cards in uint8[k]."""
    word = tables.starts[len(cards)]
    for j in range(len(cards)):
        word += tables.words[cards[j]]
    return word


@kernel(inline=True)
def sum_masks(tables, cards):
    """Return the sum of the masks of the cards in uint8[k]."""
    masks = np.int64(0)
    for j in range(len(cards)):
        masks |= tables.masks[cards[j]]
    return masks


@kernel
def fill_hand_ranks(tables, hands, out):
    """Write the rank of each hand, a row of `hands` (uint8[n, k]), to `out` (uint16[n], modified in place)."""
    # The masks are summed only for a flush, in about one hand of thirty. Hands of seven cards have their own loop,
    # unrolled and with a known row length, which is 1.5 times as fast.
    if hands.shape[1] == 7:
        start, words = tables.starts[7], tables.words
        for i in range(len(hands)):
            cards = hands[i]
            word = start + words[cards[0]] + words[cards[1]] + words[cards[2]] + words[cards[3]]
            word += words[cards[4]] + words[cards[5]] + words[cards[6]]
            if word & FLUSH_BITS:
                out[i] = rank_flush(tables, sum_masks(tables, cards))
            else:
                out[i] = rank_ignoring_suits(tables, word)
    else:
        for i in range(len(hands)):
            word = sum_words(tables, hands[i])
            if word & FLUSH_BITS:
                out[i] = rank_flush(tables, sum_masks(tables, hands[i]))
            else:
                out[i] = rank_ignoring_suits(tables, word)


@kernel(inline=True)
def first_combo(high):
    """Return the lowest id of a combo whose higher card is `high`; the lower card `low` adds `low` to the id."""
    return high * (high - 1) >> 1


@kernel(inline=True)
def fill_combos_of_card(out, card, rank):
    """Write one rank for all 51 combos that hold a card. Modified in place: `out`."""
    row = out[first_combo(card) :]
    for low in range(card):
        row[low] = rank
    column = out[card:]
    for high in range(card + 1, 52):
        column[first_combo(high)] = rank


@kernel(inline=True)
def fill_board_ranks(tables, board, out):
    """Write the rank of every combo on a board of 3-5 cards into uint16[1326]. Modified in place: `out`.

    Without a flush, a combo's strength depends on its two card ranks only: 91 look-ups serve all combos. Combos that
    make a flush are overwritten afterwards; combos that share a card with the board get 0.
    """
    num_cards = len(board)
    word = tables.starts[num_cards + 2]
    for j in range(num_cards):
        word += tables.words[board[j]]
    masks = sum_masks(tables, board)

    for high in range(13):
        high_word = word + tables.words[4 * high]
        for low in range(high):
            rank = rank_ignoring_suits(tables, high_word + tables.words[4 * low])
            for high_card in range(4 * high, 4 * high + 4):
                row = out[first_combo(high_card) :]  # a view, so that the compiler sees positive indices
                for low_card in range(4 * low, 4 * low + 4):
                    row[low_card] = rank
        rank = rank_ignoring_suits(tables, high_word + tables.words[4 * high])
        for high_card in range(4 * high + 1, 4 * high + 4):
            row = out[first_combo(high_card) :]
            for low_card in range(4 * high, high_card):
                row[low_card] = rank

    for suit in range(4):
        board_mask = (masks >> (16 * suit)) & _LANE
        if ((word >> (32 + 4 * suit)) & 15) < 6:  # the board has fewer than three cards of this suit
            continue
        if tables.flushes[board_mask]:
            out[:] = tables.flushes[board_mask]  # every combo has the board's flush; better flushes follow
        for high in range(13):
            high_card, mask = 4 * high + suit, board_mask | (1 << high)
            if tables.flushes[mask]:
                fill_combos_of_card(out, high_card, tables.flushes[mask])
            row = out[first_combo(high_card) :]
            for low in range(high):
                row[4 * low + suit] = tables.flushes[mask | (1 << low)]

    # This step comes last, because the loops above also write ranks for combos that share a card with the board.
    for j in range(num_cards):
        fill_combos_of_card(out, np.int64(board[j]), 0)


@kernel
def fill_boards_ranks(tables, boards, out):
    """Write the ranks of all combos on each board (uint8[n, 3..5]) to `out` (uint16[n, 1326], modified in place)."""
    for i in range(len(boards)):
        fill_board_ranks(tables, boards[i], out[i])


@kernel(inline=True)
def fill_combo_ranks(tables, board, combos, out):
    """Write the rank of each combo (uint8[n, h]) on a board to `out` (uint16[n], modified in place).

    A combo that shares a card with the board, or has a card twice, gets 0.
    """
    num_combos, num_hole_cards = combos.shape
    board_word = tables.starts[len(board) + num_hole_cards]
    for j in range(len(board)):
        board_word += tables.words[board[j]]
    board_masks = sum_masks(tables, board)
    for i in range(num_combos):
        word, masks, conflict = board_word, board_masks, np.int64(0)
        for j in range(num_hole_cards):
            conflict |= masks & tables.masks[combos[i, j]]
            word += tables.words[combos[i, j]]
            masks |= tables.masks[combos[i, j]]
        out[i] = 0 if conflict else rank_word(tables, word, masks)


@kernel
def fill_ranks(tables, combos, boards, ranks):
    """Rank every combo on every board.

    Parameters
    ----------
    tables : RankTables
    combos : uint8[num_combos, h]
    boards : uint8[num_boards, b]
    ranks : uint16[num_boards, num_combos]
        Modified in place; 0 where a combo shares a card with the board.
    """
    is_holdem = combos.shape[0] == 1326 and combos.shape[1] == 2 and 3 <= boards.shape[1] <= 5
    for b in range(len(boards)):
        if is_holdem:
            fill_board_ranks(tables, boards[b], ranks[b])
        else:
            fill_combo_ranks(tables, boards[b], combos, ranks[b])
