"""A street of a subgame in memory: its betting, its boards, the tables of both seats, and workspaces."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import BettingDecision, StreetBetting
from plurispiel.abstraction.holdem.showdown_kernels import CARD_SLOTS, FIRST_HAND
from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks, empty_pages
from plurispiel.agents.resolve import _bucket_kernels as bucket_kernels
from plurispiel.agents.resolve import _terminal_tile_kernels as tile_kernels
from plurispiel.agents.resolve.deals import Deals, StreetDeals
from plurispiel.agents.resolve.layout import StreetLayout, StreetSize, lay_out
from plurispiel.agents.resolve.subgame import BucketRows
from plurispiel.agents.resolve.terminal_tiles import TerminalTiles, lay_out_tiles, padded, tile_workspace

__all__ = [
    "NUM_CHUNKS",
    "NUM_TABLES",
    "NUM_TABLES_BY_BUCKET",
    "BucketPlans",
    "HandBuckets",
    "ReachAbove",
    "SolverStreet",
    "StreetArrays",
    "StreetMemory",
    "Workspace",
    "solver_bytes",
    "street_blocks",
]

NUM_CHUNKS = 16
"""The largest number of chunks into which the boards of the second street are cut.

It is fixed, so that no sum depends on the number of threads."""

NUM_TABLES = 2
"""Number of a seat's tables without buckets: regrets and strategy sums."""

_NUM_PLANNED = 3
"""Number of a seat's tables with buckets that no chunk has for itself: regrets, strategy sums and strategies."""

NUM_TABLES_BY_BUCKET = _NUM_PLANNED + 2 * NUM_CHUNKS
"""About the number of a seat's tables with buckets, if each chunk's tiles count as two tables."""

_MAX_BUCKETS = 65_535


class ReachAbove(NamedTuple):
    """Both seats' reach at the ends of the street before, on the parent of a board.

    Attributes
    ----------
    reach : tuple of float[n * blocks, 16]
        Each seat's reach, with n the number of ends, rounded up to a multiple of 16. For each group of sixteen ends,
        which are this street's roots, there is a block for each hand on the parent.
    blocks : int64[2]
        The number of blocks that a row of each seat's hands on the parent takes.
    """

    reach: tuple[np.ndarray, np.ndarray]
    blocks: np.ndarray


class Workspace(NamedTuple):
    """Scratch memory of one thread on one street.

    Attributes
    ----------
    reach : tuple of float[n, 16]
        Each seat's reach at the nodes of a batch, in the rows of `StreetLayout`.
    shares : float[n, 16]
        The traverser's strategy, in the rows of its reach.
    values : float[n, 16]
        The traverser's counterfactual values, in the rows of `StreetLayout`.
    tile, mass, out : float[n, 16]
        Sixteen rows at a time, with one block for each hand or card; see `showdown_kernels`.
    roots : float[n, 16]
        With strategies by bucket, the values at sixteen roots: a block for each of the traverser's hands.
    rows : int64[16]
        The index of the first block of each of sixteen rows that are transposed together.
    sources : int64[16]
        For each of these sixteen rows, the index of the first block of the row by which it is multiplied.
    below : ReachAbove
        Both seats' reach at the street's ends, for the boards after the board at hand.
    ends : float[1, n, 16]
        The totals at the street's ends over all boards after the board at hand, as `take_ends` reads them.
    table_rows, slots : int64[2]
        As in `StreetSize`.
    """

    reach: tuple[np.ndarray, np.ndarray]
    shares: np.ndarray
    values: np.ndarray
    tile: np.ndarray
    mass: np.ndarray
    out: np.ndarray
    roots: np.ndarray
    rows: np.ndarray
    sources: np.ndarray
    below: ReachAbove
    ends: np.ndarray
    table_rows: np.ndarray
    slots: np.ndarray


