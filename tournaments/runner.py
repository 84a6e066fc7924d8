"""Run a tournament: hand out blocks of decks, store what comes back, sum up."""

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from plurispiel.agents.base import Agent
from plurispiel.agents.specs import make_agent, parse_spec
from plurispiel.evaluation.duplicate import AgentScore, SeatStreams, play_group
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.referee import Referee, RefereeDisagrees
from plurispiel.tournaments.config import TournamentConfig
from plurispiel.tournaments.interrupts import interrupts_held
from plurispiel.tournaments.schedule import Block, make_blocks, make_lineups
from plurispiel.tournaments.store import RunStore
from plurispiel.tournaments.warmup import warmup

Groups = list[dict[int, AgentScore]]

_PATIENCE_S = 2.0


class WorkerFailed(RuntimeError):
    """A worker process ended, or met an error that is no agent's fault."""


def default_workers() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tournament(
    config: TournamentConfig,
    store: RunStore,
    workers: int,
    on_block: Callable[[Block, Groups], None] = lambda block, groups: None,
) -> None:
    """Play every group that is not stored yet.

    Parameters
    ----------
    workers : int
        Processes; with one, and built-in agents only, everything runs in this process. Results do not
        depend on it.
    on_block : callable
        Called after a block is stored, with its groups: a score for each agent's number.

    Raises
    ------
    WorkerFailed, RefereeDisagrees
        The blocks stored before stay; running again goes on from them.
    """
    blocks = make_blocks(config, len(make_lineups(config)), store.done())
    # An agent from outside may end its process: that must not be ours.
    alone = workers == 1 and not any(parse_spec(spec).is_foreign for spec in config.agents)
    with contextlib.closing(_Alone(config) if alone else _Team(config, workers)) as players:
        last = time.monotonic()  # what counts is playing, not getting ready
        for block, groups in players.play(blocks):
            now = time.monotonic()
            store.add_block(block, groups, now - last)
            last = now
            on_block(block, groups)


class BlockPlayer:
    """Plays blocks of one tournament; an agent is built once for each seat it can hold at the same table."""

    def __init__(self, config: TournamentConfig):
        self._config = config
        self._lineups = make_lineups(config)
        self._agents: dict[tuple[int, int], Agent] = {}
        self._streams = SeatStreams(config.seats)
        self._check = Referee(config.rules).check if config.referee == "universal_poker" else _trust

    def play(self, block: Block) -> Groups:
        """Return the scores of the block's groups, in order of decks."""
        lineup = self._lineups[block.lineup]
        agents = [self._agent(number, lineup[:position].count(number)) for position, number in enumerate(lineup)]
        return [
            play_group(
                self._config.rules,
                agents,
                lineup,
                self._config.seed,
                (block.lineup, deck),
                self._streams,
                self._check,
            )
            for deck in range(block.first, block.first + block.num_decks)
        ]

    def _agent(self, number: int, copy: int) -> Agent:
        key = (number, copy)
        if key not in self._agents:
            self._agents[key] = make_agent(self._config.agents[number])
        return self._agents[key]


def _trust(hand: Hand) -> None:
    """Check nothing."""


class _Alone:
    """Plays in this process."""

    def __init__(self, config: TournamentConfig):
        self._player = BlockPlayer(config)

    def play(self, blocks: Iterator[Block]) -> Iterator[tuple[Block, Groups]]:
        """Yield the blocks with their scores."""
        for block in blocks:
            yield block, self._player.play(block)

    def close(self) -> None:
        """Nothing is left open."""


class _Worker:
    """A process that plays the blocks it is given, in order."""

    def __init__(self, config: TournamentConfig):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, config), daemon=True)
        self.given: list[Block] = []
        resource_tracker.ensure_running()  # else the start would start it, which lets interrupts through again
        with interrupts_held():
            self.process.start()
        theirs.close()

    def wait_until_ready(self) -> None:
        """Wait for a first sign of life."""
        self._receive()

    def give(self, block: Block | None) -> None:
        """Send a block, if there is one."""
        if block is not None:
            try:
                self.pipe.send(block)
            except OSError:
                raise self._failure() from None
            self.given.append(block)

    def take(self) -> tuple[Block, Groups]:
        """Return the next block that was played."""
        return self.given.pop(0), self._receive()

    def _receive(self) -> Any:
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
            f"a worker process died (exit code {self.process.exitcode}); run the same command again to go on"
        )


class _Team:
    """Worker processes, ready to play when this returns."""

    def __init__(self, config: TournamentConfig, num_workers: int):
        self._workers: list[_Worker] = []
        try:
            for _ in range(num_workers):
                self._workers.append(_Worker(config))
            for worker in self._workers:
                worker.wait_until_ready()
        except BaseException:
            self.close()
            raise

    def play(self, blocks: Iterator[Block]) -> Iterator[tuple[Block, Groups]]:
        """Yield results as they come, each worker holding one block in hand and one in its pipe."""
        for worker in self._workers * 2:
            worker.give(next(blocks, None))
        while busy := {worker.pipe: worker for worker in self._workers if worker.given}:
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                played = worker.take()
                worker.give(next(blocks, None))
                yield played

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.pipe.close()  # a worker ends when it finds its pipe closed
        patience = time.monotonic() + _PATIENCE_S
        for worker in self._workers:
            worker.process.join(timeout=max(0.0, patience - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _work(pipe: Connection, config: TournamentConfig) -> None:
    """Play the blocks that come through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    sys.stdin = open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stderr  # an agent that prints must not write into the results
    with contextlib.suppress(EOFError, OSError):
        try:
            player = BlockPlayer(config)
            warmup()
            pipe.send(None)  # ready
            while True:
                pipe.send(player.play(pipe.recv()))
        except RefereeDisagrees as error:
            pipe.send(error)
        except ValueError as error:
            pipe.send(ValueError(str(error)))  # a subclass may not survive the pipe
