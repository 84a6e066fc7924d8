"""Strategies by bucket: lossless buckets change nothing, coarse ones come to an equilibrium among themselves."""

import dataclasses

import numpy as np
import pytest
from resolved_agent import ResolvedAgent
from subgames import (
    CARDS,
    GAMES,
    NUM_COMPARED,
    THREE_STREETS,
    by_rank,
    check_first,
    hand_by_hand,
    heads_up,
    jit_only,
)

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability


@jit_only
@pytest.mark.parametrize("name, algorithm", [("leduc", "cfr+"), ("leduc", "dcfr"), ("three", "dcfr"), ("wide", "cfr")])
def test_lossless_buckets_change_nothing(name, algorithm):
    game, rules = GAMES[name]
    tree = flatten(game or game_string(rules))
    buckets = by_rank if rules.num_combos == len(CARDS) else hand_by_hand(rules.num_combos)
    subgame = Subgame(BettingState(rules), (), np.ones((2, rules.num_combos)), buckets=buckets)
    scalar, vector = make_solver(tree, algorithm), VectorSolver(subgame, algorithm, dtype=np.float64, threads=2)
    # Some decisions of `WIDE` are worth the same. From its third iteration on, rounding decides such ties.
    for count in (2,) if name == "wide" else [1] * NUM_COMPARED.get(rules, 8):
        scalar.run(count)
        vector.run(count)
        found = strategy_from_agent(tree, ResolvedAgent(vector))
        np.testing.assert_allclose(found, scalar.average_strategy(), rtol=0, atol=1e-9)
        expected, measured = exploitability(tree, scalar.average_strategy()), vector.evaluate()
        np.testing.assert_allclose(measured.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)
        by_buckets = vector.evaluate_by_buckets()
        np.testing.assert_allclose(by_buckets.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)


@pytest.mark.slow
@jit_only
def test_lossless_buckets_change_nothing_on_four_streets():
    """The walk over the second street of four is driven from Python (`Walk._pass`)."""
    rules = dataclasses.replace(THREE_STREETS, stacks=(4, 4), first_seats=(1, 0, 0, 0), board_cards=(0, 1, 1, 1))
    ranges = np.array([[1.0, 0.1, 0.3, 0.02, 0.7, 0.2], [0.05, 1.0, 0.6, 0.3, 0.1, 0.9]])
    exact, by_buckets = (
        VectorSolver(Subgame(BettingState(rules), (), ranges, buckets=rows), "dcfr", dtype=np.float64)
        for rows in (None, hand_by_hand(6))
    )
    for solver in (exact, by_buckets):
        solver.run(5)
    expected = exact.evaluate()
    assert expected.exploitability > 0.01
    for found in (by_buckets.evaluate(), by_buckets.evaluate_by_buckets()):
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)


@jit_only
def test_coarse_buckets_cost_something():
    """With all hands alike on the second street, no strategy there knows its hand; best responses do."""
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, 6)), buckets=lambda board: np.zeros(6, int))
    solver = VectorSolver(subgame, "dcfr", dtype=np.float64)
    solver.run(200)
    found, by_buckets = solver.evaluate(), solver.evaluate_by_buckets()
    assert 0.3 < found.exploitability < 3.0
    assert found.values.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(by_buckets.values, found.values, rtol=0, atol=1e-12)
    assert (by_buckets.best_response_values <= found.best_response_values).all()


@jit_only
@pytest.mark.parametrize("options, bound", [({}, 0.0002), ({"run_outs": 2}, 0.01), ({"thinning": 100}, 0.01)])
def test_strategies_by_bucket_come_to_an_equilibrium_among_themselves(options, bound):
    ranges = np.array([[1.0, 0.1, 0.3, 0.02, 0.7, 0.2], [0.05, 1.0, 0.6, 0.3, 0.1, 0.9]])
    subgame = Subgame(BettingState(LEDUC), (), ranges, check_first, buckets=lambda board: np.arange(6) % 2)
    solver = VectorSolver(subgame, "lcfr", dtype=np.float64, threads=1, **options)
    solver.run(1_000)
    assert 0.0 <= solver.evaluate_by_buckets().exploitability < bound
    assert solver.evaluate().exploitability > 0.2


