"""Bet-size menus: which raises are on offer, by street, seat and number of raises so far.

A menu is written as sizes separated by blanks or commas. ``0.5p`` or ``50%`` raises by that share of the pot after
calling. ``2.5bb`` raises to that many big blinds over the whole hand. ``allin`` puts in the stack. An empty text
offers no raise. A size below the smallest legal raise becomes that raise. A raise to at least 90 % (`ALL_IN_SHARE`,
unless a menu has another share) of the stack at the start of the hand becomes all-in. Sizes with equal totals are
offered once.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import pot_raise
from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = ["ALL_IN_SHARE", "BetMenu", "BetSize", "Sizes", "parse_sizes", "raise_totals"]

ALL_IN_SHARE = 0.9
"""By default, a raise to this share or more of the actor's stack at the start of the hand becomes all-in."""

MAX_AMOUNT = 1000.0
"""Greatest size, in pots or in big blinds."""

_SIZE = re.compile(r"(\d+\.?\d*|\.\d+)(p|%|bb)")


class BetSize(NamedTuple):
    """One size of a menu.

    Attributes
    ----------
    unit : {"pot", "big blind", "all-in"}
        The unit of `amount`.
    amount : float
        For "pot", the raise as a share of the pot after calling; for "big blind", the raise-to total in big blinds; for
        "all-in", 0.
    """

    unit: str
    amount: float = 0.0


Sizes = tuple[BetSize, ...]

ALL_IN = BetSize("all-in")


@functools.lru_cache(maxsize=4096)
def parse_sizes(text: str) -> Sizes:
    """Return the sizes of a menu's text.

    Raises
    ------
    ValueError
        If a word of the text is not a size, or its number is 0 or above the limit of 1000 pots or big blinds.

    Examples
    --------
    >>> parse_sizes("0.5p 45% allin")
    (BetSize(unit='pot', amount=0.5), BetSize(unit='pot', amount=0.45), BetSize(unit='all-in', amount=0.0))
    """
    sizes = []
    for word in re.split(r"[\s,]+", text.strip().lower()):
        if not word:
            continue
        found = _SIZE.fullmatch(word)
        if word == "allin":
            sizes.append(ALL_IN)
        elif found and 0.0 < float(found[1]) <= MAX_AMOUNT * (100.0 if found[2] == "%" else 1.0):
            amount = float(found[1])
            unit = "big blind" if found[2] == "bb" else "pot"
            sizes.append(BetSize(unit, amount / 100.0 if found[2] == "%" else amount))
        else:
            raise ValueError(
                f"bet sizes are written like '0.5p 75% 2.5bb allin', above 0 and at most {MAX_AMOUNT:,.0f} pots or big "
                f"blinds, got {word!r} in {text!r}"
            )
    return tuple(sizes)


def raise_totals(
    sizes: Sizes, rules: HoldemRules, state: list[int], *, dead_chips: int = 0, all_in_share: float = ALL_IN_SHARE
) -> tuple[int, ...]:
    """Return the raise-to totals, in chips, of sizes in a betting state, ascending; empty where no raise is legal.

    Parameters
    ----------
    state : list of int
        A no-limit betting state array (entries in `betting_layout`), with a seat to act.
    dead_chips : int
        Chips in the pot that no seat of the state has contributed.
    all_in_share : float
        A raise to at least this share of the stack at the start of the hand becomes all-in. From a share of 1 on, only
        raises to the whole stack or more become all-in.
    """
    lowest, highest = state[betting_layout.MIN_RAISE], state[betting_layout.MAX_RAISE]
    if highest == 0:
        return ()
    totals = set()
    for size in sizes:
        if size.unit == "pot":
            total = pot_raise(rules, state, size.amount, dead_chips)
        else:
            total = highest if size.unit == "all-in" else int(size.amount * rules.big_blind + 0.5)
        totals.add(highest if total >= all_in_share * highest else min(max(total, lowest), highest))
    return tuple(sorted(totals))


@dataclass(frozen=True)
class BetMenu:
    """The sizes on offer throughout a game.

    Attributes
    ----------
    sizes : tuple of tuple of tuple of Sizes
        ``sizes[street][seat][r]`` are the sizes on offer to a seat after r raises on the street. For a street, seat or
        r beyond the end of its tuple, the last entry of the tuple holds.
    all_in_share : float
        As in `raise_totals`.

    Raises
    ------
    ValueError
        If there is no street, or a street has no seat, or a seat has no entry. An empty entry offers no raise.

    Examples
    --------
    >>> from plurispiel.abstraction.holdem import HUNL, BettingState
    >>> menu = BetMenu((((parse_sizes("0.5p 1p allin"), parse_sizes("1p allin")),),))
    >>> menu.raises(HUNL, BettingState(HUNL).array.tolist())
    (200, 300, 20000)
    """

    sizes: tuple[tuple[tuple[Sizes, ...], ...], ...]
    all_in_share: float = ALL_IN_SHARE

    def __post_init__(self):
        if not self.sizes or not all(seats and all(seats) for seats in self.sizes):
            raise ValueError(
                "a menu needs at least one street, one seat on each street and one entry of sizes for each seat, "
                f"got {self.sizes!r:.80}"
            )

    def sizes_at(self, street: int, seat: int, num_raises: int) -> Sizes:
        """Return the sizes for a street, a seat and the number of raises so far on the street."""
        by_raise = _last_or(_last_or(self.sizes, street), seat)
        return _last_or(by_raise, num_raises)

    def raises(self, rules: HoldemRules, state: list[int], dead_chips: int = 0) -> tuple[int, ...]:
        """Return the raise-to totals on offer to the actor, ascending; see `raise_totals`."""
        sizes = self.sizes_at(
            state[betting_layout.STREET], state[betting_layout.ACTOR], state[betting_layout.NUM_RAISES]
        )
        return raise_totals(sizes, rules, state, dead_chips=dead_chips, all_in_share=self.all_in_share)


def _last_or(entries: Sequence, number: int):
    """Return an entry by its number, or the last entry if the number is beyond the end."""
    return entries[min(number, len(entries) - 1)]
