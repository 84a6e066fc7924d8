"""Search with any number of players: Monte Carlo CFR on one street, with roll-outs of continuation strategies after it.

The tree ends with the street. On streets between the first and the last, the tree also ends after a certain number of
raises (`root.MAX_RAISES`). If the hand goes on after such an end, the end is a leaf: each player who can still act
chooses a continuation strategy of the blueprint (`continuations`), unseen by the others. If the blueprint's tree has no
node for a leaf after a raise, the seats that still have to answer may only fold or call. If the blueprint's tree
has no node for the start of the next street, the hands are checked down.

References
----------
N. Brown and T. Sandholm: Superhuman AI for multiplayer poker, supplementary material. Science 365 (2019).
"""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, MAX_SEATS, HoldemRules
from plurispiel.abstraction.machine.xoshiro import xoshiro_stream
from plurispiel.agents.blueprint.roll_out_kernels import EVERY_ACTION
from plurispiel.agents.blueprint.roll_outs import RollOutWorkspace, roll_out_workspace
from plurispiel.agents.blueprint.untrained import untrained_blueprint
from plurispiel.agents.search import _multiway_kernels as kernels
from plurispiel.agents.search._multiway_kernels import DECISION, LEAF, StreetTables
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.continuations import BIAS, CONTINUATIONS
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.root import MAX_RAISES, AddedRaises, Root, search_ranges
from plurispiel.agents.search.solution import Clock, SearchedNode, StreetSolution, believed_and_played
from plurispiel.agents.search.street_tree import Path, SearchBetting

__all__ = ["DEALS", "MultiwaySolver", "MultiwaySubgame", "NoCompatibleHands", "prepare", "solve_multiway"]

DEALS = 8
"""Traversals for each seat in one iteration of a search, which together take about as long as an iteration of vector
CFR. Averages are updated once in this number of traversals: an update visits all decisions and takes longer than a
traversal, which visits few."""

_MAX_ITERATIONS = 100_000

_WARM_START = 300.0
"""The factor by which a warm start's regrets are larger here than in a two-player search.

Here the regrets that an iteration adds are multiplied by the iteration's number, so a warm start needs larger ones."""


class NoCompatibleHands(ValueError):
    """The ranges of a street's players have no compatible hands."""


@dataclass(frozen=True, eq=False)
class MultiwaySubgame:
    """The rest of a street, for any number of players.

    Attributes
    ----------
    state : BettingState
        The table's state, at a decision.
    board : tuple of int
        The board cards at the state.
    beliefs : float64[num_seats, num_combos]
        Each live seat's range. The weight of a deal is the product of its combos' weights; 0 if combos share a card.
    menu : callable
        Maps the rules and a betting state array to the raises on offer.
    history : tuple of int
        Actions of the hand before the state.
    max_raises : int
        Number of raises on the street after which the tree ends in leaves, unless the street is the last one.
    seen : tuple of int
        Actions taken since the state; see `SearchBetting`.
    frozen : mapping of Path to float64[num_combos, num_actions]
        The frozen strategy of each frozen decision; rows of NaN are free.
    """

    state: BettingState
    board: tuple[int, ...]
    beliefs: np.ndarray
    menu: RaiseMenu
    history: Path = ()
    max_raises: int = MAX_RAISES
    seen: Path = ()
    frozen: Mapping[Path, np.ndarray] = field(default_factory=dict)


class StreetGame(NamedTuple):
    """The constants of a street's search.

    Attributes
    ----------
    num_dealt : int
        Number of board cards at the root.
    has_leaves : bool
        Whether any node of the street is a leaf.
    deck : uint8[num_cards]
        All cards of the game.
    combos : uint8[num_combos, num_hole_cards]
        The cards of each combo.
    num_policies : int
        Number of continuation strategies at a leaf.
    bias : float
        The factor that a continuation strategy puts on the probability of its preferred action.
    """

    num_dealt: int
    has_leaves: bool
    deck: np.ndarray
    combos: np.ndarray
    num_policies: int
    bias: float


