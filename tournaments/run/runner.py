"""Run a tournament: play the blocks of decks that the store does not hold yet, and store them."""

import contextlib
import time
from collections.abc import Callable, Iterator

import numpy as np

from plurispiel.evaluation.value_choice import make_value_function
from plurispiel.tournaments.labour.local import local_labour
from plurispiel.tournaments.labour.ordered import TaskResults, tasks_in_order
from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.run.block_player import Conduct, Job
from plurispiel.tournaments.run.block_rows import Played
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.retirement import FaultLedger
from plurispiel.tournaments.run.schedule import Block, make_blocks, make_lineups
from plurispiel.tournaments.run.stop_watch import StopWatch
from plurispiel.tournaments.run.store import RunStore
from plurispiel.tournaments.run.tournament_work import PackedBlock, TournamentWork


def play_run(
    config: TournamentConfig,
    store: RunStore,
    conduct: Conduct,
    on_block: Callable[[Block, np.ndarray], None] = lambda block, rows: None,
    labour: Labour | None = None,
) -> None:
    """Play every group that is not stored yet, until all are stored or `TournamentConfig.stop_when` holds.

    Blocks are stored in the order of the schedule, whichever worker finishes first. The group after which an agent is
    retired therefore does not depend on the number of workers.

    Parameters
    ----------
    on_block : callable
        Called after a block is stored, with the block and its stored rows (`block_rows.row_type`).
    labour : Labour, optional
        The executor that plays the blocks; by default this process or worker processes (`Conduct.workers`).

    Raises
    ------
    RunRefused
        If the stored groups were scored with another value function, or the folder cannot be used.
    WorkerFailed, RefereeDisagrees, RunAborted
        If a worker dies and is not replaced, the referee finds another result, or an agent commits a fault under
        ``on_fault = "abort"``. Blocks that were stored before remain, and another call resumes after them.
    """
    if config.uses_aivat:
        store.keep_values(make_value_function(config.values, config.rules))
    watch = StopWatch(config, store)
    if watch.is_over():
        return
    store.renew_key()
    if config.outsiders:
        store.note("processes", conduct.processes)
    if any(map(conduct.is_isolated, config.agents)):
        store.note("sandbox", conduct.sandbox.name if conduct.sandbox else "none")
    if labour is not None and labour.is_mixed:
        store.note("arithmetic", "mixed")
    work = TournamentWork(config, conduct, store.streams())
    ledger = FaultLedger(config.max_faults, store.faults())
    is_resumed = bool(store.done())
    with contextlib.nullcontext(labour) if labour else local_labour(conduct.workers) as players:
        while not _play_on(work, store, ledger, players, watch, on_block, is_resumed):
            pass


def _play_on(
    work: TournamentWork,
    store: RunStore,
    ledger: FaultLedger,
    labour: Labour,
    watch: StopWatch,
    on_block: Callable[[Block, np.ndarray], None],
    is_resumed: bool,
) -> bool:
    """Play the missing blocks; return True if the run is over, False if an agent was retired and groups may be missing.

    A retirement changes the jobs of later blocks. The caller then calls again, and new jobs are made from the ledger.
    """
    blocks = make_blocks(work.config, len(make_lineups(work.config)), store.done())
    jobs = (Job(block, ledger.retired(block)) for block in blocks)
    with contextlib.closing(tasks_in_order(labour, work, jobs)) as tasks:
        for results, seconds in _between_checks(tasks, watch):
            stands_until, stored = None, []
            for job, packed in results:
                played, stands_until = ledger.admit(work.unpacked(packed))
                stored.append((job.block, _without_starts(played) if is_resumed else played))
                if stands_until is not None:
                    break
            store.add_blocks([(played, seconds) for _, played in stored])
            for block, played in stored:
                on_block(block, played.rows)
            if stands_until is not None:
                store.forget_after(stands_until)
                return watch.is_over()
            if watch.is_over():
                break
    return True


def _between_checks(tasks: TaskResults, watch: StopWatch) -> Iterator[tuple[list[tuple[Job, PackedBlock]], float]]:
    """Yield the results of each task with the playing time of each of its blocks, in seconds.

    This is the time since the previous task's results came, divided by the number of the task's blocks. For the first
    task, it is the time since the workers were ready, divided in the same way.

    The results of a task are split after each block that is followed by a check of the stop rule. Blocks after the
    check that ends the run must not count: neither their groups nor their faults nor their events. Without the split,
    the number of blocks in a task, which depends on playing times, would decide which blocks count.
    """
    last = time.monotonic()  # starting the workers does not count as playing time
    for results in tasks:
        now = time.monotonic()
        seconds, last = (now - last) / len(results), now
        part = []
        for job, packed in results:
            part.append((job, packed))
            if watch.is_due_after(job.block):
                yield part, seconds
                part = []
        if part:
            yield part, seconds


def _without_starts(played: Played) -> Played:
    """Return a block without its counts of ``processes``, so that the first start of a process counts as a restart.

    The number of restarts is ``starts`` minus ``processes``. When a run is resumed, new processes start, and what the
    earlier processes had learnt is lost.
    """
    events = {key: count for key, count in played.events.items() if key[1] != "processes"}
    return played._replace(events=events)
