"""Search with any number of players: Monte Carlo CFR on one street, roll-outs of continuations behind it.

Players who have folded leave their chips in the pot; what their cards would have told is forgotten. The tree ends with
the street, or right behind its second raise, unless that is before the flop or on the last street; there each player
who can still act chooses one of the continuation policies of the blueprint (`continuations`), unseen by the others.
Where the blueprint's tree has no such place, bets are answered without raises, and the hands are checked down.

References
----------
N. Brown and T. Sandholm: Superhuman AI for multiplayer poker, supplementary material. Science 365 (2019).
"""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu
from plurispiel.abstraction.holdem.hand_rank import rank_tables
from plurispiel.abstraction.holdem.rules import MAX_SEATS, HoldemRules
from plurispiel.abstraction.machine.xoshiro import xoshiro_stream
from plurispiel.agents.blueprint.roll_outs import RollOutWorkspace, roll_out_workspace
from plurispiel.agents.search import _multiway_kernels as kernels
from plurispiel.agents.search._multiway_kernels import DECISION, LEAF
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.continuations import BIAS, CONTINUATIONS
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.street_tree import StreetBetting
from plurispiel.agents.search.subgame import (
    MOST_RAISES,
    Added,
    Clock,
    NodeStrategy,
    Path,
    Root,
    StreetSolution,
    believed,
    played_rows,
)

__all__ = ["MultiwaySolver", "NoHandsMeet", "prepare", "solve_multiway"]

DEALS = 8
"""Every player's traversals that make up an iteration of a search; vector CFR's take about as long. Of so many one
counts for the averages: to add all decisions up takes longer than to walk through those that are met."""

_MAX_ITERATIONS = 100_000

_WARM_START = 300.0
"""Regrets of a warm start for one elsewhere: here those of an iteration are weighted by its number."""


class NoHandsMeet(ValueError):
    """The ranges of a street's players have no hands that share no card."""


class StreetGame(NamedTuple):
    """What is fixed while a street is searched: its board cards, whether there are leaves, and the deck: uint8[n]."""

    num_dealt: int
    has_leaves: bool
    deck: np.ndarray


class MultiwayWorkspace(NamedTuple):
    """Memory of one thread.

    Attributes
    ----------
    held, known : int64[num_seats]
        The combos that were dealt, -1 for nobody's, and their ranks.
    used : bool[256]
        Cards.
    boards, ranks, buckets, free
        The one board that was dealt, and what it makes of all combos, as in `Worlds`.
    hands : int32[num_combos]
        The traverser's.
    below : float64[depth + 1, max_actions, num_combos]
        What its actions are worth; the last for leaves.
    nodes, numbers : int64[depth]
        Its open decisions, and the action that is followed.
    values, totals, counts : float64[num_combos]
    strategy : float64[max_actions]
    ends : float64[2 * MAX_SEATS + 1]
    biases, tree_held : int64[num_seats of the blueprint]
    reach : float64[num_rows, num_combos]
    roll : RollOutWorkspace
    """

    held: np.ndarray
    known: np.ndarray
    used: np.ndarray
    boards: np.ndarray
    ranks: np.ndarray
    buckets: np.ndarray
    free: np.ndarray
    hands: np.ndarray
    below: np.ndarray
    nodes: np.ndarray
    numbers: np.ndarray
    values: np.ndarray
    totals: np.ndarray
    counts: np.ndarray
    strategy: np.ndarray
    ends: np.ndarray
    biases: np.ndarray
    tree_held: np.ndarray
    reach: np.ndarray
    roll: RollOutWorkspace


class _Worker(NamedTuple):
    """A thread's random numbers, uint64[4], and memory."""

    stream: np.ndarray
    work: MultiwayWorkspace


