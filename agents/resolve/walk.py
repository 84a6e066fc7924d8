"""Walks over all boards of a subgame: ranges go down from street to street, values come back up.

The boards after the first street's are cut into chunks that threads take in turn; no sum depends on how many threads
there are. What is done on a board is a `Task`.
"""

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.abstraction._lanes import LANES, blocks_for, empty_blocks
from plurispiel.agents.resolve import _bucket_kernels as bucket_kernels
from plurispiel.agents.resolve import _vector_cfr_kernels as kernels
from plurispiel.agents.resolve.run_outs import Part, SampledRunOuts, all_parts
from plurispiel.agents.resolve.street import Buckets, SolverStreet, Workspace

__all__ = ["Learn", "Measure", "RespondByBuckets", "Walk"]


class Above(NamedTuple):
    """Both seats' reach at the end of the street before, as in `update_boards`."""

    reach: tuple[np.ndarray, np.ndarray]
    blocks: np.ndarray


class Task(Protocol):
    """What a walk does for a seat."""

    def num_kinds(self, street: SolverStreet) -> int:
        """Return how many kinds of values come up a street."""

    def tables(self, street: SolverStreet) -> Sequence[np.ndarray]:
        """Return the tables that the strategies by hand are taken from."""

    def parts(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Part]:
        """Return the boards to visit after one."""

    def carry_up(self, street: SolverStreet, board: int, seat: int, chunk: int, work: Workspace) -> None:
        """Carry values up a board of any street but the last."""

    def visit(
        self,
        street: SolverStreet,
        boards: tuple[int, int],
        seat: int,
        chunk: int,
        above: Above,
        work: Workspace,
        totals: np.ndarray,
    ) -> None:
        """Do all there is to do on boards of the last street."""


class Learn:
    """An iteration: regrets and strategy sums change.

    Parameters
    ----------
    step : float[3]
        See `_vector_cfr_kernels.learn`.
    run_outs : SampledRunOuts, optional
        By default all boards are visited.
    """

    def __init__(self, step: np.ndarray, run_outs: SampledRunOuts | None = None):
        self._step = step
        self._run_outs = run_outs

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1."""
        return 1

    def tables(self, street: SolverStreet) -> Sequence[np.ndarray]:
        """Return the regrets."""
        return street.regrets

    def parts(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Part]:
        """Return all boards, or some that are drawn."""
        if self._run_outs is None:
            return all_parts(index, street, parent)
        return self._run_outs.parts(index, street, parent, seat, of_chunk)

    def _buckets(self, street: SolverStreet) -> Buckets | None:
        """Return a street's buckets; a board is drawn as often as it stands for deals, and then counts once."""
        if street.buckets is None or self._run_outs is None:
            return street.buckets
        return street.buckets._replace(multiplicity=np.ones_like(street.buckets.multiplicity))

    def carry_up(self, street: SolverStreet, board: int, seat: int, chunk: int, work: Workspace) -> None:
        """Carry values up, and learn."""
        if buckets := self._buckets(street):
            _learn_by_buckets(street, buckets, board, seat, chunk, work)
        else:
            place = street.layout, street.deals.arrays, board, 0
            kernels.learn(*place, seat, street.regrets[seat], street.sums[seat], self._step, work)

    def visit(
        self,
        street: SolverStreet,
        boards: tuple[int, int],
        seat: int,
        chunk: int,
        above: Above,
        work: Workspace,
        totals: np.ndarray,
    ) -> None:
        """Learn on boards of the last street."""
        if buckets := self._buckets(street):
            _visit_by_buckets(street, buckets, boards, seat, chunk, above, work, totals)
        else:
            place = street.layout, street.deals.arrays, *boards, seat
            kernels.update_boards(*place, street.regrets, street.sums, self._step[None], *above, work, totals)


