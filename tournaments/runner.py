"""Run a tournament: hand out blocks of decks, store what comes back, sum up."""

import contextlib
import dataclasses
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.agents.base import Agent
from plurispiel.agents.baselines import FoldAgent
from plurispiel.agents.specs import make_agent, parse_spec
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.duplicate import AgentScore, SeatStreams, play_group
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.referee import Referee, RefereeDisagrees
from plurispiel.evaluation.value_functions import Checkdown
from plurispiel.tournaments.config import TournamentConfig
from plurispiel.tournaments.contestants.supervisor import Contestant, Limits
from plurispiel.tournaments.hands import is_kept, pack_group
from plurispiel.tournaments.interrupts import interrupts_held
from plurispiel.tournaments.retirement import FaultLedger
from plurispiel.tournaments.schedule import Block, make_blocks, make_lineups
from plurispiel.tournaments.stop_watch import StopWatch
from plurispiel.tournaments.store import RunStore
from plurispiel.tournaments.warmup import PLAY, warmup

Groups = Sequence[dict[int, AgentScore]]

ISOLATE = ("foreign", "all")

_PATIENCE_S = 2.0
_WINDOW = 16  # blocks for each worker that may be played before one that comes earlier is


class WorkerFailed(RuntimeError):
    """A worker process ended, or met an error that is no agent's fault."""


class RunAborted(RuntimeError):
    """An agent committed a fault in a run that is not to go on then."""


class Job(NamedTuple):
    """A block to play, and the agents whose seats only fold in it."""

    block: Block
    retired: frozenset[int]


class Played(NamedTuple):
    """The scores of a block's groups, in order of decks, and the packed hands of those that are kept."""

    groups: Groups
    hands: Sequence[bytes | None]


@dataclass(frozen=True)
class Conduct:
    """How a run is played, which does not change its results.

    Attributes
    ----------
    workers : int
        Processes that play; with one, everything but the contestants runs in this process.
    isolate : {"foreign", "all"}
        Which agents get a process of their own: those from outside the package, or all.
    keep : {"sample", "all", "none"}
        The hands to keep (`hands.is_kept`).
    logs : Path or None
        Folder for what contestants print.
    """

    workers: int = 1
    isolate: str = "foreign"
    keep: str = "none"
    logs: Path | None = None

    def is_isolated(self, spec: str) -> bool:
        """Return whether an agent gets a process of its own."""
        return self.isolate == "all" or parse_spec(spec).is_foreign


def default_workers() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tournament(
    config: TournamentConfig,
    store: RunStore,
    conduct: Conduct,
    on_block: Callable[[Block, Groups], None] = lambda block, groups: None,
) -> None:
    """Play every group that is not stored yet, or until the run may stop (`TournamentConfig.stop_when`).

    Blocks are stored in the order of the schedule, so that who has too many faults, and from when on, does
    not depend on which was played first.

    Parameters
    ----------
    on_block : callable
        Called after a block is stored, with its groups: a score for each agent's number.

    Raises
    ------
    WorkerFailed, RefereeDisagrees, RunAborted
        The blocks stored before stay; running again goes on from them.
    """
    watch = StopWatch(config, store)
    if watch.is_over():
        return
    ledger = FaultLedger(config.max_faults, store.faults())
    alone = conduct.workers == 1
    with contextlib.closing(_Alone(config, conduct) if alone else _Team(config, conduct)) as players:
        while not _play_on(config, store, ledger, players, watch, on_block):
            pass


def _play_on(
    config: TournamentConfig,
    store: RunStore,
    ledger: FaultLedger,
    players: "_Alone | _Team",
    watch: StopWatch,
    on_block: Callable[[Block, Groups], None],
) -> bool:
    """Play what is missing until an agent is retired, and return whether the run is over."""
    blocks = make_blocks(config, len(make_lineups(config)), store.done())
    jobs = (Job(block, ledger.retired(block)) for block in blocks)
    last = time.monotonic()  # what counts is playing, not getting ready
    for block, played in players.play(jobs):
        groups, stands_until = ledger.admit(block, played.groups)
        now = time.monotonic()
        store.add_block(block, groups, now - last, played.hands)
        last = now
        on_block(block, groups)
        if stands_until is not None:
            store.forget_after(stands_until)
            return False
        if watch.is_over():
            break
    return True


