"""Hand ranks from the rules of poker: every five-card subset, compared as tuples."""

import functools
from collections import Counter
from itertools import combinations


def strength(cards):
    """Return a tuple that compares 1 to 7 distinct cards with as many, or any 5 to 7 with each other."""
    return _strength(tuple(map(int, cards)))


@functools.lru_cache(1 << 16)
def _strength(cards):
    return max(_strength_of_five(hand) for hand in combinations(cards, min(5, len(cards))))


def _strength_of_five(cards):
    ranks, suits = zip(*(divmod(int(card), 4) for card in cards), strict=True)
    return _strength_of_ranks(tuple(sorted(ranks, reverse=True)), len(set(suits)) == 1)


@functools.cache
def _strength_of_ranks(ranks, is_suited):
    groups = sorted(((count, rank) for rank, count in Counter(ranks).items()), reverse=True)
    shape = [count for count, _ in groups]
    order = [rank for _, rank in groups]
    if len(ranks) == 5 and len(groups) == 5:
        wheel = ranks == (12, 3, 2, 1, 0)
        straight = wheel or ranks[0] - ranks[4] == 4
        if straight or is_suited:
            name = "straight flush" if straight and is_suited else "straight" if straight else "flush"
            return _CATEGORIES.index(name), *([3] if wheel else ranks)
    if shape[0] == 4:
        name = "four of a kind"
    elif shape[0] == 3:
        name = "full house" if shape[1:2] == [2] else "three of a kind"
    elif shape[0] == 2:
        name = "two pair" if shape[1:2] == [2] else "pair"
    else:
        name = "high card"
    return _CATEGORIES.index(name), *order


def category(cards):
    """Return the name of the best five cards' category."""
    return _CATEGORIES[strength(cards)[0]]


_CATEGORIES = (
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
