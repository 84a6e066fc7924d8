"""Kernels of equity against a uniformly random hand, and of outs.

Card removal is exact with one or two hole cards. With three, combos that share a card count as compatible.
"""

import numpy as np

from plurispiel.abstraction.holdem.hand_rank_kernels import (
    fill_board_ranks,
    fill_combo_ranks,
    first_combo,
    rank_ignoring_suits,
    rank_word,
)
from plurispiel.abstraction.holdem.showdown_kernels import sort_by_rank
from plurispiel.abstraction.machine.jit import kernel

NUM_PAIRS = 91
"""Number of pairs of ranks, equal or not: the pair (high, low) has the index high * (high + 1) / 2 + low."""

PAIR_HIGH = np.array([high for high in range(13) for low in range(high + 1)], dtype=np.int64)
PAIR_LOW = np.array([low for high in range(13) for low in range(high + 1)], dtype=np.int64)


@kernel
def sum_points(tables, combos, boards, weights, work, points, total_weight):
    """Add every combo's points on each board with which it shares no card, and the weights of these boards.

    On a board, a combo has two points for each compatible combo that it beats and one for each that it ties with. With
    integer weights, all sums are exact.

    Parameters
    ----------
    tables : RankTables
    combos : uint8[num_combos, num_hole_cards]
    boards : uint8[num_boards, num_board_cards]
    weights : float64[num_boards]
        Factor by which the points on each board are multiplied.
    work : features.PointWorkspace
    points, total_weight : float64[num_combos]
        Sum of each combo's weighted points, and of the weights of the boards on which it is free. Modified in place.
    """
    num_combos, num_hole = combos.shape
    num_board = boards.shape[1]
    is_holdem = num_combos == 1326 and num_hole == 2 and 3 <= num_board <= 5
    work.pair_points[:] = 0.0
    weight_without_flush = 0.0
    for b in range(boards.shape[0]):
        board, weight = boards[b], weights[b]
        if is_holdem and not may_flush(board):
            add_pair_points(tables, board, weight, work, points, total_weight)
            weight_without_flush += weight
            continue
        if is_holdem:
            fill_board_ranks(tables, board, work.ranks)
        else:
            fill_combo_ranks(tables, board, combos, work.ranks)
        num_live = sort_by_rank(work.ranks, work.order, work.spare, work.counts)
        add_points(work.ranks, combos, work.order, num_live, work.per_card, weight, points)
        for k in range(num_live):
            total_weight[work.order[k]] += weight
    if is_holdem and weight_without_flush > 0.0:
        for combo in range(num_combos):
            low, high = np.int64(combos[combo, 0]) >> 2, np.int64(combos[combo, 1]) >> 2
            points[combo] += work.pair_points[(high * (high + 1) >> 1) + low]
            total_weight[combo] += weight_without_flush


@kernel(inline=True)
def may_flush(board):
    """Return whether a board has three or more cards of a suit."""
    suits = np.int64(0)
    for j in range(len(board)):
        suits += np.int64(1) << (4 * (np.int64(board[j]) & 3))
    return (suits + 0x5555) & 0x8888 != 0  # four bits a suit: adding 5 to a count of 3 or more sets the highest bit