class BlockPlayer:
    """Plays blocks of one tournament; an agent is built once for each seat it can hold at the same table."""

    def __init__(self, config: TournamentConfig, conduct: Conduct):
        self._config = config
        self._conduct = conduct
        self._lineups = make_lineups(config)
        self._agents: dict[tuple[int, int], Agent] = {}
        self._streams = SeatStreams(config.seats)
        self._check = Referee(config.rules).check if config.referee == "universal_poker" else _trust
        self._aivat = Aivat(config.rules, Checkdown()) if config.uses_aivat else None
        self._hands: list[tuple[Hand, Sequence[int]]] = []

    def play(self, job: Job) -> Played:
        """Play a block, until somebody has too many faults in it alone."""
        block, retired = job
        lineup = self._lineups[block.lineup]
        faults: Counter[int] = Counter()
        groups, kept = [], []
        for deck in range(block.first, block.first + block.num_decks):
            self._hands = []
            group = self._play_group(lineup, lineup, retired, (block.lineup, deck), self._take)
            if self._config.controlled is not None:
                group = self._with_control(group, lineup, retired, (block.lineup, deck))
            groups.append(group)
            keep = is_kept(self._conduct.keep, deck, self._hands)
            kept.append(pack_group(self._hands) if keep else None)
            faults.update({number: score.faults for number, score in group.items()})
            if max(faults.values()) >= self._config.max_faults:
                break
        return Played(groups, kept)

    def _play_group(
        self,
        lineup: Sequence[int],
        contestants: Sequence[int],
        retired: frozenset[int],
        group: tuple[int, int],
        on_hand: Callable[[Hand, Sequence[int]], None],
    ) -> dict[int, AgentScore]:
        agents = [
            FoldAgent() if number in retired else self._agent(number, list(lineup[:place]).count(number))
            for place, number in enumerate(lineup)
        ]
        return play_group(
            self._config.rules,
            agents,
            contestants,
            self._config.seed,
            group,
            self._streams,
            on_hand,
            repair=self._config.on_fault == "repair",
            aivat=self._aivat,
        )

    def _with_control(
        self,
        played: dict[int, AgentScore],
        lineup: Sequence[int],
        retired: frozenset[int],
        group: tuple[int, int],
    ) -> dict[int, AgentScore]:
        """Play a group again with one more copy of the first agent, the Control, in place of the other one.

        It has the same deck, seats and random streams: where both fold at once after the same actions, both
        lose the same. The Control's faults are its agent's.
        """
        number = len(self._config.agents)
        contestants = [number if one == self._config.controlled else one for one in lineup]
        control = self._play_group([0] * len(lineup), contestants, retired, group, self._take_control)[number]
        own = dataclasses.replace(
            played[0],
            faults=played[0].faults + control.faults,
            first_fault=played[0].first_fault or control.first_fault,
            fault_kinds=f"{played[0].fault_kinds} {control.fault_kinds}".strip(),
        )
        without = dataclasses.replace(control, faults=0, first_fault="", fault_kinds="")
        return played | {0: own, number: without}

    def close(self) -> None:
        """End the contestants' processes."""
        for agent in self._agents.values():
            if isinstance(agent, Contestant):
                agent.close()

    def _take_control(self, hand: Hand, numbers: Sequence[int]) -> None:
        self._check(hand)
        self._abort_on_fault(hand, [0] * len(numbers))

    def _take(self, hand: Hand, numbers: Sequence[int]) -> None:
        self._check(hand)
        self._abort_on_fault(hand, numbers)
        self._hands.append((hand, numbers))

    def _abort_on_fault(self, hand: Hand, numbers: Sequence[int]) -> None:
        if hand.faults and self._config.on_fault == "abort":
            fault = hand.faults[0]
            raise RunAborted(
                f"{self._config.names[numbers[fault.seat]]} committed a fault ({fault.kind}): {fault.message}"
            )

    def _agent(self, number: int, copy: int) -> Agent:
        key = (number, copy)
        if key not in self._agents:
            spec = self._config.agents[number]
            isolated = self._conduct.is_isolated(spec)
            self._agents[key] = make_contestant(self._config, self._conduct, number) if isolated else make_agent(spec)
        return self._agents[key]