class MultiwayWorkspace(NamedTuple):
    """Memory of one thread.

    Attributes
    ----------
    dealt, dealt_ranks : int64[num_seats]
        The combo dealt to each seat, or -1 for a seat without cards, and the hand rank of that combo on the dealt
        board.
    used : bool[256]
        Scratch: whether each card is taken.
    boards, ranks, buckets
        The one board that was dealt, and the ranks and buckets of all combos on this board, as in `Worlds`.
    free : bool[num_combos]
        Whether each combo is in the traverser's range and shares no card with the board or the hands dealt.
    hands : int32[num_combos + 1]
        The combos marked in `free` come first; the remaining entries have no meaning.
    below : float64[depth + 1, max_actions, num_combos]
        For each of the traverser's decisions on the current path, the values of its actions; the last level is for
        choices at leaves.
    nodes, numbers : int64[depth]
        The traverser's decisions on the current path, and at each decision the index of the action being followed.
    values : float64[num_combos]
        The values of the traverser's hands at the node just finished.
    totals, counts : float64[num_combos]
        The sums of a leaf's roll-outs, see `RollOutSums`.
    strategy, ends
        Scratch of `learn` and `add_averages`.
    biases, tree_dealt : int64[num_seats of the blueprint]
        The continuation strategy and the combo of each seat of the blueprint's tree.
    reach : float64[num_rows, num_combos]
        One seat's reach, in the rows of `StreetTree.reach_rows`.
    reaches : float64[num_combos]
        The reach of all combos in roll-outs, which follow all their actions: `roll_out_kernels.EVERY_ACTION`.
    roll : RollOutWorkspace
        The stack of a roll-out.
    """

    dealt: np.ndarray
    dealt_ranks: np.ndarray
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
    tree_dealt: np.ndarray
    reach: np.ndarray
    reaches: np.ndarray
    roll: RollOutWorkspace


class _Worker(NamedTuple):
    """The state of a thread's random numbers, uint64[4], and the thread's memory."""

    stream: np.ndarray
    work: MultiwayWorkspace


