"""The betting of a street: its ends and leaves."""

import functools

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.menu import BetMenu, parse_sizes
from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.blueprint.cards import single_buckets
from plurispiel.agents.search._multiway_kernels import END, LEAF
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.street_tree import SearchBetting

THREE = no_limit_holdem(3)


@functools.cache
def continuations(*raises):
    """Continuations of a blueprint with these raises on each street."""
    found = random_blueprint(THREE, GameMenu((StreetMenu(raises),)), cards=single_buckets(THREE))
    return Continuations(found, THREE, 2)


def betting_state(rules, actions):
    state = BettingState(rules)
    for action in actions:
        state.apply(action)
    return state


@pytest.mark.parametrize("raises, has_places", [(("1p",), False), (("1p allin",) * 3, True)])
def test_bets_are_answered_before_a_street_is_over(raises, has_places):
    """After the second raise there are leaves; where the blueprint's tree has no second raise, others fold or call."""
    history = (350, CALL, CALL)
    state = betting_state(THREE, history)
    menu = BetMenu((((parse_sizes("1p allin"),),),)).raises
    street = SearchBetting(state, menu, continuations(*raises), history, max_raises=2)
    tree, _ = street.arrays(THREE.num_combos, {})
    behind = [path for path in street.paths if len(path) == 2 and min(path) > CALL]
    assert behind
    for path in behind:
        node = street.paths[path]
        assert (tree.kinds[node] == LEAF) == has_places
        assert has_places or street.actions[node] == (FOLD, CALL)
    for path, node in street.paths.items():
        after = betting_state(THREE, (*history, *path))
        if tree.kinds[node] == END:
            live = ~np.array(after.folded)
            owed = np.minimum(max(after.contributions), THREE.stacks) - after.contributions
            assert live.sum() == 1 or not owed[live].any()
