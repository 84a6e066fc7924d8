"""Bet conventions: each pair undoes the other, and one hand counted three ways."""

from hypothesis import given
from hypothesis import strategies as st

from plurispiel.tournaments.formats.bets import (
    raise_by_of_total,
    street_bet_of_total,
    total_of_raise_by,
    total_of_street_bet,
)

chips = st.integers(0, 2**40)


@given(chips, chips)
def test_conversions_undo_each_other(total, base):
    assert total_of_street_bet(street_bet_of_total(total, base), base) == total
    assert total_of_raise_by(raise_by_of_total(total, base), base) == total


def test_one_hand_three_ways():
    # Blinds 50 and 100; the button raises to 300 and is called; on the flop a bet of 200 is raised to 700.
    assert total_of_street_bet(300, before=0) == total_of_raise_by(200, matched=100) == 300
    assert total_of_street_bet(200, before=300) == total_of_raise_by(200, matched=300) == 500
    assert total_of_street_bet(700, before=300) == total_of_raise_by(500, matched=500) == 1000
