"""Jobs of a run in worker processes, any of which may be done first."""

import concurrent.futures
import itertools
import multiprocessing
import os
from collections.abc import Callable, Generator, Iterable
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import resource_tracker
from typing import TypeVar

from plurispiel.abstraction.machine.interrupts import interrupts_held, leave_to_parent
from plurispiel.tournaments.contestants.process import close_to_others, die_with
from plurispiel.tournaments.run.own_modules import own_modules_only, pass_nothing_on

__all__ = ["done_in_pool"]

_WINDOW = 4  # jobs queued for each worker

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def done_in_pool(
    function: Callable[[_Job], _Result], jobs: Iterable[_Job], workers: int, prepare: Callable[[], None] | None = None
) -> Generator[tuple[_Job, _Result], None, None]:
    """Yield each job with its result once it is done.

    Workers that are still busy when the caller stops are killed.

    Parameters
    ----------
    function : callable
        Of a module, as jobs travel by name to processes of their own.
    jobs : iterable
        Taken as workers become free.
    workers : int
        Number of processes.
    prepare : callable, optional
        Called once in each process, before the first job.

    Raises
    ------
    OSError
        If a worker died.
    """
    queue = iter(jobs)
    context = multiprocessing.get_context("spawn")
    with interrupts_held(), own_modules_only():  # Ctrl-C must not reach the pool's resource tracker
        resource_tracker.ensure_running()
    pool = concurrent.futures.ProcessPoolExecutor(workers, context, _begin_beside, (prepare, os.getpid()))
    waiting: dict[concurrent.futures.Future[_Result], _Job] = {}
    try:
        while True:
            with interrupts_held(), own_modules_only():  # Ctrl-C must not reach workers: this process ends them
                for job in itertools.islice(queue, _WINDOW * workers - len(waiting)):
                    waiting[pool.submit(function, job)] = job
            if not waiting:
                return
            for done in concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED).done:
                yield waiting[done], done.result()
                del waiting[done]
    except BrokenProcessPool:
        raise OSError("a worker process died; run the same command again to resume") from None
    finally:
        if waiting:
            for process in multiprocessing.active_children():
                process.kill()
        pool.shutdown(cancel_futures=True)


def _begin_beside(prepare: Callable[[], None] | None, parent: int) -> None:
    """Prepare a worker process."""
    close_to_others()
    die_with(parent)  # else a pool's processes outlive a killed parent
    leave_to_parent()
    pass_nothing_on()
    if prepare is not None:
        prepare()
