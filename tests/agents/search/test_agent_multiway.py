"""A searching agent among more than two players."""

import dataclasses
import os
from collections import Counter

import numpy as np
import pytest
import table
from search_seat import (
    agent_at,
    blueprint,
    live_combos,
    public_after,
)

from plurispiel.abstraction.holdem.rules import SIXMAX, no_limit_holdem
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.config import SearchConfig
from plurispiel.evaluation.hand import deal_deck, play_hand

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.xdist_group("multiway"),  # one worker compiles the kernels
]


CROWD = SearchConfig(iterations=1, threads=1, cards="blueprint", three_way_sizes=("1p allin", "allin"), continuations=2)
THREE_SEE = (250, 0, 0, 1, 1, 1)
"""Under the gun raises; the button and both blinds call."""


def crowded_agent(seat, config=CROWD):
    return table.agent_at(SearchAgent(BlueprintAgent(blueprint(6, has_table=True)), config), SIXMAX, seat)


def at_table(actions):
    return public_after((*THREE_SEE, *actions), rules=SIXMAX)


def test_roots_at_decisions_with_more_than_two_players():
    """Also after as many raises as would end a search from the start of the street."""
    agent = crowded_agent(0, dataclasses.replace(CROWD, root="decision"))
    faced = at_table((1, 1, 1000, 3000))
    strategy = agent.range_strategy(faced)
    assert agent.searches[-1].root.state.array.tolist() == faced.betting().array.tolist()
    assert agent.searches[-1].root.live_seats == (0, 1, 2, 5)
    live = live_combos(faced)
    np.testing.assert_allclose(strategy.probabilities[live].sum(axis=1), 1.0, rtol=1e-6)
    assert {0, 1} <= set(strategy.actions.tolist())


def test_streets_of_more_than_two_players_are_searched():
    """Four players see the flop. An off-tree raise, or one beyond the end of the subgame, brings another search."""
    agent = crowded_agent(seat=2)
    first = agent.range_strategy(at_table(()))
    held = live_combos(at_table(()))
    np.testing.assert_allclose(first.probabilities[held].sum(axis=1), 1.0)
    assert agent.searches[-1].root.live_seats == (0, 1, 2, 5) and "searched" in agent.explain(at_table(()))
    assert agent.counts["searches"] == 1
    raises = [action for action in first.actions.tolist() if action > 1]
    agent.range_strategy(at_table((1, 1, raises[0])))  # on the menu
    assert agent.counts["searches"] == 1 and agent.counts["searches again"] == 0
    agent.range_strategy(at_table((1, 1, raises[0] + 7)))
    assert agent.counts["searches"] == 2
    own = agent.range_strategy(at_table((1, 1)))
    after = agent.range_strategy(at_table((1, 1, raises[0], 2500, 1, 1)))  # a raise of the seat, and one past the end
    assert agent.counts["searches again"] == 1
    again = agent.searches[-1].nodes[(1, 1)]
    np.testing.assert_array_equal(again.played[held], own.probabilities[held])
    np.testing.assert_allclose(after.probabilities[held].sum(axis=1), 1.0)
    assert np.array_equal(crowded_agent(2).range_strategy(at_table(())).probabilities, first.probabilities)


def test_a_fold_that_leaves_two_players_begins_a_search_to_the_end_of_the_hand():
    agent = crowded_agent(seat=1)
    raises = [action for action in agent.range_strategy(at_table((1,))).actions.tolist() if action > 1]
    left = 1, 1, raises[0], 0, 0  # seats 1 and 2
    before, faced = at_table(left[:-1]), at_table(left)
    agent.range_strategy(faced)
    assert [len(each.root.live_seats) for each in agent.searches] == [4, 2]
    many, two = agent.searches
    assert two.root.state.array.tolist() == faced.betting().array.tolist()
    assert two.root.game.max_raises > many.root.game.max_raises and two.seconds > 0.0
    # The other seat's range at the new root is what the search of four players infers from its raise.
    raiser = many.nodes[(1, 1)]
    inferred = many.root.beliefs[2] * np.nan_to_num(raiser.average[:, raiser.actions.index(raises[0])])
    np.testing.assert_allclose(two.root.beliefs[2], inferred / inferred.sum(), rtol=1e-6)
    np.testing.assert_array_equal(two.root.beliefs, agent.beliefs(faced))
    np.testing.assert_array_equal(agent.beliefs(before)[1:3], two.root.beliefs[1:3])
    again = at_table((*left, 3000, 6000))  # in the same search, and raises that it lacks are added to it
    agent.range_strategy(again)
    last = agent.searches[-1]
    assert last.added and np.array_equal(last.root.state.array, two.root.state.array)
    assert np.array_equal(last.root.beliefs, two.root.beliefs)


def test_searches_of_many_players_at_any_bets():
    rng = np.random.default_rng(11)
    players = [crowded_agent(0)] + [RandomAgent() for _ in range(5)]
    searched = Counter()
    for _ in range(30):
        rules = dataclasses.replace(SIXMAX, stacks=tuple(rng.integers(900, 12_000, 6).tolist()))
        hand = play_hand(rules, players, deal_deck(rules, rng), rng.spawn(6))
        assert hand.faults == ()
        searched.update(len(each.root.live_seats) for each in players[0].searches)
    assert sum(count for seats, count in searched.items() if seats > 2) > 10


def test_without_a_bucket_table_the_blueprint_plays_among_many():
    agent = agent_at(CROWD, rules=SIXMAX, seat=2)
    planned = agent.blueprint.range_strategy(at_table(()))
    assert np.array_equal(agent.range_strategy(at_table(())).probabilities, planned.probabilities)
    assert "bucket table" in agent.explain(at_table(()))


def test_several_players_play_the_blueprint_until_two_are_left():
    rules = no_limit_holdem(3)
    agent = agent_at(rules=rules, seat=2)
    multiway = public_after((300, 1, 1), rules=rules)
    assert agent.range_strategy(multiway).actions.tolist() == agent.blueprint.range_strategy(multiway).actions.tolist()
    assert not agent.searches and "blueprint" in agent.explain(multiway)
    folded = (300, 1, 1, 1, 600, 0, 1)  # a fold on the flop: searched from there on
    on_turn = public_after(folded, rules=rules)
    assert on_turn.street == 2 and on_turn.num_live == 2
    found = agent.range_strategy(on_turn)
    flop, solution = agent.searches
    assert flop.root.state.array.tolist() == public_after(folded[:-1], rules=rules).betting().array.tolist()
    assert flop.root.live_seats == solution.root.live_seats and len(solution.root.live_seats) == 2
    assert all(on_turn.is_legal(int(action)) for action in found.actions)
    text = agent.explain(on_turn)
    assert "turn" in text and "iterations" in text and "pot 1500" in text
    assert solution.root.game.dead_chips == 300
    deep = public_after((300, 1, 0), rules=rules)
    assert deep.num_live == 2 and agent.range_strategy(deep).probabilities.shape == (
        1326,
        len(agent.range_strategy(deep).actions),
    )
    assert "river" not in agent.explain(public_after((300,), rules=rules))
