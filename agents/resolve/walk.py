"""Walks over all boards of a subgame: ranges go down from street to street, values come back up.

A walk starts at `Walk.values`. One kernel call walks over the boards of the last street, or of the last two streets if
neither is the first (`_walk_kernels`). On each street before these, `Walk._pass` passes both seats' reach down the
betting, walks over the boards of the later streets, and carries their values up. The walk itself is the same for
iterations and for measurements; a `Task` determines the strategies that are played and the use of the values.

The boards of the *first deal*, those of the second street, are cut into chunks. Threads run the same kernel, which
takes chunks from a common counter until none is left. In a subgame of four streets, one thread does all the work.
Chunks are summed in a fixed order, so no result depends on the number of threads.
"""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks
from plurispiel.agents.resolve import _walk_kernels as kernels
from plurispiel.agents.resolve.chunk_queue import ChunkQueue, deep_queue, flat_queue
from plurispiel.agents.resolve.street import ReachAbove, SolverStreet, Workspace
from plurispiel.agents.resolve.vector_cfr_kernels import leave_board, take_ends
from plurispiel.agents.resolve.visits import AllRunOuts, Visited, Visits

__all__ = ["Learn", "Measure", "RespondByBuckets", "Walk"]


class Way(NamedTuple):
    """How a walk came to a street.

    Attributes
    ----------
    above : ReachAbove
        Both seats' reach at the ends of the street before.
    chunk : int
        The chunk of the first deal's boards that the walk is in.
    times : float
        The product of the factors (`Visits.factors`) of the boards on the way; 1 if all boards are visited.
    """

    above: ReachAbove
    chunk: int = 0
    times: float = 1.0


class Task(Protocol):
    """The work that a walk does for one seat.

    Attributes
    ----------
    visited : Visited
        The boards that the walk visits.
    step : float[3] or None
        See `vector_cfr_kernels.learn`; None if the task changes no table.
    """

    visited: Visited
    step: np.ndarray | None

    def num_kinds(self, street: SolverStreet) -> int:
        """Return how many kinds of values come up from a street.

        2 for `BEST` and `OWN`; 1 if kernels update the street's tables or collect changes for tables by bucket.
        """

    def tables(self, street: SolverStreet) -> tuple[np.ndarray, ...]:
        """Return both seats' tables of a street without buckets; strategies are proportional to positive entries."""


class Learn:
    """An iteration: it updates the regrets and strategy sums of streets without buckets.

    On streets with buckets it collects sums, and `settle_tiles` adds the changes to the tables after the walk.

    Parameters
    ----------
    step : float[3]
        See `vector_cfr_kernels.learn`.
    visited : Visited
    """

    def __init__(self, step: np.ndarray, visited: Visited):
        self.step: np.ndarray | None = step
        self.visited = visited

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1: only the values of the current strategies come up."""
        return 1

    def tables(self, street: SolverStreet) -> tuple[np.ndarray, ...]:
        """Return the regrets."""
        return street.regrets


class Measure:
    """A measurement: values of the average strategies, and of best responses that tell all hands apart.

    Parameters
    ----------
    visited : Visited, optional
        By default all boards.
    """

    step: np.ndarray | None = None

    def __init__(self, visited: Visited | None = None):
        self.visited: Visited = visited or AllRunOuts()

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 2: `BEST` and `OWN`."""
        return 2

    def tables(self, street: SolverStreet) -> tuple[np.ndarray, ...]:
        """Return the strategy sums."""
        return street.sums


