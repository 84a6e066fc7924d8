"""Values of best responses to an agent from one flop on, in a heads-up game with the agent's own betting tree.

All turns, rivers and hands are played. For each seat that responds, the other seat's reach is carried down the betting
tree and values are carried up, board after board (Johanson, Waugh, Bowling and Zinkevich, "Accelerating best response
calculation in large extensive games", IJCAI 2011). A response knows its hand, the board and the betting, and takes the
best action against the whole range, with exact card removal. Boards that differ only by a renaming of suits are dealt
as one board.
"""

import dataclasses
from collections.abc import Callable
from typing import Protocol

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree, build_tree, game_menu, tree_size
from plurispiel.abstraction.actions.tree_kernels import MAX_ACTIONS
from plurispiel.abstraction.holdem import all_in_margins
from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown_kernels import CARD_SLOTS, FIRST_HAND
from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks
from plurispiel.abstraction.machine.threads import run_chunks
from plurispiel.agents.blueprint.acting_rows import ActingRows, StreetRows
from plurispiel.agents.blueprint.agent import is_late
from plurispiel.agents.blueprint.blueprint import Blueprint, game_arrays
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.resolve.deals import Deals, deal_streets
from plurispiel.evaluation import _flop_best_response_kernels as kernels
from plurispiel.evaluation._defence_kernels import defence_workspace
from plurispiel.evaluation._flop_best_response_kernels import FacingRows, ResponseWorkspace, StreetBlocks
from plurispiel.evaluation._live_hands_kernels import live_hands
from plurispiel.evaluation.betting_batches import StreetBatches, street_batches
from plurispiel.evaluation.facing_table import FacingTable, facing_table

__all__ = ["FlopBestResponse", "StrategyRows", "warmup"]

_CHUNK = 4
"""Number of batches that a thread takes at a time."""

OnProgress = Callable[[int, int], None]
"""Called with the number of the final street's boards that are done, and with the number of all its boards.

Every board counts once for each seat that responds.
"""


