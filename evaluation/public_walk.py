"""Walks the public tree of a heads-up game for the values of best responses and of the agents' own strategies.

The walk visits all betting on every board, and values every combo of both seats. Reach is carried down the tree: the
product of the probabilities of a seat's own actions with each combo, from the strategies that the agents report. Values
are carried up: the value of each combo against the other seat's whole range, with exact card removal. Values are
counterfactual: weighted by the other seat's reach.

Where the agents' play is symmetric in suits, boards of the first deal that differ by a renaming of suits are walked as
one board: in hold'em 1,755 flops stand for all 22,100. Before this deal, two tests rename suits: in the reach of both
seats, and in 100 random questions to the agents about each street from this deal on. If a renaming changes a reach or
an answer, or if the walk begins with cards on the board, all boards are walked. The cards of one deal are shown to
agents in ascending order.
"""

import functools
import math
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END, StreetBetting, street_betting
from plurispiel.abstraction.holdem.boards import MAX_BOARD_CARDS, board_classes, relabel_combos
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker, RankedHands
from plurispiel.abstraction.holdem.showdown_kernels import CARD_SLOTS
from plurispiel.agents.base import Agent, PublicState
from plurispiel.evaluation import _public_walk_kernels as kernels
from plurispiel.evaluation.range_reader import SYMMETRY_TOLERANCE, RangeQuestion, RangeReader

MAX_PUBLIC_STATES = 2_000_000_000
"""Largest public tree, in betting nodes times boards; its walk takes some hours with agents that answer quickly."""

MAX_MEMORY = 8 << 30
"""Bytes that all threads may take together."""

_NUM_CHUNKS = 64
"""The most parts into which boards are split for threads; fixed, so that sums do not depend on the number of threads.
"""

BEST, OWN = kernels.BEST, kernels.OWN

OnProgress = Callable[[int, int], None]


class _ValueWorkspace(NamedTuple):
    """Workspace of `kernels.add_street_values`.

    Attributes
    ----------
    rows : int32[num_rows]
        The rows of the other seat's reach for which values are computed.
    card_mass : float64[CARD_SLOTS, 4]
        Workspace of the showdown kernels.
    mass, margin : float64[num_rows, num_combos]
        For each row of the other seat's reach and each hand, the hand's value at a fold (`mass`) and at a showdown
        (`margin`) with a stake of 1.
    values : float64[2, max_depth + 1, num_combos]
        Values (`BEST`, `OWN`) of the node at each depth whose children are being added.
    started : bool[max_depth + 1]
        For each depth, whether a child of the node at this depth has been added.
    """

    rows: np.ndarray
    card_mass: np.ndarray
    mass: np.ndarray
    margin: np.ndarray
    values: np.ndarray
    started: np.ndarray


class _StreetWork:
    """One thread's arrays for one street.

    Attributes
    ----------
    ranker : HandRanker
        Ranks the hands of a board.
    alive : bool[2, num_rows]
        For each seat and row, whether any of the seat's hands has reach there.
    reach : list of float64[num_rows, num_combos]
        The reach of each seat's hands, in the order of the board's ranked hands; rows are numbered as in `StreetNodes`.
    strategy : float64[num_nodes, num_combos]
        For each hand, the probability of the action that leads to a node.
    sums : float64[num_combos]
        Workspace of `kernels.split_reach`.
    values : _ValueWorkspace
    """

    def __init__(self, rules: HoldemRules, betting: StreetBetting):
        num_rows, width = max(betting.num_rows), rules.num_combos
        self.ranker = HandRanker(rules)
        self.alive = np.zeros((2, num_rows), dtype=np.bool_)
        self.reach = [np.empty((rows, width)) for rows in betting.num_rows]
        self.strategy = np.empty((len(betting.nodes.kind), width))
        self.sums = np.empty(width)
        self.values = _ValueWorkspace(
            rows=np.empty(num_rows, dtype=np.int32),
            card_mass=np.empty((CARD_SLOTS, 4)),
            mass=np.empty((num_rows, width)),
            margin=np.empty((num_rows, width)),
            values=np.empty((2, betting.max_depth + 1, width)),
            started=np.empty(betting.max_depth + 1, dtype=np.bool_),
        )


