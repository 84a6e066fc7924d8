"""Kernels of hands in strength order, and of folds and showdowns between two ranges with exact card removal.

Ranges and results are rows in the order of `showdown.RankedHands`; a row may be longer than the number of hands.
``mass[card]`` is the sum of a range over the hands that hold a card. The hands that share no card with {c, d} then have
the total weight ``total - mass[c] - mass[d] + range[{c, d}]``: {c, d} itself is subtracted twice and added back once.

The kernels from `held_with` on work on sixteen ranges at once. A *block* is sixteen numbers, one vector of
`machine.lanes`. A *tile* has one block for each hand: the hand's weight in each of sixteen ranges.
"""

import numpy as np

from plurispiel.abstraction.holdem.hand_rank_kernels import fill_board_ranks, fill_combo_ranks
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import LANES, clear, load, spread, store

DIGIT_BITS = 7
DIGITS = 1 << DIGIT_BITS
CARD_SLOTS = 104
"""Number of cards and placeholders, 52 of each. In a hand with one hole card c, the placeholder c + 52 is second."""

FIRST_HAND = LANES
"""Index of the block of a tile's first hand. Block 0 holds zeros, for a hand that is not in the range.

One zero block would be enough. With sixteen blocks before the first hand, each group of sixteen blocks that
`lanes.transpose_in` writes begins at a multiple of 16.
"""


@kernel
def rank_hands(tables, board, combos, work, hands):
    """Write the free combos of a board in order of strength, and return the number of groups of equal strength.

    Parameters
    ----------
    tables : RankTables
    board : uint8[b]
    combos : uint8[num_combos, h]
        One or two hole cards.
    work : RankWorkspace
    hands : RankedHands
        Arrays with room for all combos. Modified in place.
    """
    num_combos, num_hole = combos.shape
    if num_combos == 1326 and num_hole == 2 and 3 <= len(board) <= 5:
        fill_board_ranks(tables, board, work.ranks)
    else:
        fill_combo_ranks(tables, board, combos, work.ranks)
    num_live = sort_by_rank(work.ranks, hands.combos, work.spare, work.counts)
    num_groups = 0
    last_rank = np.int64(0)  # no free combo has rank 0, so the first hand opens a group
    for k in range(num_live):
        combo = hands.combos[k]
        hands.cards[k, 0] = combos[combo, 0]
        hands.cards[k, 1] = combos[combo, 1] if num_hole == 2 else combos[combo, 0] + 52
        rank = np.int64(work.ranks[combo])
        if rank != last_rank:
            hands.groups[num_groups] = k
            num_groups += 1
            last_rank = rank
    hands.groups[num_groups] = num_live
    return num_groups


@kernel
def sort_by_rank(ranks, order, spare, counts):
    """Write the ids of all combos with a rank above 0 to `order`, weakest first, and return their number.

    Parameters
    ----------
    ranks : uint16[num_combos]
        Below 2**14; 0 marks a combo that shares a card with the board.
    order, spare : int32[num_combos]
        The result, and workspace. Modified in place.
    counts : int32[2, DIGITS]
        Workspace.

    Notes
    -----
    This is a radix sort of two passes; a comparison sort takes ten times as long.
    """
    num_combos = ranks.shape[0]
    for digit in range(DIGITS):
        counts[0, digit] = 0
        counts[1, digit] = 0
    num_live = 0
    for combo in range(num_combos):
        rank = np.int64(ranks[combo])
        if rank > 0:
            counts[0, rank & (DIGITS - 1)] += 1
            counts[1, rank >> DIGIT_BITS] += 1
            num_live += 1
    for row in range(2):
        start = 0
        for digit in range(DIGITS):
            count = counts[row, digit]
            counts[row, digit] = start
            start += count
    for combo in range(num_combos):
        rank = np.int64(ranks[combo])
        if rank > 0:
            spare[counts[0, rank & (DIGITS - 1)]] = combo
            counts[0, rank & (DIGITS - 1)] += 1
    # The higher digit comes second: this pass keeps the order of the lower digits among equal higher digits.
    for k in range(num_live):
        combo = spare[k]
        high_digit = np.int64(ranks[combo]) >> DIGIT_BITS
        order[counts[1, high_digit]] = combo
        counts[1, high_digit] += 1
    return num_live


@kernel(inline=True)
def _add(mass, card, weights):
    """Add a hand's weights in four ranges to the mass of one of its cards. `mass` is modified in place."""
    row = mass[card]
    # Read everything before writing: otherwise the compiler cannot use one vector for all four.
    first, second, third, fourth = row[0] + weights[0], row[1] + weights[1], row[2] + weights[2], row[3] + weights[3]
    row[0] = first
    row[1] = second
    row[2] = third
    row[3] = fourth


