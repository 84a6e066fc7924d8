"""The referee accepts what we play and nothing else."""

import dataclasses

import numpy as np
import pytest

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL, PRESETS, SIXMAX, no_limit_holdem
from plurispiel.agents.base import Action
from plurispiel.agents.baselines.simple import CallAgent, RandomAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.referee import Referee, RefereeDisagrees

GAMES = {
    **PRESETS,
    "ten seats": no_limit_holdem(10, stack=1_000),
    "fcpa": HUNL.with_menu("fcpa"),
    "huge stacks": no_limit_holdem(7, stack=300_000_001, blinds=(1_000_000, 3_000_000)),
}


def random_hand(rules, number, agent=RandomAgent):
    rngs = [np.random.default_rng((number, seat)) for seat in range(rules.num_seats)]
    return play_hand(rules, [agent() for _ in rngs], deal_deck(rules, np.random.default_rng(number)), rngs)


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_real_hands_pass(rules):
    referee = Referee(rules)
    showdowns = 0
    for number in range(100):
        hand = random_hand(rules, number, RandomAgent if number % 2 else CallAgent)
        referee.check(hand)
        showdowns += hand.showdown
    assert showdowns >= 50


@pytest.mark.parametrize("rules", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("wrong", [1.0, -0.5, 1e-6, float("nan"), float("inf")])
def test_a_tampered_payoff_is_found(rules, wrong):
    hand = random_hand(rules, 3, CallAgent)
    for seat in range(rules.num_seats):
        payoffs = list(hand.payoffs)
        payoffs[seat] += wrong
        with pytest.raises(RefereeDisagrees, match="pays"):
            Referee(rules).check(dataclasses.replace(hand, payoffs=tuple(payoffs)))


def test_swapped_payoffs_are_found():
    for number in range(50):
        hand = random_hand(HUNL, number, CallAgent)
        if hand.payoffs[0]:
            with pytest.raises(RefereeDisagrees):
                Referee(HUNL).check(dataclasses.replace(hand, payoffs=hand.payoffs[::-1]))
            return
    pytest.fail("no hand was won")


@pytest.mark.parametrize("number", [0, 101, 199, 20_001, -1, 2**40])
def test_an_illegal_action_is_found(number):
    hand = random_hand(HUNL, 1, CallAgent)
    actions = [*hand.actions]
    place = 1  # the big blind after a limp: cannot fold, lowest raise is to 200
    actions[place] = Action(actions[place].seat, number, 0)
    with pytest.raises(RefereeDisagrees, match="universal_poker"):
        Referee(HUNL).check(dataclasses.replace(hand, actions=tuple(actions)))


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, PRESETS["LEDUC"]])
def test_an_unfinished_hand_is_found(rules):
    hand = random_hand(rules, 2, CallAgent)
    Referee(rules).check(hand)
    for count in range(len(hand.actions)):
        with pytest.raises(RefereeDisagrees, match="waits for more actions"):
            Referee(rules).check(dataclasses.replace(hand, actions=hand.actions[:count]))


def test_an_action_too_many_is_found():
    hand = random_hand(HUNL, 2, CallAgent)
    with pytest.raises(RefereeDisagrees):
        Referee(HUNL).check(dataclasses.replace(hand, actions=(*hand.actions, Action(0, 1, 3))))


def test_a_card_dealt_twice_is_found():
    hand = random_hand(HUNL, 2, CallAgent)
    deck = hand.deck.copy()
    deck[0] = deck[3]
    with pytest.raises(RefereeDisagrees, match="dealt twice"):
        Referee(HUNL).check(dataclasses.replace(hand, deck=deck))
    with pytest.raises(RefereeDisagrees, match="missing"):
        Referee(HUNL).check(dataclasses.replace(hand, deck=hand.deck[:-1]))


def test_the_message_holds_what_is_needed_to_play_it_again():
    hand = random_hand(HUNL, 2, CallAgent)
    with pytest.raises(RefereeDisagrees) as caught:
        Referee(HUNL).check(dataclasses.replace(hand, payoffs=(1.0, -1.0)))
    assert "1:1 0:1" in str(caught.value)
    assert game_string(HUNL).startswith("universal_poker")
    assert "deck " in str(caught.value)
