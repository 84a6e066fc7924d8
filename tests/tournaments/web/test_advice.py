"""Advice at a decision, computed in this process."""

import dataclasses
import json

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX, HoldemRules
from plurispiel.agents.continual.agent import SmallGameAgent
from plurispiel.agents.continual.config import ContinualConfig
from plurispiel.agents.factory import make_agent
from plurispiel.agents.search.beliefs import likelihood
from plurispiel.tournaments.formats.game_definition import game_definition_text
from plurispiel.tournaments.web.advice import blueprint_adviser, continual_adviser
from plurispiel.tournaments.web.asked_hand import read_asked_hand
from plurispiel.tournaments.web.messages import Question
from plurispiel.tournaments.web.spot_advice import SpotAdviser, spot_of_street

ACTIONS = (300, 1, 1, 700, 1, 1, 2000, 1, 1, 5000, 1)
ASKED = Question(
    adviser="blueprint",
    seconds=10.0,
    hand="0",
    game=game_definition_text(HUNL),
    actions=ACTIONS,
    cards=("QhJh", "AsKd"),
    board="Td9d6hQc7s",
    decisions=(),
)


def asked(**fields):
    return read_asked_hand(dataclasses.replace(ASKED, **fields))


@pytest.fixture(scope="module")
def blueprint():
    return blueprint_adviser()


@pytest.fixture(scope="module")
def spot():
    return SpotAdviser()


def test_the_blueprints_advice_is_its_strategy(blueprint):
    hand, agent = asked(), make_agent("blueprint")
    for decision, action in enumerate(hand.actions):
        public = hand.public(decision)
        advice = blueprint.advise(hand, decision, 1.0)
        assert json.loads(json.dumps(advice, allow_nan=False)) == advice
        agent.restart(HUNL, public.actor, np.random.default_rng(0))
        strategy = agent.expected_strategy(public)
        own = HUNL.combo_id(hand.hole_cards[public.actor])
        assert advice["grid"]["own"] == pytest.approx(strategy.probabilities[own], abs=1e-4)
        assert advice["frequency"] == pytest.approx(likelihood(strategy, public, action.action)[own], abs=1e-4)
        is_offered = action.action in strategy.actions
        assert (advice["grid"]["played"] is not None) == is_offered == (advice["remark"] == "")


def test_unknown_cards_need_no_hand(blueprint):
    known, unknown = asked(), asked(cards=("", ""))
    for decision in (0, 3, 9):
        mine, theirs = blueprint.advise(known, decision, 1.0), blueprint.advise(unknown, decision, 1.0)
        assert theirs["frequency"] is theirs["grid"]["own"] is theirs["grid"]["cell"] is None
        assert theirs["grid"]["shares"] == mine["grid"]["shares"]
        assert theirs["range_frequency"] == mine["range_frequency"]


def test_an_unfinished_hand_of_six_seats_is_advised(blueprint):
    hand = asked(
        game=game_definition_text(SIXMAX), actions=(0, 250, 0, 1), cards=("", "", "", "AhAd", "", ""), board=""
    )
    advice = blueprint.advise(hand, 1, 1.0)
    assert advice["frequency"] > 0.5 and advice["grid"]["actions"][0] == "fold"


def test_a_game_that_an_adviser_does_not_play_is_named(blueprint, spot):
    hand = asked(game=game_definition_text(LEDUC), actions=(1, 1, 1, 1), cards=("4c", "3d"), board="3c")
    with pytest.raises(ValueError, match="blueprint"):
        blueprint.advise(hand, 0, 1.0)
    with pytest.raises(ValueError, match="no-limit"):
        spot.advise(hand, 2, 1.0)


