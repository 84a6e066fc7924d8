"""The kind of a hand on a board, in the words of players: the made hand, and the draw before the river."""

from collections.abc import Iterable

from plurispiel.abstraction.holdem.cards import NUM_RANKS, NUM_SUITS

__all__ = ["DRAWS", "MADE_HANDS", "draw_of", "made_hand_of"]

MADE_HANDS = (
    "straight flush",
    "quads",
    "full house",
    "flush",
    "straight",
    "set",
    "trips",
    "two pair",
    "overpair",
    "top pair",
    "second pair",
    "low pair",
    "pocket pair",
    "ace high",
    "no pair",
)
"""Kinds of made hands, the strongest first.

A set is three of a kind with two hole cards of that rank, trips with one or none. In two pair, each hole card makes a
pair with a board card. An overpair is a pair of hole cards above every board card; other pairs of hole cards are pocket
pairs. A pair on the board, which all players share, does not count.
"""

DRAWS = ("flush and straight draw", "flush draw", "open-ended", "gutshot", "backdoor flush draw", "no draw")
"""Kinds of draws, the strongest first; a hand has the first that fits.

A flush draw has four cards of a suit. On the flop only, a backdoor flush draw has two hole cards and one board card of
a suit. An open-ended draw is completed to a straight by two ranks or more, a gutshot by one. At least one hole card
takes part in a draw.
"""

_ACE = NUM_RANKS - 1


def made_hand_of(hole: tuple[int, ...], board: tuple[int, ...]) -> str:
    """Return the made hand of two hole cards on a board of three to five cards: an entry of `MADE_HANDS`."""
    cards = (*hole, *board)
    counts = _rank_counts(cards)
    suited = [_ranks(card for card in cards if card % NUM_SUITS == suit) for suit in range(NUM_SUITS)]
    most = sorted(counts, reverse=True)
    flush = any(ranks.bit_count() >= 5 for ranks in suited)
    if flush and any(_straights(ranks) for ranks in suited):
        return "straight flush"
    if most[0] == 4:
        return "quads"
    if most[0] == 3 and most[1] >= 2:
        return "full house"
    if flush:
        return "flush"
    if _straights(_ranks(cards)):
        return "straight"
    first, second = (card // NUM_SUITS for card in hole)
    if most[0] == 3:
        return "set" if first == second == counts.index(3) else "trips"
    ranks = sorted({card // NUM_SUITS for card in board}, reverse=True)
    if first == second:
        return "overpair" if first > ranks[0] else "pocket pair"
    paired = {rank for rank in (first, second) if counts[rank] == 2}
    if len(paired) == 2:
        return "two pair"
    if paired:
        place = ranks.index(max(paired))
        return ("top pair", "second pair", "low pair")[min(place, 2)]
    return "ace high" if _ACE in (first, second) else "no pair"


def draw_of(hole: tuple[int, ...], board: tuple[int, ...]) -> str:
    """Return the draw of two hole cards on a board of three to five cards: an entry of `DRAWS`."""
    if len(board) > 4:
        return DRAWS[-1]
    cards = (*hole, *board)
    suits = [sum(card % NUM_SUITS == suit for card in cards) for suit in range(NUM_SUITS)]
    own = {card % NUM_SUITS for card in hole}
    flush = max(suits) < 5 and any(suits[suit] == 4 for suit in own)
    ranks, shared = _ranks(cards), _ranks(board)
    outs = 0
    if max(suits) < 5 and not _straights(ranks):
        # A rank counts if it completes a straight that the board alone would not have.
        outs = sum(bool(_straights(ranks | 1 << rank) & ~_straights(shared | 1 << rank)) for rank in range(NUM_RANKS))
    if flush and outs:
        return DRAWS[0]
    if flush:
        return "flush draw"
    if outs:
        return "open-ended" if outs > 1 else "gutshot"
    if len(board) == 3 and len(own) == 1 and suits[min(own)] == 3:
        return "backdoor flush draw"
    return DRAWS[-1]


def _rank_counts(cards: tuple[int, ...]) -> list[int]:
    counts = [0] * NUM_RANKS
    for card in cards:
        counts[card // NUM_SUITS] += 1
    return counts


def _ranks(cards: Iterable[int]) -> int:
    """Return the ranks of cards as bits."""
    bits = 0
    for card in cards:
        bits |= 1 << card // NUM_SUITS
    return bits


def _straights(ranks: int) -> int:
    """Return the straights in a set of ranks: a bit for the lowest card of each, bit 0 for the ace below a deuce."""
    low = ranks << 1 | ranks >> _ACE & 1  # the ace also counts below the two
    return low & low >> 1 & low >> 2 & low >> 3 & low >> 4
