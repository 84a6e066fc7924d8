"""Results of searches, the memory of earlier results, and the clock that ends a search."""

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem.distributions import purged
from plurispiel.agents.resolve.vector_cfr import Evaluation
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.root import AddedRaises, Root
from plurispiel.agents.search.street_tree import Path

__all__ = ["Clock", "Deadline", "SearchedNode", "Solutions", "StreetSolution", "believed_and_played"]

_NUM_KEPT = 16

_Kept = TypeVar("_Kept")


@dataclass(frozen=True, eq=False)
class SearchedNode:
    """The strategies that a search found for a decision on its street.

    Attributes
    ----------
    actions : tuple of int
        The actions on offer, ascending.
    average, played : float64[num_combos, num_actions]
        `average` updates beliefs, and `played` acts. Rows are NaN for combos outside the range of the seat to act,
        unless the row is frozen.
    """

    actions: tuple[int, ...]
    average: npt.NDArray[np.float64]
    played: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StreetSolution:
    """A search's result for the street on which it began.

    Attributes
    ----------
    root : Root
        The root of the search.
    nodes : mapping of Path to SearchedNode
        The decisions of the root's street, by the actions since the root.
    added : AddedRaises
        The off-tree raises that were on offer in addition to the menu.
    frozen : mapping of Path to float64[num_combos, num_actions]
        The frozen strategy of each frozen decision; rows of NaN were solved for.
    num_decisions : int
        Number of decisions in the solved betting, on all its streets.
    iterations : int
        Iterations done. In Monte Carlo CFR, each is `multiway.DEALS` traversals for every seat that can act.
    seconds : float
        Duration of the search.
    evaluation : Evaluation or None
        Values of the average strategies and of best responses to them, in net chips of the whole hand. None except for
        unsafe two-player searches of the last street. Elsewhere an evaluation takes long, and in a safe search the
        gadget changes the opponent's range.
    hands : tuple of int
        For each live seat, the number of combos in its range.
    """

    root: Root
    nodes: Mapping[Path, SearchedNode]
    added: AddedRaises
    frozen: Mapping[Path, np.ndarray]
    num_decisions: int
    iterations: int
    seconds: float
    evaluation: Evaluation | None
    hands: tuple[int, ...]


class Solutions(Generic[_Kept]):
    """The last few solutions of an agent, so that an equal search of a later hand is not solved again.

    A key contains everything that differs between the agent's searches and changes a result, except the time left: the
    result of a search that had less time is used again, too, unless the agent drops it. The settings and the blueprint,
    which are the same for all searches of an agent in a game, are not part of a key.

    Parameters
    ----------
    num_kept : int
        How many solutions to keep; the least recently used is dropped first.
    """

    def __init__(self, num_kept: int = _NUM_KEPT):
        self._num_kept = num_kept
        self._found: OrderedDict[tuple, _Kept] = OrderedDict()

    def copy(self) -> "Solutions[_Kept]":
        """Return an independent store with the same solutions."""
        twin: Solutions[_Kept] = Solutions(self._num_kept)
        twin._found = self._found.copy()
        return twin

    def find(self, key: tuple) -> _Kept | None:
        """Return the solution kept under a key; None if there is none."""
        return self._found.get(key)

    def drop(self, key: tuple) -> None:
        """Forget the solution kept under a key, if there is one."""
        self._found.pop(key, None)

    def get(self, key: tuple, make: Callable[[], _Kept]) -> _Kept:
        """Return the solution kept under a key; if there is none, make a solution, keep it and return it."""
        if key in self._found:
            self._found.move_to_end(key)
        else:
            self._found[key] = make()
            if len(self._found) > self._num_kept:
                self._found.popitem(last=False)
        return self._found[key]


class Deadline:
    """The time at which an answer is due.

    Attributes
    ----------
    due : float
        A time of `time.perf_counter`.
    """

    due = 0.0

    @property
    def left(self) -> float:
        """Seconds until the answer is due; negative without a time limit."""
        return self.due - time.perf_counter()

    def begin(self, seconds: float) -> None:
        """Set the time to `seconds` from now."""
        self.due = time.perf_counter() + seconds

    @contextlib.contextmanager
    def half(self) -> Iterator[None]:
        """Give earlier searches, inside the ``with`` block, half of the time left; the present search has the rest.

        At the table the earlier searches are nearly always done already, and take no time. With ``root=decision``
        an off-tree raise asks for one more search from the earlier root. An agent that joins a hand has to do all
        earlier searches.
        """
        due = self.due
        self.due = 0.5 * (time.perf_counter() + due)
        try:
            yield
        finally:
            self.due = due


class Clock:
    """Tells a solver whether time is left for one more step. The solver calls it before each step of its iterations.

    A step lasts from one call of a thread to the next call of the same thread. The answer is yes if a step as long as
    the longest so far, of any thread, would end in time. The very first call always says yes, since without any
    iteration there would be no strategy. Several threads may call a clock.

    Parameters
    ----------
    end : float
        The time of `time.perf_counter` at which the solver must have ended.
    """

    def __init__(self, end: float):
        self._end = end
        self._last_calls: dict[int, float] = {}  # by thread
        self._longest = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> bool:  # noqa: D102
        thread = threading.get_ident()
        with self._lock:
            now = time.perf_counter()
            is_first = not self._last_calls
            self._longest = max(self._longest, now - self._last_calls.get(thread, now))
            self._last_calls[thread] = now
            return is_first or now + self._longest < self._end


def believed_and_played(
    config: SearchConfig, average: np.ndarray, final: np.ndarray, frozen: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return a decision's strategy for updates of beliefs, and the strategy that acts.

    Parameters
    ----------
    average, final : float64[num_combos, num_actions]
        The average strategy, and that of the final iterate.
    frozen : float64[num_combos, num_actions] or None
        The frozen strategy, which replaces both results in every row that is not NaN.
    """
    # Pluribus plays the final iterate, as averages keep some probability of poor actions. Purging is another remedy.
    played = final if config.play == "final" else average
    if config.purge:
        # The average stays whole: a rare action, once seen, must still tell hands apart.
        played = purged(played, config.purge)
    if frozen is not None:
        is_frozen = ~np.isnan(frozen[:, :1])
        average, played = (np.where(is_frozen, frozen, rows) for rows in (average, played))
    return average, played
