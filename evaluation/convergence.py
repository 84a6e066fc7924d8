"""Runs a solver, and measures the exact exploitability of its average strategy along the run."""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from plurispiel.agents.tabular.solver import Solver
from plurispiel.evaluation.best_response import Exploitability, exploitability

_POINTS_A_DECADE = 8
_CHUNK_SECONDS = 0.25
"""Time in seconds that the iterations of one step of `converge` should take."""


class Point(NamedTuple):
    """A measurement of the average strategy.

    Attributes
    ----------
    iteration : int
        The number of iterations done.
    seconds : float
        Time of all iterations and measurements so far, also before the solver was resumed. Iterations between the last
        measurement and an interruption are not counted.
    distance : float
        Exploitability, or NashConv where `Exploitability` does not define it.
    """

    iteration: int
    seconds: float
    distance: float


def distance(found: Exploitability) -> float:
    """Return the exploitability, or NashConv where exploitability is not defined."""
    return found.nash_conv if found.exploitability is None else found.exploitability


def measuring_points(first: int) -> Iterator[int]:
    """Yield the iterations to measure, from `first` on. From 10 on there are eight in each decade.

    >>> list(itertools.islice(measuring_points(5), 9))
    [6, 7, 10, 13, 18, 24, 32, 42, 56]
    """
    points = (round(10.0 ** (k / _POINTS_A_DECADE)) for k in itertools.count())
    return (point for point, _ in itertools.groupby(points) if point >= first)


def converge(
    solver: Solver,
    *,
    iterations: int,
    until: float = 0.0,
    curve: Sequence[Point] = (),
    step: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext,
    on_step: Callable[[int], None] = lambda iteration: None,
    on_point: Callable[[list[Point]], None] = lambda curve: None,
) -> tuple[Exploitability, list[Point]]:
    """Run a solver, and return its last measurement and the curve of all measurements.

    Parameters
    ----------
    iterations : int
        The iteration at which to stop, counted from the start of the whole run, even if the solver was resumed.
    until : float
        Stop at the first measurement with this distance or less.
    curve : sequence of Point
        The measurements from before the solver was resumed.
    step : callable
        Called before each step; returns the context manager in which the step runs. A step is a measurement, or
        iterations for about a quarter of a second. A caller can hold back interrupts inside a step, so that the solver
        is never left in the middle of an iteration.
    on_step, on_point : callable
        `on_step` is called after each step of iterations with the iteration reached, and `on_point` after each
        measurement with the curve so far. The time that they take is not counted in `Point.seconds`.

    Notes
    -----
    Measurements are made at the iterations of `measuring_points` and at the end, whatever the speed. A resumed run
    measures at the same iterations. Only one is left out if the interruption came just before or during its
    measurement.
    """
    curve = list(curve)
    seconds = curve[-1].seconds if curve else 0.0
    rate = 1.0 / _CHUNK_SECONDS  # iterations in a second
    points = measuring_points(solver.iteration + 1)
    while True:
        done = bool(curve) and curve[-1].distance <= until
        target = solver.iteration if done else min(next(points), max(iterations, solver.iteration))
        while solver.iteration < target:
            count = min(target - solver.iteration, max(1, int(rate * _CHUNK_SECONDS)))
            with step():
                begin = time.perf_counter()
                solver.run(count)
                elapsed = time.perf_counter() - begin
            seconds += elapsed
            rate = count / max(elapsed, 1e-9)
            on_step(solver.iteration)
        with step():
            begin = time.perf_counter()
            found = exploitability(solver.tree, solver.average_strategy())
            seconds += time.perf_counter() - begin
            if not curve or curve[-1].iteration < solver.iteration:
                curve.append(Point(solver.iteration, seconds, distance(found)))
        on_point(curve)
        if solver.iteration >= iterations or distance(found) <= until:
            return found, curve
