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
from concurrent.futures import ThreadPoolExecutor
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
from plurispiel.tournaments.labour.work import Done, PackedWork, Work, WorkerFailed, do, pack

__all__ = ["Delivery", "deliver", "run_worker"]

_PAUSE_S = 0.5  # between looks for a scheduler


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


class Workshop:
    """The child processes of a worker, and the parcels of its machine.

    Parameters
    ----------
    slots : int
        Jobs done at once, each in a process of its own.
    file : Path
        The cluster's file, hidden from agents.
    """

    def __init__(self, slots: int, file: Path):
        self._slots = slots
        self._file = file.resolve()
        self._team = Team(slots)  # started by the main thread: processes end with the thread that started them
        self._starter = ThreadPoolExecutor(1, "starter")  # this thread starts the teams that replace it
        self._lock = threading.Lock()
        self._settled: dict[str, PackedWork] = {}
        self._logs = Path(tempfile.mkdtemp(prefix="plurispiel-logs-"))
        self._parcels = user_cache_folder() / "parcels"

    def try_out(self, work: Work) -> Any:
        """Return the result of a work's only job, done in a child process."""
        done = self._team.submit(do, pack(work), [None]).result()
        if done.error:
            raise done.error
        return done.results[0]

    def deliver(self, packed: PackedWork, jobs: Sequence[Any], fetch: Callable[[str, int], bytes]) -> Done:
        """Do jobs in a child process.

        Parameters
        ----------
        packed : PackedWork
            A `PostedWork`.
        fetch : callable
            Returns the piece of a file from an offset on, by the file's SHA-256.

        Raises
        ------
        WorkerFailed
            If a child process died; all are replaced.
        """
        try:
            settled = self._settle(packed, fetch)
        except ValueError as error:
            return Done([], ValueError(str(error)), 0.0)
        team = self._team
        try:
            return team.submit(do, settled, jobs).result()
        except WorkerFailed:
            self._replace(team)
            raise

    def close(self) -> None:
        """End the child processes."""
        self._team.shutdown()
        self._starter.shutdown()
        shutil.rmtree(self._logs, ignore_errors=True)

    def _replace(self, team: Team) -> None:
        with self._lock:
            if self._team is team:
                self._team = self._starter.submit(Team, self._slots).result()
                team.shutdown()

    def _settle(self, packed: PackedWork, fetch: Callable[[str, int], bytes]) -> PackedWork:
        """Unpack the parcels of a work, and return the work with the paths of this machine."""
        with self._lock:
            if packed.digest not in self._settled:
                posted: PostedWork = pickle.loads(packed.content)
                paths = {path: str(self._unpacked(parcel, fetch)) for path, parcel in posted.parcels.items()}
                site = Site(paths, (self._file,), self._logs)
                self._settled[packed.digest] = pack(SettledWork(posted.work, site))
            return self._settled[packed.digest]

    def _unpacked(self, parcel: Parcel, fetch: Callable[[str, int], bytes]) -> Path:
        folder = self._parcels / parcel.digest
        place = folder / parcel.name
        if place.exists() and make_parcel(place) != parcel:
            shutil.rmtree(folder)
        if not place.exists():
            with unpack(parcel, folder) as temporary:
                for name, size, digest in parcel.files:
                    with open(temporary / parcel.name / name, "wb") as stream:
                        for offset in range(0, size, PIECE):
                            stream.write(fetch(digest, offset))
        return place


_workshop: Workshop  # of this process: dask passes a function's name and arguments, and no objects


def deliver(packed: PackedWork, jobs: Sequence[Any]) -> Delivery:
    """Do jobs on the worker that dask has chosen; dask calls this in a thread."""
    worker = get_worker()

    def fetch(digest: str, offset: int) -> bytes:
        return sync(worker.loop, worker.scheduler.plurispiel_piece, digest=digest, offset=offset)

    return Delivery(_workshop.deliver(packed, jobs, fetch), socket.gethostname(), worker.address)


def run_worker(
    path: Path, slots: int, wait_s: float, facts: Mapping[str, str], trial: tuple[str, Work], say: Callable[[str], Any]
) -> None:
    """Work for a cluster until it ends or a signal comes. After a crash of the scheduler, wait for the next one.

    Parameters
    ----------
    path : Path
        The cluster's file.
    slots : int
        Jobs done at once.
    wait_s : float
        Seconds to wait for the file and the scheduler.
    facts : mapping
        Facts that must be equal on this machine and on the scheduler's, by name.
    trial : (str, Work)
        The name of a further fact, and the work whose only job computes it.
    say : callable
        Called with each line for the user.

    Raises
    ------
    ValueError
        If there is no scheduler in time, or it asks for other facts.
    """
    global _workshop
    close_to_others()
    settle()
    _awaited(path, wait_s)
    with contextlib.closing(Workshop(slots, path)) as _workshop:
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
    """Work for a scheduler until it is gone; return whether it crashed, after which another may come."""
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