class Measure:
    """Values of the average strategies, and of best responses that know every hand."""

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 2."""
        return 2

    def tables(self, street: SolverStreet) -> Sequence[np.ndarray]:
        """Return the sums of strategies."""
        return street.sums

    def parts(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Part]:
        """Return all boards."""
        return all_parts(index, street, parent)

    def carry_up(self, street: SolverStreet, board: int, seat: int, chunk: int, work: Workspace) -> None:
        """Carry both kinds of values up."""
        kernels.evaluate(street.layout, street.deals.arrays, board, 0, seat, work)

    def visit(
        self,
        street: SolverStreet,
        boards: tuple[int, int],
        seat: int,
        chunk: int,
        above: Above,
        work: Workspace,
        totals: np.ndarray,
    ) -> None:
        """Evaluate on boards of the last street."""
        place = street.layout, street.deals.arrays
        if street.buckets:
            bucket_kernels.evaluate_boards_by_buckets(
                *place, street.buckets, *boards, seat, street.plans, street.width, *above, work, totals
            )
        else:
            kernels.evaluate_boards(*place, *boards, seat, street.sums, *above, work, totals)


class RespondByBuckets(Measure):
    """Values of a seat's plan by bucket against the average strategy, with what any other action would gain there.

    Streets without buckets have the two kinds of values of `Measure`, the seat's plan being played below.
    """

    def num_kinds(self, street: SolverStreet) -> int:
        """Return 1 with buckets, else 2."""
        return 1 if street.buckets else 2

    def carry_up(self, street: SolverStreet, board: int, seat: int, chunk: int, work: Workspace) -> None:
        """Carry values up, and collect what actions gain."""
        if street.buckets:
            _learn_by_buckets(street, street.buckets, board, seat, chunk, work)
        else:
            super().carry_up(street, board, seat, chunk, work)

    def visit(
        self,
        street: SolverStreet,
        boards: tuple[int, int],
        seat: int,
        chunk: int,
        above: Above,
        work: Workspace,
        totals: np.ndarray,
    ) -> None:
        """Do the same on boards of the last street."""
        assert street.buckets is not None
        _visit_by_buckets(street, street.buckets, boards, seat, chunk, above, work, totals)


def _learn_by_buckets(
    street: SolverStreet, buckets: Buckets, board: int, seat: int, chunk: int, work: Workspace
) -> None:
    place = street.layout, street.deals.arrays, buckets, board, 0, seat, street.width
    bucket_kernels.learn_by_buckets(*place, street.changes[seat][chunk], work)


def _visit_by_buckets(
    street: SolverStreet,
    buckets: Buckets,
    boards: tuple[int, int],
    seat: int,
    chunk: int,
    above: Above,
    work: Workspace,
    totals: np.ndarray,
) -> None:
    place = street.layout, street.deals.arrays, buckets, *boards, seat, street.plans, street.width
    bucket_kernels.update_boards_by_buckets(*place, street.changes[seat][chunk], *above, work, totals)


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
        self.workspaces = [[street.workspace() for street in streets] for _ in range(self._num_workers)]
        width = blocks_for(ranges.shape[1])
        reach = empty_blocks(width * LANES, dtype), empty_blocks(width * LANES, dtype)
        for seat in range(2):
            reach[seat][: ranges.shape[1], 0] = ranges[seat]
        self.above = Above(reach, np.array([width, width]))

    def totals(self, num_kinds: int) -> np.ndarray:
        """Return room for values at the root, by combo: float[num_kinds * combos up to a multiple of 16 * 16, 16]."""
        return empty_blocks(num_kinds * int(self.above.blocks[0]) * LANES, self._dtype)

    def values(self, seat: int, task: Task) -> np.ndarray:
        """Do a task for a seat on all boards, and return its values at the root, as in `totals`."""
        first = self.streets[0]
        if not first.is_last:
            return self._pass(0, 0, seat, task, self.above, self.workspaces[0])
        totals = self.totals(task.num_kinds(first))
        task.visit(first, (0, 1), seat, 0, self.above, self.workspaces[0][0], totals)
        return totals

    def _pass(
        self,
        index: int,
        board: int,
        seat: int,
        task: Task,
        above: Above,
        workspaces: Sequence[Workspace],
        totals: np.ndarray | None = None,
        chunk: int = 0,
    ) -> np.ndarray:
        """Do a task on a board of any street but the last, and on all behind it.

        What comes back are the values at the street's roots by the hands of the board before, as in `update_boards`.
        """
        street, work = self.streets[index], workspaces[index]
        num_kinds = task.num_kinds(street)
        place = street.layout, street.deals.arrays, board, 0
        if street.buckets:
            by_bucket = street.layout, street.deals.arrays, street.buckets, board, 0, seat, street.plans, street.width
            bucket_kernels.enter_board_by_buckets(*by_bucket, *above, work)
        else:
            kernels.enter_board(*place, seat, task.tables(street), *above, work)
        kernels.fill_terminals(*place, seat, work)
        blocks = street.board_blocks(board)
        below = Above(work.below, blocks)
        kernels.show_ends(street.layout, street.deals.arrays, board, work, below.reach)
        chunks = self._below(index + 1, board, seat, task, below, workspaces, chunk)
        if task.num_kinds(self.streets[index + 1]) < num_kinds:  # one plan below, whatever is done here
            chunks = np.concatenate([chunks, chunks], axis=1)
        kernels.take_ends(street.layout, seat, num_kinds, int(blocks[seat]), chunks, work)
        task.carry_up(street, board, seat, chunk, work)
        if totals is None:
            totals = empty_blocks(num_kinds * street.root_lanes * int(above.blocks[seat]), self._dtype)
        kernels.leave_board(*place, seat, num_kinds, work, int(above.blocks[seat]), totals)
        return totals

    def _below(
        self,
        index: int,
        parent: int,
        seat: int,
        task: Task,
        above: Above,
        workspaces: Sequence[Workspace],
        of_chunk: int,
    ) -> np.ndarray:
        """Do a task on the boards after one, and return the values of several chunks of them."""
        street = self.streets[index]
        spread = index == 1  # the first deal uses all threads
        parts = task.parts(index, street, parent, seat, of_chunk)
        size = task.num_kinds(street) * street.root_lanes * int(above.blocks[seat])
        chunks = empty_blocks(len(parts) * size, self._dtype).reshape(len(parts), size, LANES)

        def work_on(number: int, own: Sequence[Workspace]) -> None:
            first, last, factor = parts[number]
            totals, chunk = chunks[number], number if spread else of_chunk
            if street.is_last:
                task.visit(street, (first, last), seat, chunk, above, own[index], totals)
            else:
                for board in range(first, last):
                    self._pass(index, board, seat, task, above, own, totals, chunk)
            if factor != 1.0:
                totals *= totals.dtype.type(factor)

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

    @functools.cached_property
    def _executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._num_workers)
