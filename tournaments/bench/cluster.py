"""The cost of a cluster: processor time for a task and for a stored block, and the share of slots that stay busy.

Costs are processor times, measured on a cluster of one machine with two slots and tasks without work. The share of busy
slots is simulated: the module `ordered`, unchanged, hands tasks to slots in simulated time. In the simulation the
command does one thing at a time, and so does the scheduler.
"""

import contextlib
import heapq
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.tournaments.api.cluster import connect_cluster
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.labour.ordered import in_order, task_seconds
from plurispiel.tournaments.labour.travel import Site
from plurispiel.tournaments.labour.work import Done, PackedWork, do
from plurispiel.tournaments.run.block_player import Conduct, Job
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.retirement import FaultLedger
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, make_blocks
from plurispiel.tournaments.run.store import RunStore
from plurispiel.tournaments.run.tournament_work import TournamentWork

_SLOTS = (16, 256, 4_096)
_BLOCKS = {"search": 2.5, "blueprint": 0.016}
"""Seconds of a block of eight decks heads-up: `search` plays 6.5 hands a second on a processor, `blueprint` 1,000."""

_TASKS_EACH = 20  # simulated tasks for each slot
_SPREAD = 0.5  # standard deviation of a block's time, as a share of the mean
_MIN_MEASURED = 200  # fewest tasks, and fewest blocks, that are measured
_START_S = 600.0  # a start may compile kernels


class _Costs(NamedTuple):
    """Processor seconds: of the command and of the scheduler for a task, and of the command for a stored block."""

    command: float
    scheduler: float
    store: float


class _NoWork:
    """Work whose jobs take no time: the result of a job is the job itself."""

    paths: Sequence[Path] = ()
    logs = None
    outsiders = None

    @contextmanager
    def begin(self) -> Iterator[Callable[[int], int]]:
        """Yield the function that returns its job."""
        yield lambda job: job

    def departing(self) -> "_NoWork":
        """Return the work."""
        return self

    def moved(self, site: Site) -> "_NoWork":
        """Return the work."""
        return self

    def essence(self, result: int) -> None:
        """Return None."""


