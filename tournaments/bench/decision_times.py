"""Times of an agent's decisions, by street."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.agents.base import Agent, Decision, View
from plurispiel.tournaments.bench.measurement import Measurement


class TimedAgent(Agent):
    """An agent that records the times of its decisions.

    A subclass names `TimedAgent` first among its base classes, and then the class that decides.

    Attributes
    ----------
    taken : list of (int, float)
        The street of each decision, and the seconds that the decision took.
    """

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.taken: list[tuple[int, float]] = []

    def act(self, view: View) -> Decision:
        """Return the decision of the next base class."""
        began = time.perf_counter()
        decision = super().act(view)
        assert isinstance(decision, Decision)
        self.taken.append((view.public.street, time.perf_counter() - began))
        return decision


def times_by_street(taken: Sequence[tuple[int, float]]) -> list[Measurement]:
    """Return the mean time of the decisions on each street that has decisions; `taken` as in `TimedAgent`."""
    by_street = [[spent for where, spent in taken if where == street] for street in range(len(STREETS))]
    titled = zip(STREETS, by_street, strict=True)
    return [time_of_decisions(f"  a decision, {title}", times) for title, times in titled if times]


def time_of_decisions(name: str, times: Sequence[float], note: str = "") -> Measurement:
    """Return the mean of times in seconds. The number of decisions and the longest time follow `note`."""
    note += f"{len(times)} decisions, the longest {max(times):.2f} s"
    return Measurement(name, float(np.mean(times)), "s", note)
