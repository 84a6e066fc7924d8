"""Results of searches: the strategies that act, the store of solutions, the clock of a solver."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from plurispiel.agents.search import solution as solutions
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.solution import Clock, Solutions, believed_and_played

NAN = np.nan


def test_rare_actions_are_not_played_but_believed():
    """A row whose actions are all rare stays as it is, and so does one that was frozen."""
    average = np.array([[0.02, 0.38, 0.6], [0.04, 0.03, 0.03], [NAN, NAN, NAN], [0.01, 0.01, 0.98]])
    frozen = np.array([[NAN] * 3, [NAN] * 3, [NAN] * 3, [0.01, 0.99, 0.0]])
    believed, played = believed_and_played(SearchConfig(purge=0.05), average, 1.0 - average, frozen)
    np.testing.assert_array_equal(believed, [*average[:3], frozen[3]])
    np.testing.assert_allclose(played, [[0.0, 0.38 / 0.98, 0.6 / 0.98], average[1], average[2], frozen[3]])
    _, played = believed_and_played(SearchConfig(purge=0.0, play="final"), average, 1.0 - average, None)
    np.testing.assert_array_equal(played, 1.0 - average)


def test_the_solutions_used_last_are_kept():
    store, made = Solutions(num_kept=2), []

    def get(key):
        return store.get((key,), lambda: made.append(key) or key)

    assert [get(key) for key in "abacab"] == list("abacab")
    assert made == list("abcb")  # c pushed b out, as a had been used since
    twin = store.copy()
    twin.get(("d",), lambda: "d")
    get("a")
    assert made == list("abcb")


def test_a_solver_stops_where_an_iteration_as_long_as_the_longest_would_be_late(monkeypatch):
    times = iter([0.0, 2.0, 3.0, 6.0, 7.5])
    monkeypatch.setattr(solutions.time, "perf_counter", lambda: next(times) + 1.0)
    clock = Clock(end=11.0)
    assert [clock() for _ in range(5)] == [True, True, True, True, False]


def test_steps_of_several_threads_are_timed_apart(monkeypatch):
    """The times between calls are 1, 3 and 1, but the steps last 4."""
    times = iter([0.0, 1.0, 4.0, 5.0])
    monkeypatch.setattr(solutions.time, "perf_counter", lambda: next(times))
    clock = Clock(end=8.5)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        answers = [threads.submit(clock).result() for threads in (one, other, one, other)]
    assert answers == [True, True, True, False]


def test_one_iteration_is_always_allowed():
    clock = Clock(end=0.0)
    assert clock() and not clock()
