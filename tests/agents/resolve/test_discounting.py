"""The schedules of vector CFR's algorithms, and the averages that they make."""

import numpy as np
import pytest
from subgames import heads_up, jit_only, random_ranges

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.resolve.discounting import parse_discounting


def averages(algorithm, num_iterations):
    """Return the weight of each iteration (column) in the average after each iteration (row)."""
    decay = parse_discounting(algorithm).steps(0, num_iterations)[:, 2]
    weights = np.zeros((num_iterations, num_iterations))
    for t in range(num_iterations):
        weights[t, :t] = weights[t - 1, :t] * decay[t]
        weights[t, t] = 1.0
    return weights


def test_restarts_count_weights_from_powers_of_4_that_half_of_the_iterations_follow():
    weights = averages("dcfr-restarts", 300)
    for t, first in ((6, 1), (7, 4), (30, 4), (31, 16), (126, 16), (127, 64), (255, 64), (300, 64)):
        begun = max(2 * first - 1, 1)  # the iteration from which the restart counts
        expected = (np.arange(begun, t + 1) - first + 1.0) ** 3
        np.testing.assert_allclose(weights[t - 1, begun - 1 : t], expected / expected[-1])


def test_an_average_never_rests_on_few_iterations():
    for t, row in enumerate(averages("dcfr-restarts", 1100), 1):
        assert (row[:t] > 0.0).all()
        assert row.max() <= 8.0 / t * row.sum()  # cubes over half of the iterations; a single iterate would have 1
        assert row[: t // 2].sum() <= 0.15 * row.sum()


def test_steps_go_on_where_they_ended():
    plain, restarts = (parse_discounting(name).steps(0, 40) for name in ("dcfr", "dcfr-restarts"))
    np.testing.assert_array_equal(restarts[:, :2], plain[:, :2])
    np.testing.assert_allclose(np.cumprod(plain[::-1, 2])[:-1], (np.arange(39, 0, -1) / 40.0) ** 2)
    np.testing.assert_array_equal(plain[7:], parse_discounting("dcfr").steps(7, 33))
    np.testing.assert_array_equal(restarts[7:], parse_discounting("dcfr-restarts").steps(7, 33))


@jit_only
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 54), marks=pytest.mark.slow)])
def test_no_iteration_spoils_the_average(seeds):
    """Exploitability on random rivers is no worse after a power of 4 than one iteration before."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        board = tuple(sorted(rng.permutation(52)[:5].tolist()))
        state, _ = heads_up(board, "fchpa", stack=int(rng.choice([50, 200, 950])))
        solver = VectorSolver(Subgame(state, board, random_ranges(seed)), "dcfr-restarts", threads=1)
        for power in (64, 256):
            solver.run(power - 1 - solver.iteration)
            before = solver.evaluate().exploitability
            solver.run(1)
            assert solver.evaluate().exploitability <= 1.2 * before, (seed, power)


@jit_only
def test_sums_that_have_shrunk_to_nothing_do_no_harm():
    """Below the smallest normal float32, dividing by a sum gives infinity."""
    board = parse_cards("Td 9d 6h Qc 7s")
    solver = VectorSolver(Subgame(heads_up(board, "fchpa")[0], board, random_ranges(1)), "dcfr(1.5,0,16)", threads=1)
    solver.run(200)
    sums = solver.streets[0].sums[0]
    assert (sums[sums > 0.0] < 2.0**-126).any()
    assert 0.0 < solver.evaluate().exploitability < 1.0  # of 100 chips


@pytest.mark.parametrize(
    "text",
    [
        "mccfr",
        "pcfr+",
        "hybrid",
        "cfr:simultaneous",
        "dcfr-restart",
        "nonsense",
        "-restarts",
        "dcfr-restartsxyz-restarts",
    ],
)
def test_other_algorithms_are_refused(text):
    with pytest.raises(ValueError, match=r"unknown algorithm|a subgame is solved by"):
        parse_discounting(text)


@pytest.mark.parametrize("text", ["cfr-restarts", "dcfr(1.5,0,0)-restarts"])
def test_restarts_without_growing_weights_are_refused(text):
    with pytest.raises(ValueError, match="GAMMA must be above 0"):
        parse_discounting(text)
