"""Walks over all boards of a subgame: ranges go down from street to street, values come back up.

A walk starts at `Walk.values`. On each board of a street but the last, `Walk._pass` passes both seats' reach down the
betting. It then calls `Walk._below` for the boards of the next street, and carries their values up. On the last street
a single kernel call does all boards of a chunk. The walk itself is the same for iterations and for measurements; a
`Task` says which strategies are played and what happens to the values.

The boards of the first deal are cut into chunks that threads take in turn. Chunks are summed in a fixed order, so no
result depends on the number of threads.
"""

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks
from plurispiel.agents.resolve import _bucket_kernels as bucket_kernels
from plurispiel.agents.resolve import vector_cfr_kernels as kernels
from plurispiel.agents.resolve.street import ReachAbove, SolverStreet, Workspace
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
    """

    visited: Visited

    def num_kinds(self, street: SolverStreet) -> int:
        """Return how many kinds of values come up from a street: 1, or 2 for `BEST` and `OWN`."""

    def tables(self, street: SolverStreet) -> tuple[np.ndarray, ...]:
        """Return the tables of both seats to whose positive entries the strategies by hand are proportional."""

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry values from the ends to the roots on a board of any street but the last."""

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Do all work on boards of the last street: pass reach down, compute terminal values, and carry values up.

        The values at the street's roots are added to `totals`, as in `vector_cfr_kernels.leave_board`.
        """


class Learn:
    """An iteration: regrets and strategy sums change.

    Parameters
    ----------
    step : float[3]
        See `vector_cfr_kernels.learn`.
    visited : Visited
    """

    def __init__(self, step: np.ndarray, visited: Visited):
        self._step = step
        self.visited = visited

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1: only the values of the current strategies come up."""
        return 1

    def tables(self, street: SolverStreet) -> tuple[np.ndarray, ...]:
        """Return the regrets."""
        return street.regrets

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry values up, and update the tables."""
        if street.buckets:
            _learn_by_buckets(street, board, seat, way, work)
        else:
            kernels.learn(street.arrays, board, 0, seat, street.regrets[seat], street.sums[seat], self._step, work)

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Do an iteration on boards of the last street."""
        if street.buckets:
            _visit_by_buckets(street, visits, seat, way, work, totals)
        else:
            tables, step = street.regrets, self._step[None]
            kernels.update_boards(street.arrays, visits, seat, tables, street.sums, step, way.above, work, totals)


class Measure:
    """A measurement: values of the average strategies, and of best responses that tell all hands apart.

    Parameters
    ----------
    visited : Visited, optional
        By default all boards.
    """

    def __init__(self, visited: Visited | None = None):
        self.visited: Visited = visited or AllRunOuts()

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 2: `BEST` and `OWN`."""
        return 2

    def tables(self, street: SolverStreet) -> tuple[np.ndarray, ...]:
        """Return the strategy sums."""
        return street.sums

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry both kinds of values up."""
        kernels.evaluate(street.arrays, board, 0, seat, work)

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Evaluate on boards of the last street."""
        if street.buckets:
            bucket_kernels.evaluate_boards_by_buckets(
                street.arrays, street.plans, visits, seat, way.above, work, totals
            )
        else:
            kernels.evaluate_boards(street.arrays, visits, seat, street.sums, way.above, work, totals)


class RespondByBuckets(Measure):
    """A measurement of a seat's plan by bucket against the average strategy, with the regrets of all actions.

    On streets without buckets, it computes the two kinds of values of `Measure`, given the seat's plan on later
    streets.
    """

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1 with buckets, as the plan is the response; else 2."""
        return 1 if street.buckets else 2

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry values up; with buckets, collect the regrets of the actions."""
        if street.buckets:
            _learn_by_buckets(street, board, seat, way, work)
        else:
            super().carry_up(street, board, seat, way, work)

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Collect values and regrets on boards of the last street."""
        _visit_by_buckets(street, visits, seat, way, work, totals)


