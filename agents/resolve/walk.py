"""Walks over all boards of a subgame: ranges go down from street to street, values come back up.

The boards after the first street's are cut into chunks that threads take in turn; no sum depends on how many threads
there are. What is done on a board is a `Task`.
"""

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks
from plurispiel.agents.resolve import _bucket_kernels as bucket_kernels
from plurispiel.agents.resolve import _vector_cfr_kernels as kernels
from plurispiel.agents.resolve.run_outs import AllRunOuts, RunOuts, Visits
from plurispiel.agents.resolve.street import SolverStreet, Workspace

__all__ = ["Learn", "Measure", "RespondByBuckets", "Walk"]


class Above(NamedTuple):
    """Both seats' reach at the end of the street before, as in `update_boards`."""

    reach: tuple[np.ndarray, np.ndarray]
    blocks: np.ndarray


class Way(NamedTuple):
    """How a walk came to a street.

    Attributes
    ----------
    above : Above
    chunk : int
        Which of the chunks of the first deal's boards it is in.
    times : float
        How often what is found counts, besides the deals that a board stands for: more where boards are drawn.
    """

    above: Above
    chunk: int = 0
    times: float = 1.0


class Task(Protocol):
    """What a walk does for a seat."""

    run_outs: RunOuts

    def num_kinds(self, street: SolverStreet) -> int:
        """Return how many kinds of values come up a street."""

    def tables(self, street: SolverStreet) -> Sequence[np.ndarray]:
        """Return the tables that the strategies by hand are taken from."""

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry values up a board of any street but the last."""

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Do all there is to do on boards of the last street."""


class Learn:
    """An iteration: regrets and strategy sums change.

    Parameters
    ----------
    step : float[3]
        See `_vector_cfr_kernels.learn`.
    run_outs : RunOuts
    """

    def __init__(self, step: np.ndarray, run_outs: RunOuts):
        self._step = step
        self.run_outs = run_outs

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1."""
        return 1

    def tables(self, street: SolverStreet) -> Sequence[np.ndarray]:
        """Return the regrets."""
        return street.regrets

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry values up, and learn."""
        if street.buckets:
            _learn_by_buckets(street, board, seat, way, work)
        else:
            place = street.layout, street.deals.arrays, board, 0
            kernels.learn(*place, seat, street.regrets[seat], street.sums[seat], self._step, work)

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Learn on boards of the last street."""
        if street.buckets:
            _visit_by_buckets(street, visits, seat, way, work, totals)
        else:
            place = street.layout, street.deals.arrays, *visits, seat
            kernels.update_boards(*place, street.regrets, street.sums, self._step[None], *way.above, work, totals)


class Measure:
    """Values of the average strategies, and of best responses that know every hand."""

    run_outs: RunOuts = AllRunOuts()

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 2."""
        return 2

    def tables(self, street: SolverStreet) -> Sequence[np.ndarray]:
        """Return the sums of strategies."""
        return street.sums

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry both kinds of values up."""
        kernels.evaluate(street.layout, street.deals.arrays, board, 0, seat, work)

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Evaluate on boards of the last street."""
        place = street.layout, street.deals.arrays
        if street.buckets:
            by_buckets = *place, street.buckets, *visits, seat, street.plans, street.width
            bucket_kernels.evaluate_boards_by_buckets(*by_buckets, *way.above, work, totals)
        else:
            kernels.evaluate_boards(*place, *visits, seat, street.sums, *way.above, work, totals)


