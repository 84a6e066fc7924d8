"""Exact exploitability of blueprints over minutes of training, in hold'em without betting after the flop.

There are curves for the buckets of two tables and for lossless buckets. The first table has four curves: with and
without linear discounting, each with and without pruning. The second table and the lossless buckets have one curve
each, with discounting and pruning. A curve is one training run, measured after an eighth, a quarter, a half and all of
its iterations.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.machine.folders import tables_folder
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.base import PublicState, RangeAgent, Strategy
from plurispiel.agents.blueprint.blueprint import Blueprint, street_decisions
from plurispiel.agents.blueprint.cards import CardBuckets, lossless_buckets, table_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.evaluation.public_best_response import public_best_response
from plurispiel.tournaments.bench.measurement import Measurement

_GAME = "holdem-flop"
_ITERATIONS = 2_000_000
"""Iterations of a run for each second of the option ``seconds``."""

_TABLES = ("pluribus", "small")
_TRIAL = 200_000
_MAX_PREPARED = 10_000
"""On streets with fewer buckets than this, the strategies of all buckets are computed in advance and kept."""

_PLAIN = {"discount_until": 0.0, "prune_from": 1.0}
_VARIANTS: dict[str, dict[str, float]] = {
    "plain": _PLAIN,
    "linear": {"prune_from": 1.0},
    "pruned": {"discount_until": 0.0},
    "linear, pruned": {},
}
_BEST = "linear, pruned"


@dataclass(frozen=True)
class TrainingPoint:
    """One measurement of a blueprint during its training.

    Attributes
    ----------
    iteration : int
        The number of iterations trained.
    seconds : float
        Wall-clock time of training so far.
    nodes : int
        Number of nodes visited in all traversals.
    exploitability : float
        The exact exploitability, half of NashConv, in mbb/hand.
    """

    iteration: int
    seconds: float
    nodes: int
    exploitability: float


class _OwnStrategies:
    """The strategies of a blueprint in the blueprint's own betting tree; uniform where nothing was learnt."""

    def __init__(self, blueprint: Blueprint):
        self._blueprint = blueprint
        streets = range(len(blueprint.game.pairs))
        self._decisions = [street_decisions(blueprint.tree, street) for street in streets]
        self._few = [
            self._shares(self._rows(s), s) if blueprint.cards.num_buckets[s] < _MAX_PREPARED else None for s in streets
        ]
        self._nodes: dict[tuple[int, ...], int] = {(): 0}
        self._last: tuple[tuple[int, ...] | None, np.ndarray] = (None, np.empty((0, 0)))

    def find_node(self, actions: tuple[int, ...]) -> int:
        """Return the number of the tree's node after a sequence of actions."""
        if actions not in self._nodes:
            node = self.find_node(actions[:-1])
            tree = self._blueprint.tree
            self._nodes[actions] = int(tree.first_child[node]) + tree.actions(node).tolist().index(actions[-1])
        return self._nodes[actions]

    def on_board(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return the strategies of all decisions of a street on a board, side by side.

        The array is float64[num_combos, n], where n is the sum of the numbers of actions of these decisions.
        """
        if self._last[0] != board:
            few, cards = self._few[street], self._blueprint.cards
            row = np.minimum(
                cards.row(board, street), cards.num_buckets[street] - 1
            )  # combos with a card of the board have a number above all buckets; their strategies are not used
            self._last = board, self._shares(self._rows(street)[row], street) if few is None else few[row]
        return self._last[1]

    def _rows(self, street: int) -> np.ndarray:
        game = self._blueprint.game
        cells = self._blueprint.rows[int(game.base[street]) : int(game.base[street + 1])]
        return cells.reshape(-1, int(game.pairs[street]))

    def _shares(self, rows: np.ndarray, street: int) -> np.ndarray:
        """Return rows in which the strategy of each decision sums to 1: float64[num_rows, num_pairs].

        A pair is a decision of the street and one of its actions.
        """
        nodes = self._decisions[street]
        first, counts = self._blueprint.tree.row[nodes], self._blueprint.tree.num_actions[nodes]
        shares = rows.astype(np.float64)
        totals = np.repeat(np.add.reduceat(shares, first, axis=1), counts, axis=1)
        even = np.repeat(1.0 / counts, counts)
        return np.where(totals > 0.0, shares / np.maximum(totals, 1e-30), even)


class OwnGameAgent(RangeAgent):
    """Plays a blueprint in the blueprint's own betting tree; uniformly where nothing was learnt.

    The agent has no translation of bets and no other rules for unknown situations. Its exploitability therefore comes
    from the training and the buckets alone.
    """

    name = "own game"

    def __init__(self, blueprint: Blueprint, strategies: _OwnStrategies | None = None):
        self._tree = blueprint.tree
        self._strategies = strategies or _OwnStrategies(blueprint)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids``."""
        whole = self.range_strategy(public)
        return Strategy(whole.actions, whole.probabilities[combo_ids])

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of all combos."""
        node = self._strategies.find_node(tuple([action for _, action, _ in public.actions]))
        first, actions = int(self._tree.row[node]), self._tree.actions(node).astype(np.int64)
        shares = self._strategies.on_board(public.board, public.street)
        return Strategy(actions, shares[:, first : first + len(actions)])


def exploitability_curve(
    config: BlueprintConfig,
    cards: CardBuckets,
    iterations: Sequence[int],
    *,
    threads: int = 1,
    on_point: Callable[[TrainingPoint], object] = lambda point: None,
) -> list[TrainingPoint]:
    """Train a blueprint, and return a point after each number of iterations in `iterations`.

    Parameters
    ----------
    iterations : sequence of int
        Numbers of iterations in ascending order, each counted from the start of training.
    on_point : callable
        Called with each point as soon as the point is measured.
    """
    trainer = make_trainer(config, cards, threads=threads)
    points: list[TrainingPoint] = []
    seconds = 0.0
    for number in iterations:
        begin = time.perf_counter()
        trainer.run(number - trainer.iteration)
        seconds += time.perf_counter() - begin
        distance = exact_exploitability(trainer.blueprint(), threads)
        points.append(TrainingPoint(number, seconds, trainer.num_nodes, distance))
        on_point(points[-1])
    return points


def exact_exploitability(blueprint: Blueprint, threads: int = 1) -> float:
    """Return the exploitability of a blueprint for two seats in its own betting tree, half of NashConv, in mbb/hand."""
    strategies = _OwnStrategies(blueprint)
    agents = [OwnGameAgent(blueprint, strategies), OwnGameAgent(blueprint, strategies)]
    found = public_best_response(blueprint.rules, agents, threads=threads)
    return 500.0 * found.nash_conv / blueprint.rules.big_blind


def bench_blueprint_curves(seconds: float = 1.0) -> list[Measurement]:
    """Return the points of all curves, and the times in which the four variants of the first table reach a goal.

    The goal is the exploitability of the worst variant at its end, so that all four variants reach it. A table that is
    not built has one row, without a value; the note has the command that builds the table.
    """
    total = max(1000, round(_ITERATIONS * seconds))
    rows = []
    curves: dict[str, list[TrainingPoint]] = {}
    for name in _TABLES:
        folder = tables_folder() / name
        if not folder.exists():
            rows.append(Measurement(f"{_GAME}, {name}", math.nan, "mbb/hand", f"plurispiel abstraction build {name}"))
            continue
        variants = _VARIANTS if name == _TABLES[0] else {_BEST: _VARIANTS[_BEST]}
        cards = table_buckets(rules_of(find_game(_GAME)), load_table(folder))
        make_trainer(_config(_TRIAL, name, _PLAIN), cards, threads=num_processors()).run()  # reads the table once
        for variant, schedule in variants.items():
            config = _config(total, name, schedule)
            curve = _curve(config, cards)
            rows += _rows(f"{_GAME}, {cards.num_buckets[1]} flop buckets ({name}), {variant}", curve)
            if name == _TABLES[0]:
                curves[variant] = curve
    config = _config(total, "lossless", _VARIANTS[_BEST])
    rows += _rows(f"{_GAME}, every hand, {_BEST}", _curve(config, lossless_buckets(config.rules)))
    goal = max((curve[-1].exploitability for curve in curves.values()), default=math.nan)
    for variant, curve in curves.items():
        taken = _seconds_to(curve, goal)
        note = f"{_seconds_to(curves['plain'], goal) / taken:.2f} times as fast as plain"
        rows.append(Measurement(f"{variant}: training to {goal:,.0f} mbb/hand", taken, "s", note))
    return rows


def _config(total: int, cards: str, schedule: dict[str, float]) -> BlueprintConfig:
    settings = {"average_from": 0.05, "average_every": 10, "num_snapshots": 16} | schedule
    return BlueprintConfig(_GAME, total, game=_GAME, cards=cards, **settings)  # type: ignore[arg-type]


def _curve(config: BlueprintConfig, cards: CardBuckets) -> list[TrainingPoint]:
    points = [config.iterations // share for share in (8, 4, 2, 1)]
    return exploitability_curve(config, cards, points, threads=num_processors())


def _rows(title: str, curve: Sequence[TrainingPoint]) -> list[Measurement]:
    return [
        Measurement(
            title if point is curve[0] else "",
            point.exploitability,
            "mbb/hand",
            f"{point.seconds / 60:.2f} min, {point.iteration:,} iterations, {point.nodes / 1e6:,.0f} M nodes",
        )
        for point in curve
    ]


def _seconds_to(curve: Sequence[TrainingPoint], goal: float) -> float:
    """Return the seconds of training until the exploitability falls to `goal`; NaN if the curve does not reach `goal`.

    Between two points, the logarithms of time and of exploitability are interpolated.
    """
    for before, point in zip((None, *curve), curve, strict=False):
        if point.exploitability <= goal:
            if before is None or before.exploitability <= point.exploitability:
                return point.seconds
            share = math.log(before.exploitability / goal) / math.log(before.exploitability / point.exploitability)
            return before.seconds * (point.seconds / before.seconds) ** share
    return math.nan
