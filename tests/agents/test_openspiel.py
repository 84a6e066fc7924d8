"""Agents in OpenSpiel's loops and algorithms, and OpenSpiel's bots, policies and solvers at our table."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy, rl_environment
from open_spiel.python.algorithms import evaluate_bots, expected_game_score, exploitability, get_all_states
from open_spiel.python.bots import uniform_random

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_string, load_game, parse_game
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.base import Action, Agent, Board, Deal, RangeAgent, Strategy
from plurispiel.agents.openspiel import (
    OPENSPIEL_BOTS,
    BotAgent,
    OpenSpielBot,
    PolicyAgent,
    RLAgent,
    agent_policy,
    openspiel_agent,
)
from plurispiel.evaluation.hand import deal_deck, play_hand

NATIVE = ["leduc_poker", "kuhn_poker"]
HOLDEM = [game_string(HUNL.with_menu(menu)) for menu in ("fullgame", "fchpa", "fcpa", "fc")] + ["SIXMAX", "HULH"]


class Uniform(RangeAgent):
    """Uniform over fold, call and the menu; where every size is on offer, one uniformly drawn raise."""

    def strategy(self, public, combo_ids):
        actions = ([0] if public.can_fold else []) + [1]
        highest = list(actions)
        if public.menu is not None:
            actions += public.menu
            highest += public.menu
        elif public.max_raise:
            actions.append(public.min_raise)
            highest.append(public.max_raise)
        rows = np.full((len(combo_ids), len(actions)), 1.0 / len(actions))
        return Strategy(np.array(actions), rows, np.array(highest))


class Caller(Agent):
    def act(self, view):
        return 1


class Spy(Uniform):
    """Keeps all it is told and asked."""

    def __init__(self):
        self.log = []

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.log.append(("restart", seat))

    def observe(self, event):
        self.log.append(event)

    def act(self, view):
        public = view.public
        facts = (public.board, public.actions, public.contributions, public.min_raise, public.max_raise)
        self.log.append((view.seat, view.hole_cards, facts))
        return super().act(view)


class Fixed(Agent):
    """Answers the same whatever the rules say."""

    def __init__(self, action):
        self.action = action

    def act(self, view):
        return self.action


def loops(rng):
    """Return OpenSpiel's two loops as functions of a state and bots."""
    return [
        lambda state, bots: pyspiel.evaluate_bots(state, bots, int(rng.integers(2**31))),
        lambda state, bots: evaluate_bots.evaluate_bots(state, bots, np.random.RandomState(int(rng.integers(2**31)))),
    ]


def random_hand(game, rng):
    """Return the states along a random hand."""
    state, states = game.game.new_initial_state(), []
    while not state.is_terminal():
        states.append(state.clone())
        legal = state.legal_actions()
        if state.is_chance_node() or len(legal) < 5:
            state.apply_action(int(rng.choice(legal)))
        else:  # shoving hands say little
            state.apply_action(int(rng.choice([1, *legal[: 1 if rng.integers(2) else 40]])))
    return [*states, state]


# Bots: OpenSpiel's own tests, then ours.


def test_python_and_cpp_bots():
    game = pyspiel.load_game("kuhn_poker")
    for bots in (
        [pyspiel.make_uniform_random_bot(0, 1234), OpenSpielBot(Uniform(), game, 1)],
        [OpenSpielBot(Uniform(), game, 0), uniform_random.UniformRandomBot(1, np.random.RandomState(4321))],
    ):
        results = [pyspiel.evaluate_bots(game.new_initial_state(), bots, hand) for hand in range(10_000)]
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


