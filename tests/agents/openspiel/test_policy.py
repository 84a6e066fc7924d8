"""Agents as OpenSpiel's policies."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy
from open_spiel.python.algorithms import expected_game_score, exploitability, get_all_states
from openspiel_table import (
    NATIVE,
    Caller,
    Uniform,
    exploitability_of,
)

from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.openspiel import (
    PolicyAgent,
    agent_policy,
)


@pytest.mark.parametrize(
    ("text", "nash_conv"),
    [pytest.param("leduc_poker", 4.747222222222222, marks=pytest.mark.slow), ("kuhn_poker", 0.9166666666666666)],
)
def test_policy_in_openspiels_algorithms(text, nash_conv):
    game = pyspiel.load_game(text)
    ours = agent_policy(Uniform(), game)
    for state in get_all_states.get_all_states(game, include_chance_states=False).values():
        if not state.is_terminal():
            listed = ours.action_probabilities(state)
            assert sorted(listed) == state.legal_actions()
            assert sum(listed.values()) == pytest.approx(1.0)
    assert exploitability.nash_conv(game, ours) == pytest.approx(nash_conv)
    tabular = policy.python_policy_to_pyspiel_policy(policy.tabular_policy_from_callable(game, ours))
    assert pyspiel.nash_conv(game, tabular) == pytest.approx(nash_conv)
    scores = expected_game_score.policy_value(game.new_initial_state(), [ours] * 2)
    assert scores[0] == pytest.approx({"leduc_poker": -0.078125, "kuhn_poker": 0.125}[text])


def test_policy_of_universal_poker():
    assert exploitability_of(Uniform(), load_game(LEDUC)) == pytest.approx(4.747222222222222 / 2)


def test_agents_without_a_range_strategy_have_no_policy():
    with pytest.raises(ValueError, match="Caller does not tell its strategy"):
        agent_policy(Caller(), "leduc_poker")


@pytest.mark.parametrize("text", NATIVE)
def test_policy_round_trip(text):
    """A policy as an agent as a policy is the policy."""
    game = pyspiel.load_game(text)
    random = policy.TabularPolicy(game)
    rng = np.random.default_rng(6)
    random.action_probability_array *= rng.random(random.action_probability_array.shape)
    random.action_probability_array /= random.action_probability_array.sum(axis=1, keepdims=True)
    for given in (random, policy.python_policy_to_pyspiel_policy(random)):
        back = policy.tabular_policy_from_callable(game, agent_policy(PolicyAgent(given, game), text))
        np.testing.assert_allclose(back.action_probability_array, random.action_probability_array, atol=1e-12)
