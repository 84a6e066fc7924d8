"""The executor of a run's jobs on a cluster: dask.distributed distributes the jobs among the machines."""

import concurrent.futures
import contextlib
import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, InvalidStateError
from pathlib import Path
from typing import Any, cast

from distributed import Client
from distributed.scheduler import KilledWorker

from plurispiel.tournaments.labour.cluster_file import read_cluster_file
from plurispiel.tournaments.labour.dask_parts import CONNECT_S, security_of, settle
from plurispiel.tournaments.labour.ordered import task_seconds
from plurispiel.tournaments.labour.parcels import make_parcel, pieces
from plurispiel.tournaments.labour.travel import PostedWork, TravellingWork
from plurispiel.tournaments.labour.work import Done, Overdue, PackedWork, Work, WorkerFailed, pack
from plurispiel.tournaments.labour.workshop import Delivery, deliver, prepare

__all__ = ["Cluster", "MachinesDisagree"]

_RETRIES = 3  # times that jobs are done again after their child process died
_LOOK_S = 2.0  # seconds between looks at the number of slots
_PAUSE_S = 0.5  # seconds between looks for the file, and between looks at the workers that begin a work
_FILE_S = 300.0  # seconds to wait for the file: a new scheduler may have kernels to compile
_BEGIN_S = 20.0  # seconds to wait until all workers have begun a work; after that, one such worker suffices

# Jobs given up as overdue may be slow by nature. They are done again with a limit that is `_MORE_PATIENCE` times as
# long, and so on, up to `_MOST_PATIENCE` times the first limit.
_MORE_PATIENCE, _MOST_PATIENCE = 4.0, 64.0


class MachinesDisagree(WorkerFailed):
    """Two workers, on two machines if possible, have different results of the same jobs."""


