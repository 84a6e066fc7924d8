"""The blueprint trainer: external-sampling MCCFR with linear discounting and negative-regret pruning.

Brown and Sandholm, "Superhuman AI for multiplayer poker" (Science 2019), supplementary material, Algorithm 1 and
the text around it. The clock is the iteration, a deal traversed once for every seat, so that a run can be repeated;
the paper's minutes are shares of the run (`Schedule`).
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions import _tree_kernels
from plurispiel.abstraction.actions.tree import BettingTree, GameMenu, TreeSize, build_tree, game_menu, tree_size
from plurispiel.abstraction.holdem.cards import deck_cards
from plurispiel.abstraction.holdem.hand_rank import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, MAX_SEATS, HoldemRules
from plurispiel.abstraction.xoshiro import xoshiro_stream
from plurispiel.agents.blueprint import _traversal_kernels as kernels
from plurispiel.agents.blueprint.blueprint import Blueprint, GameArrays, game_arrays
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets
from plurispiel.agents.blueprint.schedule import Schedule

__all__ = ["Trainer"]

_INT32_MAX = 2**31 - 1
_PADDING = 8  # uint64 words: streams of two threads do not share a line of the cache


class TraversalSettings(NamedTuple):
    """What kernels do in every iteration.

    Attributes
    ----------
    rounds : bool
        Whether regrets are whole chips (int32).
    floor, ceiling, prune_below : float
        Bounds of regrets in chips, and the regret below which actions are pruned.
    prune_share : float
    average_every, last_average_street : int
    """

    rounds: bool
    floor: float
    ceiling: float
    prune_below: float
    prune_share: float
    average_every: int
    last_average_street: int


class _Workspace(NamedTuple):
    deck: np.ndarray
    combos: np.ndarray
    buckets: np.ndarray
    ranks: np.ndarray
    nodes: np.ndarray
    cells: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    values: np.ndarray
    strategies: np.ndarray
    explored: np.ndarray


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
        They share all memory without locks, so only one thread gives the same run for the same seed.
    exact : bool
        Regrets are float64 without bounds instead of int32: for proofs on small games.
    prune_below : float
        Regret in chips under which an action is pruned.
    average_all : bool
        Average every street by visits, as the first one is, instead of by snapshots: for small games.
    """

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
            raise ValueError(f"actions are pruned below a negative regret, got {prune_below}")
        self.rules = rules
        self.cards = cards
        self.schedule = schedule
        self.size: TreeSize = tree_size(rules, menu)
        self.tree: BettingTree = build_tree(rules, menu)
        self.game: GameArrays = game_arrays(rules, self.size, cards.num_buckets)
        base = self.game.base
        last_average_street = rules.num_streets - 1 if average_all else 0
        floor = -np.inf if exact else max(prune_below * 31 / 30, float(-_INT32_MAX))
        ceiling = np.inf if exact else float(_INT32_MAX)
        self._settings = TraversalSettings(
            not exact, floor, ceiling, float(prune_below), 0.95, schedule.average_every, last_average_street
        )
        self.regrets = np.zeros(int(base[-1]), np.float64 if exact else np.int32)
        self.sums = np.zeros(int(base[last_average_street + 1]), np.float64)
        later = self.tree.street > last_average_street
        self._later = np.flatnonzero(later & (self.tree.actor >= 0)).astype(np.int32)
        self.snapshots = np.zeros(int(base[-1]) if len(self._later) else 0, np.float32)
        self.iteration = 0
        self.counters = np.zeros((threads, _PADDING), np.int64)
        self._seed = seed
        self.streams = np.zeros((threads, _PADDING), np.uint64)
        for number in range(threads):
            sequence = np.random.SeedSequence(seed, spawn_key=(number,))
            self.streams[number, :4] = xoshiro_stream(sequence)
        self._work = [_workspace(rules) for _ in range(threads)]

    @property
    def num_traversals(self) -> int:
        """Traversals done, one for each seat in every iteration."""
        return int(self.counters[:, 0].sum())

    @property
    def num_nodes(self) -> int:
        """Nodes met in all traversals, ends included."""
        return int(self.counters[:, 1].sum())

    def run(self, iterations: int | None = None) -> None:
        """Do more iterations, by default all that are left of the schedule."""
        schedule = self.schedule
        left = schedule.iterations - self.iteration
        last = self.iteration + (left if iterations is None else min(iterations, left))
        events = sorted({*schedule.discounts, *schedule.snapshots, last})
        for event in events:
            if not self.iteration < event <= last:
                continue
            self._iterate(event)
            if event in schedule.discounts:
                factor = schedule.discounts[event]
                kernels.discount_cells(self.regrets, factor, self._settings.rounds)
                self.sums *= factor
            if event in schedule.snapshots and len(self._later):
                kernels.add_snapshot(
                    self.tree,
                    self.game,
                    self._later,
                    self._settings.last_average_street + 1,
                    np.array(self.cards.num_buckets, np.int64),
                    self.regrets,
                    self.snapshots,
                    np.empty(_tree_kernels.MAX_ACTIONS),
                )

    def blueprint(self) -> Blueprint:
        """Return the strategy so far.

        Averages where there are some; else what the regrets say now, uniform where nothing was learnt.
        """
        probabilities = np.empty(len(self.regrets), np.float32)
        for street in range(self.rules.num_streets):
            nodes = np.flatnonzero((self.tree.street == street) & (self.tree.actor >= 0))
            cells = slice(int(self.game.base[street]), int(self.game.base[street + 1]))
            averaged = street <= self._settings.last_average_street
            sums = (self.sums if averaged else self.snapshots)[cells].reshape(-1, int(self.game.pairs[street]))
            current = self.regrets[cells].reshape(sums.shape)
            found = probabilities[cells].reshape(sums.shape)
            for node in nodes.tolist():
                columns = slice(int(self.tree.row[node]), int(self.tree.row[node]) + int(self.tree.num_actions[node]))
                found[:, columns] = _normalised(sums[:, columns].astype(np.float64), current[:, columns])
        return Blueprint(self.rules, self.tree, self.cards, self.game, probabilities)

    def _iterate(self, last: int) -> None:
        """Do the iterations up to one, shared among the threads."""
        cuts = np.linspace(self.iteration, last, len(self._work) + 1).astype(int)

        def work(number: int) -> None:
            kernels.run_iterations(
                rank_tables(),
                self.tree,
                self.game,
                self.cards.arrays,
                self._settings,
                self.regrets,
                self.sums,
                int(cuts[number]),
                int(cuts[number + 1]),
                int(self.schedule.prune_from * self.schedule.iterations)
                if self.schedule.prune_from < 1.0
                else self.schedule.iterations,
                int(self.schedule.average_from * self.schedule.iterations),
                self.streams[number],
                self._work[number],
                self.counters[number],
            )

        if len(self._work) == 1:
            work(0)
        else:
            with ThreadPoolExecutor(len(self._work)) as pool:
                list(pool.map(work, range(len(self._work))))
        self.iteration = last


