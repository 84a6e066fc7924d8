"""Suit isomorphism by definition: orbits of boards, and Burnside's count of them."""

from itertools import combinations, permutations
from math import factorial


def orbits(cards, num_cards, num_suits):
    """Return the set of orbits of all boards, each a frozenset of frozensets of cards."""
    found = set()
    for board in combinations(cards, num_cards):
        found.add(
            frozenset(
                frozenset(card // 4 * 4 + suits[card % 4] for card in board) for suits in permutations(range(num_suits))
            )
        )
    return found


def count_orbits(sizes, num_suits=4, num_ranks=13):
    """Return the number of orbits of (set of sizes[0] cards, another of sizes[1] cards, ...) by Burnside's lemma.

    A renaming with cycles of lengths L fixes the tuples of disjoint sets whose generating function is
    prod over cycles (1 + sum_j y_j^L) ** num_ranks.
    """
    total = 0
    for suits in permutations(range(num_suits)):
        counts = {(0,) * len(sizes): 1}
        for length in _cycle_lengths(suits):
            for _ in range(num_ranks):
                more = dict(counts)
                for key, count in counts.items():
                    for j, size in enumerate(sizes):
                        if key[j] + length <= size:
                            new = (*key[:j], key[j] + length, *key[j + 1 :])
                            more[new] = more.get(new, 0) + count
                counts = more
        total += counts.get(tuple(sizes), 0)
    assert total % factorial(num_suits) == 0
    return total // factorial(num_suits)


def _cycle_lengths(mapping):
    left, lengths = set(range(len(mapping))), []
    while left:
        at, length = min(left), 0
        while at in left:
            left.remove(at)
            at, length = mapping[at], length + 1
        lengths.append(length)
    return lengths
