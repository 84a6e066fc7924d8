"""The trainer by public chance sampling: for two seats, all hands of a sampled board at once, on a GPU or the CPU.

External sampling visits a decision as often as the other seats reach it, so strategies on rare lines stay rough. Public
chance sampling visits every decision in every iteration, with exact ranges of both seats, and samples the board alone
(Johanson et al. 2012, section 3). An iteration takes seconds on a CPU, and milliseconds on a GPU.
"""

import functools
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree, GameMenu, TreeSize, build_tree, tree_size
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import HIGHEST, Blueprint, GameArrays, game_arrays
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.config import BlueprintConfig
from plurispiel.agents.blueprint.public_boards import draw_board, public_board
from plurispiel.agents.blueprint.schedule import Schedule

__all__ = ["PublicTrainer", "import_tables"]

_TABLES = "plurispiel.agents.blueprint._public_tables"


class PublicTrainer:
    """Learns a blueprint for two seats by public chance sampling with linear weights.

    Iteration t, from 1 on, has the weight t in regrets and averages. After `Schedule.discount_until` of the run, the
    weight stays the same. Averages begin after `Schedule.average_from`. The schedule's pruning, snapshots and
    `average_every` have no effect.

    Parameters
    ----------
    rules : HoldemRules
    menu : GameMenu
    cards : CardBuckets
    schedule : Schedule
        An iteration is one board.
    seed : int
        Board t is drawn from the seed and t alone.
    threads : int
        Number of processor threads, for PyTorch and for the matches at marks.
    device : str
        ``cpu`` or ``cuda``.
    exact : bool
        Whether all numbers are float64, for tests of exactness.

    Attributes
    ----------
    device : str
        What trains: ``cpu``, or the name of a GPU.
    iteration : int
        Number of iterations done.

    Raises
    ------
    ValueError
        If the game is not for two seats, the betting tree is too large, or a street with decisions has no buckets. Also
        if PyTorch is not installed, or finds no such device.
    MemoryError
        If the device has too little memory; `run` raises it, too.
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
        device: str = "cpu",
        exact: bool = False,
    ):
        if rules.num_seats != 2:
            raise ValueError(f"public chance sampling is for two seats, the game has {rules.num_seats}")
        self.rules = rules
        self.cards = cards
        self.schedule = schedule
        self.size: TreeSize = tree_size(rules, menu)
        self.tree: BettingTree = build_tree(rules, menu, self.size)
        self.game: GameArrays = game_arrays(rules, self.size, cards.num_buckets)
        self.exact = exact
        self.threads = threads
        self.iteration = 0
        self._seed = seed
        module = import_tables(device)
        self.device: str = module.device_name(device)
        self._limits = functools.partial(module.torch_limits, threads)
        with self._limits():
            self._tables = module.PublicTables(rules, self.tree, cards.num_buckets, device, double=exact)

    @property
    def num_cells(self) -> int:
        """Number of cells of the blueprint."""
        return int(self.game.base[-1])

    @property
    def num_rows(self) -> int:
        """Number of rows: on each street the number of decisions times the number of buckets."""
        return sum(n * b for n, b in zip(self.size.decisions, self.cards.num_buckets, strict=False))

    @property
    def num_traversals(self) -> int:
        """Number of traversals done: one for each seat in every iteration."""
        return 2 * self.iteration

    @property
    def num_nodes(self) -> int:
        """Number of nodes met in all traversals, ends included; all hands meet a node at once."""
        return self.num_traversals * self.size.num_nodes

    def run(self, iterations: int | None = None) -> None:
        """Do a number of iterations, at most those left of the schedule; by default all of them."""
        left = self.schedule.iterations - self.iteration
        last = self.iteration + (left if iterations is None else min(iterations, left))
        with self._limits():
            while self.iteration < last:
                self._iterate()
            self._tables.wait()

    def start_from(self, blueprint: Blueprint, weight: float) -> None:
        """Refuse: regrets of this trainer have another scale than chips for each visit.

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError("a run with algorithm = 'public' starts from zero; leave out --from")

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays that training changes, for a checkpoint; those of a GPU are copies."""
        return {
            f"{name}_{street}": table.cpu().numpy()
            for name, tables in (("regrets", self._tables.regrets), ("sums", self._tables.sums))
            for street, table in enumerate(tables)
        }

    def resume(self, iteration: int, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a saved state.

        Raises
        ------
        ValueError
            If the state does not fit this game.
        """
        tables = {f"regrets_{k}": table for k, table in enumerate(self._tables.regrets)}
        tables |= {f"sums_{k}": table for k, table in enumerate(self._tables.sums)}
        dtype = np.float64 if self.exact else np.float32
        for name, table in tables.items():
            if name not in state or state[name].dtype != dtype or state[name].shape != tuple(table.shape):
                raise ValueError(f"{name} is missing, or has another dtype or shape")
        for name, table in tables.items():
            self._tables.load(table, state[name])
        self.iteration = iteration

    def blueprint(self, config: BlueprintConfig | None = None, training: Mapping[str, Any] | None = None) -> Blueprint:
        """Return the strategy so far, as `Trainer.blueprint` does."""
        rows = np.zeros(self.num_cells, np.float32 if self.exact else np.uint8)
        for street, buckets in enumerate(self.cards.num_buckets):
            first, end = self.game.base[street : street + 2].tolist()
            table, pairs = rows[first:end].reshape(buckets, -1), self._tables.pairs[street]
            for piece, average in self._tables.averages(street):
                table[:, pairs[piece]] = (average if self.exact else np.rint(average * HIGHEST)).T
        rows.setflags(write=False)
        return Blueprint(self.rules, self.tree, self.cards, self.game, rows, config, training or {})

    def regret_per_visit(self) -> tuple[float, list[int]]:
        """Return positive regret in chips, and the number of rows with regrets on each street.

        The sum of each row's largest positive regret is divided by the weights of all iterations and by the number of
        pairs of hands on a board. Half of this is a bound on the exploitability of the average strategy within the
        abstract game, if its players recall all their buckets.
        """
        growing = min(self.iteration, int(self._largest_weight))  # iterations before the weight stays the same
        weights = growing * (growing + 1) / 2 + (self.iteration - growing) * self._largest_weight
        total, met = self._tables.positive_regrets()
        return total / max(weights * self._tables.num_pairs, 1.0), met

    def _iterate(self) -> None:
        schedule = self.schedule
        if self.iteration in schedule.renewals:
            for table in self._tables.sums:
                table.zero_()
        board = public_board(self.rules, self.cards, draw_board(self.rules, self._seed, self.iteration))
        weight = min(self.iteration + 1.0, self._largest_weight)
        averages = self.iteration >= schedule.average_from * schedule.iterations
        self._tables.update(board, weight, weight if averages else 0.0)
        self.iteration += 1

    @property
    def _largest_weight(self) -> float:
        return max(1.0, self.schedule.discount_until * self.schedule.iterations)


def import_tables(device: str) -> Any:
    """Return the module `_public_tables`, which imports PyTorch.

    Raises
    ------
    ValueError
        If PyTorch is not installed, or finds no such device.
    """
    try:
        module = importlib.import_module(_TABLES)
    except ImportError:
        raise ValueError("algorithm = 'public' needs PyTorch: pip install 'plurispiel[train]'") from None
    module.device_name(device)
    return module
