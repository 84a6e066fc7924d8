"""The flat game tree: every array against OpenSpiel's own states."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import policy

from plurispiel.abstraction.trees.game_tree import (
    CHANCE,
    TERMINAL,
    checked_strategy,
    flatten,
    strategy_from_policy,
    uniform_strategy,
)

GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(num_cards=3,imp_info=True))"


def check_against_states(tree):
    """Walk OpenSpiel's states along the tree and compare all that it says."""
    game = tree.openspiel_game
    seen = 0
    stack = [(0, game.new_initial_state())]
    while stack:
        history, state = stack.pop()
        seen += 1
        first, count = tree.first_child[history], tree.num_children[history]
        actions = tree.action[first : first + count].tolist()
        assert tree.history(history) == state.history()
        assert set(tree.parent[first : first + count]) <= {history}
        infoset = tree.infoset[history]
        assert (infoset >= 0) == (tree.player[history] >= 0)
        assert (tree.payoff_id[history] >= 0) == state.is_terminal()
        if state.is_terminal():
            assert tree.player[history] == TERMINAL and count == 0
            np.testing.assert_allclose(tree.payoffs[tree.payoff_id[history]], state.returns(), atol=1e-12)
            continue
        if state.is_chance_node():
            assert tree.player[history] == CHANCE
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert actions == list(outcomes)
            assert tree.chance[first : first + count].tolist() == list(chances)
        else:
            assert tree.player[history] == state.current_player() == tree.infoset_player[infoset]
            assert actions == state.legal_actions()
            assert tree.action_ids[tree.infoset_first[infoset] : tree.infoset_first[infoset + 1]].tolist() == actions
            assert tree.infoset_keys[infoset] == state.information_state_string()
            assert (tree.chance[first : first + count] == 1.0).all()
        stack.extend((first + k, state.child(action)) for k, action in enumerate(actions))
    assert seen == tree.num_histories


def check_numbering(tree):
    """Check what can be said of the numbers alone."""
    assert (np.diff(tree.parent[1:]) >= 0).all() and tree.parent[0] == -1
    depth = np.zeros(tree.num_histories, dtype=int)
    for history in range(1, tree.num_histories):
        depth[history] = depth[tree.parent[history]] + 1
    assert tree.depth_first.tolist() == np.searchsorted(depth, np.arange(depth[-1] + 2)).tolist()
    histories = np.split(tree.infoset_histories, tree.infoset_histories_first[1:-1])
    firsts = [(tree.infoset_player[number], members[0]) for number, members in enumerate(histories)]
    assert firsts == sorted(firsts)
    for number, members in enumerate(histories):
        assert (tree.infoset[members] == number).all() and (np.diff(members) > 0).all()
    assert sum(map(len, histories)) == (tree.infoset >= 0).sum()
    assert np.array_equal(np.unique(tree.payoffs, axis=0), tree.payoffs)


def check_recall(tree):
    """Check `infoset_parent` by walking up from every decision."""
    for history in np.flatnonzero(tree.player >= 0):
        child = history
        while (before := tree.parent[child]) >= 0 and tree.player[before] != tree.player[history]:
            child = before
        expected = -1
        if before >= 0:
            expected = tree.infoset_first[tree.infoset[before]] + child - tree.first_child[before]
            assert tree.infoset[before] < tree.infoset[history]
        assert tree.infoset_parent[tree.infoset[history]] == expected


@pytest.mark.parametrize("game", ["kuhn_poker", "kuhn_poker(players=3)", "leduc_poker", GOOFSPIEL, "tiny_hanabi"])
def test_every_history_is_openspiels(game):
    tree = flatten(game)
    check_against_states(tree)
    check_numbering(tree)
    check_recall(tree)


def test_known_sizes():
    leduc = flatten("leduc_poker")
    assert (leduc.num_histories, leduc.num_infosets, (leduc.payoff_id >= 0).sum()) == (9457, 936, 5520)
    assert flatten("kuhn").num_infosets == 12
    assert leduc.openspiel_recall


def test_strategies_of_policies():
    tree = flatten("leduc_poker")
    uniform = uniform_strategy(tree)
    table = policy.TabularPolicy(tree.openspiel_game)
    np.testing.assert_array_equal(strategy_from_policy(tree, table), uniform)
    np.testing.assert_array_equal(strategy_from_policy(tree, policy.python_policy_to_pyspiel_policy(table)), uniform)


def test_bad_policies_are_refused():
    tree = flatten("kuhn_poker")
    rows = {key: [(0, 0.5), (1, 0.5)] for key in tree.infoset_keys}
    with pytest.raises(ValueError, match="'0pb' .*1 of 12 infosets"):
        strategy_from_policy(tree, pyspiel.TabularPolicy(rows | {"0pb": [(0, 0.5), (1, 0.4)]}))
    with pytest.raises(ValueError, match="takes action 2 in '0pb'"):
        strategy_from_policy(tree, pyspiel.TabularPolicy(rows | {"0pb": [(0, 0.5), (2, 0.5)]}))
    del rows["0pb"]
    with pytest.raises(
        ValueError, match="no probabilities for the information state '0pb' .1 of 12 infosets are missing"
    ):
        strategy_from_policy(tree, pyspiel.TabularPolicy(rows))
    for wrong in (np.nan, -0.5, np.inf):
        strategy = uniform_strategy(tree)
        strategy[3] = wrong
        with pytest.raises(ValueError, match="must be at least 0 and sum to 1"):
            checked_strategy(tree, strategy)
    with pytest.raises(ValueError, match=r"float64\[24\], got shape \(23,\)"):
        checked_strategy(tree, np.ones(23))


@pytest.mark.parametrize(
    ("game", "message"),
    [
        ("leduk_poker", "unknown game 'leduk_poker', did you mean 'leduc_poker'"),
        ("goofspiel(num_cards=3)", "goofspiel is not a sequential game: .* turn_based_simultaneous_game"),
        ("mfg_crowd_modelling", "is a mean-field game"),
        ("catch", "does not provide information states"),
        ("leduc_poker(players=99)", "OpenSpiel refuses the game"),
        ("universal_poker(stack=10 10)", "a stack must cover its blind"),
        ("", "unknown game ''"),
    ],
)
def test_what_is_no_tree_is_refused(game, message):
    with pytest.raises(ValueError, match=message):
        flatten(game)
