"""Sampled boards: unbiased values, and the same equilibria."""

import numpy as np
import pytest
from subgames import (
    THREE_STREETS,
    by_rank,
    jit_only,
)

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.resolve.visits import ThinnedRunOuts


@jit_only
@pytest.mark.parametrize("buckets", [None, by_rank])
@pytest.mark.parametrize(("options", "iterations"), [({"run_outs": 2}, 600), ({"thinning": 400}, 1_000)])
def test_sampled_run_outs_come_to_the_same(buckets, options, iterations):
    """Leduc's value and little to gain, from a few of six cards an iteration; whatever the threads."""
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, 6)), buckets=buckets)
    first, second = (
        VectorSolver(subgame, "lcfr", dtype=np.float64, threads=threads, seed=3, **options) for threads in (1, 2)
    )
    for solver in (first, second):
        solver.run(100)
    np.testing.assert_array_equal(first.streets[1].sums[0], second.streets[1].sums[0])
    first.run(iterations - 100)
    found = first.evaluate()
    assert found.exploitability < 0.06
    assert found.values[0] == pytest.approx(-0.0856, abs=0.1)
    other = VectorSolver(subgame, "lcfr", dtype=np.float64, seed=4, **options)
    other.run(3)
    assert (other.streets[1].sums[0] != first.streets[1].sums[0]).any()
    for wrong in ({"run_outs": 17}, {"thinning": -1}, {"run_outs": 1, "thinning": 1}):
        with pytest.raises(ValueError, match=r"run_outs must|thinning must"):
            VectorSolver(subgame, **wrong)


@jit_only
@pytest.mark.parametrize(("rules", "number"), [(LEDUC, 1), (THREE_STREETS, 2)])
def test_boards_get_the_discounts_that_they_missed_when_thinning_ends(rules, number):
    solver = VectorSolver(
        Subgame(BettingState(rules), (), np.ones((2, 6))), "dcfr", dtype=np.float64, threads=1, thinning=5, seed=3
    )
    street = solver.streets[number]
    children = np.diff(street.deals.child_first).max()
    done = 5 * (int(children) - 1)  # the next iteration is the first one that visits all boards
    solver.run(done)
    last, hands, rows = street.drawn[0].copy(), street.deals.arrays.seats[0], street.size.table_rows[0]
    assert ((last >= 0) & (last < done - 1)).any()
    expected = street.regrets[0].copy(), street.sums[0].copy()
    for board in range(len(last)):
        table = slice(int(hands.block[board]) * rows, int(hands.block[board + 1]) * rows)
        for iteration in range(last[board] + 1, done):
            ((gain, loss, decay),) = solver.algorithm.steps(iteration, 1)
            expected[0][table] *= np.where(expected[0][table] > 0.0, gain, loss)
            expected[1][table] *= decay
    for iteration in (done, done + 1):  # once
        visited = ThinnedRunOuts(int(children), 3, solver.algorithm, iteration)
        if number == 1:
            visited.visits(street, 0)
        else:
            visited.run_outs(street, np.arange(len(solver.streets[1].deals.boards)), 0)
        for found, wanted in zip((street.regrets[0], street.sums[0]), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


ONE, SOME, THINNED = ({"run_outs": 1}, 200), ({"run_outs": 3}, 100), ({"thinning": 9}, 100)
PAIRS = {  # of draws and buckets, each with each, and in two streets or three; all of them are slow
    (LEDUC, None): (SOME, THINNED),
    (LEDUC, by_rank): (ONE,),
    (THREE_STREETS, None): (ONE,),
    (THREE_STREETS, by_rank): (SOME, THINNED),
}


def draws_of_games():
    for (rules, buckets), usual in PAIRS.items():
        for draws in (ONE, SOME, THINNED):
            yield pytest.param(rules, buckets, *draws, marks=() if draws in usual else pytest.mark.slow)


@jit_only
@pytest.mark.parametrize(("rules", "buckets", "options", "count"), list(draws_of_games()))
def test_sampled_values_are_right_on_average(rules, options, count, buckets):
    """Regrets of a first iteration, from uniform strategies, over many draws; in buckets on the last street, too."""
    subgame = Subgame(BettingState(rules), (), np.ones((2, 6)), buckets=buckets)

    def first_regrets(**drawn):
        solver = VectorSolver(subgame, "cfr", dtype=np.float64, threads=1, **drawn)
        solver.run(1)
        return [solver.streets[street].regrets[0].ravel() for street in ((0, -1) if buckets else (0,))]

    draws = [first_regrets(seed=seed, **options) for seed in range(count)]
    for expected, found in zip(first_regrets(), map(np.stack, zip(*draws, strict=True)), strict=True):
        error = found.std(axis=0, ddof=1) / np.sqrt(count)
        assert 0.0 < error.max() < 0.25 * abs(expected).max()
        assert (abs(found.mean(axis=0) - expected) <= 5.0 * error + 1e-9).all()
