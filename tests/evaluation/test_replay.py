"""Replaying recorded hands: legality, what is left open, and other houses' odd chips."""

import dataclasses

import numpy as np
import pytest
from reference.random_histories import random_actions, random_rules

from plurispiel.abstraction.holdem.betting import CALL, FOLD, IllegalAction
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.referee import Referee
from plurispiel.evaluation.replay import (
    RAISE,
    Undecided,
    only_odd_chips,
    replay_betting,
    replay_hand,
    split_pots,
)

CHECKED_DOWN = (CALL,) * 8
THREE = dataclasses.replace(no_limit_holdem(3), stacks=(101, 300, 1000))


def cards(*texts):
    return tuple(map(parse_cards, texts))


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, HULH, LEDUC, KUHN], ids=str)
def test_a_played_hand_replays_to_itself(rules):
    rng = np.random.default_rng(5)
    agents = [RandomAgent() for _ in range(rules.num_seats)]
    for _ in range(50):
        hand = play_hand(rules, agents, deal_deck(rules, rng), [rng] * rules.num_seats)
        deck, hole = hand.deck.tolist(), rules.num_hole_cards
        betting = replay_betting(rules, [action.action for action in hand.actions])
        assert betting.actions == hand.actions
        hole_cards = [deck[seat * hole : (seat + 1) * hole] for seat in range(rules.num_seats)]
        again = replay_hand(betting, hole_cards, deck[hole * rules.num_seats :])
        assert (again.payoffs, again.showdown) == (hand.payoffs, hand.showdown)
        assert again.deck.tolist() == deck


def test_a_limit_raise_needs_no_size():
    betting = replay_betting(HULH, [RAISE, RAISE, CALL, CALL, RAISE, FOLD])
    assert [action.action for action in betting.actions] == [20, 30, CALL, CALL, 40, FOLD]
    assert [action.seat for action in betting.actions] == [1, 0, 1, 0, 1, 0]
    assert [action.street for action in betting.actions] == [0, 0, 0, 1, 1, 1]
    assert not betting.showdown and betting.live_seats == [1] and betting.board_size == 3


@pytest.mark.parametrize(
    ("rules", "actions", "message"),
    [
        (HUNL, [199], r"action 1 of seat 1 on street 0: 199 is not legal: .*200\.\.20000"),
        (HUNL, [CALL, CALL, FOLD], "action 3 of seat 0 on street 1: 0 is not legal"),
        (HUNL, [2**70], "is not legal"),
        (HUNL, [-(2**70)], "is not legal"),
        (HUNL, [RAISE], "a raise is not legal"),
        (HUNL, [-2], "-2 is not legal"),
        (HUNL, [FOLD, CALL], "action 2: 1 is not legal: the hand is over"),
        (HULH, [RAISE, RAISE, RAISE, RAISE], "action 4 of seat 0 on street 0: a raise is not legal"),
        (HULH, [25], "25 is not legal"),
    ],
)
def test_illegal_actions_are_named(rules, actions, message):
    with pytest.raises(IllegalAction, match=message):
        replay_betting(rules, actions)


def test_what_cannot_matter_need_not_be_known():
    fold = replay_betting(SIXMAX, [FOLD] * 5)
    assert replay_hand(fold, [()] * 6, ()).payoffs == (-50.0, 50.0, 0.0, 0.0, 0.0, 0.0)
    called = replay_betting(THREE, [FOLD, CALL, CALL, *[CALL] * 6])
    hand = replay_hand(called, cards("AsAh", "KsKh", ""), parse_cards("2c7d9hTcJs"))
    assert hand.payoffs == (100.0, -100.0, 0.0)
    assert len(set(hand.deck.tolist())) == THREE.num_dealt_cards
    Referee(THREE).check(hand)


@pytest.mark.parametrize(
    ("actions", "hole_cards", "board", "message"),
    [
        (CHECKED_DOWN, cards("AsAh", ""), "2c7d9hTcJs", "hole cards of seat 1 unknown"),
        (CHECKED_DOWN, cards("", ""), "2c7d9hTcJs", "hole cards of seats 0, 1 unknown"),
        (CHECKED_DOWN, cards("AsAh", "KsKh"), "2c7d9hTc", "4 of 5 board cards"),
        (CHECKED_DOWN[:5], cards("AsAh", "KsKh"), "2c7d9h", "stops before its end, with seat 1 to act"),
    ],
)
def test_what_decides_must_be_known(actions, hole_cards, board, message):
    with pytest.raises(Undecided, match=message):
        replay_hand(replay_betting(HUNL, actions), hole_cards, parse_cards(board))


