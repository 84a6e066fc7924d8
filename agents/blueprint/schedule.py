"""When a training run discounts, prunes, averages and takes snapshots."""

import dataclasses
import functools
from dataclasses import dataclass

import numpy as np

MAX_SNAPSHOTS = 250
"""Sums of this many 8-bit strategies fit into 16 bits: 250 * 255 < 65,536."""


@dataclass(frozen=True)
class Schedule:
    """The iterations at which a run discounts, prunes, averages and takes snapshots.

    The first street's rows are averaged by updates, one every `average_every` iterations (`add_strategy`). An update
    walks through one deal, and adds to the average the current strategy of each row of the first street that it visits.
    Later streets are averaged over the visits of traversals or over snapshots, see `num_snapshots`. A snapshot is the
    current strategy of all rows of later streets that have been visited so far. A `Trainer` with ``average_all``
    averages every street like the first.

    Attributes
    ----------
    iterations : int
        Iterations of the whole run.
    discount_until : float
        Share of the run in which regrets and averages over visits are discounted; 0 for none. This part of the run has
        40 equal steps. After step k, except the last, the regrets and the sums of these averages are multiplied by
        k / (k + 1). So each step has a weight proportional to its number (linear CFR).
    prune_from : float
        Share of the run after which most traversals (`prune_share`) skip actions with very negative regret; 1 for no
        pruning.
    average_from : float
        Share of the run after which averages are updated and snapshots are taken.
    average_over : float
        Share of the run, at its end, that the averages cover. The averages restart where that share begins, after
        (1 - average_over) of the run. Earlier they restart after (1 - average_over)^2, (1 - average_over)^3 and so on,
        but only later than `average_from`. So the averages of an unfinished run cover its last part, too.
        With 1, the averages cover everything since `average_from`. Such an average is less exploitable: current
        strategies cycle, and an average over part of a cycle leans to one side.
    average_every : int
        Iterations between two updates of the first street's average.
    num_snapshots : int
        How later streets are averaged. With 0, each visit of a row by a traversal of another seat adds the row's
        current strategy, and discounts hold for these sums, too. Otherwise this is the number of snapshots in the run,
        evenly spaced from `average_from` on, as for Pluribus: the average is the mean of the current strategies at
        these iterations. Sums of snapshots take half the memory of sums over visits.

    Raises
    ------
    ValueError
        If a number is out of range, or `iterations`, `average_every` or `num_snapshots` is no int.
    """

    iterations: int
    discount_until: float = 0.1
    prune_from: float = 0.05
    average_from: float = 0.1
    average_over: float = 1.0
    average_every: int = 100
    num_snapshots: int = 50

    num_discount_steps = 40
    prune_share = 0.95

    def __post_init__(self):
        if any(type(number) is not int for number in (self.iterations, self.average_every, self.num_snapshots)):
            raise ValueError(f"iterations, average_every and num_snapshots are whole numbers, got {self}")
        if self.iterations < 1 or self.average_every < 1:
            raise ValueError(
                f"iterations and average_every are 1 or more, got {self.iterations} and {self.average_every}"
            )
        if not 0 <= self.num_snapshots <= MAX_SNAPSHOTS:
            raise ValueError(f"num_snapshots is 0 to {MAX_SNAPSHOTS}, got {self.num_snapshots}")
        for name in ("discount_until", "prune_from", "average_from"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise ValueError(f"{name} is a share of the run, 0 to 1, got {getattr(self, name)}")
        if not 0.1 <= self.average_over <= 1.0:
            raise ValueError(f"average_over is a share of the run, 0.1 to 1, got {self.average_over}")

    @functools.cached_property
    def discounts(self) -> dict[int, float]:
        """The factor of each discount, by the number of iterations after which it is applied.

        Empty if the part of the run with discounts has fewer than 40 iterations.
        """
        until, steps = self.discount_until * self.iterations, self.num_discount_steps
        return {round(until * k / steps): k / (k + 1) for k in range(1, steps)} if until >= steps else {}

    @functools.cached_property
    def snapshots(self) -> frozenset[int]:
        """The numbers of iterations after which a snapshot is taken; the last snapshot is taken at the end."""
        start = self.average_from * self.iterations
        spans = np.arange(1, self.num_snapshots + 1) / max(self.num_snapshots, 1)
        return frozenset(np.rint(start + (self.iterations - start) * spans).astype(int).tolist())

    @functools.cached_property
    def renewals(self) -> frozenset[int]:
        """The numbers of iterations after which the averages restart from zero."""
        renewals, at = set(), self.iterations * (1.0 - self.average_over)
        while at > self.average_from * self.iterations and round(at) > 0:
            renewals.add(round(at))
            at *= 1.0 - self.average_over
        return frozenset(renewals)

    def extended(self, iterations: int) -> "Schedule":
        """Return the schedule of a longer run, with the same events up to the end of this run.

        There are two exceptions. The restarts of the averages (`average_over` below 1) move with the length of the run.
        Snapshots keep their distance only approximately, and lie further apart if there would be more than
        `MAX_SNAPSHOTS`.

        Raises
        ------
        ValueError
            If the other run is shorter.
        """
        if iterations < self.iterations:
            raise ValueError(
                f"a run of {self.iterations:,} iterations cannot be cut to {iterations:,}; give at least as many"
            )
        share = self.iterations / iterations
        first = self.average_from * self.iterations
        snapshots = (
            self.num_snapshots * (iterations - first) / (self.iterations - first)
            if first < self.iterations
            else self.num_snapshots
        )
        return dataclasses.replace(
            self,
            iterations=iterations,
            discount_until=self.discount_until * share,
            prune_from=self.prune_from * share if self.prune_from < 1.0 else 1.0,
            average_from=self.average_from * share,
            num_snapshots=min(round(snapshots), MAX_SNAPSHOTS),
        )
