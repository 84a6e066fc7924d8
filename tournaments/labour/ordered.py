"""Jobs handed to a `Labour`, with few of them under way at any time: results in order, or as they come.

Short jobs are joined to *tasks* of about `Labour.least_seconds`.
"""

import concurrent.futures
import contextlib
import itertools
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from typing import Any

from plurispiel.tournaments.labour.work import Done, Labour, Work, do

__all__ = ["as_done", "in_order", "task_seconds", "tasks_in_order"]

# Largest number of tasks under way for each slot, which bounds the memory of finished results. If results are wanted in
# order, finished tasks wait for earlier ones: more tasks have to be under way.
_WINDOW_IN_ORDER, _WINDOW = 16, 4

Results = Generator[tuple[Any, Any], None, None]
TaskResults = Generator[list[tuple[Any, Any]], None, None]

_GROWTH = 16  # a task has at most this many times the jobs of the task that was timed last
_FIRST = 2  # tasks for each slot, of one job each, that are handed out before a job's time is known


def task_seconds(slots: int) -> float:
    """Return the time, in seconds, that a task of short jobs should take on a cluster.

    It grows with the slots, so that the scheduler hands out at most about 100 tasks a second.
    """
    return max(0.5, slots / 100)


def in_order(labour: Labour, work: Work, jobs: Iterable[Any]) -> Results:
    """Begin a work, and return an iterator over each job with its result, in the order of the jobs.

    When the caller stops, the jobs that no process has yet are dropped.

    Raises
    ------
    Exception
        The exception of a job, after the results of all jobs before it. Also any exception of `Work.begin`.
    WorkerFailed
        If a worker process dies, unless a cluster can do the jobs again. Also if a cluster's scheduler is gone.
    """
    return _one_by_one(tasks_in_order(labour, work, jobs))


def tasks_in_order(labour: Labour, work: Work, jobs: Iterable[Any]) -> TaskResults:
    """Begin a work, and return an iterator over the finished tasks, each as a list of its jobs with their results.

    The jobs are in the order given. Errors and dropped jobs are as in `in_order`.
    """
    return _in_order(labour, _Tasks(labour, work, jobs))


def as_done(labour: Labour, work: Work, jobs: Iterable[Any]) -> Results:
    """Begin a work, and return an iterator over each job with its result, once the job's task is done.

    Errors are those of `in_order`, but a job's exception does not wait for the results of earlier tasks.
    """
    return _one_by_one(_as_done(labour, _Tasks(labour, work, jobs)))


def _one_by_one(tasks: TaskResults) -> Results:
    with contextlib.closing(tasks):
        for joined in tasks:
            yield from joined


def _in_order(labour: Labour, tasks: "_Tasks") -> TaskResults:
    with contextlib.closing(tasks):
        waiting: deque[Future[Done]] = deque()
        while True:
            waiting += tasks.begun((_WINDOW_IN_ORDER * labour.slots or 1) - len(waiting))
            if not waiting:
                return
            yield from tasks.results(waiting.popleft())


def _as_done(labour: Labour, tasks: "_Tasks") -> TaskResults:
    with contextlib.closing(tasks):
        waiting: set[Future[Done]] = set()
        while True:
            waiting.update(tasks.begun((_WINDOW * labour.slots or 1) - len(waiting)))
            if not waiting:
                return
            finished, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for task in finished:
                yield from tasks.results(task)


class _Tasks:
    """Submits jobs, joined to tasks of about `Labour.least_seconds`, and unpacks their results."""

    def __init__(self, labour: Labour, work: Work, jobs: Iterable[Any]):
        self._labour = labour
        self._packed = labour.engage(work)
        self._jobs = iter(jobs)
        self._size = 0  # jobs in a task; 0 before the first task is timed
        self._given: dict[Future[Done], list[Any]] = {}

    def begun(self, number: int) -> Iterator[Future[Done]]:
        """Submit up to `number` tasks, and yield them; at first only few, as the time that a job takes is not known."""
        if not self._size:
            number = min(number, (_FIRST * self._labour.slots or 1) - len(self._given))
        for _ in range(number):
            joined = list(itertools.islice(self._jobs, self._size or 1))
            if not joined:
                return
            task = self._labour.submit(do, self._packed, joined)
            self._given[task] = joined
            yield task

    def results(self, task: "Future[Done]") -> Iterator[list[tuple[Any, Any]]]:
        """Wait for a task, and yield its jobs with their results, if there are any; then raise its error, if any."""
        done = task.result()
        joined = self._given.pop(task)
        if done.results:
            each = max(done.seconds / len(done.results), 1e-9)
            self._size = max(1, min(int(self._labour.least_seconds / each), _GROWTH * len(joined)))
            yield list(zip(joined, done.results, strict=False))
        if done.error is not None:
            raise done.error

    def close(self) -> None:
        """Drop the tasks that have not begun."""
        for task in self._given:
            task.cancel()
