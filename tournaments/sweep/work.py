"""The work of a sweep: a flop is a job, and its row the result."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.agents.resolve import vector_cfr
from plurispiel.agents.spots.flop_row import FlopRow, solve_flop
from plurispiel.agents.spots.flops import WeightedFlop
from plurispiel.tournaments.labour.travel import Site
from plurispiel.tournaments.sweep.settings import SweepSettings

__all__ = ["SweepWork"]


@dataclass(frozen=True)
class SweepWork:
    """All that a process needs to solve flops.

    Attributes
    ----------
    settings : SweepSettings
    threads : int
        Threads for each flop; rows do not depend on their number.
    """

    settings: SweepSettings
    threads: int

    @contextmanager
    def begin(self) -> Iterator[Callable[[WeightedFlop], FlopRow]]:
        """Load the kernels, and return a context with the function that solves one flop."""
        undisturbed(vector_cfr.prepare)
        if self.settings.spot.has_buckets:
            undisturbed(lambda: vector_cfr.prepare(by_buckets=True))
        yield self.solve

    def solve(self, flop: WeightedFlop) -> FlopRow:
        """Return the row of a flop.

        Without a limit of seconds, all fields but `FlopRow.seconds` depend on the settings and the flop alone.
        """
        return solve_flop(self.settings.spot, self.settings.solve, flop, threads=self.threads)

    paths = ()
    logs = None
    outsiders = None

    def departing(self) -> "SweepWork":
        """Return the work, which names no files."""
        return self

    def moved(self, site: Site) -> "SweepWork":
        """Return the work, which is the same everywhere."""
        return self

    def essence(self, result: FlopRow) -> bytes | None:
        """Return the row without its seconds; None if a time limit decides when a flop is solved."""
        if self.settings.solve.max_seconds < math.inf:
            return None
        return repr(dataclasses.replace(result, seconds=0.0)).encode()
