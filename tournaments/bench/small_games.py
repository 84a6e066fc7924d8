"""Speed of flattening and solving small games, and of exact best responses."""

import functools
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from plurispiel.abstraction.trees.game_tree import GameTree, flatten, uniform_strategy
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import best_response, exploitability
from plurispiel.evaluation.convergence import Point, converge
from plurispiel.tournaments.bench.measurement import Measurement

_LARGE = {"leduc3": "three-player Leduc", "universal_poker()": "default universal_poker", "holdem-mini": "holdem-mini"}


def bench_small_games(seconds: float = 1.0) -> list[Measurement]:
    """Return all figures, each a median over calls that take about `seconds` together, at least one call."""
    rows = _leduc(seconds)
    for game, title in _LARGE.items():
        rows += _best_responses(game, title, seconds)
    return rows


def _leduc(seconds: float) -> list[Measurement]:
    """Return the time to compute NashConv of Leduc's uniform strategy, and the rates and times of solvers on Leduc."""
    tree = flatten("leduc")
    strategy = uniform_strategy(tree)
    (nash_conv,) = _times(seconds, lambda: exploitability(tree, strategy))
    rows = [Measurement("NashConv Leduc", 1e3 * nash_conv, "ms")]
    for title, algorithm, batch in (("CFR+", "cfr+", 200), ("external sampling", "mccfr", 2_000)):
        solver = make_solver(tree, algorithm)
        (taken,) = _times(seconds, functools.partial(solver.run, batch))
        rows.append(Measurement(f"{title} Leduc", batch / taken / 1e3, "k it/s"))
    for until in (1e-3, 1e-4):
        rows.append(_time_until(tree, until, seconds))
    return rows


def _time_until(tree: GameTree, until: float, seconds: float) -> Measurement:
    """Return the median time in which CFR+ reaches the exploitability `until`, in chips, measuring included."""
    ends: list[Point] = []

    def run() -> None:
        ends.append(converge(make_solver(tree, "cfr+"), iterations=100_000, until=until)[1][-1])

    _times(seconds, run)
    taken = float(np.median([end.seconds for end in ends]))
    return Measurement(
        f"CFR+ Leduc to {until:g} chips", 1e3 * taken, "ms", f"{ends[0].iteration:,} iterations, and measuring"
    )


def _best_responses(game: str, title: str, seconds: float) -> list[Measurement]:
    trees: deque[GameTree] = deque(maxlen=1)
    (flattening,) = _times(seconds, lambda: trees.append(flatten(game)))
    (tree,) = trees
    strategy = uniform_strategy(tree)
    one, all_seats = _times(seconds, lambda: best_response(tree, strategy, 0), lambda: exploitability(tree, strategy))
    size = f"{tree.num_histories:,} histories, {tree.num_infosets:,} infosets"
    return [
        Measurement(f"flattening {title}", flattening, "s", size),
        Measurement("  best response of a seat", 1e3 * one, "ms"),
        Measurement("  NashConv", 1e3 * all_seats, "ms"),
    ]


def _times(seconds: float, *calls: Callable[[], object]) -> list[float]:
    """Return the median seconds of each call; the calls take turns, so that load of the machine slows all equally."""
    taken: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + seconds * len(calls)
    while not taken[-1] or time.perf_counter() < end:
        for call, times in zip(calls, taken, strict=True):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
    return [float(np.median(times)) for times in taken]
