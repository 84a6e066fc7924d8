"""Values at nodes against those of a flat tree, which has every pair of hands by itself."""

import numpy as np
import pytest
from resolved_agent import ResolvedAgent
from subgames import GAMES, jit_only, whole_game

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.trees import game_tree_kernels as tree_kernels
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.public_states import public_states
from plurispiel.agents.continual.small_games import public_decisions
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.search.exact.search import response_values
from plurispiel.evaluation.agent_strategy import strategy_from_agent


@jit_only
@pytest.mark.parametrize("name", ["leduc", "mini"])
def test_flat_tree(name):
    game, rules = GAMES[name]
    tree = flatten(game)
    publics = public_states(tree)
    solver = whole_game(rules, "cfr+")
    solver.run(10)
    strategy = strategy_from_agent(tree, ResolvedAgent(solver))
    own = np.empty((tree.num_histories, 2))
    tree_kernels.fill_values(tree.nodes, strategy, own)
    best = [response_values(tree, strategy, seat) for seat in range(2)]
    assert OpenSpielGame(tree.openspiel_game).rules == rules
    compared = 0
    for number, board, line in public_decisions(tree, publics):
        on_first = [action for _, action, street in line if street == 0]
        if len(on_first) < len(line):
            continue  # `values_after` is for the first street, and for what follows at once behind it
        found = solver.values_after(on_first, board)
        members = publics.members(number)
        first, second = publics.combo[members].T
        weights = np.zeros((2, rules.num_combos, rules.num_combos))
        orders = 4 if rules.num_hole_cards == 2 else 1  # histories of one pair of hands: each order of cards has one
        for seat, (mine, other) in enumerate(((first, second), (second, first))):
            reach = found.reach[1 - seat, other] / orders
            for kind, worth in enumerate((best[seat][members], own[members, seat])):
                expected = np.bincount(mine, reach * worth, rules.num_combos)
                held = np.bincount(mine, minlength=rules.num_combos) > 0
                np.testing.assert_allclose(found.values[seat, kind][held], expected[held], atol=1e-9)
            weights[seat, mine, other] = reach * orders
            np.testing.assert_allclose(found.facing[seat][held], weights[seat].sum(axis=1)[held], atol=1e-12)
        compared += 1
    assert compared > 10


@jit_only
def test_reach_and_cards():
    """The reach is the range times the average strategy; behind an end the values of all cards add up to the end's."""
    solver = whole_game(LEDUC, "cfr+")
    solver.run(10)
    decision = solver.streets[0].betting.decisions[0]
    raised = solver.values_after([3])
    column = list(decision.children).index(3)
    np.testing.assert_allclose(raised.reach[0], solver.strategy(0, decision)[:, column], atol=1e-12)
    np.testing.assert_array_equal(raised.reach[1], 1.0)
    for seat in range(2):  # one seat alone
        alone = solver.values_after([3], seats=(seat,))
        np.testing.assert_array_equal(alone.values[seat], raised.values[seat])
        np.testing.assert_allclose(alone.facing, raised.facing, atol=1e-12)
    called = [solver.values_after([3, 1], (card,)) for card in LEDUC.cards.tolist()]
    root = solver.values_after([])
    np.testing.assert_allclose(root.values, np.stack([solver.combo_values(seat) for seat in range(2)]), atol=1e-12)
    fold = solver.values_after([3, 0])
    np.testing.assert_allclose(fold.values[0, 1], 1.0 * fold.facing[0], atol=1e-12)  # an ante of one chip
    answer = solver.values_after([3]).values[0, 1]
    raised_again = solver.values_after([3, 5]).values[0, 1]
    ends = sum(each.values[0, 1] for each in called) / 4.0
    np.testing.assert_allclose(answer, fold.values[0, 1] + ends + raised_again, atol=1e-12)


def test_refusals():
    solver = VectorSolver(Subgame(BettingState(LEDUC), (), np.ones((2, 6))), "cfr+", threads=1)
    for path, dealt, message in (
        ([7], (), "does not offer"),
        ([1, 1, 1], (), "does not offer"),
        ([1, 1], (), "new cards come at an end"),
        ([1], (0,), "new cards come at an end"),
        ([1, 1], (51,), "cannot be dealt"),
    ):
        with pytest.raises(ValueError, match=message):
            solver.values_after(path, dealt)