class MultiwaySolver:
    """Solves a street for any number of ranges.

    Parameters
    ----------
    state : BettingState
        Of the table, at the first decision of a street or a later one.
    board : tuple of int
    beliefs : float64[num_seats, num_combos]
        Of seats that have not folded: how likely each combo is, by itself.
    menu : callable
        The raises on offer.
    continuations : Continuations
    history : tuple of int
        Actions of the hand before that.
    most_raises : int
        Behind so many of them a street that is not the last one ends.
    seen : tuple of int
        As `StreetBetting` takes it.
    frozen : mapping of Path to float64[num_combos, num_actions], optional
        Strategies that decisions are held to; rows of NaN are free.
    seed : int
    with_choices : bool
        Whether `choices` will be asked for: nothing else needs their averages, which may take much memory.
    threads : int
        With one, the same seed gives the same strategies. More deal and learn side by side, each on its own, in the
        same tables without locks: now and then one overwrites what another has just learnt.

    Attributes
    ----------
    iteration : int
        Iterations done; each traverses once for every seat that can act.
    num_decisions : int

    Raises
    ------
    ValueError
        If the street has no decision, or more than `street_tree.MAX_NODES` nodes.
    NoHandsMeet
        If no hands were found that can meet.
    """

    def __init__(
        self,
        state: BettingState,
        board: tuple[int, ...],
        beliefs: np.ndarray,
        menu: RaiseMenu,
        continuations: Continuations,
        history: tuple[int, ...] = (),
        *,
        most_raises: int = MOST_RAISES,
        seen: Path = (),
        frozen: Mapping[Path, np.ndarray] | None = None,
        seed: int = 1,
        with_choices: bool = False,
        threads: int = 1,
    ):
        rules = state.rules
        if state.is_over:
            raise ValueError("a street is searched from its first decision on, and the hand is over")
        self.iteration = 0
        self._rules, self._continuations = rules, continuations
        self._board, self._history = board, history
        held = ~np.isin(rules.combos, board).any(axis=1)
        self._beliefs = np.where(held, beliefs, 0.0)
        self._cumulative = np.cumsum(self._beliefs, axis=1)
        self._live = sum(1 << seat for seat, folded in enumerate(state.folded) if not folded)
        self._seats = [seat for seat in range(rules.num_seats) if int(state.array[betting.ACTING]) >> seat & 1]
        street = StreetBetting(state, menu, continuations, history, most_raises, seen)
        self._paths = street.paths
        self._actions = street.actions
        self._tree, num_cells = street.arrays(rules.num_combos, frozen or {})
        self.num_decisions = len(street.actions)
        self._num_kept = rules.num_combos * street.num_pairs
        self._regrets = np.zeros(num_cells, np.float32)
        self._sums = np.zeros(num_cells if with_choices else self._num_kept, np.float32)
        self._frozen = np.full(self._num_kept, -1.0, np.float32)
        for path, rows in (frozen or {}).items():
            node = street.paths[path]
            first = int(self._tree.tables[node, self._tree.actors[node]])
            self._frozen[first : first + rows.size] = np.nan_to_num(rows, nan=-1.0).ravel()
        self._game = StreetGame(len(board), bool((self._tree.kinds == LEAF).any()), np.array(rules.cards, np.uint8))
        self._combos = np.array(rules.combos)
        self._workers = [
            _Worker(xoshiro_stream(np.random.SeedSequence([seed, number])), self._workspace(board, street.depth))
            for number in range(threads)
        ]
        can_meet = all(self._cumulative[seat, -1] > 0.0 for seat in range(rules.num_seats) if self._live >> seat & 1)
        if not (can_meet and self._deal(-1, self._workers[0])):
            raise NoHandsMeet("the ranges have no hands that can meet on this board")

    def run(self, num_iterations: int, *, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Do so many iterations more, or fewer."""
        numbers = iter(range(self.iteration + 1, self.iteration + num_iterations + 1))

        def learn(worker: _Worker) -> int:
            count = 0
            while goes_on() and (number := next(numbers, 0)):  # one iterator for all: each is taken once
                for seat in self._seats:
                    self._traverse(seat, number, worker)
                count += 1
            return count

        if len(self._workers) == 1:
            self.iteration += learn(self._workers[0])
            return
        with ThreadPoolExecutor(len(self._workers)) as executor:
            self.iteration += sum(executor.map(learn, self._workers))

    def warm_start(self, planned: PlannedRows, weight: float) -> None:
        """Begin with a blueprint's strategies.

        Parameters
        ----------
        planned : PlannedRows
        weight : float
            Regrets of an action that is always taken, as a share of the pot.

        Raises
        ------
        ValueError
            If there were iterations before.
        """
        if self.iteration:
            raise ValueError(f"a warm start comes before all iterations, and there were {self.iteration:,}")
        for path in self.paths:
            node = self._paths[path]
            actions, pot = self._actions[node], int(self._tree.contributions[node].sum())
            rows = planned.rows((*self._history, *path), actions, self._board)
            if rows is not None:
                first = int(self._tree.tables[node, self._tree.actors[node]])
                self._regrets[first : first + rows.size] = weight * pot * rows.ravel()

    def finish(self) -> None:
        """Keep only what `strategies` tells; there are no more iterations."""
        self._workers = []
        if self._num_kept < len(self._regrets):
            self._regrets = self._regrets[: self._num_kept].copy()

    def strategies(self, path: Path) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
        """Return a decision's actions, the average strategy and the current one: float64[num_combos, num_actions].

        NaN for combos that the seat is not believed to hold.
        """
        node = self._paths[path]
        actions, seat = self._actions[node], self.seat(path)
        first = int(self._tree.tables[node, seat])
        held = self._frozen[first : first + self._rules.num_combos * len(actions)].reshape(-1, len(actions))
        tables = (self._rows(table, node, seat, len(actions)) for table in (self._sums, self._regrets))
        average, current = (np.where((held >= 0.0) & ~np.isnan(rows), held, rows) for rows in tables)
        return actions, average, current

    def choices(self, path: Path, seat: int) -> np.ndarray | None:
        """Return which continuations a seat has chosen behind some actions: float64[num_combos, num_policies].

        None where it has no choice: not at a leaf, or with nothing left to do.
        """
        node = self._paths[path]
        if self._tree.kinds[node] != LEAF or self._tree.tables[node, seat] < 0:
            return None
        return self._rows(self._sums, node, seat, self._continuations.num_policies)

    def seat(self, path: Path) -> int:
        """Return the seat that decides behind some actions of the street."""
        return int(self._tree.actors[self._paths[path]])

    @property
    def paths(self) -> tuple[Path, ...]:
        """What leads to each decision."""
        return tuple(path for path, node in self._paths.items() if self._tree.kinds[node] == DECISION)

    def _rows(self, table: np.ndarray, node: int, seat: int, num_entries: int) -> np.ndarray:
        """Return the strategies in proportion to a table."""
        first = int(self._tree.tables[node, seat])
        cells = slice(first, first + self._rules.num_combos * num_entries)
        rows = np.maximum(table[cells].reshape(-1, num_entries).astype(np.float64), 0.0)
        totals = rows.sum(axis=1, keepdims=True)
        rows = np.where(totals > 0.0, rows / np.where(totals > 0.0, totals, 1.0), 1.0 / num_entries)
        rows[self._beliefs[seat] <= 0.0] = np.nan
        return rows

    def _deal(self, seat: int, worker: "_Worker") -> bool:
        """Deal hands to everybody but one seat, and the board; return whether hands that share no card were found."""
        place = self._game, self._combos, self._live, seat, self._cumulative
        return bool(kernels.deal_others(*place, *worker))

    def _traverse(self, seat: int, number: int, worker: "_Worker") -> None:
        if not self._deal(seat, worker):
            return  # others will be found
        tree, after, own = self._tree, self._continuations, self._beliefs[seat]
        num_policies, tables, weight = after.num_policies, (self._regrets, self._frozen), float(number)
        place = self._combos, self._game, after.tables.game, after.cards, self._beliefs, seat
        count = kernels.prepare_deal(rank_tables(), *place, worker.work)
        kernels.learn(tree, after.tables, seat, num_policies, BIAS, weight, count, *tables, *worker)
        if number % DEALS == 1:
            kernels.add_averages(tree, seat, num_policies, weight, own, *tables, self._sums, worker.work)

    def _workspace(self, board: tuple[int, ...], depth: int) -> MultiwayWorkspace:
        rules, after = self._rules, self._continuations
        combos, in_tree = rules.num_combos, after.rules
        widest = max(int(self._tree.num_actions.max()), len(CONTINUATIONS))
        boards = np.zeros((1, rules.num_board_cards), np.uint8)
        boards[0, : len(board)] = board
        return MultiwayWorkspace(
            held=np.full(rules.num_seats, -1, np.int64),
            known=np.full(rules.num_seats, -1, np.int64),
            used=np.zeros(256, np.bool_),
            boards=boards,
            ranks=np.zeros((1, combos), np.uint16),
            buckets=np.zeros((1, in_tree.num_streets, combos), np.int32),
            free=np.zeros(combos, np.bool_),
            hands=np.zeros(combos + 1, np.int32),
            below=np.zeros((depth + 1, widest, combos)),
            nodes=np.zeros(max(depth, 1), np.int64),
            numbers=np.zeros(max(depth, 1), np.int64),
            values=np.zeros(combos),
            totals=np.zeros(combos),
            counts=np.zeros(combos),
            strategy=np.zeros(widest),
            ends=np.zeros(2 * MAX_SEATS + 1),
            biases=np.zeros(in_tree.num_seats, np.int64),
            tree_held=np.full(in_tree.num_seats, -1, np.int64),
            reach=np.zeros((int(self._tree.reach_rows.max()) + 1, combos)),
            roll=roll_out_workspace(in_tree, after.depth),
        )


class SolvedNodes(Mapping[Path, NodeStrategy]):
    """The decisions of a street, each made from the solver's tables when it is first asked for.

    Parameters
    ----------
    solver : MultiwaySolver
        Finished.
    config : SearchConfig
    frozen : mapping of Path to float64[num_combos, num_actions]
        As in `StreetSolution`.
    """

    def __init__(self, solver: MultiwaySolver, config: SearchConfig, frozen: Mapping[Path, np.ndarray]):
        self._solver, self._config, self._frozen = solver, config, frozen
        self._made: dict[Path, NodeStrategy] = {}

    def __getitem__(self, path: Path) -> NodeStrategy:
        if path not in self._made:
            actions, average, final = self._solver.strategies(path)
            rows = played_rows(self._config, average, final, self._frozen.get(path))
            self._made[path] = NodeStrategy(actions, *rows)
        return self._made[path]

    def __iter__(self) -> Iterator[Path]:
        return iter(self._solver.paths)

    def __len__(self) -> int:
        return self._solver.num_decisions


def solve_multiway(
    root: Root,
    config: SearchConfig,
    continuations: Continuations,
    planned: PlannedRows,
    history: Path,
    path: Path,
    *,
    added: Added,
    frozen: Mapping[Path, np.ndarray],
    began: float,
    deadline: float,
) -> StreetSolution:
    """Solve a street, or what is left of one, for any number of players.

    Parameters
    ----------
    root : Root
        As `is_multiway` allows.
    planned : PlannedRows
        What the blueprint would do.
    history : Path
        Actions before the root.
    path : Path
        Those since then that have been seen: the subgame ends no earlier than behind one more raise. If the street is
        too large, what others might have done instead is followed by no raises.
    added, frozen
        As in `StreetSolution`.
    began, deadline : float
        By `time.perf_counter`: when work on it began, and when the answer is due.
    """
    state = root.state
    beliefs = np.zeros_like(root.beliefs)
    beliefs[list(root.live_seats)] = believed(root, root.live_seats, config.doubt)
    menu = root.game.menu(config, added)
    most_raises = max(root.game.most_raises, 1 + root.num_raises + sum(action > CALL for action in path))

    def make(ranges: np.ndarray) -> MultiwaySolver:
        place = state, root.board, ranges, menu, continuations, history
        threads = 1 if config.iterations else config.num_threads
        return MultiwaySolver(*place, most_raises=most_raises, seen=path, frozen=frozen, threads=threads)

    try:
        solver = make(beliefs)
    except NoHandsMeet:  # beliefs that rule each other out; with any hands alike the rest has to be in order
        beliefs = np.ones_like(beliefs)
        solver = make(beliefs)
    if config.warm_start:
        solver.warm_start(planned, _WARM_START * config.warm_start)
    if config.iterations:
        solver.run(config.iterations * DEALS)
    else:
        solver.run(_MAX_ITERATIONS, goes_on=Clock(deadline))
    solver.finish()
    return StreetSolution(
        root,
        SolvedNodes(solver, config, frozen),
        added,
        frozen,
        solver.num_decisions,
        -(-solver.iteration // DEALS),
        time.perf_counter() - began,
        None,
        tuple(int(np.count_nonzero(beliefs[seat])) for seat in root.live_seats),
    )


def prepare(continuations: Continuations, rules: HoldemRules) -> None:
    """Compile the kernels for a game and its continuations, by a search where everybody has called."""
    state, history = BettingState(rules), []
    while state.street == 0:
        history.append(CALL)
        state.apply_legal(CALL)
    if state.is_over:  # nobody has chips for a raise that two others could answer
        return
    board = tuple(rules.cards[: rules.board_size(state.street)].tolist())
    beliefs = np.ones((rules.num_seats, rules.num_combos))
    MultiwaySolver(state, board, beliefs, lambda rules, array: (), continuations, tuple(history)).run(1)