@jit_only
def test_hands_count_in_their_bucket_as_often_as_they_are_held():
    """Hands that are next to never held change nothing for the others of their bucket."""
    found = []
    for weight in (0.0, 1e-10):
        ranges = np.array([[1.0, weight, 0.3, weight, weight, 0.2], [weight, 1.0, 0.6, weight, 0.1, weight]])
        subgame = Subgame(BettingState(LEDUC), (), ranges, check_first, buckets=lambda board: np.arange(6) % 2)
        solver = VectorSolver(subgame, "lcfr", dtype=np.float64)
        solver.run(50)
        found.append([*solver.evaluate().values, *solver.evaluate_by_buckets().best_response_values])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-6)


@jit_only
def test_a_flop_in_lossless_buckets_is_the_exact_one():
    """One bucket for each hand on each board; isomorphic boards are dealt once."""
    cards = parse_cards("Ah Kh 9c")
    state, _ = heads_up(cards, "fcpa", stack=60)
    weights = np.stack([parse_range("AsKd,AdKs,7h7c:0.5"), parse_range("QhJh,9s9d:0.25,8s8d")])
    places = np.cumsum(weights.sum(axis=0) > 0.0)
    numbers = {}

    def one_each(board):
        return numbers.setdefault(board, len(numbers)) * (places[-1] + 1) + places

    exact, by_buckets = (
        VectorSolver(Subgame(state, cards, weights, buckets=rows), "cfr", dtype=np.float64) for rows in (None, one_each)
    )
    for solver in (exact, by_buckets):
        assert [len(street.deals.boards) for street in solver.streets] == [1, 36, 1_429]
        solver.run(6)
    expected = exact.evaluate()
    assert expected.exploitability > 0.1
    for found in (by_buckets.evaluate(), by_buckets.evaluate_by_buckets()):
        np.testing.assert_allclose(found.values, expected.values, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.best_response_values, expected.best_response_values, rtol=0, atol=1e-9)
    for number, street in enumerate(exact.streets):
        for decision in street.betting.decisions:
            for board in range(0, len(street.deals.boards), 97):
                pair = (solver.strategy(number, decision, board) for solver in (exact, by_buckets))
                np.testing.assert_allclose(*pair, rtol=0, atol=1e-9)


@jit_only
@pytest.mark.parametrize("threads", [1, 2])
def test_an_iteration_adds_to_each_bucket_the_changes_of_its_hands(threads):
    """The first iteration of seat 0: neither seat has learnt yet, so that both solvers play alike."""
    cards = parse_cards("Qs Js 8s 2s")
    state, _ = heads_up(cards, "fchpa", stack=900)
    weights = np.stack([parse_range("QQ-77:0.5,AK,JTs,K9s:0.25"), parse_range("AA,TT,KJ:0.3,98s,Q7s,A5s")])
    exact, by_buckets = (
        VectorSolver(Subgame(state, cards, weights, buckets=rows), "cfr", dtype=np.float64, threads=threads)
        for rows in (None, lambda board: np.arange(1326) * (1 + board[-1]) % 37)
    )
    for solver in (exact, by_buckets):
        solver.run(1)
    street, buckets = exact.streets[1], by_buckets.streets[1]
    assert street.betting.num_roots > 16 and street.deals.arrays.multiplicity.max() == 3
    alike = {decision.actions: decision for decision in buckets.betting.decisions}
    for decision in street.betting.decisions:
        if decision.seat:
            continue
        for hands, tables, weight in (
            (street.regrets, buckets.regrets, weights[0] / weights[0].max()),
            (street.sums, buckets.sums, np.ones(1326)),
        ):
            expected = np.zeros((37, len(decision.children)))
            found = np.full_like(expected, np.nan)
            for board, dealt in enumerate(street.deals.boards):
                combos, entries = street.entries(hands, decision, board)
                numbers = combos * (1 + dealt[-1]) % 37
                times = weight[combos] * street.deals.arrays.multiplicity[board]
                np.add.at(expected, numbers, entries * times[:, None])
                found[numbers] = buckets.entries(tables, alike[decision.actions], board)[1]
            held = ~np.isnan(found[:, 0])
            np.testing.assert_allclose(found[held], expected[held], rtol=0, atol=1e-11 * abs(expected).max())