@kernel(inline=True)
def _apart(totals, mass, card, other):
    """Return, for each of four ranges, its total minus its masses on two cards."""
    row, other_row = mass[card], mass[other]
    return (
        totals[0] - row[0] - other_row[0],
        totals[1] - row[1] - other_row[1],
        totals[2] - row[2] - other_row[2],
        totals[3] - row[3] - other_row[3],
    )


@kernel
def fill_fold_mass(cards, reach, rows, mass, out):
    """Write, for each hand, the total weight in a range of the hands that share no card with the hand.

    Parameters
    ----------
    cards : uint8[num_hands, 2]
        The cards of each hand, as in `showdown.RankedHands`.
    reach : float64[m, at least num_hands]
        The weights of the hands in m ranges.
    rows : int32[n]
        The rows of `reach` to work on; the results go to the same rows of `out`.
    mass : float64[CARD_SLOTS, 4]
        Workspace.
    out : float64[m, at least num_hands]
        Modified in place.

    Notes
    -----
    The kernel works on four ranges at a time, which takes two thirds of the time of one range after the other. If fewer
    than four rows are left, the last row is repeated.
    """
    num_hands, last = cards.shape[0], len(rows) - 1
    for first in range(0, len(rows), 4):
        row_a, row_b = rows[first], rows[min(first + 1, last)]
        row_c, row_d = rows[min(first + 2, last)], rows[min(first + 3, last)]
        reach_a, reach_b, reach_c, reach_d = reach[row_a], reach[row_b], reach[row_c], reach[row_d]
        out_a, out_b, out_c, out_d = out[row_a], out[row_b], out[row_c], out[row_d]
        mass[:] = 0.0
        totals = (0.0, 0.0, 0.0, 0.0)
        for k in range(num_hands):
            weights = (reach_a[k], reach_b[k], reach_c[k], reach_d[k])
            totals = (totals[0] + weights[0], totals[1] + weights[1], totals[2] + weights[2], totals[3] + weights[3])
            _add(mass, cards[k, 0], weights)
            _add(mass, cards[k, 1], weights)
        for k in range(num_hands):
            a, b, c, d = _apart(totals, mass, cards[k, 0], cards[k, 1])
            # The hand itself is in the masses of both its cards: it was subtracted twice and is added back once.
            out_a[k] = a + reach_a[k]
            out_b[k] = b + reach_b[k]
            out_c[k] = c + reach_c[k]
            out_d[k] = d + reach_d[k]


@kernel
def fill_showdown_margin(cards, groups, reach, rows, mass, out):
    """Write, for each hand, the weight of the compatible hands that it beats minus the weight of those that beat it.

    Parameters
    ----------
    groups : int32[num_groups + 1]
        Index of the first hand of each group of equal strength; the last entry is the number of hands.
    cards, reach, rows, mass, out
        As in `fill_fold_mass`.

    Notes
    -----
    Let W, E and S be the weights of weaker, equal and stronger compatible hands. W - S is W + (W + E) - (W + E + S).
    One sweep reads W before each group of equal hands, and W + E after the group. The masses of the
    hand's two cards both include the hand itself, so it is subtracted twice instead of once. This error is the same in
    the second and the third term, so it cancels.
    """
    num_hands, last = cards.shape[0], len(rows) - 1
    for first in range(0, len(rows), 4):
        row_a, row_b = rows[first], rows[min(first + 1, last)]
        row_c, row_d = rows[min(first + 2, last)], rows[min(first + 3, last)]
        reach_a, reach_b, reach_c, reach_d = reach[row_a], reach[row_b], reach[row_c], reach[row_d]
        out_a, out_b, out_c, out_d = out[row_a], out[row_b], out[row_c], out[row_d]
        mass[:] = 0.0
        totals = (0.0, 0.0, 0.0, 0.0)
        for group in range(len(groups) - 1):
            start, stop = np.int64(groups[group]), np.int64(groups[group + 1])
            # W is read for all hands of a group before any of them is added: equal hands win nothing from each other.
            for k in range(start, stop):
                out_a[k], out_b[k], out_c[k], out_d[k] = _apart(totals, mass, cards[k, 0], cards[k, 1])
            for k in range(start, stop):
                weights = (reach_a[k], reach_b[k], reach_c[k], reach_d[k])
                totals = (
                    totals[0] + weights[0],
                    totals[1] + weights[1],
                    totals[2] + weights[2],
                    totals[3] + weights[3],
                )
                _add(mass, cards[k, 0], weights)
                _add(mass, cards[k, 1], weights)
            for k in range(start, stop):
                a, b, c, d = _apart(totals, mass, cards[k, 0], cards[k, 1])
                # All four are read before any is written, as two of the four rows may be the same.
                a, b, c, d = out_a[k] + a, out_b[k] + b, out_c[k] + c, out_d[k] + d
                out_a[k], out_b[k], out_c[k], out_d[k] = a, b, c, d
        for k in range(num_hands):
            a, b, c, d = _apart(totals, mass, cards[k, 0], cards[k, 1])
            a, b, c, d = out_a[k] - a, out_b[k] - b, out_c[k] - c, out_d[k] - d
            out_a[k], out_b[k], out_c[k], out_d[k] = a, b, c, d


