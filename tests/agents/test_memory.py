"""Agents of this package keep nothing between hands: in whatever order these come, each is played as by a new agent."""

import functools
import os
import random

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.base import Action, Agent, PublicState
from plurispiel.agents.blueprint import library
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.continual.table import TableAgent, TableConfig
from plurispiel.agents.factory import make_agent
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.specs import BUILT_IN
from plurispiel.evaluation.hand import deal_deck, play_hand

THREE = no_limit_holdem(3, 2_000)
FEW = SearchConfig(iterations=4, threads=1, cards="blueprint", run_outs=2, last_boards=1, later_sizes=("allin",))
needs_compiler = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


blueprint_of = functools.cache(random_blueprint)


def searcher():
    return SearchAgent(BlueprintAgent(blueprint_of(HUNL)), FEW)


def resolver():
    config = TableConfig(iterations=2, threads=1, cards="blueprint", last_boards=1)
    return TableAgent(config, BlueprintAgent(blueprint_of(HUNL)))


def planner():
    return BlueprintAgent(blueprint_of(SIXMAX))


PLAYERS = [
    *(pytest.param(lambda name=name: make_agent(name), (HUNL, SIXMAX, LEDUC, THREE), 10, id=name) for name in BUILT_IN),
    pytest.param(lambda: make_agent("blueprint"), (HUNL, SIXMAX), 6, id="blueprint", marks=needs_compiler),
    pytest.param(planner, (SIXMAX,), 6, id="blueprint of one game", marks=needs_compiler),
    pytest.param(searcher, (HUNL,), 12, id="search", marks=needs_compiler),
    pytest.param(lambda: make_agent("continual?iterations=10"), (LEDUC,), 10, id="continual", marks=needs_compiler),
    pytest.param(resolver, (no_limit_holdem(2, 800),), 4, id="continual, hold'em", marks=needs_compiler),
]


@pytest.fixture(scope="module", autouse=True)
def each_file_is_verified_once():
    """Else each new agent of a bundled blueprint verifies its file and its folder again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "unpacked_folder", functools.cache(library.unpacked_folder))
        yield


class Remembers(Agent):
    """Folds to a bet once it has played two hands."""

    hands = 0

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.hands += 1

    def act(self, view):
        return 0 if self.hands > 2 and view.public.can_fold else 1


def play(rules, number, agents):
    """Play a hand, and return what was done and what everybody says of every decision of his own."""
    deck = deal_deck(rules, np.random.default_rng((5, number)))
    hand = play_hand(rules, agents, deck, [np.random.default_rng((number, seat)) for seat in range(rules.num_seats)])
    assert hand.faults == ()
    return hand.actions, hand.payoffs, [told(agents[each.actor], each) for each in decisions(rules, hand)]


def decisions(rules, hand):
    """Yield what everybody saw at each decision of a hand."""
    state, done = BettingState(rules), ()
    board = tuple(hand.deck.tolist()[rules.num_seats * rules.num_hole_cards :])
    for action in hand.actions:
        yield PublicState(rules, state.array.tolist(), board[: rules.board_size(state.street)], done)
        done += (Action(state.actor, action.action, state.street),)
        state.apply(action.action)


def told(agent, public):
    strategy = agent.range_strategy(public)
    return strategy and (strategy.actions.tolist(), np.nan_to_num(strategy.probabilities).tobytes())


@pytest.mark.parametrize(("make", "games", "num_hands"), PLAYERS)
def test_hands_in_any_order_are_played_as_by_new_agents(make, games, num_hands):
    """Shuffled, repeated, after hands that were left, between those of other tables, in seats that change."""
    rng = random.Random(7)
    hands = [(rules, number) for rules in games for number in range(num_hands)]
    expected = {hand: play(*hand, [make() for _ in range(hand[0].num_seats)]) for hand in hands}
    agents = [make() for _ in range(max(rules.num_seats for rules in games))]
    others = [make() for _ in agents]
    order = hands * 2
    rng.shuffle(order)
    for rules, number in order:
        rng.shuffle(agents)
        agents[0].restart(rules, rng.randrange(rules.num_seats), np.random.default_rng(rng.randrange(100)))  # and left
        table = (agents if rng.random() < 0.7 else others)[: rules.num_seats]
        actual = play(rules, number, table)
        assert actual == expected[rules, number], f"hand {number} with {rules.num_seats} seats"


def test_who_keeps_something_between_hands_is_found():
    with pytest.raises(AssertionError, match="hand . with 2 seats"):
        test_hands_in_any_order_are_played_as_by_new_agents(Remembers, (HUNL,), 4)


@needs_compiler
def test_the_searches_of_these_hands_are_kept_by_content():
    agents = [searcher(), searcher()]
    for number in (0, 1, 2, 0, 1, 2):
        play(HUNL, number, agents)
    assert agents[0].counts["searched"] > 0