@kernel
def add_pair_points(tables, board, weight, work, points, total_weight):
    """Add the points of a hold'em board on which no flush is possible, so that suits do not matter.

    The points of a pair of ranks are added to ``work.pair_points``; `sum_points` later adds them to all combos of that
    pair, and the board's weight to all combos. Combos that share a card with the board must get neither; this kernel
    subtracts both from the entries of these combos in advance.

    Parameters
    ----------
    tables : RankTables
    board : uint8[3..5]
    weight : float
        Factor by which the points are multiplied.
    work : features.PointWorkspace
    points, total_weight : float64[1326]
        Modified in place, like `work`.
    """
    left, weaker, equal = work.per_card[0], work.per_card[1], work.per_card[2]
    made = work.made
    word = tables.starts[len(board) + 2]
    for rank in range(13):
        left[rank] = 4.0
        weaker[rank] = 0.0
        equal[rank] = 0.0
    for j in range(len(board)):
        word += tables.words[board[j]]
        left[board[j] >> 2] -= 1.0
    ranks = work.ranks[:NUM_PAIRS]
    for pair in range(NUM_PAIRS):
        high, low = PAIR_HIGH[pair], PAIR_LOW[pair]
        made[pair] = 0.0
        is_held = left[high] * (left[low] - (high == low)) > 0.0
        value = rank_ignoring_suits(tables, word + tables.words[4 * high] + tables.words[4 * low])
        ranks[pair] = value if is_held else 0
    num_live = sort_by_rank(ranks, work.order, work.spare, work.counts)
    num_weaker = 0.0
    start = 0
    while start < num_live:
        stop = start
        num_equal = 0.0
        while stop < num_live and ranks[work.order[stop]] == ranks[work.order[start]]:
            high, low = PAIR_HIGH[work.order[stop]], PAIR_LOW[work.order[stop]]
            if high == low:
                num_equal += 0.5 * left[high] * (left[high] - 1.0)
                equal[high] += left[high] - 1.0
            else:
                num_equal += left[high] * left[low]
                equal[high] += left[low]
                equal[low] += left[high]
            stop += 1
        for k in range(start, stop):
            pair = work.order[k]
            high, low = PAIR_HIGH[pair], PAIR_LOW[pair]
            wins = num_weaker - weaker[high] - weaker[low]
            ties = num_equal - equal[high] - equal[low] + 1.0  # the combo itself was subtracted twice
            made[pair] = weight * (2.0 * wins + ties)
            work.pair_points[pair] += made[pair]
        for k in range(start, stop):
            for rank in (PAIR_HIGH[work.order[k]], PAIR_LOW[work.order[k]]):
                weaker[rank] += equal[rank]
                equal[rank] = 0.0
        num_weaker += num_equal
        start = stop
    # Each combo with a board card is subtracted once: `taken` holds the board cards up to the current one.
    taken = np.int64(0)
    for j in range(len(board)):
        card = np.int64(board[j])
        taken |= np.int64(1) << card
        for other in range(52):
            if not (taken >> other) & 1:
                high_card, low_card = (card, other) if card > other else (other, card)
                high, low = high_card >> 2, low_card >> 2
                combo = first_combo(high_card) + low_card
                points[combo] -= made[(high * (high + 1) >> 1) + low]
                total_weight[combo] -= weight


@kernel
def add_points(ranks, combos, order, num_live, per_card, weight, points):
    """Add the points of every free combo: two for each compatible combo that it beats, one for each that it ties with.

    Parameters
    ----------
    ranks : uint16[num_combos]
        Rank of each combo on the board.
    combos : uint8[num_combos, num_hole_cards]
        With three hole cards, combos that share a card count as compatible.
    order : int32[num_combos]
        Ids of the `num_live` free combos, weakest first (`sort_by_rank`).
    per_card : float64[3, 52]
        Workspace.
    weight : float
        Factor by which the points are multiplied.
    points : float64[num_combos]
        Modified in place.

    Notes
    -----
    The kernel passes once over groups of equal rank. If W combos are weaker than {c, d}, P[c] of them with card c, then
    W - P[c] - P[d] of these share no card with {c, d}. Equal combos are counted likewise, but they include {c, d}
    itself, which is counted once and subtracted twice: it is added back once.
    """
    num_hole = combos.shape[1]
    num_removed = num_hole if num_hole < 3 else 0
    put_back = num_removed - 1
    weaker, equal = per_card[1], per_card[2]
    for card in range(52):
        weaker[card] = 0.0
        equal[card] = 0.0
    start = 0
    while start < num_live:
        rank = ranks[order[start]]
        stop = start + 1
        while stop < num_live and ranks[order[stop]] == rank:
            stop += 1
        for k in range(start, stop):
            for c in range(num_removed):
                equal[combos[order[k], c]] += 1.0
        for k in range(start, stop):
            combo = order[k]
            wins = np.float64(start)
            ties = np.float64(stop - start + put_back)
            for c in range(num_removed):
                card = combos[combo, c]
                wins -= weaker[card]
                ties -= equal[card]
            points[combo] += weight * (2.0 * wins + ties)
        for k in range(start, stop):
            for c in range(num_removed):
                card = combos[order[k], c]
                weaker[card] += 1.0
                equal[card] = 0.0
        start = stop


