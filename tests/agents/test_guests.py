"""OpenSpiel's bots, policies and solvers at our table."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability
from openspiel_table import (
    Caller,
    Uniform,
    exploitability_of,
    play,
    pyspiel_random,
    stateful_random,
)

from plurispiel.abstraction.holdem.openspiel import load_game, parse_game
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.openspiel import (
    OPENSPIEL_BOTS,
    BotAgent,
    OpenSpielBot,
    PolicyAgent,
    agent_policy,
    openspiel_agent,
)
from plurispiel.evaluation.hand import deal_deck, play_hand


def test_policy_agent_is_uniform_where_the_policy_is_silent():
    game = pyspiel.load_game("kuhn_poker")
    empty = agent_policy(PolicyAgent(pyspiel.TabularPolicy({}), game), game)
    assert exploitability.nash_conv(game, empty) == pytest.approx(0.9166666666666666)


def test_policy_agent_at_a_universal_poker_table():
    solver = pyspiel.CFRPlusSolver(pyspiel.load_game("leduc_poker"))
    for _ in range(50):
        solver.evaluate_and_update_policy()
    solved = PolicyAgent(solver.tabular_average_policy(), "leduc_poker")
    rng = np.random.default_rng(7)
    gains = [play(LEDUC, [solved, Uniform()], rng)[0] + play(LEDUC, [Uniform(), solved], rng)[1] for _ in range(500)]
    assert np.mean(gains) > 1.0
    assert exploitability_of(solved, load_game(LEDUC)) < 0.05


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, no_limit_holdem(9), HULH, LEDUC, KUHN])
@pytest.mark.parametrize("make_bot", [pyspiel_random, stateful_random])
def test_bots_are_informed_as_by_openspiel(rules, make_bot):
    if rules.betting_abstraction == "fullgame":
        rules = rules.with_menu("fchpa")
    rng = np.random.default_rng(8)
    agents = [BotAgent(make_bot) for _ in range(rules.num_seats)]
    for _ in range(40):
        play(rules, agents, rng)


def test_bots_see_no_hidden_cards():
    """What a bot is handed does not change with the cards of others."""
    seen = []

    class Watcher(pyspiel.Bot):
        def restart(self):
            seen.append("restart")

        def inform_action(self, state, player_id, action):
            seen.append((str(state), player_id, action))

        def step(self, state):
            seen.append(str(state))
            return 1

    logs = []
    deck = deal_deck(SIXMAX, np.random.default_rng(9))
    hidden = [k for k in range(12) if k not in (4, 5)]
    for shift in range(6):
        other = deck.copy()
        other[hidden] = np.roll(deck[hidden], shift)
        seen.clear()
        agents = [Caller(), Caller(), BotAgent(lambda *_: Watcher()), Caller(), Caller(), Caller()]
        assert not play_hand(SIXMAX, agents, other, [np.random.default_rng(0)] * 6).faults
        logs.append(repr(seen))
    assert len(set(logs)) == 1


def test_native_bot_at_a_universal_poker_table():
    rng = np.random.default_rng(10)
    native = BotAgent(pyspiel_random, "kuhn_poker")
    results = [play(KUHN, [native, Uniform()], rng) for _ in range(2_000)]
    assert np.mean(results, axis=0) == pytest.approx([0.125, -0.125], abs=0.1)


def test_bot_of_another_game_is_refused():
    agent = BotAgent(pyspiel_random, "kuhn_poker")
    with pytest.raises(ValueError, match=r"the bot or policy plays kuhn_poker\(\), which has other rules"):
        agent.restart(LEDUC, 0, np.random.default_rng(0))


def test_bot_round_trip():
    """An OpenSpiel bot as an agent as an OpenSpiel bot plays as before."""
    game = load_game(LEDUC)
    bots = [OpenSpielBot(BotAgent(pyspiel_random), game, player) for player in range(2)]
    results = [pyspiel.evaluate_bots(game.new_initial_state(), bots, hand) for hand in range(2_000)]
    assert np.mean(results, axis=0)[0] == pytest.approx(-0.078, abs=0.35)


@pytest.mark.parametrize(
    ("bot", "options"),
    [
        ("uniform_random", {}),
        ("fixed_action_preference", {}),
        ("fixed_action_preference", {"actions": "2:1"}),
        ("uniform_restricted_actions", {"policy_name": "AlwaysCall"}),
        ("uniform_restricted_actions", {"policy_name": "AlwaysFold"}),
        ("uniform_restricted_actions", {"policy_name": "AlwaysRaise"}),
        ("uniform_restricted_actions", {"policy_name": "HalfCallHalfRaise"}),
    ],
)
@pytest.mark.parametrize("rules", [HUNL, SIXMAX.with_menu("fcpa"), HULH, LEDUC, KUHN])
def test_registered_bots_play(bot, options, rules):
    rng = np.random.default_rng(11)
    agents = [openspiel_agent(bot, options) for _ in range(rules.num_seats)]
    for _ in range(10):
        play(rules, agents, rng)


def test_registered_bots_draw_from_the_hands_stream():
    agent = openspiel_agent("uniform_restricted_actions", {"policy_name": "HalfCallHalfRaise"})
    deck = deal_deck(HULH, np.random.default_rng(12))

    def actions(seed):
        rngs = np.random.default_rng(seed).spawn(2)
        return play_hand(HULH, [agent, Caller()], deck, rngs).actions

    assert actions(1) == actions(1)
    assert len({actions(seed) for seed in range(10)}) > 3


@pytest.mark.parametrize(
    ("solver", "rules", "iterations", "bound"),
    [("cfr", KUHN, "100", 0.02), ("cfr+", LEDUC, "100", 0.02), ("mccfr", KUHN, "20000", 0.01)],
    ids=["cfr", "cfr+", "mccfr"],
)
def test_solvers(solver, rules, iterations, bound):
    agent = openspiel_agent(solver, {"iterations": iterations})
    game = load_game(rules)
    assert exploitability_of(agent, game) < bound


def test_solver_of_a_game_without_a_native_twin():
    rules = parse_game("universal_poker(betting=limit,numRounds=1,blind=1 2,raiseSize=2 2,maxRaises=1 1,numRanks=3)")
    agent = openspiel_agent("cfr+", {"iterations": "50"})
    game = load_game(rules)
    assert exploitability_of(agent, game) < 0.05


@pytest.mark.parametrize("rules", [HUNL, HUNL.with_menu("fcpa"), HULH, SIXMAX, parse_game("leduc_poker(players=3)")])
def test_solvers_refuse_large_games(rules):
    with pytest.raises(ValueError, match="small games, such as LEDUC"):
        openspiel_agent("cfr", {}).restart(rules, 0, np.random.default_rng(0))


def test_spec_names():
    assert set(pyspiel.registered_bots()) < set(OPENSPIEL_BOTS)
    assert openspiel_agent("cfr", {}).name == "openspiel:cfr"


@pytest.mark.parametrize(
    ("bot", "options", "message"),
    [
        ("alphago", {}, "OpenSpiel has no bot 'alphago' for poker: choose from fixed_action_preference"),
        ("", {}, "OpenSpiel has no bot ''"),
        ("uniform_random", {"foo": "1"}, "takes no options, got foo=1"),
        ("uniform_restricted_actions", {}, r"needs \?policy_name="),
        ("uniform_restricted_actions", {"policy_name": "AlwaysWin"}, "one of AlwaysCall, .* got 'AlwaysWin'"),
        ("cfr", {"iterations": "many"}, "a whole number from 1, got 'many'"),
        ("cfr", {"iterations": "0"}, "a whole number from 1, got '0'"),
        ("mccfr", {"seed": "3"}, "takes iterations, got seed=3"),
        ("fixed_action_preference", {"actions": "call"}, "ids such as 0:1:2, got 'call'"),
    ],
)
def test_spec_refusals(bot, options, message):
    with pytest.raises(ValueError, match=message):
        openspiel_agent(bot, options)
