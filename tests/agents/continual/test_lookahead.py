"""The lookahead against the hybrid of the tabular solvers, which walks a flat tree with one number for each history."""

import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.trees import game_tree_kernels as tree_kernels
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.abstraction.trees.public_states import public_states
from plurispiel.agents.continual import Lookahead, Opponent
from plurispiel.agents.continual.leaf_values import boards_after
from plurispiel.agents.continual.small_games import public_decisions
from plurispiel.agents.search.exact.search import beliefs_everywhere
from plurispiel.agents.search.exact.subgame import TerminateOption, make_subgame
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import exploitability

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def state_after(rules, actions):
    state = BettingState(rules)
    for _, action, _ in actions:
        state.apply(action)
    return state


def no_values(boundary):
    raise AssertionError("a lookahead to the end of the hand asked for values")


def written(solution, tree, publics, decisions, line):
    """A solution's strategies in the infosets of its street, float64[A]; NaN elsewhere."""
    found = np.full(tree.num_actions, np.nan)
    for number, board, actions in decisions:
        if board != solution.board or actions[: len(line)] != line:
            continue
        node = solution.follow(0, actions[len(line) :])
        members = publics.members(number)
        rows = solution.strategy(node)[publics.combo[members, publics.player[number]]]
        first = tree.infoset_first[tree.infoset[members]]
        for k in range(rows.shape[1]):
            found[first + k] = rows[:, k]
    return found


class Game:
    def __init__(self, name):
        self.tree = flatten(name)
        self.publics = public_states(self.tree)
        self.decisions = public_decisions(self.tree, self.publics)
        self.rules = OpenSpielGame(self.tree.openspiel_game).rules

    def written(self, solution, line=()):
        return written(solution, self.tree, self.publics, self.decisions, line)


@pytest.fixture(scope="module")
def leduc():
    return Game("leduc_poker")


@pytest.mark.parametrize("iterations", [1, 50])
def test_a_game_of_one_street(iterations):
    kuhn = Game("kuhn_poker")
    solver = make_solver(kuhn.tree, f"hybrid({iterations // 2})")
    solver.run(iterations)
    lookahead = Lookahead(BettingState(kuhn.rules), (), (), no_values)
    solution = lookahead.solve(np.ones((2, 3)), iterations, iterations // 2)
    np.testing.assert_allclose(kuhn.written(solution), solver.average_strategy(), atol=1e-12)


@pytest.mark.parametrize("iterations", [1, 40])
def test_last_street_with_the_gadget(leduc, iterations):
    """The tabular solver has the gadget as a decision before each hand of the opponent."""
    rng = np.random.default_rng(iterations)
    for root in leduc.publics.roots(1)[::7].tolist():
        for opponent in range(2):
            weights = leduc.publics.possible(root) * rng.random((2, 6))
            bounds = rng.normal(size=6)
            gadget = TerminateOption(opponent, bounds)
            subgame = make_subgame(leduc.tree, leduc.publics, root, weights, gadget=gadget)
            solver = make_solver(subgame.tree, f"hybrid({iterations // 2})")
            solver.run(iterations)
            expected = np.full(leduc.tree.num_actions, np.nan)
            subgame.write(solver.average_strategy(), expected)
            board, line = next((board, line) for number, board, line in leduc.decisions if number == root)
            lookahead = Lookahead(state_after(leduc.rules, line), board, line, no_values)
            opposed = Opponent(opponent, bounds, np.zeros(6))
            solution = lookahead.solve(weights, iterations, iterations // 2, opponent=opposed)
            np.testing.assert_allclose(leduc.written(solution, line), expected, atol=1e-12)


class HybridLeaves:
    """Values behind the first street under the strategies that the tabular hybrid plays in each of its iterations."""

    num_solves = num_iterations = 0

    def __init__(self, game, boundary, solver):
        self.boards = boards_after(boundary)
        self._solver, self._tree = solver, game.tree
        places = np.argsort(boundary.hands.combos)
        self._where = []
        for number, board, line in game.decisions:
            if len(line) and board and line[-1][2] == 0:
                members = game.publics.members(number)
                end = boundary.lines().index(line)
                self._where.append((end, self.boards.index(board), members, places[game.publics.combo[members]].T))

    def values(self, reach):
        histories = np.empty((self._tree.num_histories, 2))
        tree_kernels.fill_values(self._tree.nodes, self._solver.current_strategy(), histories)
        found = np.zeros((*reach.shape[:2], len(self.boards), reach.shape[2]))
        for end, board, members, hands in self._where:
            for seat in range(2):
                worth = reach[1 - seat, end, hands[1 - seat]] * histories[members, seat] / 4.0
                np.add.at(found[seat, end, board], hands[seat], worth)
        self._solver.run(1)
        return found


@pytest.mark.parametrize("iterations", [1, 30])
def test_first_street(leduc, iterations):
    solver = make_solver(leduc.tree, f"hybrid({iterations // 2})")
    lookahead = Lookahead(BettingState(leduc.rules), (), (), lambda boundary: HybridLeaves(leduc, boundary, solver))
    solution = lookahead.solve(np.ones((2, 6)), iterations, iterations // 2)
    actual = leduc.written(solution)
    known = ~np.isnan(actual)
    assert known.sum() == 6 * (2 + 2 + 3 + 3 + 2 + 2)
    np.testing.assert_allclose(actual[known], solver.average_strategy()[known], atol=1e-12)


def test_corrected_values_are_means_over_iterations(leduc):
    lookahead = Lookahead(BettingState(leduc.rules), (), (), lambda boundary: None)
    with pytest.raises(ValueError, match="means over the iterations, got bounds='best'"):
        lookahead.solve(np.full((2, 6), 1 / 6), 2, 1, bounds="best", corrected=1)


@jit_only
def test_gadget_keeps_an_equilibrium(leduc):
    """One subtree at a time is solved again, with the equilibrium's own values as bounds."""
    tree, publics = leduc.tree, leduc.publics
    solver = make_solver(tree, "cfr+")
    solver.run(3_162)
    equilibrium = solver.average_strategy()
    before = exploitability(tree, equilibrium).exploitability
    beliefs = beliefs_everywhere(tree, publics, equilibrium)
    histories = np.empty((tree.num_histories, 2))
    tree_kernels.fill_values(tree.nodes, equilibrium, histories)
    worst = 0.0
    for root in publics.roots(1).tolist():
        board, line = next((board, line) for number, board, line in leduc.decisions if number == root)
        members = publics.members(root)
        for seat in range(2):
            other = 1 - seat
            weights = beliefs[root][seat, publics.combo[members, seat]]
            masses, values = (
                np.bincount(publics.combo[members, other], weights * rows, 6)
                for rows in (1.0, histories[members, other])
            )
            bounds = np.divide(values, masses, out=np.zeros(6), where=masses > 0.0)
            ranges = publics.possible(root) / 5.0
            ranges[seat] = beliefs[root][seat]
            lookahead = Lookahead(state_after(leduc.rules, line), board, line, no_values)
            solution = lookahead.solve(ranges, 3_000, 1_500, opponent=Opponent(other, bounds, np.zeros(6)))
            found = leduc.written(solution, line)
            mine = np.repeat(tree.infoset_player == seat, np.diff(tree.infoset_first)) & ~np.isnan(found)
            worst = max(worst, exploitability(tree, np.where(mine, found, equilibrium)).exploitability - before)
    print(f"replacing one subtree at a time costs at most {worst:.4f} chips")
    assert worst <= 0.002
