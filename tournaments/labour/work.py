"""Work that consists of jobs, and the executors that do the jobs.

A run gives its jobs to a `Labour`: an executor (`concurrent.futures`) of this process (`Alone`), of worker processes
(`team.Team`), of a cluster (`cluster.Cluster`) or of a library (`Borrowed`). A job's result is the same wherever it is
done. Everything that decides results stays in the run's own process: the order of jobs, seeds, stop rules, the store.
"""

import hashlib
import pickle
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

__all__ = [
    "Alone",
    "Borrowed",
    "Calls",
    "Done",
    "Labour",
    "Overdue",
    "PackedWork",
    "Work",
    "WorkerFailed",
    "Workplace",
    "do",
    "pack",
    "refuse_mixed",
]


class WorkerFailed(OSError):
    """A worker process died or had an unexpected error, or a cluster broke down. The same command resumes the run."""


class Overdue(WorkerFailed):
    """Jobs took much longer than others of their work, and were given up."""


class Work(Protocol):
    """All that a process needs to do the jobs of a run.

    For executors with other processes, the work, its jobs and their results must be picklable.
    """

    def begin(self) -> AbstractContextManager[Callable[[Any], Any]]:
        """Prepare this process, and return a context with the function that does one job and returns its result."""


@dataclass(frozen=True)
class Calls:
    """Work without preparation: each job is the argument of one function, and the function can be pickled."""

    function: Callable[[Any], Any]

    @contextmanager
    def begin(self) -> Iterator[Callable[[Any], Any]]:
        """Return the function."""
        yield self.function


class PackedWork(NamedTuple):
    """Work as it travels to other processes.

    Attributes
    ----------
    digest : str
        The SHA-256 of the pickled `Work`. `Alone`, which sends nothing, numbers its works instead.
    content : bytes
        The pickled `Work`; empty if the receiver has it already.
    """

    digest: str
    content: bytes


class Done(NamedTuple):
    """The outcome of some jobs of one work, done one after the other.

    Attributes
    ----------
    results : sequence
        The results of the jobs before the first job that failed, in order.
    error : Exception or None
        The exception of the job after the last result, or of `Work.begin`; None if all jobs were done.
    seconds : float
        The time that the jobs took, without the time to begin the work.
    """

    results: Sequence[Any]
    error: Exception | None
    seconds: float


class Labour(Protocol):
    """An executor of jobs, and how to use it.

    Attributes
    ----------
    slots : int
        The number of jobs that other processes can do at the same time; a cluster's number may change. 0 if this
        process does each job when it is submitted.
    least_seconds : float
        A time in seconds. Short jobs are submitted together, as many as take about this time.
    is_mixed : bool
        Whether machines may differ in the last digits of results.
    """

    @property
    def slots(self) -> int:
        """The number of jobs that other processes can do at the same time; 0 if this process does the jobs."""

    @property
    def least_seconds(self) -> float:
        """The time, in seconds, that short jobs submitted together should take."""

    @property
    def is_mixed(self) -> bool:
        """Whether machines may differ in the last digits of results."""

    def engage(self, work: Work) -> PackedWork:
        """Make ready for a work, and return it in the form in which it is submitted with its jobs.

        Raises
        ------
        Exception
            Any exception of `Work.begin`.
        """

    def submit(self, do: Callable[..., Done], /, *arguments: Any) -> "Future[Done]":
        """Submit a packed work and a sequence of its jobs (`arguments`); the outcome is that of ``do(*arguments)``."""


def _nothing(job: Any) -> Any:
    raise AssertionError("no work has begun")


