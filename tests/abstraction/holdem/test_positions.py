"""Names of positions."""

import dataclasses

import pytest

from plurispiel.abstraction.holdem.positions import acting_order, position_names, seat_positions
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX


@pytest.mark.parametrize(
    ("seats", "names"),
    [
        (2, "BB BTN"),
        (3, "SB BB BTN"),
        (4, "SB BB CO BTN"),
        (5, "SB BB HJ CO BTN"),
        (6, "SB BB UTG HJ CO BTN"),
        (7, "SB BB UTG LJ HJ CO BTN"),
        (8, "SB BB UTG UTG+1 LJ HJ CO BTN"),
        (9, "SB BB UTG UTG+1 UTG+2 LJ HJ CO BTN"),
        (10, "SB BB UTG UTG+1 UTG+2 UTG+3 LJ HJ CO BTN"),
    ],
)
def test_position_names(seats, names):
    assert position_names(seats) == names.split()


def test_heads_up_the_button_posts_the_small_blind():
    assert seat_positions(HUNL) == ("BB", "BTN") and HUNL.blinds[1] < HUNL.blinds[0]
    reverse = dataclasses.replace(HUNL, blinds=HUNL.blinds[::-1], first_seats=(0, 1, 1, 1))
    assert seat_positions(reverse) == ("BTN", "BB")
    assert seat_positions(LEDUC) == ("BB", "BTN")  # equal antes: who acts last is the button
    assert seat_positions(SIXMAX) == tuple(position_names(6))
    assert [acting_order(rules) for rules in (HUNL, reverse, SIXMAX)] == [[1, 0], [0, 1], [2, 3, 4, 5, 0, 1]]
