"""Best response and NashConv: published numbers, OpenSpiel's, and a plain version."""

import functools
import os

import numpy as np
import pyspiel
import pytest
from reference import best_response as reference
from reference.sequence_form import game_value

from plurispiel.abstraction.trees.game_tree import flatten, join_strategies, uniform_strategy
from plurispiel.evaluation.best_response import best_response, expected_values, exploitability
from plurispiel.evaluation.decision_values import decision_values

GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True))"

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

tree_of = functools.cache(flatten)


def random_strategy(tree, seed, *, zeros=0.2):
    """Return a strategy of random probabilities, some of them 0."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=tree.num_actions) * (rng.random(tree.num_actions) >= zeros)
    sums = np.add.reduceat(weights, tree.infoset_first[:-1])
    num_actions = np.diff(tree.infoset_first)
    weights[np.repeat(sums == 0.0, num_actions)] = 1.0
    return weights / np.repeat(np.add.reduceat(weights, tree.infoset_first[:-1]), num_actions)


def openspiel_policy(tree, strategy):
    """Return a strategy as OpenSpiel's table."""
    rows = np.split(strategy, tree.infoset_first[1:-1])
    ids = np.split(tree.action_ids, tree.infoset_first[1:-1])
    pairs = (list(zip(actions.tolist(), row.tolist(), strict=True)) for actions, row in zip(ids, rows, strict=True))
    return pyspiel.TabularPolicy(dict(zip(tree.infoset_keys, pairs, strict=True)))


def test_a_strategy_of_another_game_is_refused():
    kuhn, leduc = tree_of("kuhn_poker"), tree_of("leduc_poker")
    for tree, wrong in ((kuhn, uniform_strategy(leduc)), (leduc, uniform_strategy(kuhn)), (kuhn, 3)):
        for function in (
            exploitability,
            expected_values,
            decision_values,
            lambda tree, strategy: best_response(tree, strategy, 0),
            lambda tree, strategy: join_strategies(tree, [uniform_strategy(tree), strategy]),
        ):
            with pytest.raises(ValueError, match=rf"is float64\[{tree.num_actions}\], got shape"):
                function(tree, wrong)
    plain = exploitability(kuhn, uniform_strategy(kuhn).tolist())  # any sequence of numbers will do
    assert plain.nash_conv == exploitability(kuhn, uniform_strategy(kuhn)).nash_conv


@pytest.mark.parametrize(
    ("game", "nash_conv"),
    [
        ("kuhn_poker", 11 / 12),
        ("leduc_poker", 1709 / 360),
        ("kuhn_poker(players=3)", 2.0625),
    ],
)
def test_uniform(game, nash_conv):
    tree = tree_of(game)
    found = exploitability(tree, uniform_strategy(tree))
    assert found.nash_conv == pytest.approx(nash_conv, abs=1e-12)
    assert found.incentives.sum() == found.nash_conv
    if tree.num_players == 2:
        assert found.exploitability == found.nash_conv / 2
    else:
        assert found.exploitability is None


STORED = {
    "leduc_poker(players=3)": 14.391883337884902,
    "universal_poker()": 501.78359908043603,
    "holdem-mini": 207.7973712894427,
}
"""NashConv of a random strategy in games where pyspiel.nash_conv takes half a minute, or three."""


