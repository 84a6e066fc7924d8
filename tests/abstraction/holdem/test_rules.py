import dataclasses

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, PRESETS, SIXMAX, HoldemRules, no_limit_holdem
from plurispiel.agents.baselines.simple import RaiseAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.referee import Referee


def test_presets_have_the_field_s_numbers():
    assert (HUNL.num_seats, HUNL.blinds, HUNL.stacks, HUNL.first_seats) == (2, (100, 50), (20_000,) * 2, (1, 0, 0, 0))
    assert (SIXMAX.num_seats, SIXMAX.blinds[:2], SIXMAX.stacks) == (6, (50, 100), (10_000,) * 6)
    assert SIXMAX.first_seats == (2, 0, 0, 0)
    assert (HULH.raise_sizes, HULH.max_raises) == ((10, 10, 20, 20), (3, 4, 4, 4))
    assert (LEDUC.num_combos, KUHN.num_combos, HUNL.num_combos) == (6, 3, 1326)
    assert set(PRESETS) == {"HUNL", "SIXMAX", "HULH", "LEDUC", "KUHN"}


def test_combo_ids_follow_the_rows_of_combos():
    for rules in (HUNL, LEDUC, KUHN, dataclasses.replace(HUNL, num_hole_cards=2, num_suits=2, num_ranks=6)):
        for row, cards in enumerate(rules.combos.tolist()):
            assert rules.combo_id(cards) == row
            assert rules.combo_id(cards[::-1]) == row


def test_combos_of_a_full_deck_are_colexicographic():
    assert SIXMAX.combos[:4].tolist() == [[0, 1], [0, 2], [1, 2], [0, 3]]
    assert len(np.unique(SIXMAX.combos, axis=0)) == 1326
    assert not SIXMAX.combos.flags.writeable


@pytest.mark.parametrize("rules", [HUNL, LEDUC, dataclasses.replace(HUNL, num_hole_cards=3, board_cards=(0, 3, 1, 0))])
def test_free_combos_share_no_card(rules):
    for size in range(4):
        cards = np.random.default_rng(size).permutation(rules.cards)[:size]
        assert np.array_equal(rules.free_combos(cards), ~np.isin(rules.combos, cards).any(axis=1))
        assert np.array_equal(rules.free_combos((*cards.tolist(), 255)), rules.free_combos(cards))


def test_board_sizes():
    assert [SIXMAX.board_size(street) for street in range(4)] == [0, 3, 4, 5]
    assert (SIXMAX.num_dealt_cards, LEDUC.num_dealt_cards, KUHN.num_dealt_cards) == (17, 3, 2)


def test_the_street_of_a_board():
    assert [HUNL.street_of_board(range(size)) for size in (0, 3, 4, 5)] == [0, 1, 2, 3]
    assert [LEDUC.street_of_board(range(size)) for size in (0, 1)] == [0, 1]
    assert KUHN.street_of_board(()) == 0
    with pytest.raises(ValueError, match="boards have 0, 3, 4, 5 cards, got 2"):
        HUNL.street_of_board((1, 2))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blinds": [100, 50]}, "blinds must be a tuple"),
        ({"max_raises": [1, 1, 1, 1]}, "max_raises must be a tuple"),
        ({"blinds": (100,)}, "2..10 seats, got 1"),
        ({"blinds": (1,) * 11}, "2..10 seats, got 11"),
        ({"blinds": (0, 0)}, "at least one seat must post a blind"),
        ({"blinds": (100, -50)}, "whole chips from 0, got -50 for seat 1"),
        ({"blinds": (100, 2.5)}, "whole chips from 0, got 2.5"),
        ({"stacks": (20_000,)}, "a stack for each of the 2 seats"),
        ({"stacks": None}, "a stack for each of the 2 seats"),
        ({"stacks": (99, 20_000)}, "must cover its blind, got stack 99 and blind 100 for seat 0"),
        ({"stacks": (-50, 20_000)}, "positive chips, got -50 for seat 0"),
        ({"stacks": (True, 20_000)}, "positive chips, got True"),
        ({"stacks": (2**31 - 1, 20_000)}, "together may be at most"),
        ({"stacks": (100, 50)}, "chips behind its blind"),
        ({"first_seats": ()}, "1..4 streets"),
        ({"first_seats": (0,) * 5}, "1..4 streets"),
        ({"first_seats": (1, 0, 0, 2)}, "first_seats are seats 0..1, got"),
        ({"board_cards": (0, 3, 1)}, "board_cards needs 4 entries"),
        ({"board_cards": (0, 3, 2, 1)}, "at most 7, got 8"),
        ({"max_raises": (1, 2)}, "max_raises needs 4 entries"),
        ({"raise_sizes": (1, 1, 1, 1)}, "belong to limit games only"),
        ({"betting": "spread"}, "'no-limit' or 'limit', got 'spread'"),
        ({"betting": "limit"}, "betting_abstraction of a limit game"),
        ({"betting_abstraction": "all"}, "is one of fullgame, fchpa, fcpa, fc, got 'all'"),
        ({"num_suits": 5}, "num_suits must be 1..4"),
        ({"num_ranks": 1}, "num_ranks must be 2..13"),
        ({"num_hole_cards": 4}, "num_hole_cards must be 1..3"),
        ({"num_suits": 1, "num_ranks": 8}, "2 seats need 9 cards, the deck has 8"),
    ],
)
def test_contradictions_are_refused(change, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        dataclasses.replace(HUNL, **change)


def test_limit_games_take_no_stacks_and_need_raise_sizes():
    with pytest.raises(ValueError, match="limit games have no stacks"):
        dataclasses.replace(HULH, stacks=(100, 100))
    with pytest.raises(ValueError, match="raise_sizes must be given"):
        dataclasses.replace(HULH, raise_sizes=None)


def test_the_largest_pot_of_a_limit_game_fits_32_bits():
    """Beyond that universal_poker pays out wrong numbers."""
    ten_seats = dataclasses.replace(HULH, blinds=(1, 2, *[0] * 8), max_raises=None)
    largest = ((2**31 - 1) // 10 - 2) // (64 * 4)
    rules = dataclasses.replace(ten_seats, raise_sizes=(largest,) * 4)
    agents = [RaiseAgent() for _ in range(10)]
    hand = play_hand(rules, agents, deal_deck(rules, np.random.default_rng(1)), [np.random.default_rng(0)] * 10)
    Referee(rules).check(hand)
    assert max(hand.payoffs) > 2**30
    with pytest.raises(ValueError, match="a pot may be at most 2147483647 chips, got raise_sizes"):
        dataclasses.replace(ten_seats, raise_sizes=(largest + 1,) * 4)


@pytest.mark.parametrize("seats", range(2, 11))
def test_no_limit_holdem_for_every_number_of_seats(seats):
    rules = no_limit_holdem(seats, stack=2_000, blinds=(1, 2))
    assert rules.num_seats == seats
    assert rules.big_blind == 2
    assert sum(rules.blinds) == 3


@pytest.mark.parametrize("seats", [-1, 0, 1, 11])
def test_no_limit_holdem_refuses_other_numbers(seats):
    with pytest.raises(ValueError, match="2..10 seats"):
        no_limit_holdem(seats)


def test_rules_compare_and_hash_by_value():
    assert no_limit_holdem(6) == SIXMAX
    assert len({no_limit_holdem(6), SIXMAX, HUNL}) == 2
    assert isinstance(SIXMAX.with_menu("fcpa"), HoldemRules)
    assert SIXMAX.with_menu("fcpa") != SIXMAX