class StreetArrays(NamedTuple):
    """The betting, the boards and the locked hands of a street, as kernels take them.

    Attributes
    ----------
    layout : StreetLayout
    deals : StreetDeals
    locked_hands : tuple of float[n, 16]
        For each seat, marks of the hands at the decisions that have both locked and free hands: 1 if locked, 0 if free.
        Each board has a row for each of these decisions, in the blocks of the seat's hands on the board.
    """

    layout: StreetLayout
    deals: StreetDeals
    locked_hands: tuple[np.ndarray, np.ndarray]


class HandBuckets(NamedTuple):
    """The buckets of a street's hands.

    Attributes
    ----------
    numbers : tuple of int32[num_hands]
        The bucket of each of a seat's hands on all boards, in the order of `SeatHands`.
    weights : tuple of float[num_hands]
        The hands' weights in the seat's range: a hand counts in its bucket as often as it is held.
    """

    numbers: tuple[np.ndarray, np.ndarray]
    weights: tuple[np.ndarray, np.ndarray]


class BucketPlans(NamedTuple):
    """Strategies by bucket, as kernels take them.

    Attributes
    ----------
    buckets : HandBuckets
    tables : tuple of float[n * width, 16]
        Each seat's strategy; see `plan_buckets`.
    width : int
        Number of buckets.
    tiles : TerminalTiles
    plays, gains : tuple of float[n * span, 16]
        Each seat's play tiles, for the other seat as the traverser, and its own gain tiles.
    span : int
        Number of blocks of a tile: `width`, rounded up to a multiple of 16.
    """

    buckets: HandBuckets
    tables: tuple[np.ndarray, np.ndarray]
    width: int
    tiles: TerminalTiles
    plays: tuple[np.ndarray, np.ndarray]
    gains: tuple[np.ndarray, np.ndarray]
    span: int


class PlanWorkspace(NamedTuple):
    """Scratch memory in which strategies by bucket are computed, sixteen buckets at a time.

    Attributes
    ----------
    tile, out : float[n, 16]
        `tile` has the entries of a table, `out` the strategies. Both have a block for each of a seat's actions, in the
        order of ``layout.action_rows``. Blocks of padding entries stay 0 in `out`.
    rows : int64[n]
        For each group of sixteen actions, sixteen entries: the index in a table of the block of each of the sixteen
        buckets.
    """

    tile: np.ndarray
    out: np.ndarray
    rows: np.ndarray


def _plan_workspace(count: int, dtype: np.dtype) -> PlanWorkspace:
    return PlanWorkspace(empty_blocks(count, dtype), empty_blocks(count, dtype), np.zeros(count, np.int64))


