"""Values of single decisions, beside an enumeration of OpenSpiel's states and the exact best responses."""

from collections import defaultdict

import numpy as np
import pytest

from plurispiel.abstraction.trees.game_tree import flatten, uniform_strategy
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.decision_values import decision_values


def random_strategy(tree, seed):
    """A strategy with some actions that are never taken."""
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=tree.num_actions) * (rng.random(tree.num_actions) < 0.8)
    sizes = np.diff(tree.infoset_first)
    totals = np.repeat(np.add.reduceat(weights, tree.infoset_first[:-1]), sizes)
    return np.where(totals > 0.0, weights / np.where(totals > 0.0, totals, 1.0), np.repeat(1.0 / sizes, sizes))


@pytest.mark.parametrize("game", ["kuhn", "kuhn3", "leduc", "liars_dice(dice_sides=2)"])
@pytest.mark.parametrize("seed", range(4))
def test_gains_sum_to_the_incentives(game, seed):
    tree = flatten(game)
    strategy = random_strategy(tree, seed)
    found = decision_values(tree, strategy)
    sums = np.bincount(tree.infoset_player, found.gains, tree.num_players)
    assert sums == pytest.approx(exploitability(tree, strategy).incentives, abs=1e-12)
    assert (found.gains >= 0.0).all()


def enumerated(tree, strategy):
    """Reach by infoset, and the sums of the counterfactual reach and of its products with the values of actions."""
    numbers = {
        (int(player), key): number
        for number, (player, key) in enumerate(zip(tree.infoset_player, tree.infoset_keys, strict=True))
    }
    reach, mass, sums = np.zeros(tree.num_infosets), np.zeros(tree.num_infosets), defaultdict(float)

    def visit(state, players, chance):
        """Values of a state for all players; `players` holds the probability of each player's actions."""
        if state.is_terminal():
            return np.array(state.returns())
        total = np.zeros(tree.num_players)
        if state.is_chance_node():
            for action, share in state.chance_outcomes():
                total += share * visit(state.child(action), players, chance * share)
            return total
        player = state.current_player()
        number = numbers[player, state.information_state_string()]
        others = chance * np.prod(np.delete(players, player))
        mass[number] += others
        reach[number] += others * players[player]
        for k, action in enumerate(state.legal_actions()):
            place = tree.infoset_first[number] + k
            further = players.copy()
            further[player] *= strategy[place]
            value = visit(state.child(action), further, chance)
            sums[int(place)] += others * value[player]
            total += strategy[place] * value
        return total

    visit(tree.openspiel_game.new_initial_state(), np.ones(tree.num_players), 1.0)
    return reach, mass, np.array([sums[place] for place in range(tree.num_actions)])


@pytest.mark.parametrize("game", ["kuhn", "kuhn3", "leduc"])
def test_values_equal_an_enumeration(game):
    tree = flatten(game)
    strategy = random_strategy(tree, 7)
    reach, mass, sums = enumerated(tree, strategy)
    found = decision_values(tree, strategy)
    sizes = np.diff(tree.infoset_first)
    assert found.reach == pytest.approx(reach, abs=1e-14)
    by_action = np.repeat(mass, sizes)
    known = by_action > 0.0
    assert known.any() and (game != "leduc" or not known.all())
    assert found.action_values[known] == pytest.approx(sums[known] / by_action[known], abs=1e-12)
    assert np.isnan(found.action_values[~known]).all() and np.isnan(found.values[mass == 0.0]).all()
    own = np.add.reduceat(strategy * sums, tree.infoset_first[:-1])
    assert found.values[mass > 0.0] == pytest.approx((own / np.where(mass > 0.0, mass, 1.0))[mass > 0.0], abs=1e-12)


def test_a_gain_by_hand():
    """In Kuhn poker, uniform play folds the king to a bet half of the time: one call wins 3 chips more than a fold."""
    tree = flatten("kuhn")
    found = decision_values(tree, uniform_strategy(tree))
    number = next(i for i, key in enumerate(tree.infoset_keys) if key == "2b")
    place = tree.infoset_first[number]
    assert found.action_values[place : place + 2].tolist() == [-1.0, 2.0]
    assert found.reach[number] == pytest.approx(1.0 / 6.0)  # the king for player 1, and a bet by player 0
    assert found.gains[number] == pytest.approx(1.5 / 6.0)
    assert found.best[number] == 1
