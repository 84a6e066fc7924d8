"""Vector CFR: the same numbers as scalar CFR on trees of histories, and as independent best responses."""

import itertools

import numpy as np
import pytest
from reference import public_best_response as reference
from resolved_agent import ResolvedAgent
from subgames import (
    GAMES,
    MINI,
    NUM_COMPARED,
    ONE_STREET,
    hand_by_hand,
    heads_up,
    jit_only,
    random_ranges,
    whole_game,
)

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.base import RangeAgent
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.public_best_response import subgame_best_response


@jit_only
@pytest.mark.parametrize(
    "name, algorithm",
    [
        *itertools.product(("leduc", "mini", "three"), ("cfr", "cfr+", "lcfr", "dcfr")),
        pytest.param("wide", "lcfr", marks=pytest.mark.slow),
    ],
)
def test_every_iteration_is_that_of_scalar_cfr(name, algorithm):
    game, rules = GAMES[name]
    tree = flatten(game or game_string(rules))
    scalar, vector = make_solver(tree, algorithm), whole_game(rules, algorithm, threads=1)
    for _ in range(NUM_COMPARED.get(rules, 8)):  # then ties, broken by rounding: sums over ranges are not exact zeros
        scalar.run(1)
        vector.run(1)
        found = strategy_from_agent(tree, ResolvedAgent(vector))
        np.testing.assert_allclose(found, scalar.average_strategy(), rtol=0, atol=1e-9)
        expected, measured = exploitability(tree, scalar.average_strategy()), vector.evaluate()
        np.testing.assert_allclose(measured.values, expected.values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(measured.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)
        assert measured.exploitability == pytest.approx(expected.exploitability, abs=1e-9)


@jit_only
def test_a_run_can_be_ended():
    for rules, bound in ((LEDUC, 3), (ONE_STREET, 48)):
        answers = iter([True] * 3 + [False] * 1000)
        solver = whole_game(rules, "cfr+")
        solver.run(1000, goes_on=lambda answers=answers: next(answers))
        assert 0 < solver.iteration <= bound
        other = whole_game(rules, "cfr+")
        other.run(solver.iteration)
        np.testing.assert_array_equal(solver.streets[0].sums[0], other.streets[0].sums[0])


@jit_only
def test_a_street_with_card_removal_has_the_value_of_its_tree():
    tree = flatten(game_string(MINI))
    scalar, vector = make_solver(tree, "cfr+"), whole_game(MINI, "dcfr-restarts", threads=1)
    scalar.run(1_000)
    vector.run(1_000)
    expected = exploitability(tree, scalar.average_strategy())
    found = exploitability(tree, strategy_from_agent(tree, ResolvedAgent(vector)))
    assert found.exploitability == pytest.approx(vector.evaluate().exploitability, abs=1e-9)
    assert max(found.exploitability, expected.exploitability) < 0.1  # of 50 and 100 chips in the middle
    assert found.values[0] == pytest.approx(expected.values[0], abs=0.2)


TURN = HoldemRules(
    blinds=(100, 50),
    stacks=(300, 300),
    first_seats=(1, 0),
    board_cards=(1, 1),
    num_suits=2,
    num_ranks=4,
    betting_abstraction="fcpa",
)
"""Turn and river with a deck of eight cards, two of them a hand."""


class ByFirstCard(RangeAgent):
    """Plays the solution of the board at hand."""

    name = "by first card"

    def __init__(self, solvers):
        self._agents = {card: ResolvedAgent(solver) for card, solver in solvers.items()}

    def strategy(self, public, combo_ids):
        return self._agents[public.board[0]].strategy(public, combo_ids)


@jit_only
@pytest.mark.parametrize("by_buckets", [False, True])
def test_turn_spots_are_the_game_tree_behind_their_boards(by_buckets):
    """A game that begins with a dealt turn is as many spots as there are turns; OpenSpiel's tree holds all of them."""
    tree = flatten(game_string(TURN))
    solvers = {}
    for card in TURN.cards.tolist():
        rows = hand_by_hand(TURN.num_combos) if by_buckets else None
        subgame = Subgame(BettingState(TURN), (card,), np.ones((2, TURN.num_combos)), buckets=rows)
        solvers[card] = VectorSolver(subgame, "cfr+", dtype=np.float64, threads=1)
    scalar, agent = make_solver(tree, "cfr+"), ByFirstCard(solvers)
    for iterations in (2, 98):
        scalar.run(iterations)
        for solver in solvers.values():
            solver.run(iterations)
        found, expected = strategy_from_agent(tree, agent), scalar.average_strategy()
        if scalar.iteration == 2:  # then ties are broken by rounding
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        in_tree, by_board = exploitability(tree, found), [solver.evaluate() for solver in solvers.values()]
        for name in ("values", "best_response_values"):
            mean = np.mean([getattr(each, name) for each in by_board], axis=0)
            np.testing.assert_allclose(getattr(in_tree, name), mean, rtol=0, atol=1e-9)
    solved = exploitability(tree, expected)
    assert 0.0 < in_tree.exploitability < 0.1  # of 100 and 50 chips in the middle
    assert 0.0 < solved.exploitability < 0.1
    assert in_tree.values[0] == pytest.approx(solved.values[0], abs=in_tree.exploitability + solved.exploitability)


@jit_only
@pytest.mark.parametrize(
    "board, menu, ranges",
    [
        ("Td 9d 6h Qc 7s", "fchpa", ("random", "random")),
        ("As Ks Qs Js Ts", "fcpa", ("random", "22+,A2s+")),  # the board plays
        ("7c 7d 7h 2s 2d", "fchpa", ("TT+,AhKh", "88-22,76s")),
        ("Ah Kh 9h 4h", "fcpa", ("55+,AKs,QhJh", "44+,T9s,87s")),
        ("Ah Kh 9c 4h", "fc", ("random", "random")),
    ],
)
def test_values_and_exploitability_are_those_of_an_independent_best_response(board, menu, ranges):
    cards = parse_cards(board)
    state, public = heads_up(cards, menu)
    weights = (
        random_ranges(len(board), ranges) if ranges[1] != "44+,T9s,87s" else np.stack(list(map(parse_range, ranges)))
    )
    for dtype, tolerance in ((np.float64, 1e-9), (np.float32, 1e-3)):
        solver = VectorSolver(Subgame(state, cards, weights), dtype=dtype)
        solver.run(7)
        agents = [ResolvedAgent(solver, len(public.actions)) for _ in range(2)]
        expected = subgame_best_response(public, weights, agents)
        found = solver.evaluate()
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=tolerance)
        np.testing.assert_allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=tolerance)
        assert found.exploitability == pytest.approx(expected.exploitability, abs=tolerance)
        assert found.values.sum() == pytest.approx(0.0, abs=tolerance)


