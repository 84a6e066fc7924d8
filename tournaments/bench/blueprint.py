"""Speed of blueprint training in nodes and traversals per second, compared with OpenSpiel's external sampling."""

import dataclasses
import statistics
import time

import numpy as np
import pyspiel

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.boards import board_classes, relabel_combos
from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, HoldemRules
from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.agents.blueprint.cards import CardArrays, CardBuckets
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.tournaments.bench.measurement import Measurement

_BUCKETS = (169, 200, 200, 200)
_HEADS_UP = dataclasses.replace(HUNL, stacks=(10_000, 10_000))
_SIX_SEATS_MENU = GameMenu((StreetMenu(("1p allin", "allin")),))
_HEADS_UP_MENU = GameMenu((StreetMenu(("0.5p 1p 2p allin",) * 3),), all_in_share=1.0)
_FOREVER = 10**12
_WARM_UP = 50
"""Visits to nodes before the measurement, as a multiple of the number of nodes of the tree.

During these visits many rows are met for the first time, and their memory is still being mapped.
"""


def bench_blueprint(seconds: float = 1.0) -> list[Measurement]:
    """Return all rates.

    Each rate on the two large trees comes from about `seconds` of training, after a warm-up (`_WARM_UP`). If the free
    memory is less than 1.2 times the regrets of a tree, a single row without a value stands for the tree. The
    comparison with OpenSpiel takes four times `seconds` for both rates together, after a short warm-up of our solver.
    The buckets from the flop on are random numbers, while deals and showdowns are real.
    """
    rows = _rates("six seats", SIXMAX, _SIX_SEATS_MENU, seconds)
    rows += _rates("heads-up", _HEADS_UP, _HEADS_UP_MENU, seconds)
    return rows + _beside_openspiel(seconds)


def _rates(title: str, rules: HoldemRules, menu: GameMenu, seconds: float) -> list[Measurement]:
    threads = num_processors()
    trainer = Trainer(
        rules, menu, _random_buckets(rules), _schedule(), threads=threads, prune_below=-20.0 * max(rules.stacks or ())
    )
    need = trainer.regrets.nbytes
    size = f"{len(trainer.tree.actor):,} nodes, {need / 1e9:.1f} GB of regrets"
    if available_bytes() < 1.2 * need:
        return [
            Measurement(
                f"training {title}, one thread", float("nan"), "M nodes/s", f"{size}: more than the free memory"
            )
        ]
    while trainer.num_nodes < _WARM_UP * len(trainer.tree.actor):
        trainer.run(2_000)
    one = _rate(trainer, 1, seconds)
    rows = [Measurement(f"training {title}, one thread", one[0], "M nodes/s", f"{one[1]:,.0f} K traversals/s; {size}")]
    if threads > 1:
        every = _rate(trainer, threads, seconds)
        rows.append(Measurement(f"  {threads} threads", every[0], "M nodes/s", f"{every[1]:,.0f} K traversals/s"))
    trainer.schedule = dataclasses.replace(trainer.schedule, prune_from=0.0)
    pruned = _rate(trainer, 1, seconds)
    note = (
        f"{pruned[1]:,.0f} K traversals/s; {pruned[0] / pruned[1] * 1e3:.1f} nodes a traversal, "
        f"{one[0] / one[1] * 1e3:.1f} without pruning"
    )
    return [*rows, Measurement("  one thread, pruning", pruned[0], "M nodes/s", note)]


def _rate(trainer: Trainer, threads: int, seconds: float) -> tuple[float, float]:
    """Return how many million nodes and how many thousand traversals per second a trainer does with `threads` threads.

    Both rates are medians over batches of traversals. All batches together take about `seconds`.
    """
    workspaces = trainer.workspaces
    trainer.workspaces = workspaces[:threads]
    batch = 2_000
    rates: list[tuple[float, float]] = []
    end = time.perf_counter() + seconds
    while not rates or time.perf_counter() < end:
        nodes, traversals, begin = trainer.num_nodes, trainer.num_traversals, time.perf_counter()
        trainer.run(batch)
        taken = time.perf_counter() - begin
        rates.append(((trainer.num_nodes - nodes) / taken / 1e6, (trainer.num_traversals - traversals) / taken / 1e3))
        if taken < 0.1:
            batch *= 2
    trainer.workspaces = workspaces
    return statistics.median(rate for rate, _ in rates), statistics.median(rate for _, rate in rates)


def _beside_openspiel(seconds: float) -> list[Measurement]:
    """Return our rate and OpenSpiel's in one game.

    Our solver has 169 or 200 buckets a street, while OpenSpiel's distinguishes all hands.
    """
    rules = dataclasses.replace(_HEADS_UP, betting_abstraction="fcpa")
    trainer = Trainer(rules, game_menu(rules), _random_buckets(rules), _schedule())
    solver = pyspiel.ExternalSamplingMCCFRSolver(load_game(rules), 1)
    trainer.run(2_000)
    done, taken = [0, 0], [0.0, 0.0]
    end = time.perf_counter() + 4.0 * seconds
    while not done[0] or time.perf_counter() < end:  # in turns, so that load of the machine slows both equally
        begin = time.perf_counter()
        trainer.run(5_000)
        middle = time.perf_counter()
        for _ in range(100):
            solver.run_iteration()
        taken[0] += middle - begin
        taken[1] += time.perf_counter() - middle
        done[0] += 2 * 5_000  # an iteration has a traversal for each of the two seats
        done[1] += 2 * 100
    ours, theirs = (count / spent / 1e3 for count, spent in zip(done, taken, strict=True))
    return [
        Measurement(
            "training heads-up fcpa, one thread",
            ours,
            "K traversals/s",
            f"{ours / theirs:,.0f} x pyspiel.ExternalSamplingMCCFRSolver",
        ),
        Measurement(
            "  pyspiel.ExternalSamplingMCCFRSolver", theirs, "K traversals/s", "C++ on OpenSpiel's states, no buckets"
        ),
    ]


def _schedule() -> Schedule:
    return Schedule(_FOREVER, discount_until=0.0, prune_from=1.0, average_from=1.0, num_snapshots=0)


def _random_buckets(rules: HoldemRules) -> CardBuckets:
    """Return the 169 preflop classes, and random buckets from the flop on, for every combo on every class of boards."""
    rng = np.random.default_rng(1)
    classes = [board_classes(rules.board_size(street)) for street in range(rules.num_streets)]
    rows = [np.array(preflop_classes())[None]]
    for street, count in enumerate(_BUCKETS[1:], 1):
        rows.append(rng.integers(0, count, (len(classes[street].boards), rules.num_combos), np.uint8))
    arrays = CardArrays(relabel_combos().astype(np.uint16), tuple(each.entries for each in classes), tuple(rows))
    return CardBuckets(rules, _BUCKETS, arrays)