@pytest.mark.parametrize("text", ["HUNL", "SIXMAX", "HULH", "leduc_poker(players=3)"])
def test_events_are_those_of_our_table(text):
    game = OpenSpielGame(text)
    rng = np.random.default_rng(2)
    spies = [Spy() for _ in range(game.rules.num_seats)]
    bots = [OpenSpielBot(spy, game, player) for player, spy in enumerate(spies)]
    for _ in range(30):
        for spy in spies:
            spy.log.clear()
        state = game.game.new_initial_state()
        pyspiel.evaluate_bots(state, bots, int(rng.integers(2**31)))
        deck, actions = as_ours(game, state.history())
        logs = [spy.log[:] for spy in spies]
        for spy in spies:
            spy.log.clear()
        play_hand(game.rules, [Scripted(spy, actions) for spy in spies], deck, [rng] * len(spies))
        for told, spy in zip(logs, spies, strict=True):
            # OpenSpiel does not inform a bot of its own last action; the bot knows it all the same.
            assert told == spy.log


class Scripted(Agent):
    """Asks the spy, and plays the action of a hand."""

    def __init__(self, spy, actions):
        self.spy, self.actions = spy, actions

    def restart(self, rules, seat, rng):
        self.spy.restart(rules, seat, rng)

    def observe(self, event):
        self.spy.observe(event)

    def act(self, view):
        self.spy.act(view)
        return self.actions[len(view.public.actions)].action


def as_ours(game, history):
    """Return the deck (unknown board cards 0) and the actions of a finished history."""
    spy = Spy()
    bot = OpenSpielBot(spy, game, 0)
    state = game.game.new_initial_state()
    for number in history:
        bot.inform_action(state, state.current_player(), number)
        state.apply_action(number)
    dealt = game.rules.num_seats * game.rules.num_hole_cards
    board = [card for event in spy.log if isinstance(event, Board) for card in event.cards]
    deck = [game.card(number) for number in history[:dealt]] + board
    deck += [card for card in game.rules.cards.tolist() if card not in deck][: game.rules.num_dealt_cards - len(deck)]
    return np.array(deck, dtype=np.uint8), [event for event in spy.log if isinstance(event, Action)]


@pytest.mark.parametrize("text", ["SIXMAX", game_string(HUNL.with_menu("fcpa")), "leduc_poker"])
def test_hidden_cards_change_nothing(text):
    game = OpenSpielGame(text)
    rules, rng = game.rules, np.random.default_rng(3)
    for seat in (0, 1):
        for _ in range(4):
            history = random_hand(game, rng)[-1].history()
            first, dealt = seat * rules.num_hole_cards, rules.num_seats * rules.num_hole_cards
            hidden = [k for k in range(dealt) if not first <= k < first + rules.num_hole_cards]
            known = {history[k] for k in range(len(history)) if k not in hidden}
            free = [number for number in range(len(rules.cards)) if number not in known]
            other = list(history)
            for k, number in zip(hidden, rng.permutation(free), strict=False):
                other[k] = int(number)
            logs = []
            for ids in (history, other):
                spy = Spy()
                bot = OpenSpielBot(spy, game, seat)
                state = game.game.new_initial_state()
                answers = []
                for number in ids:
                    if state.current_player() == seat:
                        answers.append((bot.get_policy(state), bot.step_with_policy(state)))
                    else:
                        bot.inform_action(state, state.current_player(), number)
                    state.apply_action(number)
                logs.append(repr((spy.log, answers)).encode())
            if text != "leduc_poker":  # there a card that another seat holds may equal one on the known board
                assert history != other
            assert logs[0] == logs[1]


@pytest.mark.parametrize("text", [*HOLDEM, *NATIVE])
def test_restart_in_mid_hand_is_exact(text):
    """A bot that joins knows what one that followed knows, and goes on with the same actions."""
    game = OpenSpielGame(text)
    rng = np.random.default_rng(4)
    for hand in range(8):
        player = hand % game.rules.num_seats
        followed = OpenSpielBot(spy := Spy(), game, player, seed=hand)
        followed.restart()
        state = game.game.new_initial_state()
        while not state.is_terminal():
            if state.current_player() == player:
                joined = OpenSpielBot(late := Spy(), game, player, seed=hand)
                joined.restart_at(state)
                assert joined.get_policy(state) == OpenSpielBot(Uniform(), game, player).get_policy(state)
                action = joined.step(state)
                assert followed.step(state) == action
                assert told(late) == told(spy)
            else:
                action = int(rng.choice(state.legal_actions()[:6]))
                followed.inform_action(state, state.current_player(), action)
            state.apply_action(action)