def bench_cluster(seconds: float = 1.0) -> list[Measurement]:
    """Return the costs of a task and of a stored block, and the share of busy slots among 16, 256 and 4,096 slots.

    Parameters
    ----------
    seconds : float
        Approximate time of each of the two measurements of costs.

    Raises
    ------
    ValueError
        If the extra ``cluster`` is not installed.
    OSError
        If the cluster does not start.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = _store_seconds(Path(folder) / "run", seconds)
        command, scheduler, worker = _task_seconds(Path(folder) / "cluster.json", seconds)
    costs = _Costs(command, scheduler, store)
    rows = [
        Measurement("a task, processor time of the command", 1e6 * command, "µs", "to hand it out and take its result"),
        Measurement("a task, processor time of the scheduler", 1e6 * scheduler, "µs", "with encryption by TLS"),
        Measurement("a task, processor time of a worker", 1e6 * worker, "µs", "without its child processes"),
        Measurement("a block, checked and stored", 1e6 * store, "µs", f"{BLOCK_DECKS} decks heads-up"),
    ]
    for name, each in _BLOCKS.items():
        for slots in _SLOTS:
            rows.append(_simulated(name, each, slots, costs))
    return rows


def _store_seconds(folder: Path, seconds: float) -> float:
    """Return the processor seconds of the command for a block, from the bytes of the block to the database."""
    config = TournamentConfig(agents=("call", "random"), decks=10_000_000, score="duplicate", referee="none")
    with contextlib.closing(RunStore(folder, config)) as store:
        work = TournamentWork(config, Conduct(), store.streams())
        ledger, number = FaultLedger(config.max_faults), 0
        with work.begin() as play:
            packed = play(Job(next(iter(make_blocks(config, 1, ()))), frozenset()))
        rows = work.unpacked(packed).rows.copy()
        end, start = time.perf_counter() + seconds, time.process_time()
        while number < _MIN_MEASURED or time.perf_counter() < end:
            played, _ = ledger.admit(work.unpacked(packed._replace(rows=rows.tobytes())))
            store.add_block(played, 0.0)
            rows["deck"] += BLOCK_DECKS
            number += 1
        return (time.process_time() - start) / number


def _task_seconds(path: Path, seconds: float) -> tuple[float, float, float]:
    """Return the processor seconds for a task: of the command, of the scheduler and of the worker, in this order."""
    with (
        _started("cluster", path) as scheduler,
        _started("worker", path, "--slots", "2", "--wait", f"{_START_S:g}") as worker,
        connect_cluster(path) as cluster,
    ):
        limit = time.monotonic() + _START_S
        while not cluster.num_workers:
            if time.monotonic() > limit or scheduler.poll() is not None or worker.poll() is not None:
                raise OSError("the cluster did not start; run plurispiel cluster and plurispiel worker to see why")
            time.sleep(0.2)
        packed = cluster.engage(_NoWork())

        def do_some() -> int:
            tasks = [cluster.submit(do, packed, [number]) for number in range(_MIN_MEASURED)]
            return sum(len(task.result().results) for task in tasks)

        do_some()  # opens connections and fills caches
        number, end = 0, time.perf_counter() + seconds
        before = time.process_time(), _processor_seconds(scheduler.pid), _processor_seconds(worker.pid)
        while number < _MIN_MEASURED or time.perf_counter() < end:
            number += do_some()
        after = time.process_time(), _processor_seconds(scheduler.pid), _processor_seconds(worker.pid)
    own, theirs, workers = ((late - early) / number for early, late in zip(before, after, strict=True))
    return own, theirs, workers


@contextmanager
def _started(name: str, path: Path, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "plurispiel", name, str(path), *options], stderr=subprocess.DEVNULL, cwd=path.parent
    )
    try:
        if name == "cluster":
            limit = time.monotonic() + _START_S
            while not path.exists() and process.poll() is None and time.monotonic() < limit:
                time.sleep(0.2)
        yield process
    finally:
        process.terminate()
        process.wait()


def _processor_seconds(pid: int) -> float:
    """Return the processor time of a process; NaN if the system does not report it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Simulated:
    """Slots in simulated time.

    Attributes
    ----------
    now : float
        The time of the command, which submits and stores one thing after another.
    """

    is_mixed = False

    def __init__(self, slots: int, costs: _Costs):
        self.slots = slots
        self.least_seconds = task_seconds(slots)
        self.now = self.work = self.end = 0.0
        self._costs = costs
        self._scheduler = 0.0
        self._free = [0.0] * slots

    def engage(self, work: object) -> PackedWork:
        """Return a packed work without content."""
        return PackedWork("", b"")

    def submit(self, do: object, /, packed: PackedWork, jobs: Sequence[float]) -> "Future[Done]":
        """Give a task to the slot that is free first. A job is the playing time of one or more blocks, in seconds."""
        self.now += self._costs.command
        self._scheduler = max(self._scheduler, self.now) + self._costs.scheduler
        taken = sum(jobs)
        end = max(heapq.heappop(self._free), self._scheduler) + taken
        heapq.heappush(self._free, end)
        self.work += taken
        self.end = max(self.end, end)
        return _Outcome(self, end, Done(jobs, None, taken))

    def store(self) -> None:
        """Advance the command's time by the time that it takes to store the blocks of a job."""
        self.now += self._costs.store


class _Outcome(Future):  # type: ignore[type-arg]
    """A result that exists from a simulated time on."""

    def __init__(self, simulated: _Simulated, end: float, done: Done):
        super().__init__()
        self._simulated, self._end, self._done = simulated, end, done

    def result(self, timeout: float | None = None) -> Any:
        """Advance the command's time to the time of the result, and return the result."""
        self._simulated.now = max(self._simulated.now, self._end)
        return self._done


def _simulated(name: str, seconds: float, slots: int, costs: _Costs) -> Measurement:
    """Return the share of slots that are busy while blocks are played that take `seconds` on average."""
    joined = max(1, int(task_seconds(slots) / seconds))
    simulated = _Simulated(slots, costs._replace(store=joined * costs.store))
    shape = joined / _SPREAD**2
    times = np.random.default_rng(0).gamma(shape, joined * seconds / shape, slots * _TASKS_EACH)
    for _ in in_order(simulated, None, iter(times.tolist())):  # type: ignore[arg-type]
        simulated.store()
    busy = simulated.work / slots / max(simulated.now, simulated.end)
    per_second = slots / seconds
    loads = {
        "command": per_second * (costs.command / joined + costs.store),
        "scheduler": per_second * costs.scheduler / joined,
    }
    most = max(loads, key=loads.__getitem__)
    note = ", ".join(f"the {part} would need {load:.2f} processors" for part, load in loads.items())
    note += f"; the {most} is the limit" if loads[most] > 1.0 else ""
    return Measurement(f"{slots:,} slots, blocks of {name} ({seconds:g} s)", 100.0 * busy, "% busy", note)
