"""Runs several solvers on one game for equal time, and measures the exploitability of each along its run."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from plurispiel.abstraction.trees.game_tree import GameTree
from plurispiel.agents.tabular.solver import Solver
from plurispiel.agents.tabular.solvers import FullWidth, make_solver, parse_algorithm
from plurispiel.evaluation.best_response import exploitability
from plurispiel.evaluation.convergence import Point, distance, measuring_points

__all__ = ["TimedRun", "compare_solvers", "split_algorithms"]

_CHUNK_SECONDS = 0.1


class TimedRun(NamedTuple):
    """One run of a solver.

    Attributes
    ----------
    algorithm : str
    seed : int or None
        Seed of the samples; None for an algorithm without random numbers.
    curve : list of Point
        `Point.seconds` counts the time of the iterations, without the measurements.
    """

    algorithm: str
    seed: int | None
    curve: list[Point]


def split_algorithms(text: str) -> list[str]:
    """Split a list of algorithms at its commas, but not at commas inside parentheses.

    Raises
    ------
    ValueError
        If a name is empty, unknown or given twice, or a parenthesis is not closed.

    Examples
    --------
    >>> split_algorithms("cfr, dcfr(1.5,0,2),mccfr")
    ['cfr', 'dcfr(1.5,0,2)', 'mccfr']
    """
    if text.count("(") != text.count(")"):
        raise ValueError(f"a parenthesis is not closed, or not opened, in {text!r}")
    names = [name.strip() for name in re.split(r",(?![^(]*\))", text)]
    if not all(names):
        raise ValueError(f"algorithms are separated by single commas, as in cfr,dcfr(1.5,0,2),mccfr, got {text!r}")
    known = [parse_algorithm(name).name for name in names]
    if twice := [name for name in known if known.count(name) > 1]:
        raise ValueError(f"{twice[0]} is given twice in {text!r}")
    return known


def compare_solvers(
    tree: GameTree,
    algorithms: Sequence[str],
    seconds: float,
    seeds: int,
    on_seconds: Callable[[float], None] = lambda spent: None,
) -> Iterator[TimedRun]:
    """Run each algorithm for equal time, sampled algorithms once for each seed; yield each run when it is finished.

    Parameters
    ----------
    seconds : float
        Time of the iterations of a run, which ends after the first step that reaches it. A step takes at most about a
        tenth of a second, or one iteration if that takes longer. A run of Deep CFR may exceed the number of iterations
        in the algorithm's name.
    seeds : int
        Sampled algorithms run with the seeds 1 to `seeds`.
    on_seconds : callable
        Called with the time of each step.
    """
    for algorithm in algorithms:
        sampled = not isinstance(parse_algorithm(algorithm), FullWidth)
        for seed in range(1, seeds + 1) if sampled else (None,):
            solver = make_solver(tree, algorithm) if seed is None else make_solver(tree, algorithm, seed=seed)
            yield TimedRun(algorithm, seed, _timed(solver, seconds, on_seconds))


def _timed(solver: Solver, seconds: float, on_seconds: Callable[[float], None]) -> list[Point]:
    curve: list[Point] = []
    spent, rate, points = 0.0, 1.0, measuring_points(1)
    while spent < seconds:
        target = next(points)
        while solver.iteration < target and spent < seconds:
            allowed = min(_CHUNK_SECONDS, seconds - spent)
            count = min(target - solver.iteration, max(1, int(rate * allowed)))
            begin = time.perf_counter()
            solver.run(count)
            elapsed = time.perf_counter() - begin
            spent += elapsed
            rate = count / max(elapsed, 1e-9)
            on_seconds(elapsed)
        found = exploitability(solver.tree, solver.average_strategy())
        curve.append(Point(solver.iteration, spent, distance(found)))
    return curve
