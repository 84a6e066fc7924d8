"""Kernels of river equity: every combo on a full board, against all other hands or against clusters of hands.

A combo's equity against all other hands is an integer: twice the number of hands that it beats plus the number of hands
that it ties with. The integer is exact and does not depend on the order of summation. Equities against clusters are
rounded to bytes.
"""

import numpy as np

from plurispiel.abstraction.cards.features_kernels import NUM_PAIRS, PAIR_HIGH, PAIR_LOW, may_flush
from plurispiel.abstraction.holdem.hand_rank_kernels import (
    fill_board_ranks,
    fill_combos_of_card,
    first_combo,
    rank_ignoring_suits,
)
from plurispiel.abstraction.holdem.showdown_kernels import sort_by_rank
from plurispiel.abstraction.machine.jit import kernel

EQUITY_UNITS = 1980
"""The integer for an equity of 1: two for each of the 990 hands that share no card with a combo or the board."""
CONFLICT = EQUITY_UNITS + 1
"""Marker in place of an equity, for combos that share a card with the board."""
NUM_CLUSTERS = 8


@kernel(inline=True)
def _fill_pair_equities(tables, board, work, out):
    """Write the equities on a board where no flush is possible: a combo's equity depends on its two ranks only.

    The steps are those of `features_kernels.add_pair_points`, in integers. Modified in place: `work`, `out`.
    """
    left, weaker, equal, made = work.left, work.weaker, work.equal, work.made
    word = tables.starts[7]
    for rank in range(13):
        left[rank] = 4
        weaker[rank] = 0
        equal[rank] = 0
    for j in range(5):
        word += tables.words[board[j]]
        left[board[j] >> 2] -= 1
    ranks = work.ranks[:NUM_PAIRS]
    for pair in range(NUM_PAIRS):
        high, low = PAIR_HIGH[pair], PAIR_LOW[pair]
        value = rank_ignoring_suits(tables, word + tables.words[4 * high] + tables.words[4 * low])
        ranks[pair] = value if left[high] * (left[low] - (high == low)) > 0 else 0
    order = work.order
    num_live = sort_by_rank(ranks, order, work.spare, work.counts)
    num_weaker = np.int64(0)
    start = 0
    while start < num_live:
        stop = start
        num_equal = np.int64(0)
        while stop < num_live and ranks[order[stop]] == ranks[order[start]]:
            high, low = PAIR_HIGH[order[stop]], PAIR_LOW[order[stop]]
            if high == low:
                num_equal += left[high] * (left[high] - 1) >> 1
                equal[high] += left[high] - 1
            else:
                num_equal += left[high] * left[low]
                equal[high] += left[low]
                equal[low] += left[high]
            stop += 1
        for k in range(start, stop):
            high, low = PAIR_HIGH[order[k]], PAIR_LOW[order[k]]
            wins = num_weaker - weaker[high] - weaker[low]
            made[order[k]] = 2 * wins + num_equal - equal[high] - equal[low] + 1  # the combo was subtracted twice
        for k in range(start, stop):
            high, low = PAIR_HIGH[order[k]], PAIR_LOW[order[k]]
            weaker[high] += equal[high]
            equal[high] = 0
            weaker[low] += equal[low]
            equal[low] = 0
        num_weaker += num_equal
        start = stop
    for high in range(13):
        first = high * (high + 1) >> 1
        for low in range(high):
            for high_card in range(4 * high, 4 * high + 4):
                row = out[first_combo(high_card) :]
                for low_card in range(4 * low, 4 * low + 4):
                    row[low_card] = made[first + low]
        for high_card in range(4 * high + 1, 4 * high + 4):
            row = out[first_combo(high_card) :]
            for low_card in range(4 * high, high_card):
                row[low_card] = made[first + high]
    for j in range(5):
        fill_combos_of_card(out, np.int64(board[j]), CONFLICT)


@kernel(inline=True)
def fill_equities(tables, combos, board, work, out):
    """Write the equity of every combo against a uniformly random other hand.

    Parameters
    ----------
    tables : RankTables
    combos : uint8[1326, 2]
    board : uint8[5]
    work : RiverWorkspace
    out : uint16[1326]
        In units of 1/1980; CONFLICT for combos that share a card with the board. Modified in place.

    Notes
    -----
    Groups of equal strength are numbered from the weakest. For a hand of group g, let W(k) be the number of compatible
    hands in the groups below k. Twice the hand's wins plus its ties are then W(g) + W(g + 1), which one pass in order
    of strength finds. In W(g + 1), the hand itself is subtracted with each of its two cards, and added back once.
    """
    if not may_flush(board):
        _fill_pair_equities(tables, board, work, out)
        return
    ranks, order, cards, weaker = work.ranks, work.order, work.cards, work.weaker
    fill_board_ranks(tables, board, ranks)
    num_live = sort_by_rank(ranks, order, work.spare, work.counts)
    for card in range(52):
        weaker[card] = 0
    out[:] = CONFLICT
    start = 0
    while start < num_live:
        rank = ranks[order[start]]
        stop = start
        while stop < num_live and ranks[order[stop]] == rank:
            combo = order[stop]
            cards[stop, 0] = combos[combo, 0]
            cards[stop, 1] = combos[combo, 1]
            out[combo] = start + 1 - weaker[cards[stop, 0]] - weaker[cards[stop, 1]]
            stop += 1
        for k in range(start, stop):
            weaker[cards[k, 0]] += 1
            weaker[cards[k, 1]] += 1
        for k in range(start, stop):
            out[order[k]] += stop - weaker[cards[k, 0]] - weaker[cards[k, 1]]
        start = stop


