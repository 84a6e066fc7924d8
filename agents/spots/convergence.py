"""Iterating until exploitability is small enough: when to measure it, and when time is up.

A measurement takes about as long as one or two iterations, with buckets as long as many. So measurements are spread:
the next one comes where the target would be reached if exploitability went on to fall as between the last two, in
proportion to a power of the iterations. But it comes after 8 to 25 % more iterations, with buckets after 15 to 25 %.

The first measurement comes after 16 iterations, with buckets after 64. With a time limit, one more comes before, after
the first iteration, and shows how long a measurement takes. Then one and a half times the length of the latest
measurement is kept free for the next one, and the clock is asked after every iteration, or every hundredth of a second
if iterations are shorter.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["ConvergenceLimits", "OnProgress", "converge"]

OnProgress = Callable[[int, float, float], None]
"""Called with the iterations done, the seconds so far and the exploitability in % of the pot."""

_FIRST_CHECK, _FIRST_CHECK_WITH_BUCKETS = 16, 64
_LEAST_FACTOR, _LEAST_FACTOR_WITH_BUCKETS, _MOST_FACTOR = 1.08, 1.15, 1.25
_LEAST_POWER = 1.5  # of the fall: one measurement may be little better than the one before by chance
_GAIN = 0.95  # with buckets, a run also ends when doubling its iterations gains less than 5 %
_PIECE_S = 0.01  # shorter iterations are done together between two looks at the clock
_FREE = 1.5  # kept free for the last measurement, in lengths of the measurement before: machines are not even


class _Solver(Protocol):
    iteration: int

    def run(self, num_iterations: int, /) -> None: ...


@dataclass(frozen=True)
class ConvergenceLimits:
    """When a run ends.

    Attributes
    ----------
    target_pct : float
        Exploitability to reach, in % of the pot.
    max_seconds, max_iterations : float, int
        Limits at which the run ends even if the target is not reached. At least one iteration is done.

    Raises
    ------
    ValueError
        If a limit is not positive.
    """

    target_pct: float
    max_seconds: float
    max_iterations: int

    def __post_init__(self):
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"{name} must be positive, got {value!r}")


def converge(
    solver: _Solver,
    measure: Callable[[], float],
    limits: ConvergenceLimits,
    *,
    by_buckets: bool = False,
    on_progress: OnProgress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Run a solver until its target or a limit is reached, and return the seconds taken.

    Parameters
    ----------
    solver : VectorSolver or ThreeWaySolver
    measure : callable
        Returns the exploitability in % of the pot. The last call comes after the last iteration.
    by_buckets : bool
        Whether hands are in buckets: the run then also ends when doubling its iterations lowers exploitability by less
        than 5 %.
    on_progress : callable, optional
        Called after each measurement.
    clock : callable
        Returns the time in seconds.
    """
    begin = clock()
    pace = _Pace(solver, begin + limits.max_seconds, clock)
    first = _FIRST_CHECK_WITH_BUCKETS if by_buckets else _FIRST_CHECK
    least = _LEAST_FACTOR_WITH_BUCKETS if by_buckets else _LEAST_FACTOR
    check = first if limits.max_seconds == math.inf else 1
    lowest_pct, of_iteration = math.inf, 0
    last_pct, last_iteration = math.inf, 0
    while True:
        in_time = pace.run_to(min(check, limits.max_iterations))
        began = clock()
        pct = measure()
        now = clock()
        pace.keep_free(_FREE * (now - began))
        if on_progress is not None:
            on_progress(solver.iteration, now - begin, pct)
        if pct <= limits.target_pct or solver.iteration >= limits.max_iterations or not in_time or pace.is_over():
            return now - begin
        if pct < _GAIN * lowest_pct:
            lowest_pct, of_iteration = pct, solver.iteration
        elif by_buckets and solver.iteration >= max(2 * of_iteration, first):
            # Imperfect recall: hands of a bucket differ in their past, and an equilibrium need not exist.
            return now - begin
        power = _LEAST_POWER
        if pct < last_pct < math.inf:
            power = max(math.log(last_pct / pct) / math.log(solver.iteration / last_iteration), _LEAST_POWER)
        last_pct, last_iteration = pct, solver.iteration
        factor = min(max((pct / limits.target_pct) ** (1.0 / power), least), _MOST_FACTOR)
        # Rounded down, so that the factor is not exceeded; small numbers of iterations grow by one.
        check = max(int(solver.iteration * factor), solver.iteration + 1, first)


class _Pace:
    """Iterations against the clock.

    Parameters
    ----------
    solver : VectorSolver or ThreeWaySolver
    deadline : float
        The time at which all work has to be done; infinity for none.
    clock : callable
    """

    def __init__(self, solver: _Solver, deadline: float, clock: Callable[[], float]):
        self._solver = solver
        self._deadline = deadline
        self._free_s = 0.0
        self._clock = clock
        self._iteration_s = math.inf  # of the last iterations done

    def keep_free(self, seconds: float) -> None:
        """Leave so many seconds before the deadline to other work."""
        self._free_s = seconds

    def is_over(self) -> bool:
        """Return whether no time is left for another iteration."""
        return self._left() < self._iteration_s

    def _left(self) -> float:
        return self._deadline - self._free_s - self._clock()

    def run_to(self, iteration: int) -> bool:
        """Iterate until so many iterations are done, and return True; False if the time was up before."""
        while self._solver.iteration < iteration:
            if self._solver.iteration and self.is_over():
                return False
            at_once = iteration - self._solver.iteration
            if self._deadline < math.inf:
                at_once = min(at_once, max(1, int(min(_PIECE_S, self._left()) / self._iteration_s)))
            began = self._clock()
            self._solver.run(at_once)
            self._iteration_s = max((self._clock() - began) / at_once, 1e-9)
        return True