def _learn_by_buckets(street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
    times, changes = street.dtype.type(way.times), street.changes[seat][way.chunk]
    bucket_kernels.learn_by_buckets(street.arrays, street.plans, board, 0, seat, times, changes, work)


def _visit_by_buckets(
    street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
) -> None:
    times, changes = street.dtype.type(way.times), street.changes[seat][way.chunk]
    bucket_kernels.update_boards_by_buckets(
        street.arrays, street.plans, visits, times, seat, changes, way.above, work, totals
    )


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
        The workspace of each thread for each street.
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
        """Set the reach of a seat that walks begin with: float64[num_combos]."""
        self.above.reach[seat][: len(reach), 0] = reach

    def totals(self, num_kinds: int) -> np.ndarray:
        """Return zeros for values at the root: float[num_kinds * n * 16, 16].

        n is the number of blocks of all combos. For each kind of values there is a block for each combo, whose first
        number is the combo's value.
        """
        return empty_blocks(num_kinds * int(self.above.blocks[0]) * LANES, self._dtype)

    def values(self, seat: int, task: Task) -> np.ndarray:
        """Do a task for a seat on all boards that the task visits, and return the values at the root as in `totals`."""
        first, way = self.streets[0], Way(self.above)
        totals = self.totals(task.num_kinds(first))
        if first.is_last:
            task.visit(first, self.first_board, seat, way, self.workspaces[0][0], totals)
        else:
            self._pass(0, 0, 1.0, seat, task, way, self.workspaces[0], totals)
        return totals

    @property
    def first_board(self) -> Visits:
        """The only board of the first street."""
        return Visits(np.zeros(1, np.int64), np.ones(1, self._dtype))

    def _pass(
        self,
        index: int,
        board: int,
        factor: float,
        seat: int,
        task: Task,
        way: Way,
        workspaces: Sequence[Workspace],
        totals: np.ndarray,
    ) -> None:
        """Do a task on a board of any street but the last, and on all boards after it.

        The values at the street's roots, by the hands on the board's parent, are added to `totals` as in `leave_board`.
        """
        # Each street has its own workspace: reach and values here must outlast the walk over later boards.
        street, work = self.streets[index], workspaces[index]
        num_kinds = task.num_kinds(street)
        if street.buckets:
            bucket_kernels.enter_board_by_buckets(street.arrays, street.plans, board, 0, seat, way.above, work)
        else:
            kernels.enter_board(street.arrays, board, 0, seat, task.tables(street), way.above, work)
        kernels.fill_terminals(street.arrays, board, 0, seat, work)
        blocks = street.board_blocks(board)
        kernels.show_ends(street.arrays, board, work)
        here = way._replace(times=way.times * factor)
        below = here._replace(above=ReachAbove(work.below, blocks))
        chunks = self._below(index + 1, board, seat, task, below, workspaces)
        if task.num_kinds(self.streets[index + 1]) < num_kinds:  # the plan's values on the next street serve as both
            chunks = np.concatenate([chunks, chunks], axis=1)
        kernels.take_ends(street.layout, seat, num_kinds, int(blocks[seat]), chunks, work)
        task.carry_up(street, board, seat, here, work)
        kernels.leave_board(street.arrays, board, 0, seat, num_kinds, self._dtype.type(factor), way.above, work, totals)

    def _below(
        self, index: int, parent: int, seat: int, task: Task, way: Way, workspaces: Sequence[Workspace]
    ) -> np.ndarray:
        """Do a task on the boards after the board `parent`, and return the values of each chunk of these boards."""
        street = self.streets[index]
        is_first_deal = index == 1  # the only deal that is spread over threads; later ones are within a thread's chunk
        parts = task.visited.visits(index, street, parent, seat, way.chunk)
        size = task.num_kinds(street) * street.root_lanes * int(way.above.blocks[seat])
        chunks = self._room(workspaces[index], len(parts) * size).reshape(len(parts), size, LANES)

        def work_on(number: int, spaces: Sequence[Workspace]) -> None:
            here = way._replace(chunk=number) if is_first_deal else way
            if street.is_last:
                task.visit(street, parts[number], seat, here, spaces[index], chunks[number])
                return
            for board, factor in zip(*map(np.ndarray.tolist, parts[number]), strict=True):
                self._pass(index, board, factor, seat, task, here, spaces, chunks[number])

        if not is_first_deal or self._num_workers == 1:
            for number in range(len(parts)):
                work_on(number, workspaces)
            return chunks
        waiting = iter(range(len(parts)))

        def take_turns(spaces: Sequence[Workspace]) -> None:
            for number in waiting:  # one iterator for all threads: each part is taken once
                work_on(number, spaces)

        list(self._executor.map(take_turns, self.workspaces))  # a list, so that a thread's exception is raised here
        return chunks

    def _room(self, work: Workspace, num_blocks: int) -> np.ndarray:
        """Return blocks of zeros, in memory that each thread and street keeps for the next call."""
        room = self._rooms.get(id(work))
        if room is None or len(room) < num_blocks:
            room = self._rooms[id(work)] = empty_blocks(num_blocks, self._dtype)
        room[:num_blocks] = 0  # `leave_board` adds to it
        return room[:num_blocks]

    @functools.cached_property
    def _executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._num_workers)
