"""The numbers of cards and combos, and the text of cards.

A card is ``4 * rank + suit`` with deuce = 0 ... ace = 12 and the suits in the order ``cdhs``; so ``2c`` is 0 and ``As``
is 51. Decks with fewer ranks or suits use the lowest ranks and the first suits; their cards keep these numbers.

A *combo* is the unordered set of one seat's hole cards. Combos are numbered by their cards' positions in the deck, in
colexicographic order. The two-card combos 0, 1, 2, ... have the positions ``{0,1}, {0,2}, {1,2}, {0,3}, ...``, so that
``combo_id = high * (high - 1) / 2 + low``.
"""

import functools
import re
from collections.abc import Iterable
from itertools import combinations

import numpy as np

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_SUITS = 4
NUM_RANKS = 13
NUM_CARDS = 52

_CARD = re.compile(rf"([{RANKS}])([{SUITS}])")


def card_text(card: int) -> str:
    """Return the two characters of a card, its rank and its suit.

    >>> card_text(51)
    'As'
    """
    return RANKS[card // 4] + SUITS[card % 4]


def cards_text(cards: Iterable[int]) -> str:
    """Return the text of several cards, without separators.

    >>> cards_text([51, 47])
    'AsKs'
    """
    return "".join(card_text(int(card)) for card in cards)


def parse_cards(text: str) -> tuple[int, ...]:
    """Return the cards of a text such as ``"QsJh2h"`` or ``"Qs Jh 2h"``, in the order of the text.

    Raises
    ------
    ValueError
        If the text holds anything but cards, blanks and commas, or repeats a card.

    >>> parse_cards("2c As")
    (0, 51)
    """
    compact = re.sub(r"[\s,]+", "", text)
    pairs = _CARD.findall(compact)
    if 2 * len(pairs) != len(compact):
        raise ValueError(f"cards are written like 'QsJh2h' (ranks {RANKS}, suits {SUITS}), got {text!r}")
    cards = tuple(4 * RANKS.index(rank) + SUITS.index(suit) for rank, suit in pairs)
    if len(set(cards)) != len(cards):
        raise ValueError(f"a card appears twice in {text!r}")
    return cards


@functools.cache
def deck_cards(num_suits: int = NUM_SUITS, num_ranks: int = NUM_RANKS) -> np.ndarray:
    """Return the cards of a deck, ascending: uint8[num_ranks * num_suits], read-only.

    A card's position in this array is the chance outcome that deals the card in OpenSpiel's ``universal_poker``.
    """
    cards = np.array([4 * rank + suit for rank in range(num_ranks) for suit in range(num_suits)], dtype=np.uint8)
    cards.setflags(write=False)
    return cards


@functools.cache
def combo_cards(num_suits: int = NUM_SUITS, num_ranks: int = NUM_RANKS, num_hole_cards: int = 2) -> np.ndarray:
    """Return the cards of every combo: uint8[num_combos, num_hole_cards], each row ascending; read-only."""
    deck = deck_cards(num_suits, num_ranks)
    positions = sorted(combinations(range(len(deck)), num_hole_cards), key=lambda combo: combo[::-1])
    combos = deck[np.array(positions, dtype=np.intp).reshape(len(positions), num_hole_cards)]
    combos.setflags(write=False)
    return combos


@functools.cache
def combo_ids(num_suits: int = NUM_SUITS, num_ranks: int = NUM_RANKS, num_hole_cards: int = 2) -> dict[frozenset, int]:
    """Return the row of `combo_cards` of each set of hole cards; not to be changed."""
    combos = combo_cards(num_suits, num_ranks, num_hole_cards)
    return {frozenset(cards): row for row, cards in enumerate(combos.tolist())}


@functools.cache
def combos_without(num_suits: int = NUM_SUITS, num_ranks: int = NUM_RANKS, num_hole_cards: int = 2) -> np.ndarray:
    """Return, for each card id, which combos do not hold the card: bool[NUM_CARDS + 1, num_combos], read-only.

    The last row, all ones, is for an unknown card.
    """
    combos = combo_cards(num_suits, num_ranks, num_hole_cards)
    without = np.ones((NUM_CARDS + 1, len(combos)), dtype=bool)
    for column in combos.T:
        without[column, np.arange(len(combos))] = False
    without.setflags(write=False)
    return without
