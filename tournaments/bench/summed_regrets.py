"""Training of one strategy on several machines that add their changes of regrets, and its cost in exploitability.

Workers begin a round with the same regrets, and train apart. The sum or the mean of their changes is then added to
these regrets, and the next round begins from the result. Changes of the strategy sums are always summed. Discounts are
applied to the results, not by the workers. A worker sees the changes of other workers only after the round, so its
regrets are stale by up to a round.

The workers together do as many iterations as the one worker with which they are compared. Exploitability is exact.
Workers are threads with tables of their own. The time of a round is the processor time of its slowest worker and of the
additions, as on separate machines with a network that has no delay.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig, read_preset
from plurispiel.agents.blueprint.devices import external_trainer
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.tournaments.bench.blueprint_curves import exact_exploitability
from plurispiel.tournaments.bench.measurement import Measurement

__all__ = ["SummedTraining", "bench_summed_regrets"]

_GAMES = ("leduc", "holdem-mini")
_ITERATIONS = 400_000
"""Iterations of a run, of all workers together, for each second of the option ``seconds``."""

_ROUNDS = (100, 1_000, 10_000, 100_000)
"""Iterations of each worker in a round."""

_WORKERS = (2, 4)
_SEEDS = 4
_CELL_BYTES = 12  # four bytes for the index of the cell, eight for its change
_WITHIN, _TIME = 1.10, 0.6
"""A result is good enough up to these multiples of one worker's exploitability and, with two workers, of its time."""


class SummedTraining:
    """A training run of several workers, whose changes are added after each round.

    Parameters
    ----------
    config : BlueprintConfig
        With ``exact`` regrets, without snapshots and without pruning. Its iterations are those of all workers together.
    workers : int
        At least 1.
    every : int
        Iterations of each worker in a round.
    mean : bool
        Whether the mean of the changes is added to the regrets, instead of their sum.

    Attributes
    ----------
    trainer : Trainer
        Has the regrets and strategy sums of all workers together.
    sent : int
        Bytes that a worker has to send in all rounds so far, on average: 12 for each cell of regrets or strategy sums
        that it changed in a round.
    seconds : float
        The time of all rounds so far.
    """

    def __init__(self, config: BlueprintConfig, workers: int, every: int, *, mean: bool = False):
        if not config.exact or config.num_snapshots or config.prune_from < 1.0:
            raise ValueError("summed changes need exact regrets, no snapshots and no pruning")
        cards = lossless_buckets(config.rules)
        self.trainer = external_trainer(config, cards)
        own = replace(config, discount_until=0.0)
        self._workers = [external_trainer(replace(own, seed=config.seed + k), cards) for k in range(workers)]
        self._every = every
        self._share = 1.0 / workers if mean else 1.0
        self.sent, self.seconds = 0, 0.0

    def run(self) -> None:
        """Train until the workers together have done the iterations of the settings, rounded up to equal parts."""
        total, whole = self.trainer.schedule.iterations, len(self._workers) * self._every
        with ThreadPoolExecutor(len(self._workers)) as pool:
            while self.trainer.iteration < total:
                each = -(-min(whole, total - self.trainer.iteration) // len(self._workers))
                slowest = max(pool.map(lambda worker, each=each: self._train(worker, each), self._workers))
                begin = time.thread_time()
                self._add()
                self._advance(len(self._workers) * each)
                self.seconds += slowest + time.thread_time() - begin

    def _train(self, worker: Trainer, iterations: int) -> float:
        begin = time.thread_time()
        worker.regrets[:] = self.trainer.regrets
        worker.sums[:] = 0.0
        worker.run(iterations)
        return time.thread_time() - begin

    def _add(self) -> None:
        before, cells = self.trainer.regrets.copy(), 0
        for worker in self._workers:
            change = np.subtract(worker.regrets, before)
            np.add(self.trainer.regrets, self._share * change, out=self.trainer.regrets)
            np.add(self.trainer.sums, worker.sums, out=self.trainer.sums)
            cells += int(np.count_nonzero(change)) + int(np.count_nonzero(worker.sums))
        self.sent += _CELL_BYTES * cells // len(self._workers)

    def _advance(self, iterations: int) -> None:
        """Count the iterations of a round, and apply the discounts that fell due in the round."""
        trainer, last = self.trainer, self.trainer.iteration + iterations
        factor = math.prod(
            factor for at, factor in trainer.schedule.discounts.items() if trainer.iteration < at <= last
        )
        for values in (trainer.regrets, trainer.sums):
            np.multiply(values, factor, out=values)
        trainer.iteration = last


class _Trial(NamedTuple):
    """Means of runs: exploitability in mbb/hand, seconds, and bytes that a worker sends."""

    exploitability: float
    seconds: float
    sent: float


def bench_summed_regrets(seconds: float = 1.0) -> list[Measurement]:
    """Return one worker's exploitability in small games, and several workers' exploitability divided by it."""
    rows = []
    for game in _GAMES:
        config = replace(read_preset(game), iterations=max(1_000, round(_ITERATIONS * seconds)))
        alone = _tried(config)
        note = f"{config.iterations:,} iterations in {alone.seconds:.2g} s, means of {_SEEDS} seeds"
        rows.append(Measurement(f"{game}, one worker", alone.exploitability, "mbb/hand", note))
        for workers in _WORKERS:
            for every in _ROUNDS:
                if workers * every <= config.iterations:
                    for mean in (False, True):
                        name = f"{game}, {workers} workers, {'mean' if mean else 'sum'}, rounds of {every:,}"
                        rows.append(_compared(name, alone, _tried(config, workers, every, mean), workers))
    return rows


def _tried(config: BlueprintConfig, workers: int = 1, every: int = 0, mean: bool = False) -> _Trial:
    """Return the means over all seeds. If `workers` is 1, training is as usual, without rounds."""
    found = []
    for number in range(_SEEDS):
        own = replace(config, seed=1 + number * max(_WORKERS))
        summed = SummedTraining(own, workers, every, mean=mean) if workers > 1 else None
        trainer = summed.trainer if summed else external_trainer(own, lossless_buckets(own.rules))
        begin = time.thread_time()
        (summed or trainer).run()
        seconds, sent = (summed.seconds, summed.sent) if summed else (time.thread_time() - begin, 0)
        found.append((exact_exploitability(trainer.blueprint(), num_processors()), seconds, sent))
    return _Trial(*np.mean(found, axis=0).tolist())


def _compared(name: str, alone: _Trial, trial: _Trial, workers: int) -> Measurement:
    share, taken = trial.exploitability / alone.exploitability, trial.seconds / alone.seconds
    holds = share <= _WITHIN and (workers > 2 or taken <= _TIME)
    note = f"{taken:.2f} of one worker's time; a worker sends {trial.sent / 1e6:,.2f} MB in all"
    return Measurement(name, share, "of one worker's", note + "; not good enough" * (not holds))
