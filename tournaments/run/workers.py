"""The workers of a tournament: this process alone, or worker processes that receive blocks by pipes."""

import contextlib
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.copies import can_fork
from plurispiel.abstraction.machine.interrupts import interrupts_held, leave_to_parent
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.evaluation.streams import Streams
from plurispiel.tournaments.contestants.process import close_to_others, die_with
from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct, Job, RunAborted
from plurispiel.tournaments.run.block_rows import Played, row_type
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.kernels import PLAY, warmup
from plurispiel.tournaments.run.own_modules import own_modules_only, pass_nothing_on
from plurispiel.tournaments.run.schedule import Block

_PATIENCE_S = 2.0  # time for workers to end before they are killed
# Largest number of blocks given out and not yet yielded, for each worker. The limit bounds the memory of finished
# blocks, which wait for unfinished earlier blocks.
_WINDOW = 16


class WorkerFailed(RuntimeError):
    """A worker process died."""


class Alone:
    """Plays blocks in this process, in place of a `Team`."""

    def __init__(self, config: TournamentConfig, conduct: Conduct, streams: Streams):
        self._player = BlockPlayer(config, conduct, streams)

    def play(self, jobs: Iterator[Job]) -> Iterator[tuple[Block, Played]]:
        """Yield each job's block and its result, in the order of the jobs."""
        for job in jobs:
            yield job.block, self._player.play(job)

    def close(self) -> None:
        """End the processes of isolated agents."""
        self._player.close()


class _WorkerProcess:
    """A process that plays blocks in the order in which they are given to the process.

    Parameters
    ----------
    others : sequence of Connection
        The pipes of the workers that were started before.
    """

    def __init__(self, config: TournamentConfig, conduct: Conduct, streams: Streams, others: Sequence[Connection]):
        forks = can_fork()
        context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        not_theirs = (*others, self.pipe) if forks else ()
        self.process = context.Process(target=_work, args=(theirs, not_theirs, config, conduct, streams), daemon=True)
        self.given: list[tuple[int, Job]] = []
        self._row_type = row_type(config)
        if not forks:
            with interrupts_held(), own_modules_only():
                resource_tracker.ensure_running()  # else `start` starts the tracker, which unblocks held interrupts
        with interrupts_held(), own_modules_only():
            self.process.start()
        theirs.close()

    def wait_until_ready(self) -> None:
        """Wait for the message that the worker is ready."""
        self._receive()

    def give(self, number: int, job: Job) -> None:
        """Send a job with its number in the order of all jobs.

        Raises
        ------
        WorkerFailed
            If the process has died.
        """
        try:
            self.pipe.send(job)
        except OSError:
            raise self._failure() from None
        self.given.append((number, job))

    def take(self) -> tuple[int, tuple[Block, Played]]:
        """Wait until the oldest job is played; return the number of the job, and its block with the result."""
        rows, *others = self._receive()
        number, job = self.given.pop(0)
        return number, (job.block, Played(np.frombuffer(rows, self._row_type), *others))

    def _receive(self) -> Any:
        """Return the worker's next message; an exception that the worker sent is raised here."""
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError):
            raise self._failure() from None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _failure(self) -> WorkerFailed:
        self.process.join(timeout=1.0)
        return WorkerFailed(
            f"a worker process died (exit code {self.process.exitcode}); run the same command again to resume"
        )


class Team:
    """Worker processes, ready to play once constructed.

    Raises
    ------
    WorkerFailed
        If a worker process dies before it is ready.
    """

    def __init__(self, config: TournamentConfig, conduct: Conduct, streams: Streams):
        self._workers: list[_WorkerProcess] = []
        try:
            for _ in range(conduct.workers):
                others = [worker.pipe for worker in self._workers]
                self._workers.append(_WorkerProcess(config, conduct, streams, others))
            for worker in self._workers:
                worker.wait_until_ready()
        except BaseException:
            self.close()
            raise

    def play(self, jobs: Iterator[Job]) -> Iterator[tuple[Block, Played]]:
        """Yield each job's block and its result, in the order of the jobs.

        Every worker has up to two jobs, so that a worker that has finished one job can begin the next at once.

        Raises
        ------
        WorkerFailed
            If a worker process dies.
        RefereeDisagrees, RunAborted, ValueError
            The exception that ended a worker's play.
        """
        for worker in self._workers:  # drops the results of an earlier call that stopped halfway
            while worker.given:
                worker.take()
        given = due = 0
        played: dict[int, tuple[Block, Played]] = {}
        more = True
        while True:
            for worker in self._workers * 2:
                if more and len(worker.given) < 2 and given - due < _WINDOW * len(self._workers):
                    job = next(jobs, None)
                    if job is None:
                        more = False
                    else:
                        worker.give(given, job)
                        given += 1
            busy = {worker.pipe: worker for worker in self._workers if worker.given}
            if not busy:
                return
            for pipe in wait(list(busy)):
                number, result = busy[pipe].take()  # type: ignore[index]
                played[number] = result
            while due in played:
                yield played.pop(due)
                due += 1

    def close(self) -> None:
        """End the workers; a worker that does not end within `_PATIENCE_S` seconds is killed."""
        for worker in self._workers:
            worker.pipe.close()  # a worker ends when it finds its pipe closed
        patience = time.monotonic() + _PATIENCE_S
        for worker in self._workers:
            worker.process.join(timeout=max(0.0, patience - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _work(
    pipe: Connection,
    not_mine: Sequence[Connection],
    config: TournamentConfig,
    conduct: Conduct,
    streams: Streams,
) -> None:
    """Play the blocks that come through the pipe, until the pipe is closed; the main function of a worker process.

    Parameters
    ----------
    not_mine : sequence of Connection
        Ends of pipes that a copy of the run's process holds. They are closed here: while a copy of the run's end is
        open, a worker does not find its pipe closed.
    """
    for end in not_mine:
        end.close()
    close_to_others()
    die_with(os.getppid())  # else the worker could play on for minutes at a block that nobody stores
    leave_to_parent()
    pass_nothing_on()
    sys.stdin = open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stderr  # keeps an agent's prints out of the results on standard output
    with contextlib.suppress(EOFError, OSError), contextlib.closing(BlockPlayer(config, conduct, streams)) as player:
        try:
            warmup(PLAY)
            pipe.send(None)  # ready
            while True:
                rows, *others = player.play(pipe.recv())
                pipe.send((rows.tobytes(), *others))  # as an array, its dtype would take longer than the rows
        except (RefereeDisagrees, RunAborted) as error:
            pipe.send(error)
        except ValueError as error:
            pipe.send(ValueError(str(error)))  # a subclass may be impossible to unpickle
