"""A worker of a cluster: takes jobs from the scheduler, and has them done by child processes.

dask calls functions in threads. Jobs need a main thread of their own: the contestants' processes end with the thread
that started them. And a crash of compiled code must cost a few jobs, not the worker.
"""

import asyncio
import contextlib
import os
import pickle
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from distributed import get_worker
from distributed.core import Status, rpc
from distributed.utils import get_ip, sync

from plurispiel.abstraction.machine.interrupts import SIGNALS
from plurispiel.abstraction.machine.jit import user_cache_folder
from plurispiel.tournaments.contestants.process import close_to_others
from plurispiel.tournaments.labour.cluster_file import ClusterFile, read_cluster_file
from plurispiel.tournaments.labour.dask_parts import CONNECT_S, QuietWorker, security_of, settle
from plurispiel.tournaments.labour.parcels import PIECE, Parcel, make_parcel, unpack
from plurispiel.tournaments.labour.team import Team
from plurispiel.tournaments.labour.travel import PostedWork, SettledWork, Site
from plurispiel.tournaments.labour.work import Done, Overdue, PackedWork, Work, do, pack

__all__ = ["Delivery", "deliver", "prepare", "run_worker"]

_PAUSE_S = 0.5  # seconds between looks for a scheduler
_LOOK_S = 5.0  # seconds between looks at jobs that take long

# Jobs can hang, in compiled code or because their process is stopped. They are given up after a limit
# (`_Settled.limit`). It is the sum of `_LEAST_LIMIT_S`, the time for late answers, and for each of the jobs `_SLOWER`
# times the time of the slowest job so far. Before that time is known, no jobs are given up.
_LEAST_LIMIT_S, _SLOWER = 60.0, 3.0

Ask = Callable[..., Any]


class Delivery(NamedTuple):
    """The outcome of jobs, and who did them.

    Attributes
    ----------
    done : Done
        Its results are `Homecoming`.
    machine, worker : str
        The name of the machine, and the address of the worker.
    """

    done: Done
    machine: str
    worker: str


@dataclass
class _Settled:
    """A work that has arrived.

    Attributes
    ----------
    packed : PackedWork
        The packed `SettledWork`.
    allowed : float
        See `Outsiders.seconds`.
    slowest : float
        The time of the slowest job on all workers, in seconds; 0 before it is known. Jobs that were done together count
        with their mean time.
    """

    packed: PackedWork
    allowed: float
    slowest: float = 0.0

    def limit(self, jobs: int) -> float:
        """Return the seconds after which jobs are given up."""
        return _LEAST_LIMIT_S + self.allowed + jobs * _SLOWER * self.slowest


