"""One hand, counted by street and over the whole hand."""

import pytest

from plurispiel.tournaments.formats.bets import street_bet_of_total, total_of_street_bet


@pytest.mark.parametrize(
    ("total", "street_bet", "before"),
    [
        (300, 300, 0),  # blinds 50 and 100; the button raises to 300 and is called;
        (500, 200, 300),  # on the flop a bet of 200
        (1000, 700, 300),  # is raised to 700
    ],
)
def test_one_hand_counted_both_ways(total, street_bet, before):
    assert total_of_street_bet(street_bet, before) == total
    assert street_bet_of_total(total, before) == street_bet