@jit_only
@pytest.mark.parametrize("game", STORED)
def test_large_games_against_stored_values(game):
    tree = tree_of(game)
    assert exploitability(tree, random_strategy(tree, 1)).nash_conv == pytest.approx(STORED[game], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("game", STORED)
def test_large_games_against_openspiel(game):
    tree = tree_of(game)
    policy = openspiel_policy(tree, random_strategy(tree, 1))
    assert pyspiel.nash_conv(tree.openspiel_game, policy) == pytest.approx(STORED[game], abs=1e-9)


@jit_only
def test_uniform_three_player_leduc():
    tree = tree_of("leduc_poker(players=3)")
    assert exploitability(tree, uniform_strategy(tree)).nash_conv == pytest.approx(12.611221340388, abs=1e-11)


def test_game_values_by_linear_programming():
    for game, value in (("kuhn_poker", -1 / 18), ("leduc_poker", -0.085606424078)):
        assert game_value(pyspiel.load_game(game)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("game", ["kuhn_poker", "kuhn_poker(players=3)", "tiny_hanabi", GOOFSPIEL])
def test_equals_the_plain_version(game):
    tree = tree_of(game)
    for seed in range(5):
        strategy = random_strategy(tree, seed)
        policy = openspiel_policy(tree, strategy)

        def answer(state, policy=policy):
            return policy.action_probabilities(state)

        found = exploitability(tree, strategy)
        root = tree.openspiel_game.new_initial_state()
        np.testing.assert_allclose(found.values, reference.expected_values(root, answer), atol=1e-12)
        for player in range(tree.num_players):
            value = reference.best_response_value(tree.openspiel_game, answer, player)
            assert found.best_response_values[player] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("game", ["liars_dice(dice_sides=3)", GOOFSPIEL, "leduc_poker", "leduc-2"])
def test_equals_openspiel(game):
    tree = tree_of(game)
    for seed in range(3):
        strategy = random_strategy(tree, seed)
        expected = pyspiel.nash_conv(tree.openspiel_game, openspiel_policy(tree, strategy))
        assert exploitability(tree, strategy).nash_conv == pytest.approx(expected, abs=1e-9)


def test_a_best_response_earns_its_value():
    tree = tree_of("leduc_poker")
    strategy = random_strategy(tree, 1)
    for player in range(2):
        value, response = best_response(tree, strategy, player)
        assert expected_values(tree, response)[player] == pytest.approx(value, abs=1e-12)
        own = np.repeat(tree.infoset_player == player, np.diff(tree.infoset_first))
        np.testing.assert_array_equal(response[~own], strategy[~own])
        assert set(response[own]) == {0.0, 1.0}
        assert best_response(tree, response, player)[0] == pytest.approx(value, abs=1e-12)
    with pytest.raises(ValueError, match="player must be 0..1, got 2"):
        best_response(tree, strategy, 2)


def test_open_cards_would_win_more():
    """Choosing for each history instead of each infoset gives another, larger number."""
    tree = tree_of("leduc_poker")
    policy = openspiel_policy(tree, uniform_strategy(tree))
    clairvoyant = reference.best_response_value(
        tree.openspiel_game, policy.action_probabilities, 0, key=lambda state: state.history_str()
    )
    assert clairvoyant == pytest.approx(2.375)
    assert exploitability(tree, uniform_strategy(tree)).best_response_values[0] == pytest.approx(2.0875)


DEPTHS = """EFG 2 R "depths" { "A" "B" }
c "" 1 "" { "l" 1/2 "r" 1/2 } 0
p "" 2 1 "B" { "x" "y" } 0
p "" 1 1 "A" { "u" "d" } 0
t "" 1 "" { 1 -1 }
t "" 2 "" { -1 1 }
p "" 1 1 "A" { "u" "d" } 0
t "" 3 "" { -2 2 }
t "" 4 "" { 2 -2 }
p "" 1 1 "A" { "u" "d" } 0
t "" 5 "" { 3 -3 }
t "" 6 "" { 0 0 }
"""


def test_an_infoset_across_depths():
    """A decides once for histories of depth 1 and 2: by l and x or y, or by r; u wins 1, -2 or 3, d -1, 2 or 0."""
    tree = flatten(pyspiel.load_efg_game(DEPTHS))
    assert tree.num_infosets == 2 and len(tree.infoset_histories) == 4
    found = exploitability(tree, np.array([0.5, 0.5, 0.25, 0.75]))  # B plays x one time in four
    assert found.best_response_values[0] == pytest.approx(max(0.125 - 0.75 + 1.5, -0.125 + 0.75 + 0.0))
    assert found.best_response_values[1] == pytest.approx(-(0.0 + 0.75))


def test_joined_strategies():
    tree = tree_of("kuhn_poker(players=3)")
    strategies = [random_strategy(tree, seed) for seed in range(3)]
    joined = join_strategies(tree, strategies)
    for number, player in enumerate(tree.infoset_player):
        row = slice(tree.infoset_first[number], tree.infoset_first[number + 1])
        np.testing.assert_array_equal(joined[row], strategies[player][row])
    with pytest.raises(ValueError, match="one strategy for each of the 3 players, got 2"):
        join_strategies(tree, strategies[:2])


def test_general_sum():
    tree = tree_of("tiny_hanabi")  # both players win together
    found = exploitability(tree, uniform_strategy(tree))
    assert not tree.is_zero_sum and found.exploitability is None
    assert found.values[0] == found.values[1]
