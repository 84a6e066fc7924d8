"""What a bot tells its agent, from any state and nothing but what its seat may know."""

import numpy as np
import pyspiel
import pytest
from openspiel_table import (
    HOLDEM,
    NATIVE,
    Scripted,
    Spy,
    Uniform,
    as_ours,
    random_hand,
    told,
)

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_string
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.openspiel import (
    OpenSpielBot,
)
from plurispiel.evaluation.hand import play_hand


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
        for log, spy in zip(logs, spies, strict=True):
            # OpenSpiel does not inform a bot of its own last action; the bot knows it all the same.
            assert log == spy.log


@pytest.mark.parametrize("text", ["SIXMAX", game_string(HUNL.with_menu("fcpa")), "leduc_poker"])
def test_hidden_cards_change_nothing(text):
    game = OpenSpielGame(text)
    rules, rng = game.rules, np.random.default_rng(3)
    for seat in (0, 1):
        for _ in range(2):
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
