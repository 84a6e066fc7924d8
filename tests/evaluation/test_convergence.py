"""Where a run is measured, when it ends, and that an interrupted one is as good as a whole one."""

import contextlib
import itertools

import pytest

from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.convergence import converge, distance, measuring_points


@pytest.fixture(scope="module")
def tree():
    return flatten("kuhn")


def iterations(curve):
    return [point.iteration for point in curve]


def test_points():
    points = list(itertools.islice(measuring_points(1), 60))
    assert points == sorted(set(points))
    assert {1, 2, 3, 10, 32, 100, 316, 1000, 3162, 10_000} <= set(points)
    assert all(later <= 2 * point for point, later in itertools.pairwise(points))
    assert all(later <= 1.43 * point for point, later in itertools.pairwise(points) if point >= 6)
    assert list(itertools.islice(measuring_points(101), 1)) == [133]
    assert next(measuring_points(10**15)) == 10**15


def test_it_ends_after_the_iterations(tree):
    solver = make_solver(tree, "cfr+")
    found, curve = converge(solver, iterations=50)
    assert iterations(curve) == [1, 2, 3, 4, 6, 7, 10, 13, 18, 24, 32, 42, 50]
    assert solver.iteration == 50
    assert curve[-1].distance == distance(found) == found.exploitability
    assert found.nash_conv == exploitability(tree, solver.average_strategy()).nash_conv
    assert [point.seconds for point in curve] == sorted(point.seconds for point in curve)
    assert curve[0].seconds > 0.0


def test_it_ends_at_the_distance(tree):
    _, curve = converge(make_solver(tree, "cfr+"), iterations=10_000, until=1e-3)
    assert curve[-1].distance <= 1e-3 < curve[-2].distance
    assert curve[-1].iteration < 10_000


def test_three_players_are_measured_by_nash_conv():
    found, curve = converge(make_solver(flatten("kuhn3"), "cfr+"), iterations=20)
    assert found.exploitability is None
    assert curve[-1].distance == found.nash_conv


@pytest.mark.parametrize("stop", [1, 5, 13, 14])
@pytest.mark.parametrize("algorithm", ["cfr+", "mccfr"])
def test_a_resumed_run_measures_the_same(tree, algorithm, stop):
    whole = make_solver(tree, algorithm)
    _, expected = converge(whole, iterations=60)
    first = make_solver(tree, algorithm)
    _, curve = converge(first, iterations=stop)
    second = make_solver(tree, algorithm)
    second.resume(first.iteration, first.arrays())
    _, curve = converge(second, iterations=60, curve=curve)
    assert second.average_strategy().tolist() == whole.average_strategy().tolist()
    assert [(point.iteration, point.distance) for point in curve if point.iteration != stop] == [
        (point.iteration, point.distance) for point in expected if point.iteration != stop
    ]
    assert iterations(curve) == sorted({*iterations(expected), stop})
    assert [point.seconds for point in curve] == sorted(point.seconds for point in curve)


def test_a_finished_run_is_not_gone_on_with(tree):
    solver = make_solver(tree, "cfr+")
    _, curve = converge(solver, iterations=20)
    found, again = converge(solver, iterations=10, curve=curve)
    assert again == curve and solver.iteration == 20
    assert distance(found) == curve[-1].distance
    _, again = converge(solver, iterations=100, until=curve[-1].distance, curve=curve)
    assert again == curve and solver.iteration == 20


def test_an_interrupt_between_steps_loses_nothing(tree):
    """It can strike at every step; what is left goes on to the same numbers."""
    whole = make_solver(tree, "cfr+")
    _, expected = converge(whole, iterations=40)
    for at in range(1, 30):
        solver, curve, steps = make_solver(tree, "cfr+"), [], itertools.count(1)

        @contextlib.contextmanager
        def step(steps=steps, at=at):
            yield
            if next(steps) == at:
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt):
            converge(
                solver,
                iterations=40,
                step=step,
                on_point=lambda points, curve=curve: curve.extend(points[len(curve) :]),
            )
        _, curve = converge(solver, iterations=40, curve=curve)
        assert solver.average_strategy().tolist() == whole.average_strategy().tolist()
        assert curve[-1][::2] == expected[-1][::2]


def test_steps(tree):
    """The first is a single iteration: nobody knows yet how long one takes."""
    seen = []
    converge(make_solver(tree, "cfr+"), iterations=300, on_step=seen.append)
    assert seen[0] == 1
    assert seen == sorted(set(seen))
    assert seen[-1] == 300
