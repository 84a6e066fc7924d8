"""All flops, the 184 that stand for them, flops from files, and equities on all flops at once."""

import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.spots.flop_equity import flop_equities, treats_suits_alike
from plurispiel.agents.spots.flops import all_flops, chosen_flops, class_size, parse_flops
from plurispiel.agents.spots.spot_file import EXAMPLES, read_spot
from plurispiel.agents.spots.spot_solution import equity

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_all_flops():
    flops = all_flops()
    assert len({flop.cards for flop in flops}) == 1755
    assert sum(flop.weight for flop in flops) == 22_100
    assert all(flop.weight == class_size(flop.cards) in (4, 12, 24) for flop in flops)
    assert all(parse_cards(flop.text) == flop.cards == tuple(sorted(flop.cards, reverse=True)) for flop in flops)


def suits(cards):
    return len({card & 3 for card in cards})


def has_pair(cards):
    return len({card >> 2 for card in cards}) < 3


def high_card(cards):
    return cards[0] >> 2


def test_184_flops_stand_for_all():
    """They are of different classes, and have the suits and pairs of all, and about their high cards."""
    chosen, every = chosen_flops(), all_flops()
    assert len({flop.cards for flop in chosen}) == 184
    assert {flop.cards for flop in chosen} <= {flop.cards for flop in every}
    assert sum(flop.weight for flop in chosen) == 22_100
    assert all(114 <= flop.weight == int(flop.weight) <= 122 for flop in chosen)
    for kind, error in ((suits, 0.0), (has_pair, 0.0), (high_card, 0.012)):
        for value in {kind(flop.cards) for flop in every}:
            shares = [
                sum(flop.weight for flop in flops if kind(flop.cards) == value) / 22_100 for flops in (chosen, every)
            ]
            assert shares[0] == pytest.approx(shares[1], abs=error), value


def test_flops_of_a_text():
    flops = parse_flops("# two\nQs Jh 2h\n\nAs Ad Ac : 7.5  # trips\n")
    assert [(flop.text, flop.weight) for flop in flops] == [("QsJh2h", 12.0), ("AsAdAc", 7.5)]
    for text, message in (
        ("", "there is no flop"),
        ("Qs Jh", "line 1: a flop has three cards, got 'Qs Jh'"),
        ("Qs Jh 2x", "line 1: "),
        ("Qs Jh 2h:0", "line 1: a weight is a positive number, got '0'"),
        ("Qs Jh 2h:inf", "a weight is a positive number"),
        ("Qs Jh 2h:x", "line 1: "),
        ("Qs Jh 2h\nQd Jc 2c", "line 2: Qd Jc 2c is the flop of line 1 in other suits"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_flops(text)


@pytest.mark.slow
def test_184_flops_have_the_equity_of_all():
    """Over three pairs of ranges, the mean over 184 flops is within 0.1 % of the pot of the mean over all."""
    spot, _ = read_spot(EXAMPLES / "flop.toml")
    numbers = {tuple(board): number for number, board in enumerate(board_classes(3).boards.tolist())}
    sizes, weights = board_classes(3).sizes, np.zeros(1755)
    for flop in chosen_flops():
        weights[numbers[tuple(sorted(flop.cards))]] = flop.weight
    for oop, ip in (
        (spot.oop, spot.ip),
        ("TT+,AQs+,AKo", "22-JJ,ATs-AQs,KQs,JTs,T9s,98s"),
        ("random", "22+,A2s+,K9s+,QTs+,JTs,ATo+,KJo+"),
    ):
        ranges = np.stack([parse_range(oop), parse_range(ip)])
        shares, pairs = flop_equities(ranges, HUNL)
        every, few = (np.average(shares, weights=pairs * each) for each in (sizes, weights))
        assert few == pytest.approx(every, abs=0.001)
        for number in (3, 700, 1500):  # against a count on the flop alone
            board = tuple(board_classes(3).boards[number].tolist())
            held = np.where(HUNL.free_combos(list(board)), ranges, 0.0)
            assert shares[number] == pytest.approx(equity(board, held, HUNL), abs=1e-12)


@pytest.mark.slow
def test_flops_without_compatible_hands_have_an_even_equity():
    """Two players with aces have compatible hands only on flops without an ace."""
    shares, pairs = flop_equities(np.stack([parse_range("AA")] * 2), HUNL)
    has_ace = (board_classes(3).boards >= 48).any(axis=1)
    np.testing.assert_array_equal(pairs > 0.0, ~has_ace)
    assert (shares == 0.5).all()


def test_suits():
    assert treats_suits_alike(parse_range("22+,AKs:0.5,T9o"))
    assert not treats_suits_alike(parse_range("22+,AhKh"))
    with pytest.raises(ValueError, match="same weights in all suits"):
        flop_equities(np.stack([parse_range("AA"), parse_range("KhKd")]), HUNL)