class Workshop:
    """The child processes of a worker, and the parcels of its machine.

    Parameters
    ----------
    slots : int
        The number of jobs done at the same time, each in a process of its own.
    file : Path
        The cluster's file, hidden from agents.
    artefacts : Path or None
        A folder with bucket tables, blueprints and solved games. If one of them has the content that a work needs, the
        work uses it; otherwise the worker builds or fetches what the work needs.
    """

    def __init__(self, slots: int, file: Path, artefacts: Path | None = None):
        self._slots = slots
        self._file = file.resolve()
        self._artefacts = artefacts
        self._team = Team(slots, replaces=True)  # started by the main thread: processes end with their thread
        self._lock = threading.Lock()
        self._settled: dict[str, _Settled] = {}
        self._logs = Path(tempfile.mkdtemp(prefix="plurispiel-logs-"))
        self._parcels = user_cache_folder() / "parcels"

    def try_out(self, work: Work) -> Any:
        """Return the result of a work's only job, done in a child process."""
        done = self._team.submit(do, pack(work), [None]).result()
        if done.error:
            raise done.error
        return done.results[0]

    def prepare(self, packed: PackedWork, ask: Ask) -> Done:
        """Begin a work in all child processes that have nothing to do; arguments as in `deliver`."""
        try:
            settled = self._settle(packed, ask)
        except ValueError as error:
            return Done([], ValueError(str(error)), 0.0)
        begun = [self._team.submit(do, settled.packed, []) for _ in range(self._slots)]
        return max((each.result() for each in begun), key=lambda done: done.error is not None)

    def deliver(self, packed: PackedWork, jobs: Sequence[Any], patience: float, ask: Ask) -> Done:
        """Do jobs in a child process.

        Parameters
        ----------
        packed : PackedWork
            A `PostedWork`.
        patience : float
            A factor that multiplies the jobs' limit (`_Settled.limit`). Jobs that take longer are given up, and the
            outcome has the error `Overdue`.
        ask : callable
            Returns the scheduler's answer to one of our requests (`registry`).

        Raises
        ------
        WorkerFailed
            If the child process died; another takes its place.
        """
        try:
            settled = self._settle(packed, ask)
        except ValueError as error:
            return Done([], ValueError(str(error)), 0.0)
        task = self._team.submit(do, settled.packed, jobs)
        while True:
            try:
                done = task.result(timeout=_LOOK_S)
                break
            except TimeoutError:
                taken = self._team.seconds_of(task)
                try:
                    self._tell_slowest(packed.digest, settled, 0.0, ask)
                except BaseException:  # the scheduler is lost: the child process must not go on with these jobs
                    self._team.give_up(task)
                    raise
                if settled.slowest and taken > patience * settled.limit(len(jobs)):
                    self._team.give_up(task)
                    wait([task])  # until another process has replaced the killed one
                    message = (
                        f"{len(jobs)} job{'s' * (len(jobs) > 1)} took {taken:,.0f} s and more on "
                        f"{socket.gethostname()} (the slowest job so far took {settled.slowest:,.1f} s)"
                    )
                    return Done([], Overdue(message), taken)
        if done.results and done.seconds / len(done.results) > settled.slowest:
            self._tell_slowest(packed.digest, settled, done.seconds / len(done.results), ask)
        return done

    def close(self) -> None:
        """End the child processes."""
        self._team.shutdown()
        shutil.rmtree(self._logs, ignore_errors=True)

    def _tell_slowest(self, digest: str, settled: "_Settled", seconds: float, ask: Ask) -> None:
        """Tell the scheduler the time of a slow job, and learn the time of the slowest job of all workers."""
        with contextlib.suppress(OSError):  # a scheduler that does not answer
            settled.slowest = ask("slowest", digest=digest, seconds=seconds)

    def _settle(self, packed: PackedWork, ask: Ask) -> "_Settled":
        """Unpack the parcels of a work, and return the work with the paths of this machine."""
        with self._lock:
            if packed.digest not in self._settled:
                posted: PostedWork = pickle.loads(packed.content)
                paths = {path: str(self._unpacked(parcel, ask)) for path, parcel in posted.parcels.items()}
                site = Site(paths, (self._file,), self._logs, self._artefacts)
                outsiders = posted.work.outsiders
                allowed = outsiders.seconds if outsiders else 0.0
                self._settled[packed.digest] = _Settled(pack(SettledWork(posted.work, site)), allowed)
            return self._settled[packed.digest]

    def _unpacked(self, parcel: Parcel, ask: Ask) -> Path:
        if self._artefacts and _holds(shared := self._artefacts / parcel.name, parcel):
            return shared
        folder = self._parcels / parcel.digest
        place = folder / parcel.name
        if place.exists() and not _holds(place, parcel):
            shutil.rmtree(folder)
        if not place.exists():
            with unpack(parcel, folder) as temporary:
                for name, size, digest in parcel.files:
                    with open(temporary / parcel.name / name, "wb") as stream:
                        for offset in range(0, size, PIECE):
                            stream.write(ask("piece", digest=digest, offset=offset))
        return place


_workshop: Workshop  # of this process; `deliver` and `prepare` find it here, as dask calls them by name


def deliver(packed: PackedWork, jobs: Sequence[Any], patience: float = 1.0) -> Delivery:
    """Do jobs on the worker that dask has chosen; dask calls this in a thread."""
    return Delivery(_workshop.deliver(packed, jobs, patience, _ask), socket.gethostname(), get_worker().address)