class RespondByBuckets(Measure):
    """Values of a seat's plan by bucket against the average strategy, with what any other action would gain there.

    Streets without buckets have the two kinds of values of `Measure`, the seat's plan being played below.
    """

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1 with buckets, else 2."""
        return 1 if street.buckets else 2

    def carry_up(self, street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
        """Carry values up, and collect what actions gain."""
        if street.buckets:
            _learn_by_buckets(street, board, seat, way, work)
        else:
            super().carry_up(street, board, seat, way, work)

    def visit(
        self, street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
    ) -> None:
        """Do the same on boards of the last street."""
        _visit_by_buckets(street, visits, seat, way, work, totals)


def _learn_by_buckets(street: SolverStreet, board: int, seat: int, way: Way, work: Workspace) -> None:
    place = street.layout, street.deals.arrays, street.buckets, board, 0, seat, street.width
    bucket_kernels.learn_by_buckets(*place, street.dtype.type(way.times), street.changes[seat][way.chunk], work)


def _visit_by_buckets(
    street: SolverStreet, visits: Visits, seat: int, way: Way, work: Workspace, totals: np.ndarray
) -> None:
    counts = visits.factors * street.dtype.type(way.times)
    place = street.layout, street.deals.arrays, street.buckets, *visits, counts, seat, street.plans, street.width
    bucket_kernels.update_boards_by_buckets(*place, street.changes[seat][way.chunk], *way.above, work, totals)


class Walk:
    """The streets of a subgame, ready to be walked.

    Parameters
    ----------
    streets : list of SolverStreet
        With their tables.
    ranges : float64[2, num_combos]
    threads : int
    dtype : data type

    Attributes
    ----------
    above : Above
        The ranges, by combo.
    workspaces : list of list of Workspace
        By thread and street.
    """

    def __init__(self, streets: list[SolverStreet], ranges: np.ndarray, threads: int, dtype: np.dtype):
        self.streets = streets
        self._dtype = dtype
        self._num_workers = threads if len(streets) > 1 else 1
        self._rooms: dict[int, np.ndarray] = {}
        self.workspaces = [[street.workspace() for street in streets] for _ in range(self._num_workers)]
        width = blocks_for(ranges.shape[1])
        reach = empty_blocks(width * LANES, dtype), empty_blocks(width * LANES, dtype)
        self.above = Above(reach, np.array([width, width]))
        for seat in range(2):
            self.enter(seat, ranges[seat])

    def enter(self, seat: int, reach: np.ndarray) -> None:
        """Begin walks with a seat's reach: float64[num_combos]."""
        self.above.reach[seat][: len(reach), 0] = reach

    def totals(self, num_kinds: int) -> np.ndarray:
        """Return room for values at the root, by combo: float[num_kinds * combos up to a multiple of 16 * 16, 16]."""
        return empty_blocks(num_kinds * int(self.above.blocks[0]) * LANES, self._dtype)

    def values(self, seat: int, task: Task) -> np.ndarray:
        """Do a task for a seat on all boards, and return its values at the root, as in `totals`."""
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
        """Do a task on a board of any street but the last, and on all behind it.

        The values at the street's roots, by the hands of the board before, are added to `totals` as in `leave_board`.
        """
        street, work = self.streets[index], workspaces[index]
        num_kinds = task.num_kinds(street)
        place = street.layout, street.deals.arrays, board, 0
        if street.buckets:
            by_bucket = street.layout, street.deals.arrays, street.buckets, board, 0, seat, street.plans, street.width
            bucket_kernels.enter_board_by_buckets(*by_bucket, *way.above, work)
        else:
            kernels.enter_board(*place, seat, task.tables(street), *way.above, work)
        kernels.fill_terminals(*place, seat, work)
        blocks = street.board_blocks(board)
        below = Above(work.below, blocks)
        kernels.show_ends(street.layout, street.deals.arrays, board, work, below.reach)
        counted = way._replace(times=way.times * factor)
        chunks = self._below(index + 1, board, seat, task, counted._replace(above=below), workspaces)
        if task.num_kinds(self.streets[index + 1]) < num_kinds:  # one plan below, whatever is done here
            chunks = np.concatenate([chunks, chunks], axis=1)
        kernels.take_ends(street.layout, seat, num_kinds, int(blocks[seat]), chunks, work)
        task.carry_up(street, board, seat, counted, work)
        leave = num_kinds, self._dtype.type(factor), work, int(way.above.blocks[seat])
        kernels.leave_board(*place, seat, *leave, totals)

    def _below(
        self, index: int, parent: int, seat: int, task: Task, way: Way, workspaces: Sequence[Workspace]
    ) -> np.ndarray:
        """Do a task on the boards after one, and return the values of several chunks of them."""
        street = self.streets[index]
        spread = index == 1  # the first deal uses all threads
        parts = task.run_outs.visits(index, street, parent, seat, way.chunk)
        size = task.num_kinds(street) * street.root_lanes * int(way.above.blocks[seat])
        chunks = self._room(workspaces[index], len(parts) * size).reshape(len(parts), size, LANES)

        def work_on(number: int, own: Sequence[Workspace]) -> None:
            here = way._replace(chunk=number) if spread else way
            if street.is_last:
                task.visit(street, parts[number], seat, here, own[index], chunks[number])
                return
            for board, factor in zip(*map(np.ndarray.tolist, parts[number]), strict=True):
                self._pass(index, board, factor, seat, task, here, own, chunks[number])

        if not spread or self._num_workers == 1:
            for number in range(len(parts)):
                work_on(number, workspaces)
            return chunks
        waiting = iter(range(len(parts)))

        def take_turns(own: Sequence[Workspace]) -> None:
            for number in waiting:  # one iterator for all: each part is taken once
                work_on(number, own)

        list(self._executor.map(take_turns, self.workspaces))
        return chunks

    def _room(self, work: Workspace, num_blocks: int) -> np.ndarray:
        """Return blocks of zeros, the same memory for each thread and street again and again."""
        room = self._rooms.get(id(work))
        if room is None or len(room) < num_blocks:
            room = self._rooms[id(work)] = empty_blocks(num_blocks, self._dtype)
        room[:num_blocks] = 0
        return room[:num_blocks]

    @functools.cached_property
    def _executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._num_workers)
