"""Beliefs: Bayes' rule by the strategies that agents report, over all joint deals of small games."""

import itertools
import os

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.tree import game_menu
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.agents.base import Action, PublicState, Strategy
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.beliefs import (
    OFF_MODEL_SHARE,
    entropy_bits,
    initial_beliefs,
    likelihood,
    see_action,
    see_board,
)
from plurispiel.agents.search.config import SearchConfig

LEDUC_3 = OpenSpielGame("leduc_poker(players=3)").rules


def some_hands(rules, seed, count):
    """Public states of random hands."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        card = int(rng.choice(rules.cards))
        state, told = BettingState(rules), ()
        while not state.is_over:
            board = (card,) if state.street else ()
            public = PublicState(rules, state.array.tolist(), board, told)
            yield public
            choices = ([0] if public.can_fold and public.num_live > 2 else []) + [CALL, *public.menu]
            action = int(rng.choice(choices))
            told += (Action(state.actor, action, state.street),)
            state.apply(action)


@pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="divides by zero on purpose, which numpy alone reports"
)
@pytest.mark.parametrize("rules, count", [(LEDUC, 8), (LEDUC_3, 6)])
def test_beliefs_are_bayes_over_all_joint_deals(rules, count):
    """The product of the beliefs, over hands that share no card, is the posterior of an observer without cards."""
    menu = game_menu(rules)
    found = random_blueprint(rules, menu, cards=lossless_buckets(rules))
    agent = SearchAgent(BlueprintAgent(found), SearchConfig(iterations=5, threads=1, purge=0.0))
    agent.restart(rules, 0, np.random.default_rng(1))
    searched = 0
    for public in some_hands(rules, 5, count):
        beliefs = agent.beliefs(public)
        searched += len(agent.searches) > 0
        np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)
        told = {}
        for number, (seat, action, street) in enumerate(public.actions):
            state = BettingState(rules)
            for before in public.actions[:number]:
                state.apply(before.action)
            board = public.board if street else ()
            at = PublicState(rules, state.array.tolist(), board, public.actions[:number])
            told.setdefault(seat, []).append(agent.range_strategy(at).probability(action))
        expected = np.zeros((rules.num_combos,) * rules.num_seats)
        believed = np.zeros_like(expected)
        for deal in itertools.permutations(range(rules.num_combos), rules.num_seats):
            if public.board and any(int(rules.combos[combo, 0]) in public.board for combo in deal):
                continue
            chances = [row[deal[seat]] for seat, rows in told.items() for row in rows]
            expected[deal] = np.prod(chances)
            believed[deal] = np.prod([beliefs[seat, combo] for seat, combo in enumerate(deal)])
        np.testing.assert_allclose(believed / believed.sum(), expected / expected.sum(), rtol=0, atol=1e-12)
    assert searched > 3


def test_the_range_of_the_searching_seat_starts_uniform():
    assert (initial_beliefs(HUNL) == 1 / 1326).all()
    assert entropy_bits(initial_beliefs(HUNL)[0]) == pytest.approx(np.log2(1326))


def test_cards_on_the_board_are_held_by_nobody():
    seen = see_board(initial_beliefs(HUNL), HUNL, (0, 1, 2))
    touching = np.isin(HUNL.combos, (0, 1, 2)).any(axis=1)
    assert (seen[:, touching] == 0.0).all() and abs(seen[:, ~touching] - 1 / 1176).max() < 1e-15
    only = np.zeros((2, 1326))
    only[0, np.flatnonzero(touching)[0]] = only[1, 1325] = 1.0
    np.testing.assert_allclose(see_board(only, HUNL, (0, 1, 2))[0], seen[0])
    assert see_board(only, HUNL, (0, 1, 2))[1, 1325] == 1.0


def test_actions_of_probability_zero_change_no_beliefs():
    before = initial_beliefs(LEDUC)
    before[0] = [0.5, 0.3, 0.2, 0.0, 0.0, 0.0]
    never = np.array([0.0, 0.0, 0.0, 0.4, 0.4, 0.4])
    after, is_expected = see_action(before, 0, never, 3)
    assert not is_expected
    mixed = before[0] * ((1 - OFF_MODEL_SHARE) * never + OFF_MODEL_SHARE / 3)
    np.testing.assert_allclose(after[0], mixed / mixed.sum())
    after, is_expected = see_action(before, 0, np.array([0.1, 0.2, 0.0, 0.4, 0.4, 0.4]), 3)
    assert is_expected
    np.testing.assert_allclose(after[0], [5 / 11, 6 / 11, 0, 0, 0, 0])
    np.testing.assert_array_equal(after[1], before[1])


def test_sizes_in_between_are_likely_as_the_mapping_says():
    """A pot of 100, and raises of half and all of it: between them by algorithms' numbers, below as a call."""
    public = PublicState(HUNL, BettingState(HUNL).array.tolist())
    most, pot = 100, 200
    half, whole = most + pot // 2, most + pot
    rows = np.array([[0.1, 0.3, 0.6, 0.0]] * 1326)
    strategy = Strategy(np.array([0, 1, half, whole]), rows)
    for size, share in ((0.5, 1.0), (0.6, 0.75), (0.75, 3 / 7), (0.9, 0.15789473684210526), (1.0, 0.0)):
        found = likelihood(strategy, public, most + round(size * pot))
        assert found == pytest.approx(share * 0.6)
    assert likelihood(strategy, public, 20_000) == pytest.approx(0.0)
    below = likelihood(strategy, public, most + pot // 4)
    share = (0.5 - 0.25) / (0.5 * 1.25)
    assert below == pytest.approx(share * 0.3 + (1 - share) * 0.6)
    assert likelihood(strategy, public, 0) == pytest.approx(0.1)
