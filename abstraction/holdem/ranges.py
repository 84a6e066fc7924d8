"""Ranges as text: hole cards and their weights.

The notation is the usual one of players and solvers, with items separated by commas or blanks. An item is a pair
(``AA``), a suited or offsuit class (``AKs``, ``AKo``), both classes (``AK``), one combo (``AhKd``) or every combo
(``random``). ``TT+`` names the pairs from tens to aces, and ``ATs+`` the classes ATs, AJs, AQs and AKs. ``77-44``,
``A5s-A2s`` and ``T9s-54s`` name all classes from one to the other. A weight from 0 to 1 may follow an item, as in
``AKs:0.5``; the default is 1.
"""

import re
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem.cards import NUM_SUITS, RANKS, cards_text, parse_cards
from plurispiel.abstraction.holdem.rules import HUNL

__all__ = ["CLASS_NAMES", "class_grid", "combo_text", "hand_class", "parse_range", "write_range"]

_CLASS = rf"[{RANKS}]{{2}}[so]?"
_COMBO = re.compile(rf"(?:[{RANKS}][cdhs]){{2}}")
_CLASSES = re.compile(rf"({_CLASS})(\+|-({_CLASS}))?")

CLASS_NAMES = tuple(
    tuple(
        RANKS[max(12 - row, 12 - column)]
        + RANKS[min(12 - row, 12 - column)]
        + ("" if row == column else "s" if column > row else "o")
        for column in range(13)
    )
    for row in range(13)
)
"""The 13 x 13 grid of classes of hole cards by row and column: aces first, pairs on the diagonal, suited above it."""


def parse_range(text: str) -> np.ndarray:
    """Return the weight of every combo: float64[1326].

    Raises
    ------
    ValueError
        If the text is not a range, names a combo twice, or gives no combo a weight above 0.

    Examples
    --------
    >>> float(parse_range("AA,AKs:0.5").sum())
    8.0
    """
    weights = np.zeros(HUNL.num_combos)
    named = np.zeros(HUNL.num_combos, dtype=np.bool_)
    for item in filter(None, re.split(r"[\s,]+", text.strip())):
        cards, colon, number = item.partition(":")
        try:
            weight = float(number) if colon else 1.0
        except ValueError:
            weight = -1.0
        if not 0.0 <= weight <= 1.0:
            raise ValueError(f"a weight in a range is 0..1, as in AKs:0.5, got {item!r}")
        combos = _combos(cards)
        if named[combos].any():
            twice = next(combo for combo in combos if named[combo])
            raise ValueError(f"{combo_text(twice)} appears twice in the range, the second time in {item!r}")
        named[combos] = True
        weights[combos] = weight
    if not weights.any():
        raise ValueError(f"a range needs at least one combo with a weight above 0, got {text!r}")
    return weights


def write_range(weights: npt.ArrayLike) -> str:
    """Return a range as text for `parse_range`; empty if all weights are 0.

    Neighbouring classes of equal weight are joined, as in ``QQ+``. If all weights are 1, the text is ``random``.

    Parameters
    ----------
    weights : array-like of float, [1326]
        The weight of every combo, from 0 to 1. Weights are rounded to 6 digits after the point.

    Examples
    --------
    >>> write_range(parse_range("AA,KK,QQ,A5s,A4s,A3s:0.5,AhKd"))
    'QQ+,A5s-A4s,A3s:0.5,AhKd'
    """
    rounded = np.round(np.asarray(weights, dtype=np.float64), 6)
    if rounded.min() == rounded.max() == 1.0:
        return "random"
    items = []
    for line in _lines():
        run: list[tuple[int, int, str]] = []  # consecutive classes of one weight
        for each in line:
            combos = _class_combos(*each)
            own = rounded[combos]
            is_even = own.min() == own.max()
            if run and not (is_even and own[0] and own[0] == rounded[_class_combos(*run[0])[0]]):
                items.append(_run_text(run, line) + _weight_text(rounded[_class_combos(*run[0])[0]]))
                run = []
            if is_even and own[0]:
                run.append(each)
            elif not is_even:
                items += [combo_text(combo) + _weight_text(rounded[combo]) for combo in combos if rounded[combo]]
        if run:
            items.append(_run_text(run, line) + _weight_text(rounded[_class_combos(*run[0])[0]]))
    return ",".join(items)


def _lines() -> Iterator[list[tuple[int, int, str]]]:
    """Yield each list of classes that `write_range` may join by ``+`` or ``-``, strongest class first.

    The first list has the pairs. Each further list has the suited or the offsuit classes with one high card.
    """
    yield [(rank, rank, "") for rank in reversed(range(13))]
    for suits in "so":
        for high in reversed(range(1, 13)):
            yield [(high, low, suits) for low in reversed(range(high))]