@kernel
def hand_strength(tables, combos, hole_cards, board):
    """Return the probability that one hand is ahead on a board: its entry in `features.made_strength`.

    Parameters
    ----------
    tables : RankTables
    combos : uint8[num_combos, num_hole_cards]
    hole_cards : uint8[num_hole_cards]
        Free of the board's cards.
    board : uint8[n]
    """
    num_hole = len(hole_cards)
    board_word = tables.starts[num_hole + len(board)]
    board_masks = np.int64(0)
    for k in range(len(board)):
        board_word += tables.words[board[k]]
        board_masks |= tables.masks[board[k]]
    word, masks = board_word, board_masks
    for k in range(num_hole):
        word += tables.words[hole_cards[k]]
        masks |= tables.masks[hole_cards[k]]
    rank = rank_word(tables, word, masks)
    removed = masks if num_hole < 3 else board_masks
    points, count = np.int64(0), np.int64(0)
    for combo in range(combos.shape[0]):
        word, held = board_word, np.int64(0)
        for k in range(num_hole):
            word += tables.words[combos[combo, k]]
            held |= tables.masks[combos[combo, k]]
        if held & removed == 0:
            other = rank_word(tables, word, board_masks | held)
            points += 2 * (rank > other) + (rank == other)
            count += 1
    if num_hole >= 3:  # the hand itself is not an opponent, but was counted as one that ties
        points -= 1
        count -= 1
    return points / (2.0 * count) if count > 0 else 0.0


@kernel
def count_outs(cards, combos, board, num_suits, outs):
    """Write, for each combo, the number of cards that would complete a straight or flush with a card of the combo.

    Parameters
    ----------
    cards : uint8[num_cards]
        The deck.
    combos : uint8[num_combos, num_hole_cards]
    board : uint8[n]
    outs : float64[num_combos]
        Modified in place. A rank that completes a straight counts as one card of each suit, unless combo and board
        already hold a straight, or the rank completes a straight of the board alone. If combo and board hold exactly
        four cards of a suit, at least one in the combo, all other cards of the suit count. A card that completes both
        counts twice.
    """
    num_combos = combos.shape[0]
    num_ranks = cards.shape[0] // num_suits
    board_ranks = 0
    for k in range(board.shape[0]):
        board_ranks |= 1 << (int(board[k]) >> 2)
    for combo in range(num_combos):
        ranks = board_ranks
        for c in range(combos.shape[1]):
            ranks |= 1 << (int(combos[combo, c]) >> 2)
        found = 0
        if not has_straight(ranks):
            for rank in range(num_ranks):
                bit = 1 << rank
                if ranks & bit == 0 and has_straight(ranks | bit) and not has_straight(board_ranks | bit):
                    found += num_suits
        for suit in range(num_suits):
            own = 0
            for c in range(combos.shape[1]):
                own += (combos[combo, c] & 3) == suit
            if own > 0:
                for k in range(board.shape[0]):
                    own += (board[k] & 3) == suit
                if own == 4:
                    found += num_ranks - 4
        outs[combo] = found


@kernel(inline=True)
def has_straight(ranks):
    """Return whether a 13-bit set of ranks holds five in a row, where the ace also counts below the deuce."""
    run = (ranks << 1) | ((ranks >> 12) & 1)
    return run & (run >> 1) & (run >> 2) & (run >> 3) & (run >> 4) != 0
