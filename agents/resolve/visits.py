"""The boards that an iteration visits: all there are, or run-outs that are drawn."""

from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.agents.resolve.discounting import Discounting
from plurispiel.agents.resolve.street import NUM_CHUNKS, SolverStreet

__all__ = ["AllRunOuts", "SampledRunOuts", "ThinnedRunOuts", "Visited", "Visits"]


_GOLDEN_RATIO = 0.6180339887498949
_STEPS = 0.7548776662466927, 0.5698402909980532
"""Of the plastic number, which does in two dimensions what the golden ratio does in one."""


class Visits(NamedTuple):
    """Boards to be visited one after the other.

    Attributes
    ----------
    boards : int64[n]
    factors : float[n]
        What makes up for the boards that are not visited: values are multiplied with them.
    """

    boards: np.ndarray
    factors: np.ndarray


class Visited(Protocol):
    """What an iteration visits.

    Attributes
    ----------
    num_chunks : int
        Chunks of boards at most.
    """

    num_chunks: int

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return boards of a street after one, in chunks that can be worked on at the same time."""


class AllRunOuts:
    """All boards there are."""

    num_chunks = NUM_CHUNKS

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return all boards after one."""
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        count = min(NUM_CHUNKS, last - first) if index == 1 else 1
        bounds = np.linspace(first, last, count + 1).astype(np.int64).tolist()
        return [
            Visits(np.arange(begin, end), np.ones(end - begin, street.dtype))
            for begin, end in zip(bounds, bounds[1:], strict=False)
        ]


class _DrawnRunOuts(AllRunOuts):
    """Draws boards, anew for each seat in each iteration.

    Parameters
    ----------
    seed : int
    algorithm : Discounting
        Boards with tables of their own are discounted when they are drawn.
    iteration : int
        Iterations done.
    """

    def __init__(self, seed: int, algorithm: Discounting, iteration: int):
        self._seed = seed
        self._algorithm = algorithm
        self._iteration = iteration

    def _visits(self, street: SolverStreet, seat: int, drawn: np.ndarray, probabilities: np.ndarray) -> Visits:
        """Return boards, one perhaps several times, that were each drawn with a probability: float[num_boards]."""
        times = np.ones(len(drawn), np.int64)
        count = len(drawn)
        if not street.buckets:  # a board's own tables are updated once
            drawn, first, times = np.unique(drawn, return_index=True, return_counts=True)
            probabilities = probabilities[first]
            for board in drawn.tolist():
                self._catch_up(street, board, seat)
        return Visits(drawn, (times / (count * probabilities)).astype(street.dtype))

    def _catch_up(self, street: SolverStreet, board: int, seat: int) -> None:
        """Discount a board's tables for the iterations since it was drawn last."""
        last = int(street.drawn[seat, board])
        street.drawn[seat, board] = self._iteration
        missed = self._iteration - last - 1
        if last < 0 or missed == 0:
            return
        gain, loss, decay = self._algorithm.steps(last + 1, missed).prod(axis=0).astype(street.dtype)
        hands, rows = street.deals.arrays.seats[seat], street.size.table_rows[seat]
        table = slice(int(hands.block[board]) * rows, int(hands.block[board + 1]) * rows)
        regrets = street.regrets[seat][table]
        locked = street.layout.locked.any()  # what is given is the same with any factor
        regrets *= np.where(regrets > 0, street.dtype.type(1) if locked else gain, loss)
        if not locked:
            street.sums[seat][table] *= decay


class SampledRunOuts(_DrawnRunOuts):
    """Whole run-outs of the first board, each as likely as the deals it stands for.

    Combs as in `ThinnedRunOuts` pick them. Their starts go on by irrational steps from iteration to iteration, so that
    boards come up evenly: with a few out of 49, strategies converge two to three times as fast as by independent draws.

    Parameters
    ----------
    count : int
    seed, algorithm, iteration
        As in `ThinnedRunOuts`.
    """

    def __init__(self, count: int, seed: int, algorithm: Discounting, iteration: int):
        super().__init__(seed, algorithm, iteration)
        self._count = self.num_chunks = count
        self._starts = np.random.default_rng(seed).random((2, 2))

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return boards drawn after one, each a chunk."""
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        bounds = street.deals.arrays.member_first[first : last + 1]
        count = self._count if index == 1 else 1
        deeper = int(index > 1)
        start = self._starts[seat, deeper] + self._iteration * _STEPS[deeper] + deeper * parent * _GOLDEN_RATIO
        places, share = _combed(bounds, count, start % 1.0)
        found = self._visits(street, seat, first + places, share)
        return [Visits(found.boards[k : k + 1], found.factors[k : k + 1]) for k in range(len(found.boards))]


class ThinnedRunOuts(_DrawnRunOuts):
    """All boards but those of the last street, of which a few are drawn after each one before.

    Parameters
    ----------
    count : int
        After each.
    seed : int
    algorithm : Discounting
    iteration : int
        Iterations done.

    Notes
    -----
    Systematic sampling: the boards lie on a line, each as long as the deals it stands for, and a comb of `count` equal
    steps with a random start picks from it. Neighbours are alike, so a comb is fairer than independent draws.
    """

    def __init__(self, count: int, seed: int, algorithm: Discounting, iteration: int):
        super().__init__(seed, algorithm, iteration)
        self._count = count
        self._starts: dict[int, np.ndarray] = {}

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return all boards after one, or a few drawn ones."""
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        if not street.is_last or self._count >= last - first:
            return super().visits(index, street, parent, seat, of_chunk)
        bounds = street.deals.arrays.member_first[first : last + 1]
        if seat not in self._starts:
            rng = np.random.default_rng([self._seed, self._iteration, seat])
            self._starts[seat] = rng.random(len(street.deals.child_first) - 1)
        places, share = _combed(bounds, self._count, self._starts[seat][parent])
        found = self._visits(street, seat, first + places, share)
        count = min(NUM_CHUNKS, len(found.boards)) if index == 1 else 1
        return [Visits(*each) for each in zip(*(np.array_split(part, count) for part in found), strict=True)]


def _combed(bounds: np.ndarray, count: int, start: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the boards that a comb of equal steps picks, and the probability of each to be picked by one tooth.

    Parameters
    ----------
    bounds : int64[num_boards + 1]
        Where the ways of dealing of each board begin.
    start : float
        From 0 to 1, of a step.
    """
    total = bounds[-1] - bounds[0]
    teeth = bounds[0] + (start + np.arange(count)) / count * total
    places = np.searchsorted(bounds, teeth, side="right") - 1
    return places, (bounds[places + 1] - bounds[places]) / total