class SolverStreet:
    """A street of a subgame.

    Parameters
    ----------
    betting : StreetBetting
    deals : Deals
    dtype : data type
    last : bool
        Whether the street is the last street of the game.
    ranges : float64[2, num_combos]
        Each seat's weight of each combo.
    bucket_rows : callable, optional
        Maps a board of the street to the bucket of each combo; by default each hand on each board has its own strategy.

    Attributes
    ----------
    arrays : StreetArrays
    regrets, sums : tuple of float[n, 16]
        The regrets and the strategy sums of both seats, once allocated.
    plans : BucketPlans, optional
        With buckets, the strategies that the next walk plays, once allocated; else None.
    changes : tuple of float[NUM_CHUNKS, n, 16]
        With buckets, the current iteration's sums for each seat: its value tiles, and its reach at the roots by bucket
        (`settle_tiles`).
    width : int
        Number of buckets; 0 if hands are not in buckets.
    drawn : int64[2, num_boards]
        Without buckets, for each seat and board, the last iteration in which the board was drawn for the seat; -1 if
        there was no such iteration. With buckets, -1 throughout.

    Raises
    ------
    ValueError
        If a bucket is below 0 or above 65,533.
    """

    def __init__(
        self,
        betting: StreetBetting,
        deals: Deals,
        dtype: np.dtype,
        last: bool,
        ranges: np.ndarray,
        bucket_rows: BucketRows | None = None,
    ):
        self.betting = betting
        self.deals = deals
        self.dtype = dtype
        self.is_last = last
        layout, size = lay_out(betting, dtype, batches=last)
        self.layout: StreetLayout = layout
        none_locked = empty_blocks(0, dtype)
        self.arrays = StreetArrays(layout, deals.arrays, (none_locked, none_locked))
        self.size: StreetSize = size
        self.most_blocks = [int(np.diff(seat.block).max()) for seat in deals.arrays.seats]
        self.buckets = None if bucket_rows is None else self._put_in_buckets(bucket_rows, ranges)
        self.width = 0 if self.buckets is None else 1 + max(int(row.max(initial=0)) for row in self.buckets.numbers)
        if self.width >= _MAX_BUCKETS:
            raise ValueError(f"buckets are numbers from 0 to {_MAX_BUCKETS - 2:,}, got up to {self.width - 1:,}")
        self.table_blocks = [
            int(layout.action_first[number, -1]) // LANES * self.width
            if self.buckets
            else size.table_rows[number] * int(seat.block[-1])
            for number, seat in enumerate(deals.arrays.seats)
        ]
        self._tiles = lay_out_tiles(layout, betting.nodes.end) if self.buckets else None
        self.plans: BucketPlans | None = None
        self.changes: tuple[np.ndarray, ...] = ()
        self.drawn = np.full((2, len(deals.boards)), -1)
        self.regrets: tuple[np.ndarray, ...] = ()
        self.sums: tuple[np.ndarray, ...] = ()

    @property
    def root_lanes(self) -> int:
        """The number of roots, rounded up to a multiple of 16."""
        return blocks_for(self.betting.num_roots) * LANES

    def allocate(self, num_parts: int = 1) -> None:
        """Allocate the tables of both seats, and workspaces for `num_parts` threads that settle at the same time."""
        self.regrets = tuple(empty_blocks(count, self.dtype) for count in self.table_blocks)
        self.sums = tuple(empty_blocks(count, self.dtype) for count in self.table_blocks)
        if self.buckets:
            self._allocate_plans(self.buckets, num_parts)

    def _allocate_plans(self, buckets: HandBuckets, num_parts: int) -> None:
        tiles = self._tiles
        assert tiles is not None
        first, second = (empty_blocks(count, self.dtype) for count in self.table_blocks)
        plays, gains = (
            tuple(empty_blocks(count * self._span, self.dtype) for count in counts)
            for counts in (self._tile_counts[0][::-1], self._tile_counts[1])
        )
        self.plans = BucketPlans(
            buckets, (first, second), self.width, tiles, (plays[0], plays[1]), (gains[0], gains[1]), self._span
        )
        counts = self.layout.action_first[:, -1].tolist()
        self._works = [[_plan_workspace(count, self.dtype) for count in counts] for _ in range(num_parts)]
        self._tile_works = [tile_workspace(tiles, self.layout, self.dtype) for _ in range(num_parts)]
        self.changes = tuple(
            empty_blocks(NUM_CHUNKS * count, self.dtype).reshape(NUM_CHUNKS, count, LANES)
            for count in self._change_blocks
        )

    def mark_locked_hands(self, free: Sequence[Sequence[np.ndarray]]) -> None:
        """Fill `StreetArrays.locked_hands`.

        Parameters
        ----------
        free : sequence of sequence of bool[num_combos]
            For each seat and each of its decisions with both locked and free hands, whether each combo is free.
        """
        marks = []
        for hands, rows in zip(self.deals.arrays.seats, free, strict=True):
            marked = empty_blocks(int(hands.block[-1]) * len(rows), self.dtype)
            for board in range(len(self.deals.boards) if rows else 0):
                combos = hands.combos[hands.first[board] : hands.first[board + 1]]
                begin, end = (hands.block[board : board + 2] * len(rows)).tolist()
                of_board = marked[begin:end].reshape(len(rows), -1)
                of_board[:, : len(combos)] = [~row[combos] for row in rows]
            marks.append(marked)
        self.arrays = self.arrays._replace(locked_hands=(marks[0], marks[1]))

    @property
    def _span(self) -> int:
        return padded(self.width)

    @property
    def _tile_counts(self) -> tuple[list[int], list[int]]:
        """For each seat as the traverser, the numbers of play tiles and of value tiles."""
        tiles = self._tiles
        if tiles is None:
            return [0, 0], [0, 0]
        plays, values = (first[:, -1, -1].tolist() for first in (tiles.tile_first, tiles.value_first))
        return plays, values

    @property
    def _change_blocks(self) -> list[int]:
        """For each seat, the number of blocks of a chunk's sums."""
        return [(count + self.root_lanes // LANES) * self._span for count in self._tile_counts[1]]

    def num_blocks(self) -> int:
        """Return the number of blocks of all tables."""
        if not self.buckets:
            return NUM_TABLES * sum(self.table_blocks)
        tiles = sum(map(sum, self._tile_counts)) * self._span
        return _NUM_PLANNED * sum(self.table_blocks) + tiles + NUM_CHUNKS * sum(self._change_blocks)

    def workspace(self) -> Workspace:
        """Return a new workspace for one thread."""
        most, size, num_ends = self.most_blocks, self.size, self.layout.ends.shape[1]
        # One row more than the nodes need, which padding entries read and write.
        both = [(rows + 1) * blocks for rows, blocks in zip(size.reach_rows, most, strict=True)]
        below = empty_pages(num_ends * most[0], self.dtype), empty_pages(num_ends * most[1], self.dtype)
        return Workspace(
            reach=(empty_pages(both[0], self.dtype), empty_pages(both[1], self.dtype)),
            shares=empty_pages(max(both), self.dtype),
            values=empty_pages(_value_blocks(size, most), self.dtype),
            tile=empty_pages(FIRST_HAND + LANES * max(most), self.dtype),
            mass=empty_pages(CARD_SLOTS + 1, self.dtype),
            out=empty_pages(LANES * max(most), self.dtype),
            roots=empty_pages(LANES * max(most), self.dtype),
            rows=empty_pages(1, np.int64)[0],
            sources=empty_pages(1, np.int64)[0],
            below=ReachAbove(below, empty_pages(1, np.int64)[0, :2]),
            ends=empty_pages(2 * num_ends * max(most), self.dtype)[None],
            table_rows=np.array(size.table_rows, np.int64),
            slots=np.array(size.slots, np.int64),
        )

    def blocks(self) -> "StreetMemory":
        """Return the numbers of blocks of the street's memory."""
        return street_blocks(self.num_blocks(), self.size, self.layout.ends.shape[1], self.most_blocks)

    def plan(self, seat: int, tables: Sequence[np.ndarray], part: int = 0, num_parts: int = 1) -> None:
        """Compute a seat's strategy by bucket from regrets or strategy sums; does nothing without buckets.

        Parameters
        ----------
        part, num_parts : int
            The part of the buckets whose strategies are computed; by default all.
        """
        if self.plans:
            bounds = self._bounds(part, num_parts)
            plan, work = self.plans.tables[seat], self._works[part][seat]
            bucket_kernels.plan_buckets(self.layout, seat, self.width, *bounds, tables[seat], plan, work)
            tile_kernels.fill_tiles(self.layout, seat, self.plans, *bounds, self._tile_works[part])

    def plan_best(self, seat: int) -> int:
        """Plan, for each decision and bucket, the action for which the latest walk found the largest regret.

        Where no action has a positive regret, the plan stays as it was. Return the number of pairs of decision and
        bucket with a positive regret; 0 without buckets.
        """
        if not self.plans:
            return 0
        plan, whole, step = self.plans.tables[seat], self._bounds(0, 1), np.ones(3, self.dtype)
        regrets, sums = np.zeros_like(plan), np.zeros_like(plan)
        self._settle_tiles(seat, self.plans, whole, self.changes[seat], (regrets, sums), step)
        num_new = bucket_kernels.plan_best(self.layout, seat, self.width, regrets, plan)
        tile_kernels.fill_tiles(self.layout, seat, self.plans, *whole, self._tile_works[0])
        return num_new

    def _settle_tiles(
        self,
        seat: int,
        plans: BucketPlans,
        bounds: tuple[int, int],
        changes: np.ndarray,
        tables: tuple[np.ndarray, np.ndarray],
        step: np.ndarray,
        part: int = 0,
    ) -> None:
        work = self._tile_works[part]
        tile_kernels.settle_tiles(self.layout, seat, plans, *bounds, changes, *tables, step, work)

    def _bounds(self, part: int, num_parts: int) -> tuple[int, int]:
        """Return the first bucket of a part and the end of the part; parts begin at multiples of 16."""
        first, last = (self._span // LANES * number // num_parts * LANES for number in (part, part + 1))
        return first, min(last, self.width)

    def num_decisions(self, seat: int) -> int:
        """Return the largest number of decisions that a seat makes on the street in one hand."""
        nodes, most = self.betting.nodes, 0
        before = np.zeros(len(nodes.kind), np.int64)
        for node, (kind, parent) in enumerate(zip(nodes.kind.tolist(), nodes.parent.tolist(), strict=True)):
            before[node] = (before[parent] if parent >= 0 else 0) + (kind == seat)
            most = max(most, int(before[node]))
        return most

    def settle(
        self, seat: int, step: np.ndarray, num_chunks: int = NUM_CHUNKS, part: int = 0, num_parts: int = 1
    ) -> None:
        """Add an iteration's changes to the tables by bucket, and plan the next strategy; do nothing without buckets.

        Parameters
        ----------
        num_chunks : int
            An upper bound on the number of chunks of boards that the iteration visited: `Visited.num_chunks`.
        part, num_parts : int
            The part of the buckets that is settled; by default all. Threads may settle different parts.
        """
        if self.plans:
            tables, bounds = (self.regrets[seat], self.sums[seat]), self._bounds(part, num_parts)
            self._settle_tiles(seat, self.plans, bounds, self.changes[seat][:num_chunks], tables, step, part)
            self.plan(seat, self.regrets, part, num_parts)

    def rows(self, tables: Sequence[np.ndarray], decision: BettingDecision, board: int) -> np.ndarray:
        """Return a view of a decision's rows in a table without buckets: float[num_actions, blocks * 16]."""
        hands = self.deals.arrays.seats[decision.seat]
        blocks = int(hands.block[board + 1] - hands.block[board])
        start = int(hands.block[board]) * self.size.table_rows[decision.seat]
        start += int(self.layout.table_row[decision.node]) * blocks
        return tables[decision.seat][start : start + len(decision.children) * blocks].reshape(-1, blocks * LANES)

    def entries(
        self, tables: Sequence[np.ndarray], decision: BettingDecision, board: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the combos of a decision's seat on a board, and their entries in `tables`, the regrets or the sums.

        Returns
        -------
        combos : int32[n]
            The combo number of each of the seat's hands on the board.
        entries : float64[n, num_actions]
            The entries of each hand; hands of one bucket have equal entries.
        """
        hands = self.deals.arrays.seats[decision.seat]
        span = slice(int(hands.first[board]), int(hands.first[board + 1]))
        combos, num_actions = hands.combos[span], len(decision.children)
        if self.buckets:
            numbers = self.buckets.numbers[decision.seat][span]
            lanes = np.arange(num_actions) + int(self.layout.table_lane[decision.node])
            by_bucket = tables[decision.seat].reshape(-1, self.width, LANES)[:, numbers]
            return combos, by_bucket[lanes // LANES, :, lanes % LANES].T.astype(np.float64)
        return combos, self.rows(tables, decision, board)[:, : len(combos)].T.astype(np.float64)

    def write(self, tables: Sequence[np.ndarray], decision: BettingDecision, entries: np.ndarray) -> None:
        """Write a decision's entries in regrets or sums.

        Parameters
        ----------
        entries : float[n, num_actions]
            A row for each bucket; without buckets, a row for each combo, written for the first board only.
        """
        if self.buckets:
            lanes = np.arange(len(decision.children)) + int(self.layout.table_lane[decision.node])
            tables[decision.seat].reshape(-1, self.width, LANES)[lanes // LANES, :, lanes % LANES] = entries.T
            return
        hands = self.deals.arrays.seats[decision.seat]
        combos = hands.combos[: hands.first[1]]
        self.rows(tables, decision, 0)[:, : len(combos)] = entries[combos].T

    def _put_in_buckets(self, bucket_rows: BucketRows, ranges: np.ndarray) -> HandBuckets:
        numbers: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for number, board in enumerate(self.deals.boards):
            row = np.asarray(bucket_rows(board))
            for seat, hands in zip(numbers, self.deals.arrays.seats, strict=True):
                seat.append(row[hands.combos[hands.first[number] : hands.first[number + 1]]].astype(np.int32))
        by_seat = np.concatenate(numbers[0]), np.concatenate(numbers[1])
        if min(int(row.min(initial=0)) for row in by_seat) < 0:
            raise ValueError(f"buckets are numbers from 0 to {_MAX_BUCKETS - 2:,}, got {min(map(np.min, by_seat))}")
        weights = [ranges[seat, hands.combos].astype(self.dtype) for seat, hands in enumerate(self.deals.arrays.seats)]
        return HandBuckets(by_seat, (weights[0], weights[1]))


@dataclass(frozen=True)
class StreetMemory:
    """The memory that a street takes, in blocks of sixteen entries.

    Attributes
    ----------
    tables : int
        Blocks of the tables of both seats.
    workspace : int
        Blocks of the workspace of one thread, approximately.
    totals : int
        Blocks of the values at the street's ends, for all chunks of the next street's boards.
    """

    tables: int
    workspace: int
    totals: int


def street_blocks(tables: int, size: StreetSize, num_ends: int, most_blocks: Sequence[int]) -> StreetMemory:
    """Return the numbers of blocks of a street.

    Parameters
    ----------
    tables : int
        Blocks of the tables.
    size : StreetSize
    num_ends : int
        Number of the street's ends, rounded up to a multiple of 16.
    most_blocks : sequence of int
        For each seat, the largest number of blocks of hands on a board.
    """
    most = max(most_blocks)
    reach = max(rows * blocks for rows, blocks in zip(size.reach_rows, most_blocks, strict=True))
    ends = num_ends * (sum(most_blocks) + 2 * most)
    workspace = 3 * reach + _value_blocks(size, most_blocks) + 3 * LANES * most + ends
    return StreetMemory(tables, workspace, 2 * NUM_CHUNKS * num_ends * most)


def solver_bytes(streets: Sequence[StreetMemory], threads: int, dtype: type | np.dtype) -> int:
    """Return the bytes of a solver's tables and workspaces, approximately."""
    num_workers = threads if len(streets) > 1 else 1  # threads share the boards of the second street
    blocks = sum(each.tables + each.workspace * num_workers for each in streets)
    blocks += max((each.totals for each in streets[:-1]), default=0)
    return blocks * LANES * np.dtype(dtype).itemsize


def _value_blocks(size: StreetSize, most_blocks: Sequence[int]) -> int:
    return max(
        # Terminal nodes have one value for both kinds, so the second kind needs rows for slots only.
        (rows + size.slots[0]) * blocks
        for rows, blocks in zip(size.value_rows, most_blocks, strict=True)
    )
