"""The blueprint trainer: external-sampling MCCFR with linear discounting and negative-regret pruning.

The source is Brown and Sandholm, "Superhuman AI for multiplayer poker" (Science 2019), supplementary material,
Algorithm 1 and the text around it. The paper schedules discounts, pruning and averages by minutes of training. Here
they are scheduled by iterations (`Schedule`), so that a run can be repeated. In an iteration, one deal is traversed
once for every seat.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.actions import tree_kernels
from plurispiel.abstraction.actions.tree import BettingTree, GameMenu, TreeSize, build_tree, game_menu, tree_size
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.machine.memory import available_bytes, sparse_zeros
from plurispiel.abstraction.machine.xoshiro import xoshiro_stream
from plurispiel.agents.blueprint import _blueprint_kernels
from plurispiel.agents.blueprint import traversal_kernels as kernels
from plurispiel.agents.blueprint.blueprint import (
    HIGHEST,
    Blueprint,
    GameArrays,
    game_arrays,
    street_cells,
    tree_digest,
)
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.starting_rows import has_same_buckets, require_start, starting_rows
from plurispiel.agents.blueprint.traversal_tree import DealtGame, TraversalTree, traversal_tree
from plurispiel.agents.blueprint.workspace import traversal_workspace

__all__ = ["Trainer"]

_INT32_MAX = 2**31 - 1
_CHUNK = 1 << 22
_PIECE = 1 << 16
_AMPLE = 0.5
"""Tables that need less than this share of the available memory may lie in large pages (`sparse_zeros`).

