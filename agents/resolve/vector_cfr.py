"""Vector CFR: counterfactual regret minimization with whole ranges over betting and boards.

An iteration updates seat 0 and then seat 1 on every board of the subgame (alternating updates). Boards of the street
after the first are worked on in parallel; no sum depends on the number of threads. After Johanson et al. (2011) and
Brown and Sandholm (2019).
"""

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction._lanes import LANES, blocks_for, empty_blocks
from plurispiel.abstraction.holdem._showdown_kernels import CARD_SLOTS, FIRST_HAND
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import BettingDecision, StreetBetting
from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.resolve import _vector_cfr_kernels as kernels
from plurispiel.agents.resolve.deals import Deals, deal_streets
from plurispiel.agents.resolve.discounting import DEFAULT, Discounting, parse_discounting
from plurispiel.agents.resolve.layout import StreetLayout, StreetSize, lay_out
from plurispiel.agents.resolve.subgame import BucketRows, Subgame

__all__ = ["Evaluation", "VectorSolver", "prepare"]

_MAX_BUCKETS = 65_535
_NUM_CHUNKS = 16  # of the boards after the first; not the number of threads, on which no sum may depend


class _Workspace(NamedTuple):
    reach: tuple[np.ndarray, np.ndarray]
    shares: np.ndarray
    values: np.ndarray
    tile: np.ndarray
    mass: np.ndarray
    out: np.ndarray
    rows: np.ndarray
    below: tuple[np.ndarray, np.ndarray]
    table_rows: np.ndarray
    slots: np.ndarray


class Evaluation(NamedTuple):
    """The average strategies, measured exactly.

    Attributes
    ----------
    values : float64[2]
        Chips that each seat wins with its average strategy, those put in before the subgame counted as lost.
    best_response_values : float64[2]
        The same with a best response to the other's.
    """

    values: np.ndarray
    best_response_values: np.ndarray

    @property
    def exploitability(self) -> float:
        """Half of what both seats gain by best responses, in chips."""
        return float((self.best_response_values - self.values).sum() / 2.0)


_Part = tuple[int, int, float]  # first board, last board + 1, and what their values are multiplied with