class Cluster(Executor):
    """A connection to a cluster that ``plurispiel cluster`` has begun.

    Parameters
    ----------
    path : Path
        The cluster's file; if it is missing, the scheduler has five minutes to write it.
    facts : mapping
        Facts that must be equal in the cluster and in this process, by name.
    slots : int
        The largest number of slots to use; 0 for all.
    check_share : float
        The share of tasks that another worker does again, on another machine where there is one.
    ship : sequence of Path
        Folders that are sent with the agents, which import from these folders.
    unsandboxed : bool
        Whether agents from outside may play without a sandbox, where they can read the cluster's file.
    say : callable
        Called with each line for the user.

    Raises
    ------
    ValueError
        If the file cannot be used, `check_share` or `slots` is out of range, a folder of `ship` is missing, or the
        cluster has other facts. Also if results are to be checked in a cluster whose machines may differ in the last
        digits.
    OSError
        If the scheduler does not answer.
    """

    def __init__(
        self,
        path: Path,
        facts: Mapping[str, str],
        *,
        slots: int = 0,
        check_share: float = 0.0,
        ship: Sequence[Path] = (),
        unsandboxed: bool = False,
        say: Callable[[str], object] = lambda line: None,
    ):
        if not 0.0 <= check_share <= 1.0:
            raise ValueError(f"the share of tasks to check must be 0 to 1, got {check_share:g}")
        if slots < 0:
            raise ValueError(f"the number of slots must be 0 (all) or more, got {slots}")
        for folder in ship:
            if not folder.is_dir():
                raise ValueError(f"{folder} is no folder; --ship names the folder from which an agent imports")
        self.path = path
        if not path.exists():
            say(f"waiting for {path}, which plurispiel cluster {path} writes")
            limit = time.monotonic() + _FILE_S
            while not path.exists() and time.monotonic() < limit:
                time.sleep(_PAUSE_S)
        file = read_cluster_file(path)
        self.is_secure = file.is_secure
        self.ship = tuple(ship)
        self._say = say
        self._unsandboxed = unsandboxed
        self._most = slots
        self._share = check_share
        self._draw = random.Random(0)
        self._checked = 0
        self._work: TravellingWork | None = None
        self._open: dict[Future[Done], Future[Delivery]] = {}
        self._threads: dict[str, int] = {}
        self._looked = -_LOOK_S
        settle()
        try:
            self._client = Client(
                file.address, security=security_of(file), set_as_default=False, timeout=CONNECT_S, name="plurispiel"
            )
        except (OSError, TimeoutError) as error:
            raise OSError(
                f"the scheduler at {file.address} does not answer ({error}); plurispiel cluster {path} starts one"
            ) from None
        self._executor = self._client.get_executor(pure=False, retries=_RETRIES)
        try:
            for name, value in self._ask("facts").items():
                if name in facts and facts[name] != value:
                    raise ValueError(
                        f"the cluster of {path} differs: {name} is {value} there and {facts[name]} here; start it "
                        "again with the package that is installed here"
                    )
            self.is_mixed = bool(self._ask("mixed"))
            if self.is_mixed and check_share:
                raise ValueError(
                    "the machines of a mixed cluster may differ in the last digits; leave out --check-share, or start "
                    f"plurispiel cluster {path} without --mixed"
                )
        except BaseException:
            self.shutdown()
            raise
        if self.is_mixed:
            say("the cluster admits machines of other arithmetic (--mixed): results hold to about 12 digits")

    @property
    def num_workers(self) -> int:
        """The number of connected workers."""
        return len(self._present())

    @property
    def slots(self) -> int:
        """The number of slots of the connected workers, at most the argument `slots`.

        It is at least 1, because the first worker may still be starting.
        """
        if time.monotonic() >= self._looked + _LOOK_S:
            self._looked = time.monotonic()
            before, self._threads = sum(self._threads.values()), self._present()
            if not self._threads:
                self._say(f"no worker is connected; plurispiel worker {self.path} starts one, on any machine")
            elif sum(self._threads.values()) != before:
                self._say(f"workers: {len(self._threads)}, slots in all: {sum(self._threads.values())}")
        there = max(1, sum(self._threads.values()))
        return min(self._most, there) if self._most else there

    @property
    def least_seconds(self) -> float:
        """The time, in seconds, that short jobs submitted together should take."""
        return task_seconds(self.slots)

    def engage(self, work: Work) -> PackedWork:
        """Send the files of a work to the scheduler, from which workers fetch them; return the packed work.

        Raises
        ------
        ValueError
            If a file cannot be sent. Also if agents from outside have no sandbox and `unsandboxed` is False, or if they
            can use the network on a cluster without keys.
        Exception
            Any exception of `Work.begin` on a worker.
        """
        travelling = cast(TravellingWork, work)
        outsiders = travelling.outsiders
        if outsiders and not outsiders.sandbox and not self._unsandboxed:
            raise ValueError(
                f"without a sandbox, agents from outside could read {self.path}, and run programs as you on all "
                "machines of the cluster; install bubblewrap (bwrap), or give --unsandboxed if you trust the agents"
            )
        if outsiders and outsiders.network and not self.is_secure:
            raise ValueError(
                f"agents that can use the network may not play on the cluster of {self.path}, which has no keys; start "
                "it without --insecure, or play in a sandbox and without --agent-network"
            )
        ship = [folder.resolve() for folder in self.ship]
        shipped = (next((folder for folder in ship if path.is_relative_to(folder)), path) for path in travelling.paths)
        parcels = {str(path): make_parcel(path) for path in (*shipped, *ship)}
        self._work = travelling
        self._send(parcels)
        packed = pack(PostedWork(travelling.departing(), parcels))
        self._prepare(packed)
        return packed

    def submit(self, do: Callable[..., Done], /, *arguments: Any) -> "Future[Done]":  # type: ignore[override]
        """Submit jobs of a work. `do` is ignored: the worker calls `workshop.deliver`."""
        outer: Future[Done] = Future()
        again = self._draw.random() < self._share
        outer.add_done_callback(self._closed)
        self._post(outer, arguments, again)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Drop unfinished jobs, and leave the cluster, which keeps running."""
        for outer in list(self._open):
            outer.cancel()
        with contextlib.suppress(Exception):  # a scheduler that is gone
            self._client.close(timeout=2.0)
        if self._checked:
            self._say(f"{self._checked:,} tasks were done by two workers, with equal results")
            self._checked = 0

    def _present(self) -> dict[str, int]:
        """Return the slots of each connected worker, by its address.

        Raises
        ------
        WorkerFailed
            If the scheduler is gone.
        """
        try:
            return dict(self._client.nthreads())
        except (OSError, TimeoutError):
            raise self._gone() from None

    def _gone(self) -> WorkerFailed:
        return WorkerFailed(
            f"the scheduler of {self.path} is gone; start it again (plurispiel cluster {self.path}), and run the same "
            "command again to resume"
        )

    def _ask(self, request: str, **arguments: Any) -> Any:
        """Return the scheduler's answer to one of our requests (`registry`)."""
        return self._client.sync(getattr(self._client.scheduler, f"plurispiel_{request}"), **arguments)

    def _send(self, parcels: Mapping[str, Any]) -> None:
        files = {digest: Path(path) / name for path, parcel in parcels.items() for name, _, digest in parcel.files}
        for digest in self._ask("missing", digests=sorted(files)):
            offset, upload, content = 0, uuid.uuid4().hex, list(pieces(files[digest])) or [b""]
            for number, piece in enumerate(content, start=1):
                is_last = number == len(content)
                self._ask("store", digest=digest, upload=upload, offset=offset, piece=piece, is_last=is_last)
                offset += len(piece)

    def _prepare(self, packed: PackedWork) -> None:
        """Have the workers begin a work, before the time of a run is counted.

        In the first `_BEGIN_S` seconds, all workers are waited for; after that, one worker that has begun suffices.

        Raises
        ------
        Exception
            Any exception of `Work.begin` on a worker. A `WorkerFailed` counts only if no worker has begun.
        """
        there = self._present()
        open_ = {self._executor.submit(prepare, packed, workers=[each], retries=0): each for each in there}
        patience = time.monotonic() + _BEGIN_S
        has_begun, failure = False, None
        while open_ and (not has_begun or time.monotonic() < patience):
            finished, _ = concurrent.futures.wait(open_, timeout=_PAUSE_S, return_when=FIRST_COMPLETED)
            for task in finished:
                try:
                    if error := self._outcome(task).done.error:
                        raise error
                    has_begun = True
                except WorkerFailed as error:  # such as a child that died: the other workers suffice
                    failure = error
            left = self._present()
            open_ = {task: each for task, each in open_.items() if task not in finished and each in left}
        if failure and not has_begun:
            raise failure

    def _post(
        self, outer: "Future[Done]", jobs: tuple[Any, ...], again: bool, patience: float = 1.0, **where: Any
    ) -> None:
        """Have jobs of a packed work done; `again` tells whether two workers shall do them."""
        inner = self._executor.submit(deliver, *jobs, patience, **where)
        self._open[outer] = inner
        inner.add_done_callback(lambda task: self._arrived(task, outer, jobs, again, patience))

    def _closed(self, outer: "Future[Done]") -> None:
        inner = self._open.pop(outer, None)
        if outer.cancelled() and inner is not None:
            inner.cancel()

    def _arrived(
        self, task: "Future[Delivery]", outer: "Future[Done]", jobs: tuple[Any, ...], again: bool, patience: float
    ) -> None:
        """Hand over an outcome; called by a thread of dask.

        Overdue jobs are posted again. If `again` is True and results can be compared, a second worker does the
        jobs, too, and both results are compared before the outcome is handed over.
        """
        with _failing(outer):
            first = self._outcome(task)
            others = self._elsewhere(first)
            where = {"workers": others, "allow_other_workers": True} if others else {}
            if isinstance(first.done.error, Overdue):
                if patience >= _MOST_PATIENCE:
                    raise WorkerFailed(
                        f"{first.done.error}; these jobs were given up again and again. See what hangs on the "
                        "machines, an agent perhaps, and run the same command again to resume"
                    )
                self._say(f"{first.done.error}; these jobs are done again" + " elsewhere" * bool(others))
                self._post(outer, jobs, again, _MORE_PATIENCE * patience, **where)
                return
            can_compare = bool(others) and first.done.error is None and None not in self._essences(first.done)
            if not again or not can_compare:
                outer.set_result(self._unloaded(first.done))
                return
            second = self._executor.submit(deliver, *jobs, _MOST_PATIENCE, **where)
            self._open[outer] = second
            second.add_done_callback(lambda task: self._compared(first, task, outer))

    def _elsewhere(self, first: Delivery) -> list[str]:
        """Return the workers that may do jobs again: those at other hosts, else the others at the same host."""
        host = first.worker.rpartition(":")[0]
        others = [address for address in self._threads if address != first.worker]
        return [address for address in others if address.rpartition(":")[0] != host] or others

    def _compared(self, first: Delivery, task: "Future[Delivery]", outer: "Future[Done]") -> None:
        with _failing(outer):
            second = self._outcome(task)
            if second.done.error:
                self._say(f"jobs could not be checked on {second.machine}: {second.done.error}")
            elif second.worker != first.worker:
                if self._essences(first.done) != self._essences(second.done):
                    raise MachinesDisagree(
                        f"{first.machine} ({first.worker}) and {second.machine} ({second.worker}) have different "
                        "results of the same jobs; no result of these machines can be relied on. Results stored "
                        "before stay. Find the machine that is wrong, and leave it out"
                    )
                self._checked += 1
            outer.set_result(self._unloaded(first.done))

    def _essences(self, done: Done) -> list[bytes | None]:
        assert self._work is not None
        return [self._work.essence(carried.result) for carried in done.results]

    def _outcome(self, task: "Future[Delivery]") -> Delivery:
        """Return the outcome of a finished task.

        Raises
        ------
        WorkerFailed
            If there is none, because the scheduler is gone, a worker failed, or workers died again and again.
        """
        try:
            return task.result()
        except CancelledError:
            raise self._gone() from None
        except WorkerFailed:
            raise
        except KilledWorker:
            raise WorkerFailed(
                "workers died again and again over the same jobs, perhaps for want of memory; look at their machines"
            ) from None
        except Exception as error:
            raise WorkerFailed(f"a worker of the cluster failed: {type(error).__name__}: {error}") from error

    def _unloaded(self, done: Done) -> Done:
        """Append the output of agents to the run's logs, and return the outcome without this output."""
        assert self._work is not None
        folder = self._work.logs
        for carried in done.results:
            for name, text in carried.logs.items() if folder else ():
                folder.mkdir(parents=True, exist_ok=True)  # type: ignore[union-attr]
                with open(folder / Path(name).name, "ab") as stream:  # type: ignore[operator]
                    stream.write(text)
        return done._replace(results=[carried.result for carried in done.results])


@contextlib.contextmanager
def _failing(outer: "Future[Done]") -> Iterator[None]:
    """Let a future fail with the exception of the context; otherwise dask would only log it, and the run would hang."""
    with contextlib.suppress(InvalidStateError):  # cancelled meanwhile
        try:
            yield
        except Exception as error:
            outer.set_exception(error)