class StrategyRows(Protocol):
    """The rows of an agent at the decisions of its tree; renaming the suits of hand and board changes no row.

    `defence` is that of a `DefendingAgent`, and 0 if no row depends on the range.
    """

    defence: float

    def preflop(self, node: int) -> np.ndarray:
        """Return the rows of all combos at a decision before the flop: float64[num_combos, num_actions]."""

    def rows_on(self, street: int, boards: list[tuple[int, ...]]) -> tuple[StreetRows, np.ndarray]:
        """Return a street's rows, and the bucket of each combo on each of some boards: int32[num_boards, num_combos].

        All boards extend one board of the previous street. If the rows do not depend on the boards, each call returns
        the same object.

        Raises
        ------
        ValueError
            If the agent's rows on these boards cannot be read.
        """

    def strengths(self, board: tuple[int, ...]) -> np.ndarray:
        """Return the strength by which a combo calls, checks or folds if it has no row: float64[num_combos].

        A combo has no row if its rows at the decision and at all decisions before it are missing (`acting_rows`).
        """

    def strength_order(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return numbers that order combos by their strength, where rows depend on the range: float64[num_combos]."""


class FlopBestResponse:
    """Values of best responses at the roots of a betting tree's flop.

    Parameters
    ----------
    rules : HoldemRules
        Two seats, no board before the flop.
    tree : BettingTree
        The agent's own betting.
    rows : StrategyRows
        The rows of both seats.
    dtype : data type
        float32 or float64. float32 takes half of the time; its error is below a hundredth of a chip.
    threads : int
        Number of threads; results do not depend on it.

    Attributes
    ----------
    roots : int64[num_roots]
        The nodes of the tree at which the flop begins.
    """

    def __init__(
        self,
        rules: HoldemRules,
        tree: BettingTree,
        rows: StrategyRows,
        *,
        dtype: type = np.float64,
        threads: int = 1,
    ):
        self._rules = rules
        self._tree = tree
        self._rows = rows
        self._dtype = np.dtype(dtype)
        self._threads = threads
        self._streets = street_batches(tree, rules.num_streets, self._dtype)
        self.roots = self._streets[0].roots
        self._tables: dict[int, tuple[StreetRows, list[FacingTable]]] = {}

    def memory_bytes(self, num_buckets: tuple[int, ...]) -> int:
        """Return an estimate of the bytes that a flop takes; `num_buckets` is the number of buckets of each street."""
        lanes = sum(
            sum(street.nodes.num_entries[:, street.nodes.shape].sum(axis=0)) * LANES * buckets
            for street, buckets in zip(self._streets, num_buckets[1:], strict=True)
        )
        reach = 2 * LANES * self._rules.num_combos * sum(len(street.members) for street in self._streets)
        pairs = sum(
            int(self._tree.num_actions[(self._tree.street == street) & (self._tree.actor >= 0)].sum()) * buckets
            for street, buckets in enumerate(num_buckets)
        )
        return int((lanes + reach + pairs) * self._dtype.itemsize) + self._places_bytes(num_buckets)

    def _places_bytes(self, num_buckets: tuple[int, ...]) -> int:
        """Return the bytes of the places of buckets at decisions that are defended, by decision and lane by lane."""
        if not self._rows.defence:
            return 0
        first = np.flatnonzero(self._tree.actor >= 0)
        folds = first[self._tree.action[self._tree.first_child[first]] == FOLD]
        late = [street for street in range(len(num_buckets)) if is_late(self._rules, street)]
        places = {street: int((self._tree.street[folds] == street).sum()) * num_buckets[street] for street in late}
        return sum(2 * (2 if num_buckets[street] <= 2**16 else 4) * places[street] for street in late)

    def values(self, flop: tuple[int, ...], reach: np.ndarray, on_progress: OnProgress | None = None) -> np.ndarray:
        """Return the values of best responses at the flop's roots.

        Parameters
        ----------
        flop : tuple of int
        reach : float64[2, num_roots, num_combos]
            The reach of each seat by its own rows before the flop. Combos that differ by a renaming of suits must have
            the same reach.
        on_progress : callable, optional

        Returns
        -------
        float64[2, num_roots, num_combos]
            For each seat that responds, the values weighted by the other seat's reach, but not by the probability of
            the flop. 0 for combos with a card of the flop.

        Raises
        ------
        ValueError
            If `StrategyRows.rows_on` raises one.
        """
        rules = self._rules
        everything = np.ones((2, rules.num_combos))
        deals = deal_streets(rules, 1, flop, everything, np.empty((0, rules.num_combos)), self._dtype)
        walk = _FlopWalk(self, deals, on_progress)
        return walk.values(reach)

    def facing_tables(self, street: int, found: StreetRows) -> list[FacingTable]:
        """Return each seat's rows on a street in the order of batches; the latest result of a street is kept."""
        kept = self._tables.get(street)
        if kept is None or kept[0] is not found:
            kept = (
                found,
                [facing_table(self._tree, self._streets[street - 1], found, seat, self._dtype) for seat in range(2)],
            )
            self._tables[street] = kept
        return kept[1]

    @property
    def streets(self) -> list[StreetBatches]:
        """The batches of every street from the flop on."""
        return self._streets

    @property
    def settings(self) -> tuple[HoldemRules, StrategyRows, np.dtype, int]:
        """The rules, the rows, the type of numbers and the number of threads."""
        return self._rules, self._rows, self._dtype, self._threads


class _FlopWalk:
    """One flop, walked board after board."""

    def __init__(self, response: FlopBestResponse, deals: list[Deals], on_progress: OnProgress | None):
        self._response = response
        self._rules, self._rows, self._dtype, self._threads = response.settings
        self._deals = deals
        self._on_progress = on_progress
        self._num_done = 0
        hands = [np.diff(each.arrays.seats[0].first).max() for each in deals]
        widths = [self._rules.num_combos, *hands]
        # Numbers of blocks by street. `_above_widths` is for a batch, which has a block for each hand on the parent
        # board. `_widths` is for a node: `FIRST_HAND` blocks and one for each hand on the board, rounded up to LANES.
        self._above_widths = [int(width) for width in widths[:-1]]
        self._widths = [LANES * blocks_for(FIRST_HAND + int(width)) for width in hands]
        self._reach, self._totals = (
            [
                empty_blocks(len(street.members) * width, self._dtype)
                for street, width in zip(response.streets, self._above_widths, strict=True)
            ]
            for _ in range(2)
        )
        self._none = empty_blocks(1, self._dtype)

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Return the values at the roots; see `FlopBestResponse.values`."""
        streets, width = self._response.streets, self._above_widths[0]
        found = np.empty_like(reach)
        slots = streets[0].slots
        past = np.zeros((1, self._rules.num_combos), np.int32)
        past[0] = self._rows.rows_on(0, [()])[1][0]
        for seat in range(2):
            self._reach[0][:] = 0.0
            self._totals[0][:] = 0.0
            by_batch = self._reach[0].reshape(-1, width, LANES)
            by_batch[slots // LANES, :, slots % LANES] = reach[1 - seat]
            self._visit(0, seat, 0, past)
            totals = self._totals[0].reshape(-1, width, LANES)
            found[seat] = totals[slots // LANES, :, slots % LANES]
        return found

    def _visit(self, index: int, seat: int, parent: int, past: np.ndarray) -> None:
        """Add, to the totals at the street's roots, the values on all boards that extend a board of the street before.

        Parameters
        ----------
        index : int
            The number of the street, counted from the flop.
        parent : int
            The number of the previous street's board; 0 for the flop.
        past : int32[index + 1, num_combos]
            The bucket of each combo on all earlier streets, the preflop first.
        """
        deals = self._deals[index]
        first, last = (0, 1) if index == 0 else deals.child_first[parent : parent + 2].tolist()
        numbers = np.array([first, last])
        facing = self._facing(index, seat, first, last, past)
        if index + 1 == len(self._deals):
            self._respond(index, facing, seat, numbers)
            self._num_done += last - first
            if self._on_progress is not None:
                self._on_progress(self._num_done, 2 * len(deals.boards))
            return
        street = self._response.streets[index]
        whole = np.array([0, len(street.members)])
        for board in range(first, last):
            here = np.concatenate((past, self._buckets_on(index, facing, board)[None]))
            self._reach[index + 1][:] = 0.0
            self._totals[index + 1][:] = 0.0
            kernels.descend(
                street.nodes,
                deals.arrays,
                facing,
                seat,
                whole,
                board,
                self._blocks(index),
                self._workspace(index, facing),
            )
            self._visit(index + 1, seat, board, here)
            self._respond(index, facing, seat, np.array([board, board + 1]))

    def _blocks(self, index: int) -> StreetBlocks:
        """Return the reach and the values at both borders of a street."""
        is_last = index + 1 == len(self._deals)
        return StreetBlocks(
            self._reach[index],
            self._totals[index],
            self._above_widths[index],
            self._none if is_last else self._reach[index + 1],
            self._none if is_last else self._totals[index + 1],
            0 if is_last else self._above_widths[index + 1],
        )

    def _respond(self, index: int, facing: FacingRows, seat: int, boards: np.ndarray) -> None:
        """Add the values at the roots of a street on some boards, with all threads."""
        nodes, blocks = self._response.streets[index].nodes, self._blocks(index)

        def worker() -> Callable[[slice], None]:
            work = self._workspace(index, facing)

            def respond(part: slice) -> None:
                kernels.respond(
                    nodes,
                    self._deals[index].arrays,
                    facing,
                    seat,
                    np.array([part.start, part.stop]),
                    boards,
                    blocks,
                    work,
                )

            return respond

        run_chunks(worker, len(nodes.shape), chunk=_CHUNK, threads=self._threads)

    def _facing(self, index: int, seat: int, first: int, last: int, past: np.ndarray) -> FacingRows:
        """Return the opponent's rows on the boards ``first..last - 1`` of a street."""
        deals = self._deals[index]
        boards = deals.boards[first:last]
        rows, by_board = self._rows.rows_on(index + 1, boards)
        table = self._response.facing_tables(index + 1, rows)[1 - seat]
        hands = deals.arrays.seats[0]
        buckets = np.zeros(len(hands.combos), np.int32)
        strengths = np.zeros((1, self._rules.num_combos))
        for number in range(first, last):
            part = slice(hands.first[number], hands.first[number + 1])
            buckets[part] = by_board[number - first][hands.combos[part]]
        if len(table.numbers) > 0:
            strengths = np.zeros((last, self._rules.num_combos))
            for number in range(first, last):
                strengths[number] = self._rows.strengths(deals.boards[number])
        defended = table.defended
        if len(defended.numbers) > 0:
            order, ranks = np.zeros_like(hands.combos), np.zeros_like(hands.combos)
            for number in range(first, last):
                part = slice(hands.first[number], hands.first[number + 1])
                strengths_here = self._rows.strength_order(deals.boards[number], index + 1)[hands.combos[part]]
                order[part] = np.argsort(-strengths_here, kind="stable")
                ranks[part] = np.unique(-strengths_here, return_inverse=True)[1][order[part]]
            defended = defended._replace(order=order, ranks=ranks)
        here = np.concatenate((past, np.zeros((1, self._rules.num_combos), np.int32)))
        return FacingRows(
            table.table,
            table.table_first,
            buckets,
            table.open_first,
            table.numbers,
            table.places,
            rows.earlier,
            here,
            strengths,
            defended,
        )

    def _buckets_on(self, index: int, facing: FacingRows, board: int) -> np.ndarray:
        """Return the bucket of each combo on a board, 0 for combos that share a card with it: int32[num_combos]."""
        hands = self._deals[index].arrays.seats[0]
        part = slice(hands.first[board], hands.first[board + 1])
        buckets = np.zeros(self._rules.num_combos, np.int32)
        buckets[hands.combos[part]] = facing.buckets[part]
        return buckets

    def _workspace(self, index: int, facing: FacingRows) -> ResponseWorkspace:
        """Return one thread's scratch memory on a street."""
        depths, width = self._response.streets[index].max_depth + 1, self._widths[index]
        return ResponseWorkspace(
            live_hands(width, int(facing.buckets.max()) + 1),
            empty_blocks(depths * width, self._dtype),
            empty_blocks(depths * width, self._dtype),
            np.zeros(depths, np.int64),
            np.zeros(depths, np.bool_),
            empty_blocks(CARD_SLOTS, self._dtype),
            empty_blocks(width, self._dtype),
            np.empty(MAX_ACTIONS),
            defence_workspace(facing.defended, width, self._dtype),
        )


def warmup() -> None:
    """Compile every kernel that this module calls, for float32 and packed blueprints.

    Other types of numbers and of stored rows, as in small games, are compiled on first use.
    """
    all_in_margins.warmup()
    rules = dataclasses.replace(
        LEDUC, first_seats=(0, 0, 0), board_cards=(0, 1, 1), raise_sizes=(2, 4, 4), max_raises=(0, 0, 0)
    )
    size, tree = tree_size(rules, game_menu(rules)), build_tree(rules, game_menu(rules))
    cards = lossless_buckets(rules)
    game = game_arrays(rules, size, cards.num_buckets)
    stored = np.zeros(int(game.base[-1]), np.uint8)
    stored.setflags(write=False)  # as mapped files are
    rows = ActingRows(Blueprint(rules, tree, cards, game, stored), np.float32)
    response = FlopBestResponse(rules, tree, rows, dtype=np.float32)
    response.values((0,), np.ones((2, len(response.roots), rules.num_combos)))
    rows.strategy(int(response.roots[0]), (0,))