class Remembered(RangeAgent):
    """Asks an agent once at each public state."""

    name = "remembered"

    def __init__(self, agent):
        self._agent, self._known = agent, {}

    def strategy(self, public, combo_ids):
        key = public.board, public.actions
        if key not in self._known:
            self._known[key] = self._agent.strategy(public, combo_ids)
        return self._known[key]


@pytest.mark.slow
@jit_only
@pytest.mark.parametrize("by_buckets", [False, True])
def test_a_flop_is_worth_what_plain_loops_find(by_buckets):
    """A few hands each, over all turns and rivers of a flop on which diamonds and spades are alike."""
    cards = parse_cards("Ah Kh 9c")
    state, public = heads_up(cards, "fcpa", stack=100)
    weights = np.stack([parse_range("AsKd,AdKs,7h7c:0.5"), parse_range("QhJh,9s9d:0.25")])
    rows = (lambda board: np.arange(1326) % 7) if by_buckets else None
    solver = VectorSolver(Subgame(state, cards, weights, buckets=rows), dtype=np.float64)
    solver.run(12)
    assert [len(street.deals.boards) for street in solver.streets] == [1, 36, 1_429]
    agents = [Remembered(ResolvedAgent(solver, len(public.actions))) for _ in range(2)]
    own, best = reference.values(public, weights, agents)
    found = solver.evaluate()
    np.testing.assert_allclose(found.values, own, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.best_response_values, best, rtol=0, atol=1e-9)


@jit_only
def test_the_same_for_any_number_of_threads():
    cards = parse_cards("Ah Kh 9h 4c")
    state, _ = heads_up(cards, "fcpa")
    sums = []
    for threads in (1, 3):
        solver = VectorSolver(Subgame(state, cards, random_ranges(1, ("66+,AT+", "random"))), threads=threads)
        solver.run(3)
        sums.append(solver.streets[1].sums[0])
    np.testing.assert_array_equal(*sums)


@jit_only
def test_dead_chips_are_won_with_the_rest():
    """By the best hand, and in halves by equal ones; turning the subgame down is weighed against it."""
    cards = parse_cards("Td 9d 6h Qc 7s")
    state, _ = heads_up(cards, "fc")
    weights = np.stack([parse_range("QQ"), parse_range("AA")])
    for dead_chips in (0, 7):
        solver = VectorSolver(Subgame(state, cards, weights, dead_chips=dead_chips))
        solver.run(2)
        found = solver.evaluate()
        for values in (found.values, found.best_response_values):
            np.testing.assert_allclose(values, [50 + dead_chips, -50])
        queens = (weights[0] > 0.0) & (solver.facing[0] > 0.0)
        np.testing.assert_allclose(solver.combo_values(0)[:, queens] / solver.facing[0, queens], 50 + dead_chips)
        for bound, is_accepted in ((49 + dead_chips, True), (51 + dead_chips, False)):
            solver.add_gadget(0, np.full(1326, float(bound)))
            solver.run(2)
            assert (solver.gadget.accepted[queens] == is_accepted).all()
        equal = VectorSolver(Subgame(state, cards, weights[[1, 1]], dead_chips=dead_chips))
        np.testing.assert_allclose(equal.evaluate().values, dead_chips / 2)