def _run_text(run: list[tuple[int, int, str]], line: Iterable[tuple[int, int, str]]) -> str:
    first, last = (f"{RANKS[high]}{RANKS[low]}{suits}" for high, low, suits in (run[0], run[-1]))
    if len(run) == 1:
        return first
    return f"{last}+" if run[0] == next(iter(line)) else f"{first}-{last}"


def _weight_text(weight: float) -> str:
    return "" if weight == 1.0 else f":{weight:.6f}".rstrip("0")


def hand_class(combo: int) -> tuple[int, int]:
    """Return the row and column of a combo in `CLASS_NAMES`."""
    low, high = (int(card) for card in HUNL.combos[combo])
    first, second = 12 - high // 4, 12 - low // 4
    return (first, second) if low % 4 == high % 4 else (second, first)


def class_grid(values: npt.ArrayLike, weights: npt.ArrayLike) -> np.ndarray:
    """Return the weighted mean of values in each class of `CLASS_NAMES`: float64[13, 13, ...].

    A class has NaN if all its combos have weight 0.

    Parameters
    ----------
    values : array-like of float, [1326, ...]
        The values of each combo; the mean is taken over combos, for each entry of the other axes.
    weights : array-like of float, [1326]
        Weight of each combo.
    """
    of_combos, shares = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    sums = np.zeros((13, 13, *of_combos.shape[1:]))
    totals = np.zeros((13, 13))
    for combo in np.flatnonzero(shares):
        place = hand_class(int(combo))
        sums[place] += shares[combo] * of_combos[combo]
        totals[place] += shares[combo]
    with np.errstate(invalid="ignore"):
        return sums / totals.reshape(13, 13, *[1] * (of_combos.ndim - 1))


def combo_text(combo: int) -> str:
    """Return the text of a combo's two cards, the higher card first.

    >>> combo_text(1325)
    'AsAh'
    """
    return cards_text(HUNL.combos[combo][::-1])


def _combos(text: str) -> list[int]:
    """Return the combos of an item without its weight."""
    if text.lower() == "random":
        return list(range(HUNL.num_combos))
    if _COMBO.fullmatch(text):
        return [HUNL.combo_id(parse_cards(text))]
    found = _CLASSES.fullmatch(text)
    if found is None:
        raise ValueError(f"a range is written like 'AA,AKs:0.5,T9s+,77-44,AhKd', got {text!r}")
    first = _class(found[1])
    if found[2] is None:
        classes = [first]
    elif found[2] == "+":
        classes = list(_upwards(*first))
    else:
        classes = list(_between(first, _class(found[3]), text))
    return [combo for each in classes for combo in _class_combos(*each)]


def _class(text: str) -> tuple[int, int, str]:
    """Return the two ranks of a class, the higher first, and its letter: ``s``, ``o`` or an empty text."""
    first, second = sorted((RANKS.index(text[0]), RANKS.index(text[1])), reverse=True)
    if first == second and len(text) == 3:
        raise ValueError(f"a pair is neither suited nor offsuit, got {text!r}")
    return first, second, text[2:]


def _upwards(high: int, low: int, suits: str) -> Iterator[tuple[int, int, str]]:
    if high == low:
        yield from ((rank, rank, suits) for rank in range(high, 13))
    else:
        yield from ((high, kicker, suits) for kicker in range(low, high))


def _between(first: tuple[int, int, str], last: tuple[int, int, str], text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the classes from one to another; refuse two classes that are not on one line.

    Two classes on one line have the same letter or none. They also have the same high card, or the same distance
    between their two ranks.
    """
    (high, low, suits), (last_high, last_low, last_suits) = sorted((first, last), reverse=True)
    same_gap = high - low == last_high - last_low
    if suits != last_suits or not (same_gap or (high == last_high and low < high)):
        raise ValueError(f"{text!r} has no classes between its ends: write it like 77-44, A5s-A2s or T9s-54s")
    for down in range(low - last_low + 1):
        yield (high - down if same_gap else high, low - down, suits)


def _class_combos(high: int, low: int, suits: str) -> list[int]:
    combos = []
    for first in range(NUM_SUITS):
        for second in range(NUM_SUITS):
            if high == low and first <= second:
                continue
            if (suits == "s" and first != second) or (suits == "o" and first == second):
                continue
            combos.append(HUNL.combo_id((4 * high + first, 4 * low + second)))
    return combos