class MultiwaySolver:
    """Solves a street for any number of players.

    Parameters
    ----------
    subgame : MultiwaySubgame
        The street to solve.
    continuations : Continuations
        The continuation strategies at the leaves.
    seed : int
        Seed of all deals and draws.
    with_choices : bool
        Whether to keep the averages that `choices` returns. Nothing else needs them, and they may take much memory.
    threads : int
        With one thread, the same seed gives the same strategies. Several threads share the tables without locks: now
        and then a thread overwrites a regret that another thread has just written.

    Attributes
    ----------
    iteration : int
        Iterations done; each traverses the street once for every seat that can act. `DEALS` of these iterations count
        as a single iteration in `SearchConfig.iterations`.
    num_decisions : int
        Number of decisions in the street's tree.

    Raises
    ------
    ValueError
        If the hand is over, nobody has a decision on the street, or the menu returns None. Also if the street has more
        than `street_tree.MAX_NODES` nodes and `subgame.seen` is empty.
    NoCompatibleHands
        If no compatible hands of the live seats were found.
    """

    def __init__(
        self,
        subgame: MultiwaySubgame,
        continuations: Continuations,
        *,
        seed: int = 1,
        with_choices: bool = False,
        threads: int = 1,
    ):
        state, rules = subgame.state, subgame.state.rules
        if state.is_over:
            raise ValueError("a search begins at a decision, but the hand is over")
        self.iteration = 0
        self._subgame, self._rules, self._continuations = subgame, rules, continuations
        # Weight on blocked combos would only make `deal_others` draw and reject them.
        self._beliefs = np.where(rules.free_combos(subgame.board), subgame.beliefs, 0.0)
        self._cumulative = np.cumsum(self._beliefs, axis=1)
        self._live = sum(1 << seat for seat, folded in enumerate(state.folded) if not folded)
        # All-in seats are dealt hands, but decide nothing: no traversal is for them.
        self._seats = [seat for seat in range(rules.num_seats) if int(state.array[betting.ACTING]) >> seat & 1]
        street = SearchBetting(
            state, subgame.menu, continuations, subgame.history, max_raises=subgame.max_raises, seen=subgame.seen
        )
        self._nodes = street.paths
        self._actions = street.actions
        self._tree, num_cells = street.arrays(rules.num_combos, subgame.frozen)
        self.num_decisions = len(street.actions)
        self._num_kept = rules.num_combos * street.num_pairs
        # Frozen rows hold probabilities, free rows -1. Kernels look at the sign of a row's first cell.
        self._tables = StreetTables(np.zeros(num_cells, np.float32), np.full(self._num_kept, -1.0, np.float32))
        self._sums = np.zeros(num_cells if with_choices else self._num_kept, np.float32)
        for path, rows in subgame.frozen.items():
            node = street.paths[path]
            first = int(self._tree.tables[node, self._tree.actors[node]])
            self._tables.frozen[first : first + rows.size] = np.nan_to_num(rows, nan=-1.0).ravel()
        self._game = StreetGame(
            num_dealt=len(subgame.board),
            has_leaves=bool((self._tree.kinds == LEAF).any()),
            deck=np.array(rules.cards, np.uint8),
            combos=np.array(rules.combos),
            num_policies=continuations.num_policies,
            bias=BIAS,
        )
        self._workers = [
            _Worker(xoshiro_stream(np.random.SeedSequence([seed, number])), self._workspace(street.depth))
            for number in range(threads)
        ]
        # Ranges that all have hands need not have compatible hands: only a deal to all seats shows whether they have.
        have_hands = all(self._cumulative[seat, -1] > 0.0 for seat in range(rules.num_seats) if self._live >> seat & 1)
        if not (have_hands and self._deal(-1, self._workers[0])):
            raise NoCompatibleHands("the ranges have no compatible hands on this board")

    def run(self, num_iterations: int, *, goes_on: Callable[[], bool] = lambda: True) -> None:
        """Do up to `num_iterations` more iterations, while `goes_on` returns True."""
        numbers = iter(range(self.iteration + 1, self.iteration + num_iterations + 1))

        def learn(worker: _Worker) -> int:
            count = 0
            while goes_on() and (number := next(numbers, 0)):  # all threads take their numbers from one iterator
                for seat in self._seats:
                    # Seat after seat, as in Algorithm 1 of the supplement: each seat answers to regrets just updated.
                    self._traverse(seat, number, worker)
                count += 1
            return count

        if len(self._workers) == 1:
            self.iteration += learn(self._workers[0])
            return
        with ThreadPoolExecutor(len(self._workers)) as executor:
            self.iteration += sum(executor.map(learn, self._workers))

    def sample_values(self, seat: int) -> np.ndarray:
        """Do one traversal for a seat, which also learns, and return the values: float64[num_combos], in chips.

        These are sampled values of the seat's hands: NaN for hands outside the seat's range or ruled out by the deal,
        and for all hands if no deal was found.
        """
        worker = self._workers[0]
        if not self._traverse(seat, self.iteration + 1, worker):
            return np.full(self._rules.num_combos, np.nan)
        return np.where(worker.work.free, worker.work.values, np.nan)

    def warm_start(self, planned: PlannedRows, weight: float) -> None:
        """Begin with a blueprint's strategies.

        A decision begins with equal probabilities if the blueprint has no strategy for it. So does a decision at which
        an action was seen that the blueprint takes with no hand of the range.

        Parameters
        ----------
        planned : PlannedRows
        weight : float
            The regret of an action that the blueprint takes with probability 1, as a multiple of the decision's pot.

        Raises
        ------
        ValueError
            If there were iterations before.
        """
        if self.iteration:
            raise ValueError(f"a warm start comes before all iterations, and there were {self.iteration:,}")
        for path in self.paths:
            node = self._nodes[path]
            actions, pot = self._actions[node], int(self._tree.contributions[node].sum())
            rows = planned.rows((*self._subgame.history, *path), actions, self._subgame.board)
            # Regrets for the other actions alone would keep traversals away from the decisions after the action seen,
            # and one of these decisions is the one that the search is for.
            if rows is not None and not self._excludes_seen(path, actions, rows):
                # Regret matching plays in proportion to regrets, so the first strategy is the blueprint's. The regrets
                # set here are proportional to the pot, since the regrets that iterations add grow with the pot, too.
                first = int(self._tree.tables[node, self._tree.actors[node]])
                self._tables.regrets[first : first + rows.size] = weight * pot * rows.ravel()

    def finish(self) -> None:
        """Free the memory that only iterations need: no further iterations can follow."""
        self._workers = []
        # The cells of choices at leaves come after those of decisions, and are not needed once the street is solved.
        if self._num_kept < len(self._tables.regrets):
            self._tables = self._tables._replace(regrets=self._tables.regrets[: self._num_kept].copy())

    def strategies(self, path: Path) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
        """Return a decision's actions, its average strategy and its current strategy.

        Strategies are float64[num_combos, num_actions], with NaN for combos outside the seat's range.
        """
        node = self._nodes[path]
        actions, seat = self._actions[node], self.seat(path)
        first = int(self._tree.tables[node, seat])
        frozen = self._tables.frozen[first : first + self._rules.num_combos * len(actions)].reshape(-1, len(actions))
        tables = (self._rows(table, node, seat, len(actions)) for table in (self._sums, self._tables.regrets))
        # NaN wins over a frozen row here: the hand is outside the range. `believed_and_played` puts frozen rows back.
        average, current = (np.where((frozen >= 0.0) & ~np.isnan(rows), frozen, rows) for rows in tables)
        return actions, average, current

    def choices(self, path: Path, seat: int) -> np.ndarray | None:
        """Return a seat's average probability of each continuation at a leaf: float64[num_combos, num_policies].

        None if the node is no leaf, or the seat has folded or is all-in. The solver must have been made with
        `with_choices`.
        """
        node = self._nodes[path]
        if self._tree.kinds[node] != LEAF or self._tree.tables[node, seat] < 0:
            return None
        return self._rows(self._sums, node, seat, self._continuations.num_policies)

    def seat(self, path: Path) -> int:
        """Return the seat that decides after some actions of the street."""
        return int(self._tree.actors[self._nodes[path]])

    @property
    def paths(self) -> tuple[Path, ...]:
        """The actions that lead to each decision."""
        return self._paths(DECISION)

    @property
    def leaf_paths(self) -> tuple[Path, ...]:
        """The actions that lead to each leaf."""
        return self._paths(LEAF)

    def _paths(self, kind: int) -> tuple[Path, ...]:
        return tuple(path for path, node in self._nodes.items() if self._tree.kinds[node] == kind)

    def _rows(self, table: np.ndarray, node: int, seat: int, num_entries: int) -> np.ndarray:
        """Return strategies in proportion to a table's positive cells.

        A row without positive cells is uniform; a row of a combo outside the seat's range is NaN.
        """
        first = int(self._tree.tables[node, seat])
        cells = slice(first, first + self._rules.num_combos * num_entries)
        rows = np.maximum(table[cells].reshape(-1, num_entries).astype(np.float64), 0.0)
        rows = normalised(rows, 1.0 / num_entries)
        rows[self._beliefs[seat] <= 0.0] = np.nan
        return rows

    def _deal(self, seat: int, worker: _Worker) -> bool:
        """Deal hands to every live seat but one, and the board; return whether compatible hands were found."""
        stream, work = worker
        return bool(kernels.deal_others(self._game, self._live, seat, self._cumulative, stream, work))

    def _excludes_seen(self, path: Path, actions: tuple[int, ...], rows: np.ndarray) -> bool:
        """Return whether a blueprint's rows take the action seen after a path with no hand of the seat's range."""
        seen = self._subgame.seen
        if path != seen[: len(path)] or len(path) == len(seen):
            return False
        return not rows[self._beliefs[self.seat(path)] > 0.0, actions.index(seen[len(path)])].any()

    def _traverse(self, seat: int, number: int, worker: _Worker) -> bool:
        """Deal and learn for a seat; return whether a deal was found."""
        is_dealt = self._deal(seat, worker)
        if is_dealt:  # else compatible hands are rare in these ranges: later traversals deal again
            self._learn(seat, float(number), worker)
        # An update of the averages covers whole ranges and needs no deal, so one update in `DEALS` traversals of a seat
        # is enough. The first traversal has an update, so that even a search stopped right after it has an average.
        if number % DEALS == 1:
            beliefs = self._beliefs[seat]
            kernels.add_averages(
                self._tree, self._game, self._tables, seat, float(number), beliefs, self._sums, worker.work
            )
        return is_dealt

    def _learn(self, seat: int, weight: float, worker: _Worker) -> None:
        """Traverse the street for a seat with the hands and the board that were dealt."""
        game, roll, cards = self._game, self._continuations.tables, self._continuations.cards
        count = kernels.prepare_deal(rank_tables(), game, roll.game, cards, self._beliefs, seat, worker.work)
        kernels.learn(self._tree, game, roll, self._tables, seat, weight, count, worker.stream, worker.work)

    def _workspace(self, depth: int) -> MultiwayWorkspace:
        rules, board = self._rules, self._subgame.board
        combos, in_tree = rules.num_combos, self._continuations.rules
        widest = max(int(self._tree.num_actions.max()), len(CONTINUATIONS))
        boards = np.zeros((1, rules.num_board_cards), np.uint8)
        boards[0, : len(board)] = board
        return MultiwayWorkspace(
            dealt=np.full(rules.num_seats, -1, np.int64),
            dealt_ranks=np.full(rules.num_seats, -1, np.int64),
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
            ends=np.zeros(3 * MAX_SEATS + 1),
            biases=np.zeros(in_tree.num_seats, np.int64),
            tree_dealt=np.full(in_tree.num_seats, -1, np.int64),
            reach=np.zeros((int(self._tree.reach_rows.max()) + 1, combos)),
            reaches=np.full(combos, EVERY_ACTION),
            roll=roll_out_workspace(in_tree, self._continuations.size),
        )


