"""Speed of what is exact: flattening games, best responses."""

import time
from collections.abc import Callable

import numpy as np
import pyspiel

from plurispiel.abstraction.game_tree import flatten, uniform_strategy
from plurispiel.evaluation.best_response import best_response, exploitability
from plurispiel.tournaments.bench.row import Row

_LARGE = {"leduc3": "three-player Leduc", "universal_poker()": "default universal_poker", "holdem-mini": "holdem-mini"}


def bench_small_games(seconds: float = 1.0) -> list[Row]:
    """Return all figures, each from runs of about `seconds`."""
    rows = _leduc(seconds)
    for game, title in _LARGE.items():
        rows += _best_responses(game, title, seconds)
    return rows


def _leduc(seconds: float) -> list[Row]:
    """Return our time for Leduc's NashConv and OpenSpiel's, both of the uniform policy."""
    tree = flatten("leduc")
    strategy = uniform_strategy(tree)
    peer = pyspiel.UniformRandomPolicy(tree.openspiel_game)
    ours, theirs = _times(
        seconds, lambda: exploitability(tree, strategy), lambda: pyspiel.nash_conv(tree.openspiel_game, peer)
    )
    return [
        Row("NashConv Leduc", 1e3 * ours, "ms", f"{theirs / ours:,.0f} x pyspiel.nash_conv"),
        Row("  pyspiel.nash_conv", 1e3 * theirs, "ms", "C++, walks the states"),
    ]


def _best_responses(game: str, title: str, seconds: float) -> list[Row]:
    tree = flatten(game)
    (flattening,) = _times(seconds, lambda: flatten(game))
    strategy = uniform_strategy(tree)
    one, all_seats = _times(seconds, lambda: best_response(tree, strategy, 0), lambda: exploitability(tree, strategy))
    size = f"{tree.num_histories:,} histories, {tree.num_infosets:,} infosets"
    return [
        Row(f"flattening {title}", flattening, "s", size),
        Row("  best response of a seat", 1e3 * one, "ms"),
        Row("  NashConv", 1e3 * all_seats, "ms"),
    ]


def _times(seconds: float, *calls: Callable[[], object]) -> list[float]:
    """Return the median seconds of each call, made in turns, so that all meet the same disturbances."""
    taken: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + seconds * len(calls)
    while not taken[-1] or time.perf_counter() < end:
        for call, times in zip(calls, taken, strict=True):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
    return [float(np.median(times)) for times in taken]