def prepare(packed: PackedWork) -> Delivery:
    """Begin a work on a worker; dask calls this in a thread."""
    return Delivery(_workshop.prepare(packed, _ask), socket.gethostname(), get_worker().address)


def _holds(path: Path, parcel: Parcel) -> bool:
    """Return whether a file or folder has the content of a parcel; false if it cannot be read, or is too large."""
    try:
        return path.exists() and make_parcel(path) == parcel
    except (ValueError, OSError):
        return False


def _ask(request: str, **arguments: Any) -> Any:
    """Return the scheduler's answer to one of our requests (`registry`)."""
    worker = get_worker()
    return sync(worker.loop, getattr(worker.scheduler, f"plurispiel_{request}"), **arguments)


def run_worker(
    path: Path,
    slots: int,
    wait_s: float,
    facts: Mapping[str, str],
    trial: tuple[str, Work],
    say: Callable[[str], Any],
    *,
    artefacts: Path | None = None,
) -> None:
    """Work for a cluster until it ends or a signal comes. After a crash of the scheduler, wait for the next one.

    Parameters
    ----------
    path : Path
        The cluster's file.
    slots : int
        The number of jobs done at the same time.
    wait_s : float
        Seconds to wait for the file and the scheduler.
    facts : mapping
        Facts that must be equal on this machine and on the scheduler's, by name.
    trial : (str, Work)
        The name of a further fact, and the work whose only job computes it.
    say : callable
        Called with each line for the user.
    artefacts : Path, optional
        As in `Workshop`.

    Raises
    ------
    ValueError
        If there is no scheduler in time, or the scheduler has other facts.
    """
    global _workshop
    close_to_others()
    settle()
    _awaited(path, wait_s)
    with contextlib.closing(Workshop(slots, path, artefacts)) as _workshop:
        name, work = trial
        own = {**facts, name: _workshop.try_out(work)}
        while asyncio.run(_work_for(_awaited(path, wait_s), path, slots, own, say)):
            say("the scheduler is gone; waiting for the next one")


def _awaited(path: Path, wait_s: float) -> ClusterFile:
    """Return the content of the cluster's file as soon as there is one whose scheduler answers."""
    limit = time.monotonic() + wait_s
    while True:
        try:
            file = read_cluster_file(path)
            host, _, port = file.address.rpartition("://")[2].rpartition(":")
            with socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_S):
                return file
        except (ValueError, OSError) as error:
            if time.monotonic() >= limit:
                raise ValueError(f"no scheduler in {wait_s:g} s: {error}") from None
        time.sleep(_PAUSE_S)


async def _work_for(
    file: ClusterFile, path: Path, slots: int, own: Mapping[str, str], say: Callable[[str], Any]
) -> bool:
    """Work for a scheduler until it is gone or a signal comes; return whether it crashed, so that another may come."""
    loop, ends = asyncio.get_running_loop(), asyncio.Event()
    for number in SIGNALS:
        loop.add_signal_handler(number, ends.set)
    security = security_of(file)
    async with rpc(file.address, connection_args=security.get_connection_args("worker")) as scheduler:
        _compare(await scheduler.plurispiel_facts(), own)
    with tempfile.TemporaryDirectory(prefix="plurispiel-worker-") as folder:
        worker = QuietWorker(
            file.address,
            nthreads=slots,
            name=f"{socket.gethostname()}-{os.getpid()}",
            security=security,
            host=get_ip(file.address.rpartition("://")[2].rpartition(":")[0].strip("[]")),
            local_directory=folder,
            memory_limit=0,
            dashboard=False,
            death_timeout=CONNECT_S,
        )
        async with worker:
            say(f"works with {slots} slot{'s' * (slots > 1)} for {file.address}")
            while not ends.is_set() and worker.status == Status.running:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(ends.wait(), _PAUSE_S)
    return not ends.is_set() and path.exists()


def _compare(asked: Mapping[str, str], own: Mapping[str, str]) -> None:
    for name, value in asked.items():
        if own.get(name) != value:
            raise ValueError(
                f"this machine may not work for the cluster: {name} is {own.get(name)} here and {value} there; all "
                "machines of a cluster need the same versions and arithmetic, or results would depend on the machine"
            )
