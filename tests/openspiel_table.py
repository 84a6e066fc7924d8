"""Agents and hands for tests of the bridges to OpenSpiel."""

import numpy as np
import pyspiel
from open_spiel.python import policy
from open_spiel.python.algorithms import evaluate_bots

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.base import Action, Agent, Board, Deal, RangeAgent, Strategy
from plurispiel.agents.openspiel import (
    OpenSpielBot,
    agent_policy,
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


def told(spy):
    """Return the events of the spy's last hand."""
    start = max(k for k, entry in enumerate(spy.log) if entry[0] == "restart")
    return [entry for entry in spy.log[start:] if isinstance(entry, Deal | Action | Board)]


def exploitability_of(agent, game):
    """Return the exploitability of an agent by OpenSpiel's C++."""
    tabular = policy.tabular_policy_from_callable(game, agent_policy(agent, game))
    return pyspiel.exploitability(game, policy.python_policy_to_pyspiel_policy(tabular))


def play(rules, agents, rng):
    """Play a hand at our table, without faults."""
    hand = play_hand(rules, agents, deal_deck(rules, rng), rng.spawn(len(agents)))
    assert not hand.faults
    return hand.payoffs


def pyspiel_random(game, player, rng):
    return pyspiel.make_uniform_random_bot(player, int(rng.integers(2**31)))


def stateful_random(game, player, rng):
    """OpenSpiel's bot that checks every inform_action against its own copy of the state."""
    return pyspiel.make_stateful_random_bot(game, player, int(rng.integers(2**31)))
