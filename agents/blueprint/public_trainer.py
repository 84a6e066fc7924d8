"""The trainer by public chance sampling: for two seats, all hands of a sampled board at once, on the CPU or a GPU.

External sampling visits a decision as often as the other seats reach it, so strategies on rare lines stay rough. Public
chance sampling visits every decision in every iteration, with exact ranges of both seats, and samples the board alone
(Johanson et al. 2012, section 3).
"""

import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree, GameMenu, TreeSize, build_tree, game_menu, tree_size
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.agents.blueprint.blueprint import HIGHEST, Blueprint, GameArrays, game_arrays
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig
from plurispiel.agents.blueprint.public_boards import draw_board, num_hand_pairs, num_hands, public_board
from plurispiel.agents.blueprint.round_tables import RoundTables
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.starting_rows import bucket_counts, require_start, starting_rows

__all__ = ["PublicTrainer", "import_tables", "warmup"]

_TABLES = "plurispiel.agents.blueprint._public_tables"
_PIECE = 1 << 22  # numbers of a table that are averaged at once
_REACH_BOARDS = 100  # boards on which the reach of each decision is measured before a run that starts from a blueprint
_LEAST_REACH = 1e-3  # hands


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
        Number of processor threads. The results are the same for every number.
    device : str
        ``cpu`` or ``cuda``, which needs PyTorch.
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
        if a hand has more than two hole cards on the CPU, and on a GPU if PyTorch is not installed or finds no GPU.
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
        self.device: str = device
        self._limits: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
        self._tables = self._make_tables()
        self._decisions = [_decisions(self.tree, street) for street in range(len(cards.num_buckets))]

    def _make_tables(self) -> Any:
        """Return the tables of the device. On a GPU, set `device` to its name, and the limits of PyTorch, too."""
        buckets = self.cards.num_buckets
        if self.device == "cpu":
            return RoundTables(self.rules, self.tree, buckets, self.threads, double=self.exact)
        if self.device != "cuda":
            raise ValueError(f"a device is cpu or cuda, got {self.device!r}")
        module = import_tables()
        self.device = module.gpu_name()
        self._limits = functools.partial(module.torch_limits, self.threads)
        with self._limits():
            return module.PublicTables(self.rules, self.tree, buckets, "cuda", double=self.exact)

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
        """Begin with the strategy of a blueprint of the same game; other bet sizes and buckets are translated.

        Every row gets regrets in proportion to the strategy. Their sum is estimated as what boards of the given weight
        would add to an action that always wins as much as the seat has contributed: the weight, times this
        contribution (at least a big blind), times the other seat's reach, times the hands of the bucket. Where the
        other seat never arrives, the regrets are tiny, but the strategy is kept. Rows stay at zero where the blueprint
        has none.

        Parameters
        ----------
        weight : float
            A number of boards. The start has the weight that this number of boards, the first ones of a run, have
            together. The more, the longer new regrets take to change the strategy.

        Raises
        ------
        ValueError
            If training has begun, or the blueprint has another game.
        """
        require_start(blueprint, self.rules, self.iteration)
        dtype = np.float64 if self.exact else np.float32
        starts = [np.zeros(shape, dtype) for shape in self._tables.shapes]
        for node, rows in starting_rows(blueprint, self.tree, self.cards):
            first = int(self.tree.row[node])
            starts[int(self.tree.street[node])][first : first + rows.shape[1]] = rows.T
        hands = bucket_counts(self.rules, self.cards)
        with self._limits():
            stakes = self._stakes(starts)
            for street, (start, stake) in enumerate(zip(starts, stakes, strict=True)):
                start *= (self._weight_of(weight) * stake)[:, None].astype(dtype)
                start *= hands[street].astype(dtype)
                self._tables.write("regrets", street, start)

    def _stakes(self, strategies: list[np.ndarray]) -> list[np.ndarray]:
        """Return the seat's contribution, times the other seat's reach, if both seats play by the strategies given.

        The reach is the mean over some boards, in hands. The tables are overwritten.

        Returns
        -------
        list of float64[num_pairs]
            For each street, and for each pair of a decision and an action.
        """
        for street, strategy in enumerate(strategies):
            self._tables.write("regrets", street, strategy)
        self._tables.clear_sums()
        for number in range(_REACH_BOARDS):
            board = public_board(self.rules, self.cards, draw_board(self.rules, self._seed, number))
            self._tables.update(board, 0.0, 1.0)
        reached = [
            self._tables.read("sums", street, slice(None)).sum(axis=1, dtype=np.float64) / _REACH_BOARDS
            for street in range(len(strategies))
        ]
        self._tables.clear_sums()
        tree, stakes = self.tree, [np.zeros_like(each) for each in reached]
        reach = np.full((len(tree.actor), 2), float(num_hands(self.rules)))  # of both seats at each node
        waiting = [0]
        while waiting:
            node = waiting.pop()
            seat, street, first = int(tree.actor[node]), int(tree.street[node]), int(tree.row[node])
            pairs = slice(first, first + int(tree.num_actions[node]))
            children = int(tree.first_child[node]) + np.arange(pairs.stop - pairs.start)
            # A decision that the other seat never reaches keeps its strategy, too: with a uniform answer, the other
            # seat would learn a false value of its own action.
            arriving = max(reach[node, 1 - seat], _LEAST_REACH)
            stakes[street][pairs] = max(int(tree.paid[node]), self.rules.big_blind) * arriving
            reach[children] = reach[node]
            reach[children, seat] = reached[street][pairs]
            waiting.extend(children[tree.actor[children] >= 0].tolist())
        return stakes

    def state(self) -> dict[str, np.ndarray]:
        """Return the arrays that training changes, for a checkpoint, in the order of the tree's rows on any device.

        Those of a GPU are copies.
        """
        return {
            f"{kind}_by_row_{street}": self._tables.read(kind, street, slice(None))
            for kind in ("regrets", "sums")
            for street in range(len(self._decisions))
        }

    def resume(self, iteration: int, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a saved state, of any device.

        Raises
        ------
        ValueError
            If the state does not fit this game.
        """
        shapes = self._tables.shapes
        names = [(kind, street) for kind in ("regrets", "sums") for street in range(len(shapes))]
        dtype = np.float64 if self.exact else np.float32
        for kind, street in names:
            values = state.get(f"{kind}_by_row_{street}")
            if values is None or values.dtype != dtype or values.shape != shapes[street]:
                raise ValueError(f"{kind}_by_row_{street} is missing, or has another dtype or shape")
        for kind, street in names:
            self._tables.write(kind, street, state[f"{kind}_by_row_{street}"])
        self.iteration = iteration

    def blueprint(self, config: BlueprintConfig | None = None, training: Mapping[str, Any] | None = None) -> Blueprint:
        """Return the strategy so far, as `Trainer.blueprint` does."""
        rows = np.zeros(self.num_cells, np.float32 if self.exact else np.uint8)
        for street, buckets in enumerate(self.cards.num_buckets):
            first, end = self.game.base[street : street + 2].tolist()
            table = rows[first:end].reshape(buckets, -1)
            for part, starts in self._pieces(street):
                average = _averages(
                    self._tables.read("regrets", street, part), self._tables.read("sums", street, part), starts
                )
                table[:, part] = (average if self.exact else np.rint(average * HIGHEST)).T
        rows.setflags(write=False)
        return Blueprint(self.rules, self.tree, self.cards, self.game, rows, config, training or {})

    def regret_per_visit(self) -> tuple[float, list[int]]:
        """Return positive regret in chips, and the number of rows with regrets on each street.

        The sum of each row's largest positive regret is divided by the weights of all iterations and by the number of
        pairs of hands on a board. Half of this is a bound on the exploitability of the average strategy within the
        abstract game, if its players recall all their buckets and boards are as frequent as they were drawn. With few
        boards the exploitability can be larger than this. Regrets from a start (`start_from`) are in the sum, so then
        it is no bound.
        """
        total, met = 0.0, []
        for street in range(len(self._decisions)):
            count = 0
            for part, starts in self._pieces(street):
                regrets = self._tables.read("regrets", street, part)
                total += float(np.maximum(np.maximum.reduceat(regrets, starts), 0.0).sum(dtype=np.float64))
                count += int(np.logical_or.reduceat(regrets != 0.0, starts).sum())
            met.append(count)
        return total / max(self._weight_of(self.iteration) * num_hand_pairs(self.rules), 1.0), met

    def _pieces(self, street: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield parts of a street's pairs, and where in the part each decision begins."""
        starts, (pairs, buckets) = self._decisions[street], self._tables.shapes[street]
        step = max(1, _PIECE // max(1, buckets * pairs // max(1, len(starts))))
        for first in range(0, len(starts), step):
            stop = int(starts[first + step]) if first + step < len(starts) else pairs
            yield slice(int(starts[first]), stop), starts[first : first + step] - starts[first]

    def _iterate(self) -> None:
        schedule = self.schedule
        if self.iteration in schedule.renewals:
            self._tables.clear_sums()
        board = public_board(self.rules, self.cards, draw_board(self.rules, self._seed, self.iteration))
        weight = min(self.iteration + 1.0, self._largest_weight)
        averages = self.iteration >= schedule.average_from * schedule.iterations
        self._tables.update(board, weight, weight if averages else 0.0)
        self.iteration += 1

    def _weight_of(self, boards: float) -> float:
        """Return the weight that the first boards of the run have together."""
        growing = min(boards, int(self._largest_weight))  # boards before the weight stays the same
        return growing * (growing + 1) / 2 + (boards - growing) * self._largest_weight

    @property
    def _largest_weight(self) -> float:
        return max(1.0, self.schedule.discount_until * self.schedule.iterations)


def warmup() -> None:
    """Compile every kernel that training on the CPU calls."""
    for exact in (False, True):
        trainer = PublicTrainer(LEDUC, game_menu(LEDUC), lossless_buckets(LEDUC), Schedule(1), exact=exact)
        trainer.run()


def import_tables() -> Any:
    """Return the module `_public_tables`, which imports PyTorch.

    Raises
    ------
    ValueError
        If PyTorch is not installed, or finds no GPU.
    """
    try:
        module = importlib.import_module(_TABLES)
    except ImportError:
        raise ValueError("algorithm = 'public' on a GPU needs PyTorch: pip install 'plurispiel[train]'") from None
    module.gpu_name()
    return module


def _decisions(tree: BettingTree, street: int) -> np.ndarray:
    """Return the first row of each decision of a street, ascending: int64[n]."""
    return np.sort(tree.row[(tree.actor >= 0) & (tree.street == street)].astype(np.int64))


def _averages(regrets: np.ndarray, sums: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the average strategy of some decisions: float[n, num_buckets].

    A row that its seat never reached has the current strategy, a row without regrets zeros.
    """
    decision = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(regrets)))
    positive = np.maximum(regrets, 0.0)
    uniform = (np.add.reduceat(positive, starts) == 0.0) & np.logical_or.reduceat(regrets != 0.0, starts)
    positive += uniform[decision]
    chosen = np.where((np.add.reduceat(sums, starts) > 0.0)[decision], sums, positive)
    total = np.add.reduceat(chosen, starts)
    return chosen / np.where(total > 0.0, total, 1.0)[decision]
