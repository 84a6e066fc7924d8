"""Flops up to a renaming of suits: all 1,755 classes, and 184 of them that stand for all.

The 184 flops are a systematic sample. All classes lie on a line, and the length of a class is its number of flops.
Flops without a pair come first, then flops with a pair or trips. Within each of these two kinds, flops are sorted by
the number of suits, then by the high card, the middle card and the low card. High cards ascend if the number of suits
is odd, and descend if it is even. In the same way, the rank of the high card decides whether middle cards ascend, and
the rank of the middle card whether low cards ascend. So neighbours are similar. The line is cut into 184 parts of equal
length, and the class in the middle of each part is chosen. Chosen flops of the same kind, with the same number of
suits, get equal weights up to rounding. The sum of these weights is the number of all such flops, so each kind and
number of suits has its exact share. Nine orders were compared: with this one, equities of four pairs of ranges have the
smallest error.
"""

from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.boards import board_classes, find_boards
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards

__all__ = ["NUM_FLOPS", "WeightedFlop", "all_flops", "chosen_flops", "class_size", "parse_flops"]

NUM_FLOPS = 22_100
"""The number of flops of a deck of 52 cards."""

NUM_CHOSEN = 184


@dataclass(frozen=True)
class WeightedFlop:
    """A flop that stands for others.

    Attributes
    ----------
    cards : tuple of int
        Three cards, highest rank first.
    weight : float
        The number of flops for which the flop stands.
    """

    cards: tuple[int, ...]
    weight: float

    @property
    def text(self) -> str:
        """The cards as text, such as ``QsJh2h``."""
        return cards_text(self.cards).replace(" ", "")


def all_flops() -> list[WeightedFlop]:
    """Return the 1,755 classes of flops, each with the number of its flops; the weights sum to 22,100."""
    classes = board_classes(3)
    found = [
        WeightedFlop(_descending(tuple(board)), float(size))
        for board, size in zip(classes.boards.tolist(), classes.sizes.tolist(), strict=True)
    ]
    return sorted(found, key=lambda flop: _place(flop.cards))


def chosen_flops() -> list[WeightedFlop]:
    """Return 184 flops that stand for all, with integer weights that sum to 22,100.

    >>> flops = chosen_flops()
    >>> len(flops), sum(flop.weight for flop in flops)
    (184, 22100.0)
    """
    flops = all_flops()
    ends = np.cumsum([int(flop.weight) for flop in flops])
    middles = (2 * np.arange(NUM_CHOSEN) + 1) * NUM_FLOPS // (2 * NUM_CHOSEN)
    chosen = [flops[number] for number in np.searchsorted(ends, middles, side="right").tolist()]
    members: dict[tuple[bool, int], list[WeightedFlop]] = {}
    for flop in chosen:
        members.setdefault(_kind(flop.cards), []).append(flop)
    weights: dict[tuple[int, ...], float] = {}
    for kind, alike in members.items():
        total = sum(int(flop.weight) for flop in flops if _kind(flop.cards) == kind)
        shares = np.diff(np.arange(len(alike) + 1) * total // len(alike))
        weights.update(zip((flop.cards for flop in alike), map(float, shares), strict=True))
    return [WeightedFlop(flop.cards, weights[flop.cards]) for flop in chosen]


def class_size(cards: tuple[int, ...]) -> int:
    """Return the number of flops into which renamings of suits turn a flop."""
    return int(board_classes(3).sizes[_class(cards)])


def parse_flops(text: str) -> list[WeightedFlop]:
    """Return the flops of a text: a flop on each line, such as ``Qs Jh 2h``, perhaps with its weight after a colon.

    A flop without a weight has the number of flops of its class. ``#`` begins a comment.

    Raises
    ------
    ValueError
        If a line is not a flop, a weight is not positive, two flops are of one class, or the text has no flop.
    """
    found: list[WeightedFlop] = []
    lines: dict[int, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        flop, colon, weight = words.partition(":")
        try:
            cards = parse_cards(flop)
            if len(cards) != 3:
                raise ValueError(f"a flop has three cards, got {flop.strip()!r}")
            size = float(weight) if colon else float(class_size(cards))
            if not 0.0 < size < float("inf"):
                raise ValueError(f"a weight is a positive number, got {weight.strip()!r}")
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        if _class(cards) in lines:
            raise ValueError(f"line {number}: {flop.strip()} is the flop of line {lines[_class(cards)]} in other suits")
        lines[_class(cards)] = number
        found.append(WeightedFlop(_descending(cards), size))
    if not found:
        raise ValueError("there is no flop; write one a line, such as Qs Jh 2h")
    return found


def _kind(cards: tuple[int, ...]) -> tuple[bool, int]:
    """Return whether a flop has a pair or trips, and its number of suits."""
    return len({card >> 2 for card in cards}) < 3, len({card & 3 for card in cards})


def _class(cards: tuple[int, ...]) -> int:
    return int(find_boards(cards)[0])


def _descending(cards: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(cards, reverse=True))


def _place(cards: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sort key of a flop's class: classes lie on the line in ascending order of their keys."""
    high, middle, low = (card >> 2 for card in cards)
    has_pair, suits = _kind(cards)

    def turned(value: int, before: int) -> int:
        return value if before % 2 else -value

    ordered = turned(high, suits), turned(middle, high), turned(low, middle)
    return has_pair, suits, *ordered, *(card & 3 for card in cards)
