"""Iterating until exploitability is small enough: when to measure it, and when time is up.

A measurement takes about as long as one or two iterations, with buckets as long as many iterations. So measurements are
rare. Exploitability after n iterations is assumed to be proportional to n^-p. The power p is fitted to the last two
measurements, and is at least 1.5. The next measurement comes where the target would then be reached. But from one
measurement to the next, the number of iterations grows by a factor of 1.08 to 1.25, with buckets by 1.15 to 1.25. The
number is rounded down.

The first measurement comes after 16 iterations, with buckets after 64. With a time limit, an extra measurement comes
after the first iteration, and shows how long a measurement takes. Then one and a half times the length of the latest
measurement is kept free for the next one. The clock is read after every iteration, or every hundredth of a second if
iterations are shorter.

A run that was stopped can be continued. The measurement at the stop does not count in the choice of later measurements,
so the run continues as if it had not been stopped.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["ConvergenceLimits", "OnProgress", "Progress", "converge"]

OnProgress = Callable[[int, float, float], None]
"""Called with the iterations done, the seconds so far and the exploitability in % of the pot."""

_FIRST_CHECK, _FIRST_CHECK_WITH_BUCKETS = 16, 64
_MIN_FACTOR, _MIN_FACTOR_WITH_BUCKETS, _MAX_FACTOR = 1.08, 1.15, 1.25
_MIN_POWER = 1.5  # the least power assumed: by chance, a measurement may be little better than the one before
_GAIN = 0.95  # with buckets, a run also ends when doubling its iterations gains less than 5 %
_PIECE_S = 0.01  # shorter iterations are done together between two looks at the clock
_FREE = 1.5  # kept free for the last measurement, in lengths of the measurement before: durations vary


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


@dataclass
class Progress:
    """The state of a run between two calls of `converge`.

    Attributes
    ----------
    check : int
        The iteration of the next measurement; 0 before the first call of `converge`.
    last_pct, last_iteration : float, int
        The latest measurement that counts, and its iteration.
    lowest_pct, of_iteration : float, int
        A lowest measurement and its iteration. Only a measurement that is more than 5 % lower replaces it, so the true
        minimum may be up to 5 % lower.
    seconds : float
        Time of the iterations and measurements so far.
    iteration_s, measurement_s : float
        Seconds that each of the latest iterations took, and seconds of the latest measurement.
    """

    check: int = 0
    last_pct: float = math.inf
    last_iteration: int = 0
    lowest_pct: float = math.inf
    of_iteration: int = 0
    seconds: float = 0.0
    iteration_s: float = math.inf
    measurement_s: float = 0.0


def converge(
    solver: _Solver,
    measure: Callable[[], float],
    limits: ConvergenceLimits,
    *,
    by_buckets: bool = False,
    progress: Progress | None = None,
    goes_on: Callable[[], bool] | None = None,
    on_progress: OnProgress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Progress:
    """Run a solver until its target or a limit is reached, and return the state of the run.

    Parameters
    ----------
    solver : VectorSolver or ThreeWaySolver
    measure : callable
        Returns the exploitability in % of the pot. The last call comes after the last iteration.
    by_buckets : bool
        Whether hands are in buckets: the run then also ends when doubling its iterations lowers exploitability by less
        than 5 %.
    progress : Progress, optional
        The state of an earlier run of the solver, to continue; modified in place. `max_seconds` counts from now on.
    goes_on : callable, optional
        Called after every iteration, or every hundredth of a second if iterations are shorter; False ends the run.
    on_progress : callable, optional
        Called after each measurement.
    clock : callable
        Returns the time in seconds.
    """
    state = progress or Progress()
    begin, earlier_s = clock(), state.seconds
    pace = _Pace(solver, begin + limits.max_seconds, state, goes_on, clock)
    first = _FIRST_CHECK_WITH_BUCKETS if by_buckets else _FIRST_CHECK
    least = _MIN_FACTOR_WITH_BUCKETS if by_buckets else _MIN_FACTOR
    state.check = state.check or (first if limits.max_seconds == math.inf else 1)
    while True:
        is_whole = pace.run_to(min(state.check, limits.max_iterations))
        began = clock()
        pct = measure()
        now = clock()
        state.measurement_s, state.seconds = now - began, earlier_s + now - begin
        if on_progress is not None:
            on_progress(solver.iteration, state.seconds, pct)
        if pct <= limits.target_pct or solver.iteration >= limits.max_iterations or not is_whole or pace.is_over():
            return state
        if pct < _GAIN * state.lowest_pct:
            state.lowest_pct, state.of_iteration = pct, solver.iteration
        elif by_buckets and solver.iteration >= max(2 * state.of_iteration, first):
            # Imperfect recall: hands of a bucket differ in their past, and an equilibrium need not exist.
            return state
        power = _MIN_POWER
        if pct < state.last_pct < math.inf:
            fall = math.log(state.last_pct / pct)
            power = max(fall / math.log(solver.iteration / state.last_iteration), _MIN_POWER)
        state.last_pct, state.last_iteration = pct, solver.iteration
        factor = min(max((pct / limits.target_pct) ** (1.0 / power), least), _MAX_FACTOR)
        # Rounded down, so that the factor is not exceeded; small numbers of iterations grow by one.
        state.check = max(int(solver.iteration * factor), solver.iteration + 1, first)


class _Pace:
    """Runs iterations until the time is up or a call ends them.

    Parameters
    ----------
    solver : VectorSolver or ThreeWaySolver
    deadline : float
        The time at which all work has to be done; infinity for none.
    state : Progress
        The length of iterations is written here.
    goes_on : callable, optional
        Returns False to end the iterations.
    clock : callable
    """

    def __init__(
        self,
        solver: _Solver,
        deadline: float,
        state: Progress,
        goes_on: Callable[[], bool] | None,
        clock: Callable[[], float],
    ):
        self._solver = solver
        self._deadline = deadline
        self._state = state
        self._goes_on = goes_on
        self._clock = clock

    def is_over(self) -> bool:
        """Return whether no time is left for another iteration."""
        return self._left() < self._state.iteration_s

    def _left(self) -> float:
        return self._deadline - _FREE * self._state.measurement_s - self._clock()

    def run_to(self, iteration: int) -> bool:
        """Iterate until `iteration` iterations are done, and return True; False if the run ended before."""
        while self._solver.iteration < iteration:
            if self._solver.iteration and (self.is_over() or (self._goes_on is not None and not self._goes_on())):
                return False
            at_once = iteration - self._solver.iteration
            if self._deadline < math.inf or self._goes_on is not None:
                at_once = min(at_once, max(1, int(min(_PIECE_S, self._left()) / self._state.iteration_s)))
            began = self._clock()
            self._solver.run(at_once)
            self._state.iteration_s = max((self._clock() - began) / at_once, 1e-9)
        return True