class SolvedNodes(Mapping[Path, SearchedNode]):
    """The decisions of a street, each made from the solver's tables when it is first asked for.

    Most decisions of a large street are never asked for, since a hand passes only a few of them.

    Parameters
    ----------
    solver : MultiwaySolver
        The solver, after `MultiwaySolver.finish`.
    config : SearchConfig
    frozen : mapping of Path to float64[num_combos, num_actions]
        As in `StreetSolution`.
    """

    def __init__(self, solver: MultiwaySolver, config: SearchConfig, frozen: Mapping[Path, np.ndarray]):
        self._solver, self._config, self._frozen = solver, config, frozen
        self._made: dict[Path, SearchedNode] = {}

    def __getitem__(self, path: Path) -> SearchedNode:
        if path not in self._made:
            actions, average, final = self._solver.strategies(path)
            average, played = believed_and_played(self._config, average, final, self._frozen.get(path))
            self._made[path] = SearchedNode(actions, average, played)
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
    added: AddedRaises,
    frozen: Mapping[Path, np.ndarray],
    began: float,
    deadline: float,
) -> StreetSolution:
    """Return the solution of a street, or of the rest of a street, for any number of players.

    Parameters
    ----------
    root : Root
        A root whose state `can_search_street` accepts.
    planned : PlannedRows
        The blueprint's strategies: the warm start.
    history : Path
        Actions of the hand before the root.
    path : Path
        Actions since the root. The subgame has room for at least one more raise than the path has. If the street has
        too many nodes, no raises are on offer once the betting departs from this path.
    added, frozen
        Off-tree raises, and frozen strategies; see `StreetSolution`.
    began, deadline : float
        Times of `time.perf_counter` at which work on the search began and at which the answer is due.
    """
    beliefs = np.zeros_like(root.beliefs)
    beliefs[list(root.live_seats)] = search_ranges(root, root.live_seats, config.uniform_share)
    menu = root.game.menu(config, added)
    max_raises = max(root.game.max_raises, 1 + root.num_raises + sum(action > CALL for action in path))

    def make(ranges: np.ndarray) -> MultiwaySolver:
        subgame = MultiwaySubgame(root.state, root.board, ranges, menu, history, max_raises, path, frozen)
        # Threads without locks give other regrets each time, and a search by iterations must be reproducible.
        return MultiwaySolver(subgame, continuations, threads=1 if config.iterations else config.num_threads)

    try:
        solver = make(beliefs)
    except NoCompatibleHands:  # the beliefs contradict each other; with uniform ranges the street can be solved
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
        root=root,
        nodes=SolvedNodes(solver, config, frozen),
        added=added,
        frozen=frozen,
        num_decisions=solver.num_decisions,
        iterations=-(-solver.iteration // DEALS),  # rounded up: the clock may stop amid an iteration's deals
        seconds=time.perf_counter() - began,
        evaluation=None,
        hands=tuple(int(np.count_nonzero(beliefs[seat])) for seat in root.live_seats),
    )


def warmup() -> None:
    """Compile every kernel called here, for blueprints with rows of 8 bits and tables of up to 255 buckets."""
    prepare(Continuations(untrained_blueprint(), LEDUC), LEDUC)


def prepare(continuations: Continuations, rules: HoldemRules) -> None:
    """Compile the kernels, by one iteration on the second street of a game after all seats have called on the first."""
    state, history = BettingState(rules), []
    while state.street == 0:
        history.append(CALL)
        state.apply_legal(CALL)
    if state.is_over:  # stacks so short that calls put the players all-in: no street is searched
        return
    board = tuple(rules.cards[: rules.board_size(state.street)].tolist())
    beliefs = np.ones((rules.num_seats, rules.num_combos))
    subgame = MultiwaySubgame(state, board, beliefs, lambda rules, array: (), tuple(history))
    MultiwaySolver(subgame, continuations).run(1)
