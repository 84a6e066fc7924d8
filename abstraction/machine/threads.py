"""Work on several threads. Kernels release the GIL, so threads suffice and no processes are needed."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from tqdm import tqdm


def num_processors() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_chunks(
    make_worker: Callable[[], Callable[[slice], object]],
    total: int,
    *,
    chunk: int,
    threads: int,
    progress: tqdm | None = None,
) -> None:
    """Work on ``range(total)`` in slices of at most `chunk` numbers, each taken by the next free thread.

    With several threads and slices, after an error in a worker or an interrupt, every other thread finishes its slice
    and stops; then the error or interrupt is raised. With one thread or one slice, the calling thread does the work. An
    error then ends the work at once, and an interrupt as soon as the running kernel returns.

    Parameters
    ----------
    make_worker : callable
        Called once per thread, so that each thread can have its own workspace. The result is the function that works on
        a slice.
    progress : tqdm, optional
        Advanced by the length of each finished slice.
    """
    slices: Iterator[slice] = iter([slice(start, min(start + chunk, total)) for start in range(0, total, chunk)])
    stopped = False

    def work() -> None:
        worker = make_worker()
        for part in slices:  # a list's iterator hands every slice to one thread only
            if stopped:
                return
            worker(part)
            if progress is not None:
                progress.update(part.stop - part.start)

    if threads == 1 or total <= chunk:
        work()
        return
    with ThreadPoolExecutor(threads) as pool:
        tasks = [pool.submit(work) for _ in range(threads)]
        try:
            wait(tasks, return_when=FIRST_EXCEPTION)
        finally:
            stopped = True
    for task in tasks:
        task.result()