def told(spy):
    """Return the events of the spy's last hand."""
    start = max(k for k, entry in enumerate(spy.log) if entry[0] == "restart")
    return [entry for entry in spy.log[start:] if isinstance(entry, Deal | Action | Board)]


def test_states_in_any_order():
    """A bot goes by the state it is handed, whatever it saw before."""
    game = OpenSpielGame("HUNL")
    rng = np.random.default_rng(5)
    states = [state for _ in range(5) for state in random_hand(game, rng) if state.current_player() == 0]
    bot = OpenSpielBot(spy := Spy(), game, 0)
    for k in rng.permutation(len(states)).tolist() * 2:
        fresh = OpenSpielBot(other := Spy(), game, 0)
        fresh.step(states[k])
        bot.step(states[k])
        assert told(spy)[:-1] == told(other)[:-1]  # the last is the bot's own action


def test_clone_knows_the_same_and_draws_its_own():
    game = OpenSpielGame("HUNL")
    state = game.replay(range(9), [300])
    bot = OpenSpielBot(Spy(), game, 0, seed=1)
    bot.restart_at(state)
    told = list(bot._agent.log)
    draws = set()
    for _ in range(8):
        twin = bot.clone()
        assert twin.get_policy(state) == bot.get_policy(state)
        assert twin._agent.log == told
        draws.add(twin.step(state))
        assert bot._agent.log == told  # independent
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


# Policies.


@pytest.mark.parametrize(
    ("text", "nash_conv"), [("leduc_poker", 4.747222222222222), ("kuhn_poker", 0.9166666666666666)]
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


def exploitability_of(agent, game):
    """Return the exploitability of an agent by OpenSpiel's C++."""
    tabular = policy.tabular_policy_from_callable(game, agent_policy(agent, game))
    return pyspiel.exploitability(game, policy.python_policy_to_pyspiel_policy(tabular))


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


# Guests at our table.


def pyspiel_random(game, player, rng):
    return pyspiel.make_uniform_random_bot(player, int(rng.integers(2**31)))


def stateful_random(game, player, rng):
    """OpenSpiel's bot that checks every inform_action against its own copy of the state."""
    return pyspiel.make_stateful_random_bot(game, player, int(rng.integers(2**31)))


def play(rules, agents, rng):
    """Play a hand at our table, without faults."""
    hand = play_hand(rules, agents, deal_deck(rules, rng), rng.spawn(len(agents)))
    assert not hand.faults
    return hand.payoffs


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
    results = [play(KUHN, [native, Uniform()], rng) for _ in range(5_000)]
    assert np.mean(results, axis=0) == pytest.approx([0.125, -0.125], abs=0.1)


def test_bot_of_another_game_is_refused():
    agent = BotAgent(pyspiel_random, "kuhn_poker")
    with pytest.raises(ValueError, match=r"the guest plays kuhn_poker\(\), which has other rules"):
        agent.restart(LEDUC, 0, np.random.default_rng(0))


def test_bot_round_trip():
    """An OpenSpiel bot as an agent as an OpenSpiel bot plays as before."""
    game = load_game(LEDUC)
    bots = [OpenSpielBot(BotAgent(pyspiel_random), game, player) for player in range(2)]
    results = [pyspiel.evaluate_bots(game.new_initial_state(), bots, hand) for hand in range(2_000)]
    assert np.mean(results, axis=0)[0] == pytest.approx(-0.078, abs=0.35)


# Specs.


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
    ("solver", "iterations", "bound"), [("cfr", "100", 0.12), ("cfr+", "100", 0.02), ("mccfr", "20000", 0.2)]
)
@pytest.mark.parametrize("rules", [LEDUC, KUHN], ids=["LEDUC", "KUHN"])
def test_solvers(solver, iterations, bound, rules):
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
    with pytest.raises(ValueError, match="as small as LEDUC"):
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


# Reinforcement learning.


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
