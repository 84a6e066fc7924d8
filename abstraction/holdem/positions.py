"""Positions at the table: their names SB, BB, UTG, ..., BTN, and the order in which they act before the flop."""

import functools

from plurispiel.abstraction.holdem.rules import HoldemRules

__all__ = ["acting_order", "position_names", "seat_positions"]

_LATE = ("LJ", "HJ", "CO", "BTN")


def position_names(num_seats: int) -> list[str]:
    """Return the name of each seat's position at a table of 2..10 seats, numbered as in `rules`.

    Heads-up, seat 0 is the big blind; seat 1 is the button and posts the small blind. A game may have the two seats
    the other way round, so names for the seats of a game come from `seat_positions`.

    >>> position_names(6)
    ['SB', 'BB', 'UTG', 'HJ', 'CO', 'BTN']
    >>> position_names(2)
    ['BB', 'BTN']
    """
    if num_seats == 2:
        return ["BB", "BTN"]
    others = num_seats - 2
    if others <= 3:
        return ["SB", "BB", *_LATE[4 - others :]]
    early = ["UTG", *(f"UTG+{k}" for k in range(1, others))]
    num_late = min(others - 1, 4)
    return ["SB", "BB", *early[: others - num_late], *_LATE[4 - num_late :]]


@functools.lru_cache(256)
def seat_positions(rules: HoldemRules) -> tuple[str, ...]:
    """Return the name of each seat's position in a game.

    The names are those of `position_names`, except in a heads-up game whose seat 0 posts the small blind: there, seat 0
    is the button.
    """
    names = position_names(rules.num_seats)
    if rules.num_seats == 2 and rules.blinds[0] < rules.blinds[1]:
        names.reverse()
    return tuple(names)


def acting_order(rules: HoldemRules) -> list[int]:
    """Return the seats of a game in their order of acting before the flop.

    >>> from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
    >>> acting_order(SIXMAX), acting_order(HUNL)
    ([2, 3, 4, 5, 0, 1], [1, 0])
    """
    first = rules.first_seats[0]
    return [*range(first, rules.num_seats), *range(first)]