def _normalised(sums: np.ndarray, regrets: np.ndarray) -> np.ndarray:
    """Return rows that sum to 1: of the sums, else of the positive regrets, else uniform."""
    for weights in (sums, np.maximum(regrets, 0.0)):
        total = weights.sum(axis=1, keepdims=True)
        if weights is sums:
            result = np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.nan)
        else:
            fallback = np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / weights.shape[1])
            result = np.where(np.isnan(result), fallback, result)
    return result


def _workspace(rules: HoldemRules) -> _Workspace:
    depth, actions = _tree_kernels.MAX_DEPTH + 1, _tree_kernels.MAX_ACTIONS
    return _Workspace(
        deck=np.array(deck_cards(rules.num_suits, rules.num_ranks)),
        combos=np.zeros(MAX_SEATS, np.int64),
        buckets=np.zeros((MAX_SEATS, rules.num_streets), np.int64),
        ranks=np.zeros(MAX_SEATS, np.int64),
        nodes=np.zeros(depth, np.int64),
        cells=np.zeros(depth, np.int64),
        places=np.zeros(depth, np.int64),
        counts=np.zeros(depth, np.int64),
        values=np.zeros((depth, actions)),
        strategies=np.zeros((depth + 1, actions)),
        explored=np.zeros((depth, actions), np.bool_),
    )


def warmup() -> None:
    """Compile every kernel of this module."""
    plan = Schedule(400, discount_until=1.0, prune_from=0.0, num_snapshots=1)
    trainer = Trainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), plan)
    trainer.run()
