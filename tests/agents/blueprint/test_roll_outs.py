"""Places of hands in a blueprint's tree, from which roll-outs go on."""

import dataclasses
import functools

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.blueprint.roll_out_kernels import duel_values
from plurispiel.agents.blueprint.roll_outs import MAX_SCALE, StreetStarts, find_place, hand_in_tree, stakes_at
from plurispiel.agents.blueprint.traversal_kernels import layered_value

RULES = no_limit_holdem(4)
MENU = GameMenu((StreetMenu(("1p 3p", "1p"), callers=(4, 1)), StreetMenu(("1p",))))


@functools.cache
def hand():
    return hand_in_tree(RULES, random_blueprint(RULES, MENU))


def starts():
    return StreetStarts(hand().translation.states.tree)


def state_after(actions):
    state = BettingState(RULES)
    for action in actions:
        state.apply(action)
    return state


@pytest.mark.parametrize(
    "actions",
    [
        (FOLD, 2000, FOLD, CALL),
        (800, FOLD, 4500, FOLD, CALL),
        (FOLD, FOLD, CALL, 1500, CALL),
        (FOLD, 2000, FOLD, CALL, CALL, 4100, CALL),  # the turn
        (350, CALL, FOLD, CALL, CALL, 3000, CALL, FOLD),  # the turn, after a player has folded on the flop
        (FOLD, 2000, FOLD, CALL, CALL, CALL, 2500, CALL),  # the river
    ],
    ids=str,
)
def test_a_start_of_a_street_is_like_one_with_the_same_players_and_the_nearest_pot(actions):
    assert find_place(hand(), actions) is None
    place, state = starts().find_place(hand(), actions), state_after(actions)
    tree, states = hand().translation.states.tree, hand().translation.states
    ratios = {}
    for node in np.flatnonzero((tree.street == state.street) & (tree.actor >= 0)).tolist():
        other = states.state(node)
        before = tree.street[tree.parent[node]]
        if before < state.street and (other.folded, other.actor) == (state.folded, state.actor):
            put_in = sorted((other.contributions[state.actor], state.contributions[state.actor]))
            ratios[node] = put_in[1] / put_in[0]
    assert ratios[place.node] == min(ratios.values()) < max(ratios.values())
    assert place.paid == states.state(place.node).contributions and place.pot == sum(state.contributions)
    assert 1 / MAX_SCALE <= place.pot / sum(place.paid) <= MAX_SCALE and place.seats == (0, 1, 2, 3)


@pytest.mark.parametrize(
    "actions",
    [
        (FOLD, 9000, FOLD, CALL),  # a pot like none in the tree
        (2000, CALL, CALL, CALL),  # players who never meet for so much
        (FOLD, 2000, FOLD),  # before the flop
        (FOLD, 2000, FOLD, CALL, CALL),  # in mid-street
        (FOLD, 2000, FOLD, CALL, CALL, CALL, CALL),  # in mid-street, later
        (FOLD, FOLD, FOLD),
    ],
    ids=str,
)
def test_elsewhere_nothing_is_like_it(actions):
    assert starts().find_place(hand(), actions) is None


def test_chips_of_another_size_change_nothing():
    rules = no_limit_holdem(4, 200, (1, 2))
    small = hand_in_tree(rules, random_blueprint(RULES, MENU))
    actions = (FOLD, 7, FOLD, CALL)  # three and a half big blinds: as the tree raises
    same = (FOLD, 350, FOLD, CALL)
    found, expected = find_place(small, actions), find_place(hand(), same)
    assert found.node == expected.node and found.pot * 50 == expected.pot
    actions, same = (FOLD, 40, FOLD, CALL), (FOLD, 2000, FOLD, CALL)
    assert starts().find_place(small, actions).node == starts().find_place(hand(), same).node


def test_chips_of_a_hand_stand_with_the_seats_of_the_tree():
    """All of the pot, and the stacks of those who are left."""
    rules = dataclasses.replace(no_limit_holdem(3), stacks=(10_000, 900, 20_000))
    shorter, actions = hand_in_tree(rules, random_blueprint(RULES, MENU)), (350, FOLD, CALL)
    state = BettingState(rules)
    for action in actions:
        state.apply(action)
    place = find_place(shorter, actions)
    stakes = stakes_at(place, state)
    assert place.seats == (0, 1, 3) and stakes.paid.tolist() == list(place.paid) == [50, 350, 0, 350]
    assert stakes.put_in.tolist() == [50, 350, 0, 350] and sum(stakes.put_in) == place.pot
    assert stakes.stacks.tolist() == [50, 900, 0, 20_000] and stakes.scale == 1.0
    stakes = stakes_at(place._replace(seats=(-1, 1, 3)), state)  # its place in the tree was given to another
    assert stakes.put_in[[1, 3]].tolist() == [350, 350] and sum(stakes.put_in) == place.pot


def test_against_one_other_hand_all_pots_go_to_the_better_one():
    rng = np.random.default_rng(2)
    for _ in range(300):
        contributions = rng.integers(0, 6, 6) * rng.integers(1, 100)
        own, rival = rng.permutation(6)[:2].tolist()
        contributions[own] += 1
        live, ranks = 1 << own | 1 << rival, np.full(6, -1)
        ranks[rival] = 50
        for value, rank in zip(duel_values.py_func(contributions, own, rival), (49, 50, 51), strict=True):
            ranks[own] = rank
            assert value == layered_value.py_func(contributions, live, own, 6, ranks)
