"""When runs are measured and when they end, against a clock that only the solver moves."""

import math

import pytest

from plurispiel.agents.spots.convergence import ConvergenceLimits, converge


class Watched:
    """A solver whose iterations and measurements take given times, with a given exploitability by iteration."""

    def __init__(self, exploitability, iteration_s=lambda iteration: 1.0, measurement_s=1.0):
        self.iteration, self.time, self.checks = 0, 0.0, []
        self._exploitability, self._iteration_s, self._measurement_s = exploitability, iteration_s, measurement_s

    def run(self, num_iterations):
        for _ in range(num_iterations):
            self.iteration += 1
            self.time += self._iteration_s(self.iteration)

    def measure(self):
        self.time += self._measurement_s
        self.checks.append(self.iteration)
        return self._exploitability(self.iteration)

    def converge(self, target_pct=0.5, max_seconds=math.inf, max_iterations=100_000, **options):
        limits = ConvergenceLimits(target_pct, max_seconds, max_iterations)
        before = 0.0 if "progress" not in options else options["progress"].seconds
        began = self.time
        found = converge(self, self.measure, limits, clock=lambda: self.time, **options)
        assert found.seconds == pytest.approx(before + self.time - began)
        self.progress = found
        assert self.checks[-1] == self.iteration
        return self


@pytest.mark.parametrize("by_buckets", [False, True])
@pytest.mark.parametrize("max_seconds", [math.inf, 1e6])
@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 2.0, 4.0])
def test_a_run_stops_soon_after_its_target_is_reached(power, max_seconds, by_buckets):
    first = 64 if by_buckets else 16
    for reached in (70, 90, 128, 397, 1023):

        def exploitability(iteration, reached=reached):
            return 0.5 * (reached / iteration) ** power

        solver = Watched(exploitability).converge(max_seconds=max_seconds, by_buckets=by_buckets)
        assert reached <= solver.iteration <= 1.25 * reached
        checks = [check for check in solver.checks if check >= first]
        assert checks[0] == first
        assert all(later <= 1.25 * earlier for earlier, later in zip(checks, checks[1:], strict=False))
        assert len(checks) <= 2 + math.log(reached / first) / math.log(1.08)


@pytest.mark.parametrize(
    "iteration_s, measurement_s", [(1.9, 2.5), (0.001, 0.002), (10.0, 15.0), (0.05, 2.6), (3.0, 0.1)]
)
def test_the_limit_includes_the_last_measurement(iteration_s, measurement_s):
    for max_seconds in (40.0, 330.0):
        solver = Watched(lambda iteration: 1.0, lambda iteration: iteration_s, measurement_s)
        solver.converge(max_seconds=max_seconds, max_iterations=10**6)
        # Unused is at most a last measurement with its margin of one half, and an iteration.
        assert 0.0 <= max_seconds - solver.time <= 1.5 * measurement_s + 1.001 * iteration_s


def test_iterations_that_become_slower_are_stopped_in_time():
    """With ever more rivers after each turn, the limit is exceeded by the growth of one iteration at most."""
    solver = Watched(lambda iteration: 1.0, lambda iteration: 0.1 * iteration, 2.0)
    solver.converge(max_seconds=60.0)
    assert 50.0 < solver.time <= 60.0


def test_a_limit_that_is_too_short_leaves_one_iteration_and_its_measurement():
    solver = Watched(lambda iteration: 1.0, lambda iteration: 7.0, 9.0).converge(max_seconds=1.0)
    assert solver.checks == [1]


def test_the_number_of_iterations_is_kept():
    for number in (1, 9, 16, 17, 100):
        assert Watched(lambda iteration: 1.0).converge(max_iterations=number).iteration == number


def test_buckets_that_gain_nothing_more_end_the_run():
    def stuck(iteration):
        return max(1.0, 100.0 / iteration)

    assert 100 < Watched(stuck).converge(by_buckets=True).iteration < 300
    assert Watched(stuck).converge(max_iterations=1000).iteration == 1000


@pytest.mark.parametrize("name", ["target_pct", "max_seconds", "max_iterations"])
def test_limits_are_positive(name):
    with pytest.raises(ValueError, match=f"{name} must be positive, got 0"):
        ConvergenceLimits(**{"target_pct": 1.0, "max_seconds": 1.0, "max_iterations": 1, name: 0})


@pytest.mark.parametrize("by_buckets", [False, True])
def test_a_run_that_is_stopped_many_times_measures_where_a_straight_run_does(by_buckets):
    def exploitability(iteration):
        return 0.5 * (300 / iteration) ** 1.2

    straight = Watched(exploitability).converge(by_buckets=by_buckets)
    stopped, stops = Watched(exploitability), []
    stopped.converge(by_buckets=by_buckets, goes_on=lambda: False)
    assert stopped.checks == [1]
    while stopped.iteration < straight.iteration:
        stopped.converge(by_buckets=by_buckets, progress=stopped.progress, goes_on=iter([True] * 37 + [False]).__next__)
        stops.append(stopped.checks[-1])
    assert len(stops) > 5
    assert set(straight.checks) <= set(stopped.checks)
    assert set(stopped.checks) - set(straight.checks) <= {1, *stops}


def test_a_run_that_goes_on_keeps_to_its_new_limit():
    solver = Watched(lambda iteration: 1.0, lambda iteration: 2.0, 3.0)
    solver.converge(max_seconds=40.0)
    began = solver.time
    solver.converge(max_seconds=60.0, progress=solver.progress)
    assert 60.0 - 1.5 * 3.0 - 2.0 <= solver.time - began <= 60.0
