"""Agents in OpenSpiel's loops, as bots and as agents of its reinforcement learning."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import evaluate_bots
from open_spiel.python.bots import uniform_random
from openspiel_table import (
    HOLDEM,
    NATIVE,
    Caller,
    Fixed,
    Spy,
    Uniform,
    loops,
    pyspiel_random,
    stateful_random,
)

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, load_game
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.agents.base import Action
from plurispiel.agents.openspiel import (
    BotAgent,
    OpenSpielBot,
    RLAgent,
)


def test_python_and_cpp_bots():
    game = pyspiel.load_game("kuhn_poker")
    for bots in (
        [pyspiel.make_uniform_random_bot(0, 1234), OpenSpielBot(Uniform(), game, 1)],
        [OpenSpielBot(Uniform(), game, 0), uniform_random.UniformRandomBot(1, np.random.RandomState(4321))],
    ):
        results = [pyspiel.evaluate_bots(game.new_initial_state(), bots, hand) for hand in range(4_000)]
        assert np.mean(results, axis=0) == pytest.approx([0.125, -0.125], abs=0.1)


def test_python_loop():
    game = pyspiel.load_game("kuhn_poker")
    bots = [OpenSpielBot(Uniform(), game, 0), OpenSpielBot(Uniform(), game, 1)]
    rng = np.random.RandomState(1)
    results = [evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng) for _ in range(2_500)]
    assert np.mean(results, axis=0) == pytest.approx([0.125, -0.125], abs=0.1)


def test_policy_is_uniform():
    game = pyspiel.load_game("leduc_poker")
    bots = [OpenSpielBot(Uniform(), game, player) for player in range(2)]
    state = game.new_initial_state()
    state.apply_action(2)
    state.apply_action(4)
    probabilities, action = bots[0].step_with_policy(state)
    assert probabilities == [(1, 0.5), (2, 0.5)] == bots[0].get_policy(state)
    assert action in (1, 2)
    state.apply_action(2)
    probabilities, action = bots[1].step_with_policy(state)
    assert probabilities == [(0, 1 / 3), (1, 1 / 3), (2, 1 / 3)] == bots[1].get_policy(state)
    assert action in (0, 1, 2)


def test_no_legal_actions():
    game = pyspiel.load_game("kuhn_poker")
    bot = OpenSpielBot(Uniform(), game, 0)
    state = game.new_initial_state()
    for action in (2, 1, 1, 0):
        assert state.current_player() == 0 or bot.step_with_policy(state) == ([], pyspiel.INVALID_ACTION)
        state.apply_action(action)
    bot.restart_at(state)
    assert bot.step_with_policy(state) == ([], pyspiel.INVALID_ACTION)
    assert bot.step(state) == pyspiel.INVALID_ACTION
    assert bot.get_policy(state) == []


@pytest.mark.parametrize("text", HOLDEM + NATIVE + ["leduc_poker(players=3)", "kuhn_poker(players=4)"])
def test_hands_are_played_to_the_end(text):
    game = OpenSpielGame(text)
    agents = [Uniform(), BotAgent(pyspiel_random), Caller()] + [BotAgent(stateful_random) for _ in range(3)]
    bots = [OpenSpielBot(agents[player], game, player, seed=7) for player in range(game.rules.num_seats)]
    rng = np.random.default_rng(1)
    for loop in loops(rng):
        for _ in range(20):
            returns = loop(game.game.new_initial_state(), bots)
            assert sum(returns) == pytest.approx(0.0, abs=1e-9)


def test_same_seed_same_play():
    def play(seed):
        bots = [OpenSpielBot(Uniform(), "HUNL", player, seed) for player in range(2)]
        return [pyspiel.evaluate_bots(load_game(HUNL).new_initial_state(), bots, hand) for hand in range(20)]

    assert play(3) == play(3) != play(4)


def test_clone_knows_the_same_and_draws_its_own():
    game = OpenSpielGame("HUNL")
    state = game.replay(range(9), [300])
    bot = OpenSpielBot(Spy(), game, 0, seed=1)
    bot.restart_at(state)
    told = list(bot.agent.log)
    draws = set()
    for _ in range(8):
        twin = bot.clone()
        assert twin.get_policy(state) == bot.get_policy(state)
        assert twin.agent.log == told
        draws.add(twin.step(state))
        assert bot.agent.log == told  # independent
    assert len(draws) > 2  # OpenSpiel: "no correlation between the original bot and its clone"
    again = OpenSpielBot(Spy(), game, 0, seed=1)
    again.restart_at(state)
    assert again.clone().step(state) in draws
    assert again.step(state) == bot.step(state)


def test_clone_through_cpp():
    game = pyspiel.load_game("leduc_poker")
    bots = [OpenSpielBot(Uniform(), game, player).clone() for player in range(2)]
    assert all(bot.is_clonable() and bot.provides_policy() for bot in bots)
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 1)) == 0.0


def test_policy_in_a_fullgame_names_every_raise():
    state = OpenSpielGame("HUNL").replay(range(9), [300])
    listed = dict(OpenSpielBot(Uniform(), "HUNL", 0).get_policy(state))
    assert list(listed) == state.legal_actions()
    assert sum(listed.values()) == pytest.approx(1.0)
    assert listed[500] == pytest.approx(1 / 3 / (20_000 - 500 + 1))


def test_policy_of_an_agent_that_only_acts():
    state = OpenSpielGame("HUNL").replay(range(9), [300])
    bot = OpenSpielBot(Caller(), "HUNL", 0)
    assert bot.step_with_policy(state) == ([(1, 1.0)], 1)


@pytest.mark.parametrize(("action", "game"), [(777, "leduc_poker"), (150, "HUNL"), (-1, "HUNL"), (20_001, "HUNL")])
def test_illegal_answers_are_refused(action, game):
    game = OpenSpielGame(game)
    state = game.replay(game.rules.cards.tolist(), [])
    bot = OpenSpielBot(Fixed(action), game, state.current_player())
    with pytest.raises(ValueError, match=f"Fixed answers {action}: legal are"):
        bot.step(state)


def test_bot_arguments():
    with pytest.raises(ValueError, match="player_id must be 0..1"):
        OpenSpielBot(Uniform(), "HUNL", 2)
    with pytest.raises(ValueError, match="tic_tac_toe"):
        OpenSpielBot(Uniform(), pyspiel.load_game("tic_tac_toe"), 0)
    assert OpenSpielBot(Uniform(), "HUNL", 1).player_id() == 1


@pytest.mark.parametrize("text", [*NATIVE, "universal_poker"])
def test_rl_agent(text):
    game = load_game(LEDUC) if text == "universal_poker" else pyspiel.load_game(text)
    environment = rl_environment.Environment(game, include_full_state=True)
    environment.seed(1)
    spies = [Spy(), Spy()]
    agents = [RLAgent(player, spy, game) for player, spy in enumerate(spies)]
    for _ in range(30):
        time_step = environment.reset()
        while not time_step.last():
            player = time_step.observations["current_player"]
            output = agents[player].step(time_step)
            assert output.probs.shape == (game.num_distinct_actions(),)
            legal = time_step.observations["legal_actions"][player]
            assert np.flatnonzero(output.probs).tolist() == legal
            time_step = environment.step([output.action])
        for agent in agents:
            assert agent.step(time_step) is None
    actions = [[entry for entry in spy.log if isinstance(entry, Action)] for spy in spies]
    assert actions[0] == actions[1]  # both saw every hand to its end


def test_rl_agent_needs_the_state():
    time_step = rl_environment.Environment("kuhn_poker").reset()
    with pytest.raises(ValueError, match="include_full_state=True"):
        RLAgent(0, Uniform(), "kuhn_poker").step(time_step)