class _Street:
    """A street of the subgame: betting, boards, tables."""

    def __init__(
        self,
        betting: StreetBetting,
        deals: Deals,
        dtype: type | np.dtype,
        last: bool,
        bucket_rows: BucketRows | None = None,
    ):
        self.betting = betting
        self.deals = deals
        self.dtype = dtype
        self.is_last = last
        layout, size = lay_out(betting, dtype, batches=last)
        self.layout: StreetLayout = layout
        self.size: StreetSize = size
        self.most_blocks = [int(np.diff(seat.block).max()) for seat in deals.arrays.seats]
        self.buckets: tuple[np.ndarray, ...] = ()
        self.width = 0
        if bucket_rows is not None:
            self._put_in_buckets(bucket_rows)
        self.table_blocks = [
            int(self.layout.action_first[number, -1]) // LANES * self.width
            if self.buckets
            else size.table_rows[number] * int(seat.block[-1])
            for number, seat in enumerate(deals.arrays.seats)
        ]
        self.plans: tuple[np.ndarray, ...] = ()
        self.changes: tuple[np.ndarray, ...] = ()
        self.drawn = np.full((2, len(deals.boards)), -1)
        self.regrets: tuple[np.ndarray, ...] = ()
        self.sums: tuple[np.ndarray, ...] = ()

    @property
    def root_lanes(self) -> int:
        """The roots, up to a multiple of 16."""
        return blocks_for(self.betting.num_roots) * LANES

    def allocate(self) -> None:
        """Make the tables."""
        self.regrets = tuple(empty_blocks(count, self.dtype) for count in self.table_blocks)
        self.sums = tuple(empty_blocks(count, self.dtype) for count in self.table_blocks)
        if self.buckets:
            self.plans = tuple(empty_blocks(count, self.dtype) for count in self.table_blocks)
            self.changes = tuple(
                empty_blocks(2 * _NUM_CHUNKS * count, self.dtype).reshape(_NUM_CHUNKS, 2, count, LANES)
                for count in self.table_blocks
            )

    def num_blocks(self) -> int:
        """Return the blocks of all tables."""
        return (3 + 2 * _NUM_CHUNKS if self.buckets else 2) * sum(self.table_blocks)

    def plan(self, seat: int, tables: Sequence[np.ndarray]) -> None:
        """Work a seat's strategy by bucket out, from regrets or from sums."""
        if self.buckets:
            kernels.plan_buckets(self.layout, seat, self.width, tables[seat], self.plans[seat])

    def settle(self, seat: int, step: np.ndarray) -> None:
        """Add what an iteration has changed to the tables by bucket."""
        if self.buckets:
            kernels.settle_buckets(self.regrets[seat], self.sums[seat], self.changes[seat], step)
            self.plan(seat, self.regrets)

    def _put_in_buckets(self, bucket_rows: BucketRows) -> None:
        buckets: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for number, board in enumerate(self.deals.boards):
            row = np.asarray(bucket_rows(board))
            for seat, hands in zip(buckets, self.deals.arrays.seats, strict=True):
                seat.append(row[hands.combos[hands.first[number] : hands.first[number + 1]]].astype(np.int32))
        self.buckets = tuple(np.concatenate(seat) for seat in buckets)
        self.width = 1 + max(int(seat.max(initial=0)) for seat in self.buckets)
        if min(int(seat.min(initial=0)) for seat in self.buckets) < 0 or self.width >= _MAX_BUCKETS:
            raise ValueError(f"buckets are numbers from 0 to {_MAX_BUCKETS - 1:,}, got up to {self.width - 1:,}")

    def workspace(self) -> _Workspace:
        """Return what one thread needs."""
        most, size = self.most_blocks, self.size
        both = [(rows + 1) * blocks for rows, blocks in zip(size.reach_rows, most, strict=True)]
        values = max((rows + size.slots[0]) * blocks for rows, blocks in zip(size.value_rows, most, strict=True))
        below = [self.layout.ends.shape[1] * blocks for blocks in most]
        return _Workspace(
            reach=(empty_blocks(both[0], self.dtype), empty_blocks(both[1], self.dtype)),
            shares=empty_blocks(max(both), self.dtype),
            values=empty_blocks(values, self.dtype),
            tile=empty_blocks(FIRST_HAND + LANES * max(most), self.dtype),
            mass=empty_blocks(CARD_SLOTS, self.dtype),
            out=empty_blocks(LANES * max(most), self.dtype),
            rows=np.zeros(LANES, np.int64),
            below=(empty_blocks(below[0], self.dtype), empty_blocks(below[1], self.dtype)),
            table_rows=np.array(size.table_rows, np.int64),
            slots=np.array(size.slots, np.int64),
        )

    def workspace_blocks(self) -> int:
        """Return the blocks of a workspace."""
        most, size = self.most_blocks, self.size
        values = max((rows + size.slots[0]) * blocks for rows, blocks in zip(size.value_rows, most, strict=True))
        return 3 * max(r * b for r, b in zip(size.reach_rows, most, strict=True)) + values + 2 * LANES * max(most)

    def board_blocks(self, board: int) -> np.ndarray:
        """Return the blocks of each seat's hands on a board: int64[2]."""
        return np.array([seat.block[board + 1] - seat.block[board] for seat in self.deals.arrays.seats])


class _Above(NamedTuple):
    """Both seats' reach at the end of the street before, as in `update_boards`."""

    reach: tuple[np.ndarray, np.ndarray]
    blocks: np.ndarray