Large pages are faster, but a few scattered writes soon make whole tables resident.
"""
_STATE = ("regrets", "sums", "later_sums", "weighted_visits", "streams", "counters")
_BY_THREAD = ("streams", "counters", "decks")
_PADDING = 8  # words of 8 bytes for each thread, a cache line's length: threads seldom write to one line


class TraversalSettings(NamedTuple):
    """Settings of every traversal.

    Attributes
    ----------
    rounds : bool
        Whether regrets are whole chips (int32).
    floor, ceiling, prune_below : float
        The lower and upper bound of regrets, and the regret below which actions are pruned, in chips.
    prune_share : float
        The share of traversals that prune, once pruning has begun.
    average_every, last_average_street : int
        Iterations between two updates of the average (`add_strategy`), and the last street that they average.
    """

    rounds: bool
    floor: float
    ceiling: float
    prune_below: float
    prune_share: float
    average_every: int
    last_average_street: int


class IterationSpan(NamedTuple):
    """The iterations that one thread does.

    Attributes
    ----------
    first, last : int
        The number of the first iteration, from 0, and one past the number of the last iteration.
    prune_from, average_from : int
        The number of the run's first iteration that may prune, and of the first that may add to the averages.
    """

    first: int
    last: int
    prune_from: int
    average_from: int


class Trainer:
    """Learns a blueprint.

    Parameters
    ----------
    rules : HoldemRules
    menu : GameMenu
    cards : CardBuckets
    schedule : Schedule
    seed : int
    threads : int
        Number of threads. Threads share all memory without locks, so only with one thread does a seed determine the
        run.
    exact : bool
        Whether regrets are float64 without bounds instead of int32, for tests of exactness on small games.
    prune_below : float
        Regret in chips below which an action is pruned; negative.
    average_all : bool
        Whether every street is averaged like the first street, by walks that follow all actions of the other seats.
        For small games.

    Attributes
    ----------
    device : str
        What trains: ``cpu``, or the name of a GPU.
    iteration : int
        Number of iterations done.
    regrets : int32 or float64[num_cells]
        The regrets of all streets.
    sums : float64[n]
        Sums of current strategies for the cells of the first street, or of all streets with `average_all`.
    later_sums : float32 or uint16[num_cells]
        Sums of current strategies over visits or snapshots (see `Schedule`), used for the cells of the other streets;
        empty if `sums` is for all streets.
    streams : uint64[threads, 8]
        The state of each thread's random numbers in the first four words; the others are padding.
    settings : TraversalSettings
    workspaces : list of TraversalWorkspace
        One for each thread that trains.

    Raises
    ------
    ValueError
        If `prune_below` is not negative, the betting tree is too large, or a street with decisions has no buckets.
    """

    device = "cpu"

    def __init__(
        self,
        rules: HoldemRules,
        menu: GameMenu,
        cards: CardBuckets,
        schedule: Schedule,
        *,
        seed: int = 1,
        threads: int = 1,
        exact: bool = False,
        prune_below: float = -3e8,
        average_all: bool = False,
    ):
        if prune_below >= 0:
            raise ValueError(f"prune_below must be a negative regret in chips, got {prune_below}")
        self.rules = rules
        self.cards = cards
        self.schedule = schedule
        self.size: TreeSize = tree_size(rules, menu)
        self.tree: BettingTree = build_tree(rules, menu, self.size)
        self.traversal_tree: TraversalTree = traversal_tree(self.tree)
        self.game: GameArrays = game_arrays(rules, self.size, cards.num_buckets)
        base = self.game.base
        last_average_street = len(cards.num_buckets) - 1 if average_all else 0
        # The paper prunes below -300,000,000 and bounds regrets at -310,000,000, so that pruned actions can recover.
        floor = -np.inf if exact else max(prune_below * 31 / 30, float(-_INT32_MAX))
        ceiling = np.inf if exact else float(_INT32_MAX)
        self.settings = TraversalSettings(
            not exact,
            floor,
            ceiling,
            float(prune_below),
            schedule.prune_share,
            schedule.average_every,
            last_average_street,
        )
        self._later_streets = range(last_average_street + 1, len(cards.num_buckets))
        cells, later_cells = int(base[-1]), int(base[-1]) if self._later_streets else 0
        regret_type = np.float64 if exact else np.int32
        sum_type = np.float32 if exact or not schedule.num_snapshots else np.uint16
        needed = cells * np.dtype(regret_type).itemsize + later_cells * np.dtype(sum_type).itemsize
        zeros = np.zeros if needed < _AMPLE * available_bytes() else sparse_zeros
        self.regrets = zeros(cells, regret_type)
        self.sums = np.zeros(int(base[last_average_street + 1]), np.float64)
        self.later_sums = zeros(later_cells, sum_type)
        self.exact = exact
        self._highest = 1.0 if exact else float(HIGHEST)
        self.iteration = 0
        self.weighted_visits = np.zeros(1)
        self.counters = np.zeros((threads, _PADDING), np.int64)
        self._seed = seed
        self.streams = np.zeros((threads, _PADDING), np.uint64)
        for number in range(threads):
            sequence = np.random.SeedSequence(seed, spawn_key=(number,))
            self.streams[number, :4] = xoshiro_stream(sequence)
        self.workspaces = [traversal_workspace(rules) for _ in range(threads)]

    @property
    def dealt_game(self) -> DealtGame:
        """The game as kernels deal and traverse it."""
        return DealtGame(rank_tables(), self.traversal_tree, self.game, self.cards.arrays)

    @property
    def threads(self) -> int:
        """Number of threads that train."""
        return len(self.workspaces)

    @property
    def num_cells(self) -> int:
        """Number of cells of the blueprint."""
        return len(self.regrets)

    @property
    def num_rows(self) -> int:
        """Number of rows: on each street the number of decisions times the number of buckets."""
        return sum(n * b for n, b in zip(self.size.decisions, self.cards.num_buckets, strict=False))

    @property
    def num_traversals(self) -> int:
        """Number of traversals done, one for each seat in every iteration."""
        return int(self.counters[:, 0].sum())

    @property
    def num_visits(self) -> int:
        """Number of the traversers' decisions in all traversals, at each of which regrets were updated."""
        return int(self.counters[:, 2].sum())

    @property
    def num_nodes(self) -> int:
        """Number of nodes met in all traversals, ends included."""
        return int(self.counters[:, 1].sum())

    def run(self, iterations: int | None = None) -> None:
        """Do a number of iterations, at most those left of the schedule; by default all of them."""
        schedule = self.schedule
        left = schedule.iterations - self.iteration
        last = self.iteration + (left if iterations is None else min(iterations, left))
        events = sorted({*schedule.discounts, *schedule.snapshots, *schedule.renewals, last})
        for event in events:
            if not self.iteration < event <= last:
                continue
            if self.iteration in schedule.renewals:  # only now: until training goes on, a caller may read the averages
                self._clear_averages()
            self._iterate(event)
            if event in schedule.discounts:
                self._discount(schedule.discounts[event])
                self.weighted_visits *= schedule.discounts[event]
            if event in schedule.snapshots:
                self._add_snapshot()

    def start_from(self, blueprint: Blueprint, weight: float) -> None:
        """Begin with the strategy of a blueprint of the same game; other bet sizes and buckets are translated.

        Rows stay at zero where the blueprint's tree has no such decision, or the blueprint has no row.

        Parameters
        ----------
        weight : float
            Chips of regret distributed over each row: the more, the longer new regrets take to change it.

        Raises
        ------
        ValueError
            If training has begun, or the blueprint has another game.
        """
        require_start(blueprint, self.rules, self.iteration)
        same_tree = tree_digest(blueprint.tree) == tree_digest(self.tree)
        if not (same_tree and has_same_buckets(self.cards, blueprint.cards)):
            self._translate(blueprint, weight)
            return
        highest = 1.0 if blueprint.rows.dtype == np.float32 else float(HIGHEST)
        for first in range(0, len(self.regrets), _CHUNK):
            part = slice(first, first + _CHUNK)
            rows = blueprint.rows[part].astype(np.float64)
            if rows.any():
                self.regrets[part] = rows * (weight / highest)

    def _translate(self, blueprint: Blueprint, weight: float) -> None:
        """Distribute `weight` chips of regret over each row as in a blueprint with another tree or other buckets."""
        for node, rows in starting_rows(blueprint, self.tree, self.cards):
            street = int(self.tree.street[node])
            first = int(self.game.base[street]) + int(self.tree.row[node])
            cells = first + int(self.game.pairs[street]) * np.arange(len(rows))
            found = np.flatnonzero(rows.any(axis=1))
            self.regrets[cells[found, None] + np.arange(rows.shape[1])] = rows[found] * weight

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays that training changes, for a checkpoint; only the decks are copies."""
        decks = np.array([work.deck for work in self.workspaces])
        return {name: getattr(self, name) for name in _STATE} | {"decks": decks}

    def resume(self, iteration: int, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a saved state.

        Each thread continues the saved stream of random numbers of the thread with the same number. If there are more
        threads than before, additional threads begin new streams. If there are fewer, surplus streams are left out.

        Raises
        ------
        ValueError
            If the state does not fit this game.
        """
        current = self.state()
        for name, values in current.items():
            if name not in state or state[name].dtype != values.dtype or state[name].shape[1:] != values.shape[1:]:
                raise ValueError(f"{name} is missing, or has another dtype or shape")
            if name not in _BY_THREAD and state[name].shape != values.shape:
                raise ValueError(f"{name} has {len(state[name]):,} entries, not {len(values):,}")
        for name in _STATE:
            values, saved = getattr(self, name), state[name]
            count = min(len(values), len(saved))
            for first in range(0, count, _CHUNK):
                part = saved[first : min(first + _CHUNK, count)]
                if part.any():  # writing zeros would take memory for rows never visited
                    values[first : first + len(part)] = part
        # Counts of threads that are left out stay in the totals.
        self.counters[0] += np.sum(state["counters"][len(self.counters) :], axis=0)
        threads = len(self.workspaces)
        for number in range(threads):
            if number < len(state["decks"]):
                self.workspaces[number].deck[:] = state["decks"][number]
            else:
                sequence = np.random.SeedSequence(self._seed, spawn_key=(number, iteration))
                self.streams[number, :4] = xoshiro_stream(sequence)
        self.iteration = iteration

    def blueprint(self, config: BlueprintConfig | None = None, training: Mapping[str, Any] | None = None) -> Blueprint:
        """Return the strategy so far.

        A row is the average strategy of its infoset, or the current strategy if nothing has been averaged there. A row
        that was never visited is zeros. `config` and `training` become attributes of the blueprint.
        """
        rows = np.zeros(len(self.regrets), np.float32 if self.exact else np.uint8)
        for street, buckets in enumerate(self.cards.num_buckets):
            _blueprint_kernels.fill_rows(
                street_cells(self.tree, self.game, street, buckets),
                street not in self._later_streets,
                self.sums,
                self.later_sums,
                self.regrets,
                self._highest,
                rows,
                np.empty(tree_kernels.MAX_ACTIONS),
            )
        rows.setflags(write=False)
        return Blueprint(self.rules, self.tree, self.cards, self.game, rows, config, training or {})

    def regret_per_visit(self) -> tuple[float, list[int]]:
        """Return the positive regret per visit in chips, and the number of visited rows on each street.

        The sum of each row's largest positive regret is divided by the number of visits of all rows. Visits are
        discounted as the regrets are.
        """
        total, met = 0.0, []
        for street, buckets in enumerate(self.cards.num_buckets):
            cells = street_cells(self.tree, self.game, street, buckets)
            regret, num_met = _blueprint_kernels.sum_regrets(cells, self.regrets)
            total += regret
            met.append(num_met)
        return total / max(self.weighted_visits[0], 1.0), met

    def _clear_averages(self) -> None:
        """Set all sums to zero."""
        _clear(self.sums)
        _clear(self.later_sums)

    def _discount(self, factor: float) -> None:
        """Multiply the regrets and the sums by a factor, except sums of snapshots."""
        kernels.discount_cells(self.regrets, factor, self.settings.rounds)
        _multiply(self.sums, factor)
        if not self.schedule.num_snapshots:
            _multiply(self.later_sums, factor)

    def _add_snapshot(self) -> None:
        """Add the current strategies of the streets that are not in `sums` to `later_sums`."""
        for street in self._later_streets:
            cells = street_cells(self.tree, self.game, street, self.cards.num_buckets[street])
            strategy = np.empty(tree_kernels.MAX_ACTIONS)
            kernels.add_snapshot(cells, self._highest, self.regrets, self.later_sums, strategy)

    def _span(self, first: int, last: int) -> IterationSpan:
        schedule = self.schedule
        prune_from = schedule.iterations
        if schedule.prune_from < 1.0:
            prune_from = int(schedule.prune_from * schedule.iterations)
        return IterationSpan(first, last, prune_from, int(schedule.average_from * schedule.iterations))

    def _iterate(self, last: int) -> None:
        """Do the iterations up to `last`, divided among the threads."""
        visits = self.num_visits
        cuts = np.linspace(self.iteration, last, len(self.workspaces) + 1).astype(int).tolist()
        dealt = self.dealt_game
        visited = np.empty(0, np.float32) if self.schedule.num_snapshots else self.later_sums

        def work(number: int) -> None:
            kernels.run_iterations(
                dealt,
                self.settings,
                self._span(cuts[number], cuts[number + 1]),
                self.regrets,
                self.sums,
                visited,
                self.streams[number],
                self.workspaces[number],
                self.counters[number],
            )

        if len(self.workspaces) == 1:
            work(0)
        else:
            with ThreadPoolExecutor(len(self.workspaces)) as pool:
                list(pool.map(work, range(len(self.workspaces))))
        self.weighted_visits += self.num_visits - visits
        self.iteration = last


def warmup() -> None:
    """Compile every kernel that training calls."""
    for num_snapshots, exact in ((1, False), (0, False), (0, True)):  # sums of two types, and regrets of two types
        plan = Schedule(400, discount_until=1.0, prune_from=0.0, num_snapshots=num_snapshots)
        trainer = Trainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), plan, exact=exact)
        trainer.run()
        trainer.regret_per_visit()
        trainer.blueprint()


def _multiply(values: np.ndarray, factor: float) -> None:
    """Multiply numbers in place, except parts of zeros: writing these would take memory for rows never visited."""
    for first in range(0, len(values), _PIECE):
        part = values[first : first + _PIECE]
        if part.any():
            part *= factor


def _clear(values: np.ndarray) -> None:
    """Set all values to 0, without writing to parts that are 0 already: a page never written takes no memory."""
    for first in range(0, len(values), _PIECE):
        part = values[first : first + _PIECE]
        if part.any():
            part[:] = 0
