"""Kernels of folds and showdowns among three ranges, with exact card removal.

Let {x, y} be a hand, and a and b the ranges of the two other players. Pairs of these players' hands that share no card
with {x, y} or with each other have the total weight ``S_a S_b - sum_c C_a[c] C_b[c] + D``. Only hands without x and y
count: S is the total weight of a range, C[c] the range's weight on the hands with card c, and D the sum of a[g] b[g]
over the hands g. The sum over c subtracts a pair that shares one card once, but a pair of equal hands twice; D adds
this pair back once.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel

WEAKER, NOT_STRONGER, ALL = 0, 1, 2
"""Sets of hands relative to one hand: weaker hands; weaker and equal hands; all hands. Each contains the set before."""

NUM_SETS = 3
NUM_CARDS = 52


@kernel
def fill_pair_masses(cards, groups, reach, work, out):
    """Write, for each hand and each pair of sets, the weight of the pairs of the other players' hands; see `out`.

    Parameters
    ----------
    cards : uint8[num_hands, 2]
        The two hole cards of each hand, weakest hand first.
    groups : int32[num_groups + 1]
        Index of the first hand of each group of equal strength; the last entry is the number of hands.
    reach : float64[2, num_hands]
        The weights of the hands in the two other ranges.
    work : three_way._PairSums
        Overwritten.
    out : float64[NUM_SETS, NUM_SETS, num_hands]
        Axis 0 is the set of hands counted in the first range, axis 1 the set counted in the second, axis 2 the hand. An
        entry sums the weights of pairs of hands that share no card with the hand or with each other. Modified in place.
    """
    num_hands = cards.shape[0]
    number, totals, mass, both = work.number, work.totals, work.mass, work.both
    number[:] = -1
    totals[:] = 0.0
    mass[:] = 0.0
    both[:] = 0.0
    for k in range(num_hands):
        number[cards[k, 0], cards[k, 1]] = k
        number[cards[k, 1], cards[k, 0]] = k
        _add(cards, reach, k, ALL, totals, mass, both)
    for group in range(len(groups) - 1):
        start, stop = np.int64(groups[group]), np.int64(groups[group + 1])
        for k in range(start, stop):
            _add(cards, reach, k, NOT_STRONGER, totals, mass, both)
        # Hands are in order of strength, so a hand is in a set if its index is below the set's end.
        work.ends[WEAKER], work.ends[NOT_STRONGER], work.ends[ALL] = start, stop, num_hands
        for k in range(start, stop):
            for first in range(NUM_SETS):
                for second in range(NUM_SETS):
                    out[first, second, k] = _pair_mass(cards, reach, k, first, second, work)
        for k in range(start, stop):
            _add(cards, reach, k, WEAKER, totals, mass, both)


@kernel(inline=True)
def _add(cards, reach, hand, of_set, totals, mass, both):
    """Add a hand to the sums over one set of hands, in both ranges."""
    for player in range(2):
        weight = reach[player, hand]
        totals[of_set, player] += weight
        mass[of_set, player, cards[hand, 0]] += weight
        mass[of_set, player, cards[hand, 1]] += weight
    both[of_set] += reach[0, hand] * reach[1, hand]


@kernel(inline=True)
def _pair_mass(cards, reach, hand, first, second, work):
    """Return the weight of the pairs of hands that share no card with `hand` or with each other.

    One hand of a pair is from the set `first` of the first range, the other from the set `second` of the second range.
    """
    number, totals, mass = work.number, work.totals, work.mass
    x, y = np.int64(cards[hand, 0]), np.int64(cards[hand, 1])
    first_end, second_end = work.ends[first], work.ends[second]
    least = min(first, second)  # of two nested sets, the smaller one is the intersection
    first_own = reach[0, hand] if hand < first_end else 0.0
    second_own = reach[1, hand] if hand < second_end else 0.0
    # S without x and y: the hand {x, y} itself is in both masses, so it is added back once.
    first_total = totals[first, 0] - mass[first, 0, x] - mass[first, 0, y] + first_own
    second_total = totals[second, 1] - mass[second, 1, x] - mass[second, 1, y] + second_own
    # D without x and y: the loop subtracts {x, y} twice, at card = x and at card = y, so it is added back once.
    same = work.both[least] + first_own * second_own
    clashes = 0.0
    for card in range(NUM_CARDS):
        first_x = second_x = first_y = second_y = 0.0
        of_x, of_y = number[card, x], number[card, y]
        if of_x >= 0:
            first_x = reach[0, of_x] if of_x < first_end else 0.0
            second_x = reach[1, of_x] if of_x < second_end else 0.0
        if of_y >= 0:
            first_y = reach[0, of_y] if of_y < first_end else 0.0
            second_y = reach[1, of_y] if of_y < second_end else 0.0
        same -= first_x * second_x + first_y * second_y
        if card != x and card != y:
            first_mass = mass[first, 0, card] - first_x - first_y
            second_mass = mass[second, 1, card] - second_x - second_y
            clashes += first_mass * second_mass
    return first_total * second_total - clashes + same