def make_contestant(config: TournamentConfig, conduct: Conduct, number: int) -> Contestant:
    """Return an agent of a tournament, in a process of its own that starts with its first hand."""
    log = conduct.logs / f"agent-{number}.log" if conduct.logs else None
    return Contestant(config.agents[number], Limits(config.time_limit, config.memory_limit), log)


def _trust(hand: Hand) -> None:
    """Check nothing."""


class _Alone:
    """Plays in this process."""

    def __init__(self, config: TournamentConfig, conduct: Conduct):
        self._player = BlockPlayer(config, conduct)

    def play(self, jobs: Iterator[Job]) -> Iterator[tuple[Block, Played]]:
        """Yield the blocks with their scores."""
        for job in jobs:
            yield job.block, self._player.play(job)

    def close(self) -> None:
        """End the contestants."""
        self._player.close()


class _Worker:
    """A process that plays the blocks it is given, in order."""

    def __init__(self, config: TournamentConfig, conduct: Conduct):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, config, conduct), daemon=True)
        self.given: list[tuple[int, Job]] = []
        resource_tracker.ensure_running()  # else the start would start it, which lets interrupts through again
        with interrupts_held():
            self.process.start()
        theirs.close()

    def wait_until_ready(self) -> None:
        """Wait for a first sign of life."""
        self._receive()

    def give(self, number: int, job: Job) -> None:
        """Send a job."""
        try:
            self.pipe.send(job)
        except OSError:
            raise self._failure() from None
        self.given.append((number, job))

    def take(self) -> tuple[int, tuple[Block, Played]]:
        """Return the number of the next block that was played, and the block."""
        played = self._receive()
        number, job = self.given.pop(0)
        return number, (job.block, played)

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

    def __init__(self, config: TournamentConfig, conduct: Conduct):
        self._workers: list[_Worker] = []
        try:
            for _ in range(conduct.workers):
                self._workers.append(_Worker(config, conduct))
            for worker in self._workers:
                worker.wait_until_ready()
        except BaseException:
            self.close()
            raise

    def play(self, jobs: Iterator[Job]) -> Iterator[tuple[Block, Played]]:
        """Yield results in the order of the jobs; a worker holds one job in hand and one in its pipe."""
        for worker in self._workers:  # what an earlier call has given out and left
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
        """End the workers."""
        for worker in self._workers:
            worker.pipe.close()  # a worker ends when it finds its pipe closed
        patience = time.monotonic() + _PATIENCE_S
        for worker in self._workers:
            worker.process.join(timeout=max(0.0, patience - time.monotonic()))
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _work(pipe: Connection, config: TournamentConfig, conduct: Conduct) -> None:
    """Play the blocks that come through the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    sys.stdin = open(os.devnull)  # noqa: SIM115
    sys.stdout = sys.stderr  # an agent that prints must not write into the results
    with contextlib.suppress(EOFError, OSError), contextlib.closing(BlockPlayer(config, conduct)) as player:
        try:
            warmup(PLAY)
            pipe.send(None)  # ready
            while True:
                pipe.send(player.play(pipe.recv()))
        except (RefereeDisagrees, RunAborted) as error:
            pipe.send(error)
        except ValueError as error:
            pipe.send(ValueError(str(error)))  # a subclass may not survive the pipe