@pytest.mark.parametrize(
    ("hole_cards", "board", "message"),
    [
        (cards("AsAh"), "2c7d9hTcJs", "1 seats in a game of 2"),
        (cards("AsAh", "Kc"), "2c7d9hTcJs", "seat 1 holds 1 cards"),
        (cards("AsAh", "KsKh"), "2c7d9hTcJsQs", "6 board cards"),
        (cards("AsAh", "AsKh"), "2c7d9hTcJs", "As dealt twice"),
        (((51, 50), (4, 52)), "2c7d9hTcJs", "deck lacks the cards 52"),
    ],
)
def test_cards_that_no_deal_holds_are_refused(hole_cards, board, message):
    with pytest.raises(ValueError, match=message):
        replay_hand(replay_betting(HUNL, CHECKED_DOWN), hole_cards, parse_cards(board))


def test_a_seat_that_mucked_wins_nothing():
    betting = replay_betting(HUNL, CHECKED_DOWN)
    board = parse_cards("2c7d9hTcJs")
    unseen = replay_hand(betting, cards("AsKh", ""), board, mucked=(1,))
    assert unseen.payoffs == (100.0, -100.0)
    Referee(HUNL).check(unseen)
    seen = replay_hand(betting, cards("AsAh", "KsKh"), board, mucked=(1,))
    assert seen.payoffs == (100.0, -100.0)
    with pytest.raises(Undecided, match="seat 0 mucked, but would win"):
        replay_hand(betting, cards("AsAh", "KsKh"), board, mucked=(0,))
    with pytest.raises(Undecided, match="seat 1 mucked, but would win"):
        replay_hand(betting, cards("2s3s", ""), parse_cards("AsKsQsJsTs"), mucked=(1,))  # the board plays


def test_pots_pay_what_the_engine_pays():
    rng = np.random.default_rng(8)
    num_showdowns = 0
    for number in range(400):
        rules = random_rules(rng, 2 + number % 5)
        betting = replay_betting(rules, random_actions(rng, rules))
        deck = deal_deck(rules, rng).tolist()
        hole_cards = [deck[2 * seat : 2 * seat + 2] for seat in range(rules.num_seats)]
        hand = replay_hand(betting, hole_cards, deck[2 * rules.num_seats :])
        if not hand.showdown:
            continue
        num_showdowns += 1
        won = -np.array(betting.state.contributions, dtype=float)
        for chips, winners in split_pots(hand):
            won[winners] += chips / len(winners)
        np.testing.assert_allclose(won, hand.payoffs, atol=1e-9)
    assert num_showdowns > 100


SPLIT = replay_hand(  # the small blind folds its 1 chip into a pot of 11, which two share
    replay_betting(dataclasses.replace(no_limit_holdem(3, blinds=(1, 2)), stacks=(50, 50, 50)), [5, FOLD, *[CALL] * 7]),
    cards("2c3c", "AsKs", "AhKh"),
    parse_cards("AcKd9h8h7s"),
)


@pytest.mark.parametrize(
    ("stated", "chip", "only_odd"),
    [
        ((-1.0, 1.0, 0.0), 1, True),
        ((-1.0, 0.0, 1.0), 1, True),
        ((-1.0, 0.5, 0.5), 1, True),
        ((-1.0, 0.51, 0.49), 1, True),  # a house that rounds to hundredths
        ((-1.0, 2.0, -1.0), 1, False),
        ((-1.0, 2.0, -1.0), 2, True),  # two chips of 2 each, and the odd 3 to one
        ((-1.0, 3.5, -2.5), 4, False),
        ((-1.0, 3.0, -2.0), 8, True),  # one chip is 8 of ours: each gets none and one gets all
        ((0.0, 0.5, -0.5), 1, False),  # the loser's chips are never odd
        ((-1.0, 0.5, 0.0), 1, False),  # rake
        ((-1.0, 0.0, 0.0), 1, False),
    ],
)
def test_odd_chips_of_other_houses(stated, chip, only_odd):
    assert SPLIT.payoffs == (-1.0, 0.5, 0.5)
    assert only_odd_chips(SPLIT, stated, chip) == only_odd


def test_without_a_split_pot_there_are_no_odd_chips():
    hand = replay_hand(replay_betting(HUNL, CHECKED_DOWN), cards("AsAh", "KsKh"), parse_cards("2c7d9hTcJs"))
    assert not only_odd_chips(hand, (101.0, -101.0))
    folded = replay_hand(replay_betting(HUNL, [FOLD]), [(), ()], ())
    assert not only_odd_chips(folded, (51.0, -51.0))
