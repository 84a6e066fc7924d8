"""An agent's strategy, read out at every infoset."""

import functools

import numpy as np
import pytest

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.trees.game_tree import flatten, join_strategies, strategy_from_policy, uniform_strategy
from plurispiel.agents.base import CALL, FOLD, Agent, Decision
from plurispiel.agents.factory import make_agent
from plurispiel.agents.openspiel import agent_policy
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import expected_values, exploitability
from plurispiel.evaluation.hand import deal_deck, play_hand

tree_of = functools.cache(flatten)


class Mixer(Agent):
    """Folds one time in four to a bet, without a `range_strategy`; the probabilities are in its decisions."""

    def act(self, view):
        if not view.public.can_fold:
            return CALL
        actions, chances = (FOLD, CALL), (0.25, 0.75)
        return Decision(int(self.rng.choice(actions, p=chances)), actions, chances)


class Counter(Agent):
    """Calls with the higher half of its cards: a bare answer, always the same."""

    def act(self, view):
        return CALL if view.hole_cards[0] >= 4 or not view.public.can_fold else FOLD


class Tosser(Agent):
    """Tosses a coin and does not say so."""

    def act(self, view):
        return CALL if not view.public.can_fold or self.rng.random() < 0.9 else FOLD


class Broken(Agent):
    def act(self, view):
        raise ZeroDivisionError("oops")


class Illegal(Agent):
    def act(self, view):
        return 777


def test_range_strategies():
    for game in ("leduc", "LEDUC", "kuhn3"):
        tree = tree_of(game)
        np.testing.assert_allclose(strategy_from_agent(tree, make_agent("random")), uniform_strategy(tree))
    tree = tree_of("leduc")
    for spec in ("tag", "equity", "openspiel:cfr?iterations=10"):
        agent = make_agent(spec)
        expected = strategy_from_policy(tree, agent_policy(agent, OpenSpielGame("leduc_poker")))
        np.testing.assert_array_equal(strategy_from_agent(tree, agent), expected)


def test_agents_that_only_act():
    tree = tree_of("kuhn")
    mixed = strategy_from_agent(tree, Mixer())
    called = strategy_from_agent(tree, Counter())
    for number, key in enumerate(tree.infoset_keys):
        first = tree.infoset_first[number]
        facing_bet = key.endswith("b")
        assert mixed[first : first + 2].tolist() == ([0.25, 0.75] if facing_bet else [1.0, 0.0])
        keeps = int(key[0]) >= 1
        assert called[first : first + 2].tolist() == ([0.0, 1.0] if facing_bet and keeps else [1.0, 0.0])


def test_openspiel_guests():
    tree = tree_of("leduc")
    found = {
        spec: exploitability(tree, strategy_from_agent(tree, make_agent(spec))).nash_conv
        for spec in ("call", "openspiel:uniform_restricted_actions?policy_name=AlwaysCall", "raise")
    }
    assert found["call"] == found["openspiel:uniform_restricted_actions?policy_name=AlwaysCall"]
    # What CFR's average strategy comes to after so many iterations, by another program.
    cfr = strategy_from_agent(tree, make_agent("openspiel:cfr?iterations=100"))
    assert exploitability(tree, cfr).exploitability == pytest.approx(0.0957, rel=0.01)


def test_bots_that_tell_their_probabilities():
    for game in ("leduc", "LEDUC", "kuhn3"):
        tree = tree_of(game)
        actual = strategy_from_agent(tree, make_agent("openspiel:uniform_random"))
        np.testing.assert_allclose(actual, uniform_strategy(tree))
    half = make_agent("openspiel:uniform_restricted_actions?policy_name=HalfCallHalfRaise")
    actual = strategy_from_agent(tree_of("leduc"), half)
    assert set(actual) == {0.0, 0.5, 1.0}


@pytest.mark.parametrize(
    ("game", "agent", "message"),
    [
        ("leduc", Tosser(), "Tosser cannot be read: it answers .* or .* to the same view without telling"),
        ("kuhn", Broken(), "Broken cannot be read: ZeroDivisionError: oops"),
        ("kuhn", Illegal(), "Illegal cannot be read: Illegal answers 777"),
        ("tiny_hanabi", make_agent("call"), "agents play universal_poker, .* got tiny_hanabi; give the policy"),
    ],
)
def test_what_cannot_be_read(game, agent, message):
    with pytest.raises(ValueError, match=message):
        strategy_from_agent(tree_of(game), agent)


def check_value(seats, num_hands):
    """Compare what the tree says of agents at a table with hands that they play."""
    tree = tree_of("leduc")
    rules = OpenSpielGame("leduc_poker").rules
    agents = [make_agent(spec) for spec in seats]
    strategies = [strategy_from_agent(tree, agent) for agent in agents]
    value = expected_values(tree, join_strategies(tree, strategies))[0]
    chips = np.empty(num_hands)
    for number in range(num_hands):
        seeds = np.random.SeedSequence((7, number)).spawn(3)
        deck = deal_deck(rules, np.random.default_rng(seeds[2]))
        hand = play_hand(rules, agents, deck, [np.random.default_rng(seed) for seed in seeds[:2]])
        assert not hand.faults
        chips[number] = hand.payoffs[0]
    assert abs(chips.mean() - value) < 4 * chips.std() / np.sqrt(num_hands)
    assert abs(value) > 8 * chips.std() / np.sqrt(num_hands)  # so that 0 would not pass


@pytest.mark.parametrize("seats", [("tag", "random"), ("random", "openspiel:cfr+?iterations=20")])
def test_value_is_that_of_play(seats):
    check_value(seats, 3_000)


@pytest.mark.slow
@pytest.mark.parametrize("seats", [("tag", "random"), ("random", "openspiel:cfr+?iterations=20")])
def test_value_is_that_of_100_000_hands(seats):
    check_value(seats, 100_000)