class Workplace:
    """Does jobs in this process. A work begins when jobs of it come, and ends when jobs of another work come."""

    def __init__(self) -> None:
        self._digest = ""
        self._last = PackedWork("", b"")
        self._begun = ExitStack()
        self._do: Callable[[Any], Any] = _nothing

    def do(self, packed: PackedWork, jobs: Sequence[Any], on_begun: Callable[[], object] = lambda: None) -> Done:
        """Do jobs up to the first that raises an exception; `on_begun` is called before the first job."""
        results: list[Any] = []
        start = time.perf_counter()
        try:
            self.begin(packed)
            on_begun()
            start = time.perf_counter()
            for job in jobs:
                results.append(self._do(job))
        except Exception as error:
            return Done(results, error, time.perf_counter() - start)
        return Done(results, None, time.perf_counter() - start)

    def close(self) -> None:
        """End the work."""
        self._digest, self._do = "", _nothing
        self._begun.close()

    def begin(self, packed: PackedWork, work: Work | None = None) -> None:
        """Begin a work, unless it is the present one. `packed` may lack the content that came last: this is kept.

        Parameters
        ----------
        work : Work, optional
            The work itself; by default the content is unpacked.
        """
        if packed.digest == self._digest:
            return
        self.close()
        if packed.content:
            self._last = packed
        if work is None:
            assert packed.digest == self._last.digest
            work = pickle.loads(self._last.content)
        self._do = self._begun.enter_context(work.begin())
        self._digest = packed.digest


class Alone(Executor):
    """Does each job in this process, at the moment of its submission."""

    slots, least_seconds, is_mixed = 0, 0.0, False

    def __init__(self) -> None:
        self._place = Workplace()
        self._number = 0

    def engage(self, work: Work) -> PackedWork:
        """Begin a work in this process, and return a number for it without content; the work need not be picklable."""
        self._number += 1
        packed = PackedWork(str(self._number), b"")
        self._place.begin(packed, work)
        return packed

    def submit(self, do: Callable[..., Done], /, *arguments: Any) -> "Future[Done]":  # type: ignore[override]
        """Return a future that has its result already. `do` is ignored: this process calls `Workplace.do`."""
        future: Future[Done] = Future()
        future.set_result(self._place.do(*arguments))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the work."""
        self._place.close()


class Borrowed:
    """The executor of a library, such as ``mpi4py.futures.MPIPoolExecutor``, whose processes import this package.

    Parameters
    ----------
    executor : Executor
        The executor. The caller has to shut it down.
    slots : int
        The number of the executor's processes, at least 1.
    """

    least_seconds, is_mixed = 0.1, False

    def __init__(self, executor: Executor, slots: int):
        if slots < 1:
            raise ValueError(f"slots must be the number of the executor's processes, at least 1, got {slots}")
        self._executor = executor
        self.slots = slots

    def engage(self, work: Work) -> PackedWork:
        """Return the packed work; each process begins the work when it gets the first jobs of the work."""
        return pack(work)

    def submit(self, do: Callable[..., Done], /, *arguments: Any) -> "Future[Done]":
        """Submit jobs."""
        return self._executor.submit(do, *arguments)


def refuse_mixed(labour: Labour | None, results: str) -> None:
    """Refuse a labour whose machines may differ in the last digits: the stored results keep no note of the machines.

    Parameters
    ----------
    results : str
        The name of the results, in the plural.

    Raises
    ------
    ValueError
        If the labour is mixed.
    """
    if labour is not None and labour.is_mixed:
        raise ValueError(
            f"the machines of a mixed cluster may differ in the last digits, and {results} keep no note of that; "
            "start the cluster without --mixed"
        )


def pack(work: object) -> PackedWork:
    """Return a `Work` in the form in which it is sent to other processes."""
    content = pickle.dumps(work)
    return PackedWork(hashlib.sha256(content).hexdigest(), content)


_here = Workplace()


def do(packed: PackedWork, jobs: Sequence[Any]) -> Done:
    """Do jobs in this process; an executor with other processes finds this function there by its module and name."""
    return sendable(_here.do(packed, jobs))


def sendable(done: Done) -> Done:
    """Return an outcome whose error survives the way to another process.

    An error that is neither of this package nor a ValueError or OSError is a defect: its traceback is printed here.
    """
    error = done.error
    if error is None or type(error).__module__.startswith("plurispiel."):
        return done
    if isinstance(error, ValueError):
        return done._replace(error=ValueError(str(error)))  # a subclass may be impossible to unpickle
    if isinstance(error, OSError):
        return done._replace(error=OSError(str(error)))
    traceback.print_exception(error)
    return done._replace(error=WorkerFailed(f"a worker failed: {type(error).__name__}: {error}"))