@kernel
def fill_boards_equities(tables, combos, boards, work, out):
    """Write the equities on each board (uint8[n, 5]) to `out` (uint16[n, 1326], modified in place)."""
    for b in range(len(boards)):
        fill_equities(tables, combos, boards[b], work, out[b])


@kernel(inline=True)
def _add_one(mass, totals, card_a, card_b, cluster):
    """Add a hand to the count of its cluster, and to the cluster's count of hands with each of the two cards.

    Modified in place: `mass`, float32[52, 8] by card and cluster, and `totals`, float32[8] by cluster.
    """
    mass[card_a, cluster] += np.float32(1.0)
    mass[card_b, cluster] += np.float32(1.0)
    totals[cluster] += np.float32(1.0)


@kernel
def fill_cluster_equities(tables, combos, clusters, own, boards, work, out, equities):
    """Write the equity of every combo against each of eight clusters of hands (OCHS).

    Parameters
    ----------
    tables : RankTables
    combos : uint8[1326, 2]
    clusters : uint8[1326]
        The cluster of each combo.
    own : float32[8, 8]
        The identity matrix: row c counts, by cluster, a single hand of cluster c.
    boards : uint8[n, 5]
    work : RiverWorkspace
    out : uint8[n, 1081, 8]
        Equity in 1/255, by board, free combo (in ascending order of combo id) and cluster. Against a cluster without a
        compatible hand, the equity is 128, about one half. Modified in place.
    equities : int64[n, 1081]
        Equity against all hands in 1/1980, by board and free combo. Modified in place.
    """
    ranks, order, cards, mass, held = work.ranks, work.order, work.cards, work.cluster_weaker, work.cluster_held
    places, before, totals, all_held = work.places, work.before, work.cluster_totals, work.all_held
    for b in range(len(boards)):
        fill_board_ranks(tables, boards[b], ranks)
        place = 0
        for combo in range(1326):
            places[combo] = place
            place += ranks[combo] > 0
        num_live = sort_by_rank(ranks, order, work.spare, work.counts)
        mass[:] = np.float32(0.0)
        held[:] = np.float32(0.0)
        totals[:] = np.float32(0.0)
        all_held[:] = np.float32(0.0)
        for k in range(num_live):
            combo = order[k]
            cards[k, 0] = combos[combo, 0]
            cards[k, 1] = combos[combo, 1]
            _add_one(held, all_held, cards[k, 0], cards[k, 1], clusters[combo])
        start = 0
        while start < num_live:
            rank = ranks[order[start]]
            stop = start
            while stop < num_live and ranks[order[stop]] == rank:
                row, row_a, row_b = before[stop], mass[cards[stop, 0]], mass[cards[stop, 1]]
                for c in range(NUM_CLUSTERS):
                    row[c] = totals[c] - row_a[c] - row_b[c]
                stop += 1
            for k in range(start, stop):
                _add_one(mass, totals, cards[k, 0], cards[k, 1], clusters[order[k]])
            for k in range(start, stop):
                row, row_a, row_b = before[k], mass[cards[k, 0]], mass[cards[k, 1]]
                for c in range(NUM_CLUSTERS):
                    row[c] = row[c] + totals[c] - row_a[c] - row_b[c]
            start = stop
        for k in range(num_live):
            combo = order[k]
            row, held_a, held_b = before[k], held[cards[k, 0]], held[cards[k, 1]]
            itself, target = own[clusters[combo]], out[b, places[combo]]
            total = np.float32(0.0)
            for c in range(NUM_CLUSTERS):
                # The hand itself, subtracted with each of its two cards, is added back once.
                others = all_held[c] - held_a[c] - held_b[c] + itself[c]
                points = row[c] + itself[c]
                total += points
                share = np.float32(127.5) * (points if others > 0 else np.float32(1.0)) / max(others, np.float32(1.0))
                target[c] = np.uint8(np.int32(share + np.float32(0.5)))
            equities[b, places[combo]] = np.int64(total)


@kernel
def fill_live_equities(tables, combos, boards, work, row, out):
    """Write the equity of the free combos of each board against a uniformly random other hand.

    Parameters
    ----------
    tables, combos, work
        As in `fill_equities`.
    boards : uint8[n, 5]
    row : uint16[1326]
        Workspace.
    out : int64[n, 1081]
        Equity in 1/1980, by board and free combo (in ascending order of combo id). Modified in place.
    """
    for b in range(len(boards)):
        fill_equities(tables, combos, boards[b], work, row)
        place = 0
        for combo in range(1326):
            if row[combo] != CONFLICT:
                out[b, place] = row[combo]
                place += 1
