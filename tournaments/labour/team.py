"""Worker processes of this machine, which receive jobs by pipes."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from plurispiel.abstraction.machine.copies import can_fork
from plurispiel.abstraction.machine.interrupts import SIGNALS, interrupts_held, leave_to_parent
from plurispiel.tournaments.contestants.process import close_to_others, die_with
from plurispiel.tournaments.labour.own_modules import own_modules_only, pass_nothing_on
from plurispiel.tournaments.labour.work import Done, PackedWork, Work, WorkerFailed, Workplace, pack, sendable

__all__ = ["Team"]

_IDLE_S = 60.0  # time without jobs after which a work is ended; it begins again with its next jobs
_PATIENCE_S = 2.0  # time for workers to end before they are killed


class _Assignment(NamedTuple):
    """Jobs of a work, and the future of their outcome."""

    future: "Future[Done]"
    packed: PackedWork
    jobs: Sequence[Any]


_BEGUN = None  # sent by a process when a work has begun, and its jobs come next


class _WorkerProcess:
    """A process that does jobs in the order in which they are given to the process.

    Parameters
    ----------
    others : sequence of Connection
        The pipes of the workers that were started before.
    """

    def __init__(self, others: Sequence[Connection]):
        forks = can_fork()
        context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        not_theirs = (*others, self.pipe) if forks else ()
        self.process = context.Process(target=_work, args=(theirs, not_theirs), daemon=True)
        self.given: deque[_Assignment] = deque()
        self.since: float | None = None  # the time at which the oldest jobs in `given` began
        self._digest = ""
        if not forks:
            # The start of the tracker ends the hold on interrupts. So it has a hold of its own, before that of `start`.
            with interrupts_held(), own_modules_only():
                resource_tracker.ensure_running()
        with interrupts_held(), own_modules_only():
            self.process.start()
        theirs.close()

    def send(self, packed: PackedWork, jobs: Sequence[Any]) -> None:
        """Send jobs of a work, and the work's content unless the process's previous jobs were of the same work.

        Raises
        ------
        WorkerFailed
            If the process has died.
        """
        is_known, self._digest = packed.digest == self._digest, packed.digest
        try:
            self.pipe.send((packed._replace(content=b"") if is_known else packed, jobs))
        except OSError:
            raise self._failure() from None

    def receive(self) -> Done | None:
        """Wait for the next message on the oldest jobs that were sent: None when they begin, and then their outcome."""
        try:
            done = self.pipe.recv()
        except (EOFError, OSError):
            raise self._failure() from None
        self.since = time.monotonic() if done is _BEGUN else None
        return done

    def _failure(self) -> WorkerFailed:
        self.process.join(timeout=1.0)
        return WorkerFailed(
            f"a worker process died (exit code {self.process.exitcode}); run the same command again to resume"
        )


class Team(Executor):
    """Worker processes of this machine.

    Every worker has up to two tasks, so that a worker that has finished one begins the next without waiting.

    Parameters
    ----------
    workers : int
        The number of processes.
    replaces : bool
        Whether a process that died is replaced, so that only its own tasks fail. Otherwise all tasks fail.
    """

    least_seconds, is_mixed = 0.1, False

    def __init__(self, workers: int, *, replaces: bool = False):
        self._replaces = replaces
        self._workers: list[_WorkerProcess] = []
        self._thread: threading.Thread | None = None  # processes are forked before there is a second thread
        self._lock = threading.Lock()
        self._queue: deque[_Assignment] = deque()
        self._woken, self._wake = multiprocessing.Pipe(duplex=False)
        self._failure: WorkerFailed | None = None
        self._ends = False
        try:
            for _ in range(workers):
                self._workers.append(_WorkerProcess([worker.pipe for worker in self._workers]))
        except BaseException:
            self.shutdown()
            raise

    @property
    def slots(self) -> int:
        """The number of processes."""
        return len(self._workers)

    @property
    def pids(self) -> list[int | None]:
        """The ids of the processes."""
        return [worker.process.pid for worker in self._workers]

    def engage(self, work: Work) -> PackedWork:
        """Pack a work, and begin it in all processes if no jobs have been submitted yet.

        Later, each process begins a work when it is sent the first jobs of that work.

        Raises
        ------
        Exception
            Any exception of `Work.begin` in a process.
        WorkerFailed
            If a process dies before it is ready.
        """
        packed = pack(work)
        if self._thread is None:
            for worker in self._workers:
                worker.send(packed, [])
            for worker in self._workers:
                while (done := worker.receive()) is _BEGUN:
                    pass
                if done.error:
                    raise done.error
        return packed

    def seconds_of(self, future: "Future[Done]") -> float:
        """Return the seconds for which the jobs of a future have run; 0 before they begin, and after they end."""
        for worker in self._workers:
            since = worker.since
            if since is not None and any(task.future is future for task in tuple(worker.given)[:1]):
                return time.monotonic() - since
        return 0.0

    def give_up(self, future: "Future[Done]") -> None:
        """Cancel jobs that no worker has, or kill the process that does them, so that their future fails.

        Jobs that wait at a worker behind others are left alone.
        """
        if future.cancel():
            return
        for worker in self._workers:
            if any(task.future is future for task in tuple(worker.given)[:1]):
                worker.process.kill()

    def submit(self, do: Callable[..., Done], /, *arguments: Any) -> "Future[Done]":  # type: ignore[override]
        """Queue jobs. `do` is ignored: one of the processes calls `Workplace.do`."""
        future: Future[Done] = Future()
        with self._lock:
            if self._failure is not None:
                future.set_exception(self._failure)
                return future
            self._queue.append(_Assignment(future, *arguments))
            if self._thread is None:
                self._thread = threading.Thread(target=self._dispatch, name="team", daemon=True)
                self._thread.start()
        self._wake.send_bytes(b"")
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers; a worker that does not end within `_PATIENCE_S` seconds is killed."""
        self._ends = True
        if self._thread is not None:
            self._wake.send_bytes(b"")
            self._thread.join()
            self._thread = None
        for worker in self._workers:
            worker.pipe.close()  # a worker ends when it finds its pipe closed
        patience = time.monotonic() + _PATIENCE_S
        for worker in self._workers:
            worker.process.join(timeout=max(0.0, patience - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        for end in (self._woken, self._wake):
            end.close()

    def _dispatch(self) -> None:
        """Give tasks to workers and outcomes to futures, until the team ends; runs in a thread.

        The death of a worker that is not replaced ends the loop, too.
        """
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # the main thread handles signals
        try:
            while not self._ends:
                self._give()
                busy = {worker.pipe: worker for worker in self._workers if worker.given}
                for pipe in wait([self._woken, *busy]):
                    if pipe is self._woken:
                        self._woken.recv_bytes()
                        continue
                    self._take(busy[pipe])  # type: ignore[index]
        except WorkerFailed as error:
            self._fail(error)

    def _take(self, worker: _WorkerProcess) -> None:
        """Take what a worker has sent."""
        try:
            done = worker.receive()
        except WorkerFailed as error:
            self._lose(worker, error)
            return
        if done is not _BEGUN:
            worker.given.popleft().future.set_result(done)

    def _lose(self, worker: _WorkerProcess, error: WorkerFailed) -> None:
        """Let the tasks of a dead worker fail, and replace the worker.

        Raises
        ------
        WorkerFailed
            If the team does not replace workers (then this is `error`), or if no new process can start.
        """
        if not self._replaces:
            raise error
        worker.pipe.close()
        others = [other.pipe for other in self._workers if other is not worker]
        try:
            self._workers[self._workers.index(worker)] = _WorkerProcess(others)
        except OSError as problem:
            raise WorkerFailed(f"a worker process died, and no other can start: {problem}") from None
        finally:
            while worker.given:
                worker.given.popleft().future.set_exception(error)

    def _give(self) -> None:
        """Give tasks from the queue to the workers that have the fewest tasks."""
        for held in range(2):
            for worker in self._workers:
                while len(worker.given) <= held and self._queue:
                    task = self._queue.popleft()
                    if not task.future.set_running_or_notify_cancel():
                        continue
                    worker.given.append(task)
                    try:
                        worker.send(task.packed, task.jobs)
                    except WorkerFailed as error:
                        self._lose(worker, error)
                        break

    def _fail(self, error: WorkerFailed) -> None:
        """Let all tasks fail, also those submitted later."""
        with self._lock:
            self._failure = error
            for task in self._queue:
                if task.future.set_running_or_notify_cancel():
                    task.future.set_exception(error)
            self._queue.clear()
        for worker in self._workers:
            while worker.given:
                worker.given.popleft().future.set_exception(error)


def _work(pipe: Connection, not_mine: Sequence[Connection]) -> None:
    """Do the jobs that come through the pipe, until the pipe is closed; the main function of a worker process.

    Parameters
    ----------
    not_mine : sequence of Connection
        The run's ends of the pipes, which a forked process inherits. They are closed here: while any process holds the
        run's end of a worker's pipe, the worker cannot notice that the run has closed it.
    """
    for end in not_mine:
        end.close()
    close_to_others()
    die_with(os.getppid())  # else the worker could play on for minutes at a block that nobody stores
    leave_to_parent()
    pass_nothing_on()
    sys.stdin = open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stderr  # keeps an agent's prints out of the results on standard output
    with contextlib.suppress(EOFError, OSError), contextlib.closing(Workplace()) as place:
        while True:
            if not pipe.poll(_IDLE_S):
                place.close()  # ends the contestants' processes, as the run may be over
            packed, jobs = pipe.recv()
            pipe.send(sendable(place.do(packed, jobs, lambda: pipe.send(_BEGUN))))