def test_continual_advice_in_a_small_game_is_its_strategy():
    hand = asked(game=game_definition_text(LEDUC), actions=(1, 3, 1, 1, 1), cards=("4c", "3d"), board="3c")
    config = ContinualConfig(iterations=20)
    advice = continual_adviser(config).advise(hand, 2, 1.0)
    agent = SmallGameAgent(config)
    agent.restart(hand.rules, 0, np.random.default_rng(0))
    own = hand.rules.combo_id(hand.hole_cards[0])
    assert advice["grid"]["own"] == pytest.approx(agent.range_strategy(hand.public(2)).probabilities[own], abs=1e-4)
    assert "iterations" in advice["words"]


def test_the_ev_lost_is_that_of_the_solved_spot(spot):
    hand = asked()
    advices = [spot.advise(hand, decision, 60.0) for decision in (8, 9, 10)]
    (solved,) = [solution for _, solution in spot._solved.values()]
    assert solved.exploitability_pct < 0.26 and advices[0]["accuracy"] == pytest.approx(
        solved.exploitability_pct * 0.01 * 40, abs=1e-4
    )
    for advice, node, seat in zip(advices, ("", "c", "c b3000"), (0, 1, 0), strict=True):
        own = HUNL.combo_id(hand.hole_cards[seat])
        evs = solved.node_ev(node).action_ev[own] / 100.0
        assert advice["evs"] == pytest.approx(evs, abs=1e-4)
        assert advice["lost"] == pytest.approx(evs.max() - evs[advice["grid"]["played"]], abs=1e-4)
        assert advice["grid"]["own"] == pytest.approx(solved.strategy(node).probabilities[own], abs=1e-4)
    assert advices[1]["grid"]["actions"] == ["check", "raise to 4,000", "raise to 5,000", "raise to 6,000"]


def test_a_rough_solution_tells_no_ev(spot):
    advice = spot.advise(asked(), 5, 0.5)
    assert advice["evs"] is advice["lost"] is None and "more seconds" in advice["remark"]


def test_spots_are_of_turns_and_rivers_of_two_players(spot):
    with pytest.raises(ValueError, match="begin on the turn"):
        spot.advise(asked(), 2, 1.0)
    three = HoldemRules(blinds=(50, 100, 0), stacks=(5000,) * 3, first_seats=(2, 0, 0, 0), board_cards=(0, 3, 1, 1))
    hand = asked(game=game_definition_text(three), actions=(1,) * 9, cards=("", "", ""), board="Td9d6hQc7s")
    with pytest.raises(ValueError, match="3 players began this street"):
        spot.advise(hand, 6, 1.0)


def test_a_spot_has_dead_chips_and_the_shorter_stack():
    rules = HoldemRules(
        blinds=(50, 100, 0), stacks=(2000, 900, 5000), first_seats=(2, 0, 0, 0), board_cards=(0, 3, 1, 1)
    )
    actions = (300, 1, 1, 1, 500, 0, 1, 1, 1, 1500, 1)
    hand = asked(game=game_definition_text(rules), actions=actions, cards=("", "", ""), board="Td9d6hQc7s")
    street = next(k for k, action in enumerate(hand.actions) if action.street == 3)
    spot = spot_of_street(hand, street, np.ones((3, rules.num_combos)))
    assert spot.pot == 1300 and spot.stacks == (1500, 400)
    assert spot.subgame().betting()[0].decisions


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"game": "hello"}, "does not belong to a game definition"),
        ({"actions": (300, 1, 1, 99_999)}, "action 4 of seat 1 on street 1"),
        ({"board": "Td9d"}, "the board needs 5 to 5 cards"),
        ({"board": "Td9d6hQcAs"}, "As is dealt twice"),
        ({"cards": ("QhJh",)}, "cards must list 2 seats"),
        ({"cards": ("QhJh", "As")}, "cards must list 2 seats"),
        ({"cards": ("QhJh", "hello")}, "hello"),
        ({"decisions": (11,)}, "the hand has 11 decisions, got 11"),
        ({"game": game_definition_text(LEDUC), "actions": (1,), "cards": ("As", "Qs"), "board": ""}, "has no As"),
    ],
)
def test_a_broken_question_is_refused_where_it_is_broken(fields, words):
    with pytest.raises(ValueError, match=words):
        asked(**fields)
