"""The decision of a tree that is most like another."""

import dataclasses
import os

import numpy as np
import pytest
from blueprint_seat import THREE, blueprint, node_after, without
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.tree import build_tree, game_menu
from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HULH, HUNL, LEDUC
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.like_decisions import LikeDecisions, features_of, tree_features

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.mark.parametrize("rules", [THREE, LEDUC, HULH], ids=["three", "leduc", "limit"])
def test_features_of_a_tree_are_those_of_its_states(rules):
    tree = blueprint(3).tree if rules is THREE else build_tree(rules, game_menu(rules))
    features, states = tree_features(rules, tree), TreeStates(rules, tree)
    assert not features[:, tree.actor < 0].any()
    nodes = np.flatnonzero(tree.actor >= 0)
    for node in np.random.default_rng(1).choice(nodes, min(500, len(nodes)), replace=False).tolist():
        np.testing.assert_allclose(features[:5, node], features_of(states.state(node))[:5], atol=1e-5)
        assert features[5, node] == bool(states.raises(node))


def test_the_button_is_the_last_to_act_after_the_flop_whichever_seat_it_has():
    firsts = tuple(1 - seat for seat in HUNL.first_seats)
    other = dataclasses.replace(HUNL, blinds=HUNL.blinds[::-1], first_seats=firsts)
    states = [BettingState(HUNL), BettingState(other)]
    for action in (250, CALL, CALL, 350, 900):
        assert features_of(states[0]) == features_of(states[1])
        for state in states:
            state.apply(action)
    assert [features_of(state).is_last for state in states] == [1.0, 1.0]


def test_a_decision_of_the_tree_is_most_like_one_with_equal_features():
    found = blueprint(3)
    features, states = tree_features(found.rules, found.tree), TreeStates(found.rules, found.tree)
    like, rng = LikeDecisions(found), np.random.default_rng(2)
    for node in rng.choice(np.flatnonzero(found.tree.actor >= 0), 200).tolist():
        other = like.find(states.state(node))
        assert found.tree.street[other] == found.tree.street[node]
        assert (found.tree.actions(other)[0] == FOLD) == (found.tree.actions(node)[0] == FOLD)
        np.testing.assert_allclose(features[:, other], features[:, node], atol=0.03)


def test_a_decision_with_rows_is_better_than_one_without():
    found = blueprint(3)
    # After both of two callers have checked: the first caller's bet, answered by either.
    node = node_after(found.tree, (350, CALL, CALL, 1400))
    state = TreeStates(found.rules, found.tree).state(node)
    nearest = LikeDecisions(found).find(state)
    other = LikeDecisions(without(found, (nearest, range(20)))).find(state)
    assert other != nearest and found.tree.street[other] == found.tree.street[nearest]


def test_no_decision_on_a_street_without_buckets():
    """A blueprint of all-in or fold has decisions before the flop alone."""
    found = random_blueprint(LEDUC, game_menu(LEDUC), cards=lossless_buckets(LEDUC))
    short = dataclasses.replace(found, cards=_Preflop(found.cards))
    states = TreeStates(found.rules, found.tree)
    flop = next(node for node in np.flatnonzero(found.tree.actor >= 0) if found.tree.street[node])
    assert LikeDecisions(short).find(states.state(int(flop))) is None
    assert LikeDecisions(found).find(states.state(int(flop))) is not None


class _Preflop:
    """The buckets of the first street alone."""

    def __init__(self, cards):
        self.num_buckets = cards.num_buckets[:1]