class _Street:
    """The betting of one street, read by all threads."""

    def __init__(self, betting: StreetBetting):
        self.betting = betting
        nodes = betting.nodes
        # Each question, and the number of the row that holds the reach of the seat to act at this decision.
        self.questions = [
            (RangeQuestion(decision), int(nodes.rows[decision.seat, decision.node])) for decision in betting.decisions
        ]
        self.root_rows = [rows[nodes.parent < 0] for rows in nodes.rows]
        self.end_rows = [rows[nodes.kind == STREET_END] for rows in nodes.rows]
        self.fold_rows = [np.unique(rows[nodes.kind == FOLD_END]) for rows in nodes.rows]
        self.showdown_rows = [np.unique(rows[nodes.kind == SHOWDOWN]) for rows in nodes.rows]


class PublicWalk:
    """The public tree below a state, ready to be walked.

    Parameters
    ----------
    public : PublicState
        A state with a seat to act. If its board lacks the cards of its street, the walk deals these cards first.
    agents : sequence of Agent
        The agent of each seat. The two are separate objects, even if they play the same strategy.
    threads : int
        Number of threads. Boards are walked in parallel; agents are asked one at a time.
    on_progress : callable, optional
        Called whenever some more boards of the first deal are done, with the number of those done so far and the number
        of all boards of this deal.

    Attributes
    ----------
    suit_symmetric : bool or None
        After the walk: whether boards that differ by a renaming of suits were walked as one; None if no cards were
        dealt to an empty board.
    num_boards : int
        After the walk: number of boards of the game's last street that were walked.

    Raises
    ------
    ValueError
        If the game is not heads-up with a menu of raises, or is too large, the agents are not two different instances,
        or `threads` is below 1.
    """

    def __init__(
        self, public: PublicState, agents: Sequence[Agent], *, threads: int, on_progress: OnProgress | None = None
    ):
        if threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        self._rules = rules = public.rules
        self._board = public.board
        self._first_street = public.street
        self._threads = threads
        self._on_progress = on_progress
        self._streets = [_Street(betting) for betting in street_betting(public.betting(), public.actions)]
        self._check_size()
        self._reader = RangeReader(rules, agents)
        self._asking = threading.Lock()
        self.suit_symmetric: bool | None = None
        self.num_boards = 1

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Walk the tree, and return the counterfactual value of each combo of each seat, in chips.

        Parameters
        ----------
        reach : float64[2, num_combos]
            Each seat's reach at the public state; 0 for combos that share a card with the board.

        Returns
        -------
        float64[2, 2, num_combos]
            For each seat, the values of a best response (`BEST`) and of its own agent (`OWN`).

        Raises
        ------
        ValueError
            If an agent reports no well-formed strategy, or its report depends on the order of cards dealt together.
        """
        return self._deal(0, self._board, reach[:, None], None)[:, :, 0]

    def _check_size(self) -> None:
        """Refuse walks that would take days or all memory."""
        rules = self._rules
        boards, states, numbers = 1, 0, 0
        known = len(self._board)
        for number, street in enumerate(self._streets, self._first_street):
            size, num_nodes, rows = rules.board_size(number), len(street.betting.nodes.kind), street.betting.num_rows
            boards *= math.comb(len(rules.cards) - known, size - known)
            known = size
            states += boards * num_nodes
            numbers += (num_nodes + sum(rows) + 2 * max(rows)) * rules.num_combos
        if states > MAX_PUBLIC_STATES:
            raise ValueError(
                f"the public tree has {states:.1e} states (betting nodes times boards), more than "
                f"{MAX_PUBLIC_STATES:.0e}: take a game of one or two streets, or a subgame from the turn on"
            )
        memory = 8 * numbers * self._threads
        if memory > MAX_MEMORY:
            raise ValueError(
                f"the betting tree needs {memory / 2**30:.1f} GiB, more than {MAX_MEMORY >> 30} GiB: take fewer "
                "threads or raises"
            )

    def _workspaces(self, first: int, last: int | None = None) -> list[_StreetWork]:
        """Return one thread's workspaces for the streets from `first` to `last` - 1, or to the last street if None."""
        return [_StreetWork(self._rules, street.betting) for street in self._streets[first:last]]

    def _play(
        self,
        index: int,
        board: tuple[int, ...],
        reach: np.ndarray,
        weight: float,
        totals: np.ndarray,
        workspaces: list[_StreetWork],
        spread: bool = False,
    ) -> None:
        """Add the values at a street's roots on one board to `totals`.

        Parameters
        ----------
        index : int
            The number of the street, counted from the first street of the walk.
        reach : float64[2, num_roots, num_combos]
            Each seat's reach at the roots of the street's betting: the ways in which the street before may end.
        weight : float
            Factor of the values when they are added to `totals`.
        totals : float64[2 seats, 2 kinds, num_roots, num_combos]
            Modified in place. The kinds are `BEST` and `OWN`.
        workspaces : list
            The workspace of this street and, unless `spread`, of each later street.
        spread : bool
            Whether the next deal may use all threads.
        """
        street, work = self._streets[index], workspaces[0]
        nodes = street.betting.nodes
        hands = work.ranker.rank(board)
        # The rows of `work.reach` still hold the reach on the previous board; only rows that are alive are read.
        work.alive[:] = False
        for seat in range(2):
            kernels.gather_reach(hands.combos, reach[seat], street.root_rows[seat], work.reach[seat], work.alive[seat])
        self._ask(street, board, hands, work)
        if street.betting.num_ends:
            end_reach = np.zeros((2, street.betting.num_ends, self._rules.num_combos))
            for seat in range(2):
                kernels.scatter_reach(
                    hands.combos, street.end_rows[seat], work.reach[seat], work.alive[seat], end_reach[seat]
                )
            end_values = self._deal(index + 1, board, end_reach, None if spread else workspaces[1:])
        else:
            end_values = np.empty((2, 2, 0, self._rules.num_combos))
        for seat in range(2):
            facing = kernels.FacingReach(
                work.reach[1 - seat], street.fold_rows[1 - seat], street.showdown_rows[1 - seat]
            )
            kernels.add_street_values(
                nodes,
                hands,
                facing,
                work.alive,
                work.strategy,
                end_values[seat],
                work.values,
                seat,
                weight,
                totals[seat],
            )

    def _ask(self, street: _Street, board: tuple[int, ...], hands: RankedHands, work: _StreetWork) -> None:
        """Read the strategy on one board at each decision whose seat has reach there, and carry this reach down."""
        rows = street.betting.nodes.rows
        strategy, sums = work.strategy, work.sums
        by_seat = [(rows[seat], work.reach[seat], work.alive[seat]) for seat in range(2)]
        # One thread asks all questions of a board while the others compute. If threads alternated after each
        # question, they would mostly wait for the interpreter's lock.
        with self._asking:
            for question, row in street.questions:
                own_rows, reach, alive = by_seat[question.decision.seat]
                if alive[row]:
                    probabilities, columns = self._reader.read(question, board)
                    if not kernels.split_reach(
                        hands.combos, probabilities, columns, own_rows, row, strategy, reach, alive, sums
                    ):
                        raise self._reader.fault(question, board)

    def _deal(
        self, index: int, board: tuple[int, ...], reach: np.ndarray, workspaces: list[_StreetWork] | None
    ) -> np.ndarray:
        """Return the values at a street's roots: the mean over all boards that can be dealt.

        Parameters
        ----------
        index : int
            The number of the street, counted from the first street of the walk.
        board : tuple of int
            The board before the deal.
        reach : float64[2, num_roots, num_combos]
            Each seat's reach at the roots.
        workspaces : list or None
            This thread's workspaces of this street and of each later one; None to use all threads.

        Returns
        -------
        float64[2 seats, 2 kinds, num_roots, num_combos]
            Counterfactual values; the kinds are `BEST` and `OWN`.
        """
        rules = self._rules
        known, size = len(board), rules.board_size(self._first_street + index)
        if workspaces is None and size == known:  # this street deals no cards: threads share the boards of a later deal
            totals = np.zeros((2, 2, *reach.shape[1:]))
            self._play(index, board, reach, 1.0, totals, self._workspaces(index, index + 1), spread=True)
            return totals
        # The number of deals without the hole cards of both seats. `boards` has all deals; a hand that shares a card
        # with a board has no reach there.
        num_deals = math.comb(len(rules.cards) - known - 2 * rules.num_hole_cards, size - known)
        renamings = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
        # Boards are joined at the first deal only: later, a renaming would have to leave the earlier cards in place.
        by_class = known == 0 and 0 < size <= MAX_BOARD_CARDS and self._is_suit_symmetric(index, reach, renamings)
        if known == 0 and size > 0:
            self.suit_symmetric = by_class
        if by_class:
            classes = board_classes(size, rules.num_suits, rules.num_ranks)
            boards = [tuple(cards) for cards in classes.boards.tolist()]
            weights = (classes.sizes / num_deals).tolist()
        else:
            rest = [card for card in rules.cards.tolist() if card not in board]
            boards = [(*board, *cards) for cards in combinations(rest, size - known)]
            weights = [1.0 / num_deals] * len(boards)
        play = functools.partial(self._play_boards, index, boards, weights, reach)
        if workspaces is None:
            self.num_boards = len(boards) * self._num_run_outs(size)
            totals = self._in_threads(index, play, len(boards))
        else:
            totals = play(workspaces, range(len(boards)))
        if by_class:
            # A board stands for its images under all renamings of suits, each equally often. A renaming of a board
            # renames the combos as well.
            images, totals = totals, np.zeros_like(totals)
            for renaming in renamings:
                totals += images[..., renaming]
            totals /= len(renamings)
        return totals

    def _is_suit_symmetric(self, index: int, reach: np.ndarray, renamings: np.ndarray) -> bool:
        """Return whether the tests find no difference between boards that differ by a renaming of suits."""
        if any((np.abs(reach[..., renaming] - reach) > SYMMETRY_TOLERANCE).any() for renaming in renamings):
            return False
        arrives = np.count_nonzero(reach, axis=2)  # [seat, root]
        for later, street in enumerate(self._streets[index:], index):
            asked = [question for question, _ in street.questions]
            if later == index:
                asked = [entry for entry in asked if arrives[entry.decision.seat, entry.decision.root]]
            if not self._reader.is_suit_symmetric(asked, self._first_street + later):
                return False
        return True

    def _num_run_outs(self, known: int) -> int:
        """Return the number of boards of the last street that begin with a given board of `known` cards."""
        rules = self._rules
        count = 1
        for street in range(rules.num_streets):
            size = rules.board_size(street)
            if size > known:
                count *= math.comb(len(rules.cards) - known, size - known)
                known = size
        return count

    def _play_boards(
        self,
        index: int,
        boards: list[tuple[int, ...]],
        weights: list[float],
        reach: np.ndarray,
        workspaces: list[_StreetWork],
        numbers: range,
    ) -> np.ndarray:
        """Return the weighted sum of the values at a street's roots over some boards."""
        totals = np.zeros((2, 2, *reach.shape[1:]))
        for number in numbers:
            self._play(index, boards[number], reach, weights[number], totals, workspaces)
        return totals

    def _in_threads(
        self, index: int, play: Callable[[list[_StreetWork], range], np.ndarray], num_boards: int
    ) -> np.ndarray:
        """Return the sum over chunks of boards, always added in the order of the chunks."""
        size = -(-num_boards // _NUM_CHUNKS)
        chunks = [range(first, min(first + size, num_boards)) for first in range(0, num_boards, size)]
        threads = min(self._threads, len(chunks))
        spare: queue.SimpleQueue[list[_StreetWork]] = queue.SimpleQueue()
        for _ in range(threads):
            spare.put(self._workspaces(index))

        def work(chunk: range) -> np.ndarray:
            workspaces = spare.get()
            try:
                return play(workspaces, chunk)
            finally:
                spare.put(workspaces)

        total: np.ndarray | None = None
        executor = ThreadPoolExecutor(threads)
        try:
            parts: Iterator[np.ndarray] = map(work, chunks) if threads == 1 else executor.map(work, chunks)
            for chunk, part in zip(chunks, parts, strict=True):
                total = part if total is None else total + part
                if self._on_progress is not None:
                    self._on_progress(chunk.stop, num_boards)
        finally:
            executor.shutdown(cancel_futures=True)
        assert total is not None
        return total