class RespondByBuckets(Measure):
    """A measurement of a seat's plan, which is a strategy by bucket, and of the regrets of all actions.

    The other seat plays its average strategy. On streets without buckets, the measurement finds the two kinds of values
    of `Measure`, given the seat's plan on later streets. On streets with buckets, the regrets are in
    ``street.changes``.
    """

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1 with buckets, as the plan is the response; else 2."""
        return 1 if street.buckets else 2


class Walk:
    """The streets of a subgame, with the workspaces of walks over their boards.

    Parameters
    ----------
    streets : list of SolverStreet
        Streets with allocated tables.
    ranges : float64[2, num_combos]
        Each seat's weight of each combo.
    threads : int
    dtype : data type

    Attributes
    ----------
    above : ReachAbove
        Both seats' ranges by combo, as the reach from which each walk begins.
    workspaces : list of list of Workspace
        For each thread, its workspace for each street. The first thread is the thread that calls `values`.
    """

    def __init__(self, streets: list[SolverStreet], ranges: np.ndarray, threads: int, dtype: np.dtype):
        self.streets = streets
        self._dtype = dtype
        # Threads share the boards of the first deal; a subgame of one street has no deal.
        self._num_workers = threads if len(streets) > 1 else 1
        self._rooms: dict[int, np.ndarray] = {}
        self.workspaces = [[street.workspace() for street in streets] for _ in range(self._num_workers)]
        width = blocks_for(ranges.shape[1])
        reach = empty_blocks(width * LANES, dtype), empty_blocks(width * LANES, dtype)
        self.above = ReachAbove(reach, np.array([width, width]))
        for seat in range(2):
            self.enter(seat, ranges[seat])

    def enter(self, seat: int, reach: np.ndarray) -> None:
        """Set a seat's reach at the root, with which walks begin: float64[num_combos]."""
        self.above.reach[seat][: len(reach), 0] = reach

    def totals(self, num_kinds: int) -> np.ndarray:
        """Return zeros for values at the root: float[num_kinds * n * 16, 16].

        All combos, sixteen to a block, take n blocks. For each kind of values there is a block for each combo. The
        first entry of this block is the combo's value.
        """
        return empty_blocks(num_kinds * int(self.above.blocks[0]) * LANES, self._dtype)

    def values(self, seat: int, task: Task) -> np.ndarray:
        """Do a task for a seat on all boards that the task visits, and return the values at the root as in `totals`."""
        first, way = self.streets[0], Way(self.above)
        totals = self.totals(task.num_kinds(first))
        if first.is_last:
            self._work_through(0, flat_queue([self.first_board], 1.0), seat, task, way, totals[None])
        else:
            self._pass(0, 0, 1.0, seat, task, way, totals)
        return totals

    @property
    def first_board(self) -> Visits:
        """The only board of the first street."""
        return Visits(np.zeros(1, np.int64), np.ones(1, self._dtype))

    def _pass(self, index: int, board: int, factor: float, seat: int, task: Task, way: Way, totals: np.ndarray) -> None:
        """Do a task on a board of any street but the last, and on the boards that the task visits after that board.

        The values at the street's roots, by the hands on the board's parent, are added to `totals` as in `leave_board`.
        """
        # Each street has its own workspace: reach and values here must outlast the walk over later boards.
        street, work, here = self.streets[index], self.workspaces[0][index], way._replace(times=way.times * factor)
        num_kinds, tables, plans = task.num_kinds(street), task.tables(street), street.plans
        if plans:
            kernels.descend_with_plans(street.arrays, plans, board, seat, num_kinds, way.above, work)
        else:
            kernels.descend(street.arrays, board, seat, tables, way.above, work)
        ends = self._below(index + 1, board, seat, task, here._replace(above=work.below))
        if task.num_kinds(self.streets[index + 1]) < num_kinds:  # the next street's values serve as both kinds
            ends = np.concatenate([ends, ends], axis=1)
        if plans:
            factors, changes = (self._dtype.type(factor), self._dtype.type(here.times)), street.changes[seat][way.chunk]
            take_ends(street.layout, seat, num_kinds, work.below.blocks[seat], ends, work)
            kernels.ascend_with_plans(
                street.arrays, plans, board, seat, num_kinds, factors, changes, way.above, work, totals
            )
            return
        kernels.ascend(street.arrays, board, seat, num_kinds, tables, street.sums, self._step(task), ends, work)
        leave_board(street.arrays, board, 0, seat, num_kinds, self._dtype.type(factor), way.above, work, totals)

    def _below(self, index: int, parent: int, seat: int, task: Task, way: Way) -> np.ndarray:
        """Do a task on the boards after the board `parent`, and return the values of each chunk of these boards."""
        street = self.streets[index]
        if index == 1:
            parts = task.visited.visits(street, seat)
        else:  # within a chunk of the first deal's boards
            parts = [Visits(*task.visited.run_outs(street, np.array([parent]), seat)[1:])]
        size = task.num_kinds(street) * street.root_lanes * int(way.above.blocks[seat])
        chunks = self._room(index, len(parts) * size).reshape(len(parts), size, LANES)
        if street.is_last:
            self._work_through(index, flat_queue(parts, way.times), seat, task, way, chunks)
        elif self.streets[index + 1].is_last:
            parents = np.concatenate([part.boards for part in parts])
            run_outs = task.visited.run_outs(self.streets[index + 1], parents, seat)
            self._work_through(index, deep_queue(parts, run_outs, way.times), seat, task, way, chunks)
        else:
            for number, part in enumerate(parts):
                here = way._replace(chunk=number) if index == 1 else way
                for board, factor in zip(*map(np.ndarray.tolist, part), strict=True):
                    self._pass(index, board, factor, seat, task, here, chunks[number])
        return chunks

    def _work_through(self, index: int, queue: ChunkQueue, seat: int, task: Task, way: Way, totals: np.ndarray) -> None:
        """Do a task on the boards of a queue that begins with street `index`, the last street or the one before."""
        pair = self.streets[index], self.streets[-1]
        arrays, num_kinds = (pair[0].arrays, pair[1].arrays), task.num_kinds(pair[1])
        if pair[1].plans:
            plans = pair[0].plans, pair[1].plans
            # Each chunk of the first deal's boards has its own changes; boards of a later deal belong to one chunk.
            part = slice(None) if index == 1 else slice(way.chunk, way.chunk + 1)
            changes = pair[0].changes[seat][part], pair[1].changes[seat][part]

            def work_on(spaces: list[Workspace]) -> None:
                works = spaces[index], spaces[-1]
                kernels.walk_by_buckets(arrays, plans, queue, seat, num_kinds, changes, way.above, works, totals)
        else:
            tables, sums, step = tuple(map(task.tables, pair)), (pair[0].sums, pair[1].sums), self._step(task)[None]

            def work_on(spaces: list[Workspace]) -> None:
                works = spaces[index], spaces[-1]
                kernels.walk_by_hand(arrays, queue, seat, num_kinds, tables, sums, step, way.above, works, totals)

        spaces = self.workspaces[: max(1, len(queue.chunk_first) - 1)]
        self._at_once([functools.partial(work_on, each) for each in spaces])

    def settle(self, seat: int, step: np.ndarray, num_chunks: int) -> None:
        """Settle the streets with buckets after a walk (`SolverStreet.settle`); each thread settles a part."""
        streets = [street for street in self.streets if street.buckets]

        def settle_part(part: int) -> None:
            for street in streets:
                street.settle(seat, step, num_chunks, part, self._num_workers)

        if streets:
            self._at_once([functools.partial(settle_part, part) for part in range(self._num_workers)])

    def _at_once(self, jobs: list[Callable[[], None]]) -> None:
        """Do at most as many jobs as there are threads, the first in this thread."""
        if len(jobs) == 1:
            jobs[0]()
            return
        waiting = [self._executor.submit(job) for job in jobs[1:]]
        try:
            jobs[0]()
        finally:
            wait(waiting)
        for each in waiting:
            each.result()  # raises a thread's exception

    def _step(self, task: Task) -> np.ndarray:
        return self._no_step if task.step is None else task.step

    @functools.cached_property
    def _no_step(self) -> np.ndarray:
        return np.zeros(3, self._dtype)

    def _room(self, index: int, num_blocks: int) -> np.ndarray:
        """Return blocks of zeros, in memory that is kept for the next call on the same street."""
        room = self._rooms.get(index)
        if room is None or len(room) < num_blocks:
            room = self._rooms[index] = empty_blocks(num_blocks, self._dtype)
        room[:num_blocks] = 0  # `leave_board` adds to it
        return room[:num_blocks]

    @functools.cached_property
    def _executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._num_workers - 1)