@kernel(inline=True)
def held_with(cards, k, mass):
    """Return ``mass[c] + mass[d]`` for hand k, {c, d}, in each of sixteen ranges."""
    return load(mass, np.int64(cards[k, 0])) + load(mass, np.int64(cards[k, 1]))


@kernel(inline=True)
def add_hand(cards, k, weights, mass):
    """Add the weights of hand k in sixteen ranges to the masses of its two cards. `mass` is modified in place."""
    first, second = np.int64(cards[k, 0]), np.int64(cards[k, 1])
    store(mass, first, load(mass, first) + weights)
    store(mass, second, load(mass, second) + weights)


@kernel
def sum_range(others, tile, mass):
    """Write each card's mass in sixteen ranges to `mass`, and return the total weights.

    The parameters are those of `fill_fold_tile`.
    """
    clear(mass, 0, CARD_SLOTS)
    total = spread(mass, mass.dtype.type(0))
    for k in range(others.shape[0]):
        weights = load(tile, FIRST_HAND + k)
        total = total + weights
        add_hand(others, k, weights, mass)
    return total


@kernel
def sweep_range(own, own_stops, others, other_stops, tile, mass, out):
    """Write the first two terms of each hand's margin, W + (W + E), to `out`, and return the total weights.

    `mass` then holds each card's mass, so the third term W + E + S is ``total - held_with(own, k, mass)``. The terms
    are those of `fill_showdown_margin`, and the parameters those of `fill_margin_tile`. But `other_stops` may be longer
    than `own_stops`, and blocks of `out` after the last hand stay as they are.
    """
    clear(mass, 0, CARD_SLOTS)
    total = spread(mass, mass.dtype.type(0))
    own_start, other_start = np.int64(0), np.int64(0)
    for group in range(len(own_stops)):
        own_stop, other_stop = np.int64(own_stops[group]), np.int64(other_stops[group])
        if other_start == other_stop:  # E is 0, so both terms are W
            for k in range(own_start, own_stop):
                weaker = total - held_with(own, k, mass)
                store(out, k, weaker + weaker)
        else:
            for k in range(own_start, own_stop):
                store(out, k, total - held_with(own, k, mass))
            for k in range(other_start, other_stop):
                weights = load(tile, FIRST_HAND + k)
                total = total + weights
                add_hand(others, k, weights, mass)
            for k in range(own_start, own_stop):
                store(out, k, load(out, k) + (total - held_with(own, k, mass)))
        own_start, other_start = own_stop, other_stop
    return total


@kernel
def fill_fold_tile(own, others, same, tile, mass, out):
    """Write, for each hand in `own`, its fold mass (`fill_fold_mass`) in each of sixteen ranges over `others`.

    Parameters
    ----------
    own : uint8[n, 2]
        The cards of the hands whose fold mass is written.
    others : uint8[m, 2]
        The cards of the hands in the ranges.
    same : int32[n]
        For each hand in `own`, the block in `tile` of the hand in `others` with the same cards; 0 if there is none.
    tile : float[FIRST_HAND + m, 16]
        The weight of each hand of `others` in sixteen ranges, from block `FIRST_HAND` on. Block 0 holds zeros.
    mass : float[CARD_SLOTS, 16]
        Workspace.
    out : float[n rounded up to a multiple of 16, 16]
        Modified in place: a block for each hand in `own`. The blocks after the last hand become 0.
    """
    num_own = own.shape[0]
    total = sum_range(others, tile, mass)
    for k in range(num_own):
        store(out, k, total - (held_with(own, k, mass) - load(tile, np.int64(same[k]))))
    clear(out, num_own, -num_own % LANES)


@kernel
def fill_margin_tile(own, own_stops, others, other_stops, tile, mass, out):
    """Write, for each hand in `own`, its showdown margin (`fill_showdown_margin`) in sixteen ranges over `others`.

    Parameters
    ----------
    own_stops, other_stops : int32[num_groups]
        End of each group of equal strength in `own` and in `others`, weakest first. A group may be empty in
        either list.
    own, others, tile, mass, out
        As in `fill_fold_tile`, with both lists of hands in order of strength.
    """
    num_own = own.shape[0]
    total = sweep_range(own, own_stops, others, other_stops, tile, mass, out)
    for k in range(num_own):
        store(out, k, load(out, k) - (total - held_with(own, k, mass)))
    clear(out, num_own, -num_own % LANES)