class VectorSolver:
    """Solves a subgame.

    Parameters
    ----------
    subgame : Subgame
    algorithm : Discounting or str
        A text is read by `parse_discounting`.
    threads : int
    dtype : data type
        float32; float64 for proofs.
    run_outs : int
        Run-outs of the board that are drawn for each seat in each iteration, such as one for each thread; 0 deals all.
        Linear CFR (``lcfr``) is made for it.
    seed : int
        Of what is drawn. The number of threads does not matter.
    on_memory : callable, optional
        Called with the bytes that the solver will take, before it takes them; what it raises ends the matter.

    Attributes
    ----------
    iteration : int
        Iterations done.
    memory_bytes : int

    Examples
    --------
    >>> from plurispiel.abstraction.holdem import LEDUC, BettingState
    >>> solver = VectorSolver(Subgame(BettingState(LEDUC), (), np.ones((2, 6))), "cfr+")
    >>> solver.run(200)
    >>> solver.evaluate().exploitability < 0.01
    True
    """

    def __init__(
        self,
        subgame: Subgame,
        algorithm: Discounting | str = DEFAULT,
        *,
        threads: int = 2,
        dtype: type | np.dtype = np.float32,
        run_outs: int = 0,
        seed: int = 1,
        on_memory: Callable[[int], None] | None = None,
    ):
        if threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        self.subgame = subgame
        self.algorithm = parse_discounting(algorithm) if isinstance(algorithm, str) else algorithm
        self.iteration = 0
        if not 0 <= run_outs <= _NUM_CHUNKS:
            raise ValueError(f"run_outs must be 0 for all or 1..{_NUM_CHUNKS} sampled ones, got {run_outs}")
        self._threads = threads
        self._run_outs = run_outs
        self._seed = seed
        self._done = 0  # iterations, within `run` too
        self._dtype = np.dtype(dtype)
        rules = subgame.state.rules
        hands = rank_hands(rules, subgame.board)
        self._ranges = np.zeros((2, rules.num_combos))
        self._ranges[:, hands.combos] = subgame.ranges[:, hands.combos]
        self._ranges /= np.maximum(self._ranges.max(axis=1, keepdims=True), 1e-300)
        self.facing = np.zeros((2, rules.num_combos))
        self.facing[:, hands.combos] = fold_mass(hands, self._ranges[::-1, hands.combos])
        self._pairs = float(self._ranges[0] @ self.facing[0])
        if not self._pairs > 0.0:
            raise ValueError("the ranges have no two hands that can meet; give each seat hands without common cards")
        betting = subgame.betting()
        alike = np.concatenate([np.zeros((0, rules.num_combos)), *(lock.T for lock in subgame.locks.values())])
        deals = deal_streets(rules, subgame.state.street, subgame.board, self._ranges, alike, self._dtype)
        self.streets = [
            _Street(each, cards, self._dtype, number == len(betting) - 1, subgame.buckets if number else None)
            for number, (each, cards) in enumerate(zip(betting, deals, strict=True))
        ]
        self.memory_bytes = self._memory()
        if on_memory is not None:
            on_memory(self.memory_bytes)
        for street in self.streets:
            street.allocate()
            if run_outs:  # a board is drawn as often as it stands for deals
                ones = np.ones_like(street.deals.arrays.multiplicity)
                street.deals = street.deals._replace(arrays=street.deals.arrays._replace(multiplicity=ones))
        self._lock(subgame)
        self._workspaces = [[street.workspace() for street in self.streets] for _ in range(self._num_workers)]
        width = blocks_for(rules.num_combos)
        reach = empty_blocks(width * LANES, self._dtype), empty_blocks(width * LANES, self._dtype)
        for seat in range(2):
            reach[seat][: rules.num_combos, 0] = self._ranges[seat]
        self._above = _Above(reach, np.array([width, width]))

    @property
    def ranges(self) -> np.ndarray:
        """The weights that count: float64[2, num_combos], at most 1, 0 for combos on the board."""
        return self._ranges

    @property
    def pairs(self) -> float:
        """The weight of all pairs of hands that can meet."""
        return self._pairs

    def run(self, num_iterations: int) -> None:
        """Do so many iterations more."""
        steps = self.algorithm.steps(self.iteration, num_iterations).astype(self._dtype)
        self._plan(current=True)
        if len(self.streets) == 1:
            self._update_boards(0, (0, 1), -1, steps, self._above, self._workspaces[0], self._totals(1))
        else:
            for done, step in enumerate(steps, self.iteration):
                self._done = done
                for seat in range(2):
                    self._pass(0, 0, seat, step, self._above, self._workspaces[0])
                    for street in self.streets:
                        street.settle(seat, step)
        self.iteration += num_iterations

    def evaluate(self) -> Evaluation:
        """Measure the average strategies; best responses know their hands, in whatever buckets strategies put them."""
        values = np.stack([self.combo_values(seat) for seat in range(2)])
        weighed = (self._ranges[:, None] * values).sum(axis=2) / self._pairs
        return Evaluation(weighed[:, kernels.OWN], weighed[:, kernels.BEST])

    def combo_values(self, seat: int) -> np.ndarray:
        """Return a seat's counterfactual values of each combo, `BEST` and `OWN`: float64[2, num_combos].

        Over ``facing[seat]`` they are chips.
        """
        self._plan(current=False)
        if len(self.streets) == 1:
            totals = self._totals(2)
            self._evaluate_boards(0, (0, 1), seat, self._above, self._workspaces[0], totals)
        else:
            totals = self._pass(0, 0, seat, None, self._above, self._workspaces[0])
        found = totals.reshape(2, -1, LANES)[:, : self.subgame.state.rules.num_combos, 0]
        return found.astype(np.float64)

    def strategy(self, street: int, decision: BettingDecision, board: int = 0) -> np.ndarray:
        """Return the average strategy of a decision: float64[num_combos, num_actions], NaN without the combo.

        Parameters
        ----------
        street : int
            From the first one of the subgame.
        decision : BettingDecision
            Of the street's betting.
        board : int
            Its number among the street's boards.
        """
        rules, seat = self.subgame.state.rules, decision.seat
        of_street = self.streets[street]
        hands = of_street.deals.arrays.seats[seat]
        span = slice(int(hands.first[board]), int(hands.first[board + 1]))
        combos, num_actions = hands.combos[span], len(decision.children)
        if of_street.buckets:
            by_bucket = of_street.sums[seat].reshape(-1, of_street.width, LANES)[:, of_street.buckets[seat][span]]
            lanes = np.arange(num_actions) + int(of_street.layout.table_lane[decision.node])
            sums = by_bucket[lanes // LANES, :, lanes % LANES].T.astype(np.float64)
        else:
            rows = self._rows(of_street, of_street.sums, decision, board)
            sums = rows[:, : len(combos)].T.astype(np.float64)
        totals = sums.sum(axis=1, keepdims=True)
        result = np.full((rules.num_combos, num_actions), np.nan)
        result[combos] = np.where(totals > 0.0, sums / np.where(totals > 0.0, totals, 1.0), 1.0 / num_actions)
        return result

    def _rows(
        self, street: "_Street", tables: Sequence[np.ndarray], decision: BettingDecision, board: int
    ) -> np.ndarray:
        """Return the rows of a decision's actions in a table by hand: float[num_actions, blocks * 16]."""
        hands = street.deals.arrays.seats[decision.seat]
        blocks = int(hands.block[board + 1] - hands.block[board])
        start = int(hands.block[board]) * street.size.table_rows[decision.seat]
        start += int(street.layout.table_row[decision.node]) * blocks
        return tables[decision.seat][start : start + len(decision.children) * blocks].reshape(-1, blocks * LANES)

    def _lock(self, subgame: Subgame) -> None:
        """Write given strategies into the tables, where they stay."""
        known = set()
        for street in self.streets:
            for decision in street.betting.decisions:
                lock = subgame.locks.get(decision.actions)
                if lock is None:
                    continue
                known.add(decision.actions)
                shape = self._ranges.shape[1], len(decision.children)
                if lock.shape != shape or not (lock >= 0.0).all() or (abs(lock.sum(axis=1) - 1.0) > 1e-6).any():
                    raise ValueError(f"a lock is rows of probabilities that sum to 1, {shape} here, got {lock.shape}")
                if street.buckets:
                    raise ValueError(
                        "on streets with buckets strategies cannot be locked; lock others, or take exact cards"
                    )
                street.layout.locked[decision.node] = 1
                hands = street.deals.arrays.seats[decision.seat]
                for board in range(len(street.deals.boards)):
                    combos = hands.combos[hands.first[board] : hands.first[board + 1]]
                    for tables in (street.regrets, street.sums):
                        self._rows(street, tables, decision, board)[:, : len(combos)] = lock[combos].T
        if len(known) < len(subgame.locks):
            raise ValueError("a lock's actions lead to no decision of the subgame")

    def _plan(self, current: bool) -> None:
        for street in self.streets:
            for seat in range(2):
                street.plan(seat, street.regrets if current else street.sums)

    def locate(self, dealt: Sequence[Sequence[int]]) -> tuple[int, np.ndarray]:
        """Return the number of the board that stands for given cards, and the combo there of each combo.

        Parameters
        ----------
        dealt : sequence of sequence of int
            The new cards of each street after the first.
        """
        rules = self.subgame.state.rules
        renamed = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
        number, image = 0, np.arange(rules.num_combos)
        taken: list[int] = []  # renamings so far
        for street, cards in zip(self.streets[1:], dealt, strict=False):
            new = tuple(cards)
            for row in taken:
                new = tuple(relabel_cards(new, row, rules.num_suits).tolist())
            found = street.deals.renamings[number].get(tuple(sorted(new)))
            if found is None:
                raise ValueError(f"{cards_text(cards)!r} cannot be dealt on this board")
            number, row = found
            taken.append(row)
            image = renamed[row][image]
        return number, image

    @property
    def _num_workers(self) -> int:
        return self._threads if len(self.streets) > 1 else 1

    def _memory(self) -> int:
        tables = sum(street.num_blocks() for street in self.streets)
        workspaces = sum(street.workspace_blocks() for street in self.streets) * self._num_workers
        totals = 0
        for street in self.streets[:-1]:
            totals = max(totals, 2 * _NUM_CHUNKS * street.layout.ends.shape[1] * max(street.most_blocks))
        return (tables + workspaces + totals) * LANES * self._dtype.itemsize

    def _totals(self, num_kinds: int) -> np.ndarray:
        return empty_blocks(num_kinds * int(self._above.blocks[0]) * LANES, self._dtype)

    def _update_boards(
        self,
        index: int,
        boards: tuple[int, int],
        seat: int,
        steps: np.ndarray,
        above: _Above,
        workspaces: Sequence[_Workspace],
        totals: np.ndarray,
        chunk: int = 0,
    ) -> None:
        street = self.streets[index]
        if street.buckets:
            kernels.update_boards_by_buckets(
                street.layout,
                street.deals.arrays,
                street.buckets,
                *boards,
                seat,
                street.plans,
                street.width,
                street.changes[seat][chunk],
                *above,
                workspaces[index],
                totals,
            )
            return
        kernels.update_boards(
            street.layout,
            street.deals.arrays,
            *boards,
            seat,
            street.regrets,
            street.sums,
            steps,
            *above,
            workspaces[index],
            totals,
        )

    def _evaluate_boards(
        self,
        index: int,
        boards: tuple[int, int],
        seat: int,
        above: _Above,
        workspaces: Sequence[_Workspace],
        totals: np.ndarray,
    ) -> None:
        street = self.streets[index]
        if street.buckets:
            kernels.evaluate_boards_by_buckets(
                street.layout,
                street.deals.arrays,
                street.buckets,
                *boards,
                seat,
                street.plans,
                street.width,
                *above,
                workspaces[index],
                totals,
            )
            return
        kernels.evaluate_boards(
            street.layout,
            street.deals.arrays,
            *boards,
            seat,
            street.sums,
            *above,
            workspaces[index],
            totals,
        )

    def _pass(
        self,
        index: int,
        board: int,
        seat: int,
        step: np.ndarray | None,
        above: _Above,
        workspaces: Sequence[_Workspace],
        totals: np.ndarray | None = None,
        chunk: int = 0,
    ) -> np.ndarray:
        """Do an iteration for a seat on a board of any street but the last, or without a step evaluate there.

        What comes back are the values at the street's roots by the hands of the board before, as in `update_boards`.
        """
        street, work = self.streets[index], workspaces[index]
        num_kinds = 2 if step is None else 1
        tables = street.sums if step is None else street.regrets
        place = street.layout, street.deals.arrays, board, 0
        if street.buckets:
            by_bucket = street.layout, street.deals.arrays, street.buckets, board, 0, seat, street.plans, street.width
            kernels.enter_board_by_buckets(*by_bucket, *above, work)
        else:
            kernels.enter_board(*place, seat, tables, *above, work)
        kernels.fill_terminals(*place, seat, work)
        blocks = street.board_blocks(board)
        below = _Above(work.below, blocks)
        kernels.show_ends(street.layout, street.deals.arrays, board, work, below.reach)
        chunks = self._below(index + 1, board, seat, step, below, workspaces, chunk)
        kernels.take_ends(street.layout, seat, num_kinds, int(blocks[seat]), chunks, work)
        if step is None:
            kernels.evaluate(*place, seat, work)
        elif street.buckets:
            of_street = street.layout, street.deals.arrays, street.buckets[seat], board, 0, seat, street.width
            kernels.learn_by_buckets(*of_street, street.changes[seat][chunk], work)
        else:
            kernels.learn(*place, seat, street.regrets[seat], street.sums[seat], step, work)
        if totals is None:
            totals = empty_blocks(num_kinds * street.root_lanes * int(above.blocks[seat]), self._dtype)
        kernels.leave_board(*place, seat, num_kinds, work, int(above.blocks[seat]), totals)
        return totals

    def _below(
        self,
        index: int,
        parent: int,
        seat: int,
        step: np.ndarray | None,
        above: _Above,
        workspaces: Sequence[_Workspace],
        of_chunk: int,
    ) -> np.ndarray:
        """Do the same on all boards after one, and return the values of several chunks of them."""
        street = self.streets[index]
        spread = index == 1  # the first deal uses all threads
        parts = (
            self._parts(street, parent, spread)
            if step is None or not self._run_outs
            else self._drawn(index, parent, seat, of_chunk)
        )
        num_kinds = 2 if step is None else 1
        size = num_kinds * street.root_lanes * int(above.blocks[seat])
        chunks = empty_blocks(len(parts) * size, self._dtype).reshape(len(parts), size, LANES)

        def work_on(number: int, own: Sequence[_Workspace]) -> None:
            first, last, factor = parts[number]
            totals, chunk = chunks[number], number if spread else of_chunk
            if step is not None and self._run_outs and not street.buckets:
                self._catch_up(street, first, seat)
            if not street.is_last:
                for board in range(first, last):
                    self._pass(index, board, seat, step, above, own, totals, chunk)
            elif step is None:
                self._evaluate_boards(index, (first, last), seat, above, own, totals)
            else:
                self._update_boards(index, (first, last), seat, step[None], above, own, totals, chunk)
            if factor != 1.0:
                totals *= totals.dtype.type(factor)

        if not spread or self._num_workers == 1:
            for number in range(len(parts)):
                work_on(number, workspaces)
            return chunks
        waiting = iter(range(len(parts)))

        def take_turns(own: Sequence[_Workspace]) -> None:
            for number in waiting:  # one iterator for all: each part is taken once
                work_on(number, own)

        list(self._executor.map(take_turns, self._workspaces))
        return chunks

    def _parts(self, street: _Street, parent: int, spread: bool) -> list[_Part]:
        """Return all boards after one, in parts that can be worked on at the same time."""
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        count = min(_NUM_CHUNKS, last - first) if spread else 1
        bounds = np.linspace(first, last, count + 1).astype(np.int64).tolist()
        return [(begin, end, 1.0) for begin, end in zip(bounds, bounds[1:], strict=False)]

    def _drawn(self, index: int, parent: int, seat: int, of_chunk: int) -> list[_Part]:
        """Return boards drawn after one, each as likely as the deals it stands for, with what makes up for the rest."""
        street, count = self.streets[index], self._run_outs if index == 1 else 1
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        members = np.diff(street.deals.arrays.member_first[first : last + 1])
        rng = np.random.default_rng([self._seed, self._done, seat, index, of_chunk])
        drawn = first + rng.choice(last - first, size=count, p=members / members.sum())
        times = np.ones(count, np.int64)
        if not street.buckets:  # two threads must not write the tables of one board
            drawn, times = np.unique(drawn, return_counts=True)
        factors = times * members.sum() / (count * members[drawn - first])
        return [(board, board + 1, factor) for board, factor in zip(drawn.tolist(), factors.tolist(), strict=True)]

    def _catch_up(self, street: _Street, board: int, seat: int) -> None:
        """Discount a board's tables for the iterations since it was drawn last."""
        last = int(street.drawn[seat, board])
        street.drawn[seat, board] = self._done
        missed = self._done - last - 1
        if last < 0 or missed == 0:
            return
        gain, loss, decay = self.algorithm.steps(last + 1, missed).prod(axis=0).astype(self._dtype)
        hands, rows = street.deals.arrays.seats[seat], street.size.table_rows[seat]
        table = slice(int(hands.block[board]) * rows, int(hands.block[board + 1]) * rows)
        regrets = street.regrets[seat][table]
        locked = street.layout.locked.any()  # what is given is the same with any factor
        regrets *= np.where(regrets > 0, self._dtype.type(1) if locked else gain, loss)
        if not locked:
            street.sums[seat][table] *= decay

    @functools.cached_property
    def _executor(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._num_workers)


def prepare(*, by_buckets: bool = False) -> None:
    """Compile the kernels that solve with exact cards, or with buckets."""
    buckets = (lambda board: np.zeros(LEDUC.num_combos, np.int64)) if by_buckets else None
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, LEDUC.num_combos)), buckets=buckets)
    solver = VectorSolver(subgame, threads=1)
    solver.run(1)
    solver.evaluate()


def warmup() -> None:
    """Compile every kernel of this module."""
    prepare()
    prepare(by_buckets=True)
