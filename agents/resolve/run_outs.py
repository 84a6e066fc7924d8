"""The boards that an iteration visits: all there are, or run-outs that are drawn."""

from typing import NamedTuple

import numpy as np

from plurispiel.agents.resolve.discounting import Discounting
from plurispiel.agents.resolve.street import NUM_CHUNKS, SolverStreet

__all__ = ["Part", "SampledRunOuts", "all_parts"]


class Part(NamedTuple):
    """Boards to be visited one after the other.

    Attributes
    ----------
    first, last : int
        The first board, and the one behind the last.
    factor : float
        What their values are multiplied with.
    """

    first: int
    last: int
    factor: float = 1.0


def all_parts(index: int, street: SolverStreet, parent: int) -> list[Part]:
    """Return all boards of a street after one, in parts that can be worked on at the same time."""
    first, last = street.deals.child_first[parent : parent + 2].tolist()
    count = min(NUM_CHUNKS, last - first) if index == 1 else 1
    bounds = np.linspace(first, last, count + 1).astype(np.int64).tolist()
    return [Part(begin, end) for begin, end in zip(bounds, bounds[1:], strict=False)]


class SampledRunOuts:
    """Draws run-outs of the first board, anew for each seat in each iteration.

    Parameters
    ----------
    count : int
    seed : int
    algorithm : Discounting
        Boards that are not drawn are discounted when they are.
    iteration : int
        Iterations done.
    """

    def __init__(self, count: int, seed: int, algorithm: Discounting, iteration: int):
        self._count = count
        self._seed = seed
        self._algorithm = algorithm
        self._iteration = iteration

    def parts(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Part]:
        """Return boards drawn after one, each as likely as the deals it stands for, with what makes up for the rest."""
        count = self._count if index == 1 else 1
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        members = np.diff(street.deals.arrays.member_first[first : last + 1])
        rng = np.random.default_rng([self._seed, self._iteration, seat, index, of_chunk])
        drawn = first + rng.choice(last - first, size=count, p=members / members.sum())
        times = np.ones(count, np.int64)
        if not street.buckets:  # two threads must not write the tables of one board
            drawn, times = np.unique(drawn, return_counts=True)
            for board in drawn.tolist():
                self._catch_up(street, board, seat)
        factors = times * members.sum() / (count * members[drawn - first])
        return [Part(board, board + 1, factor) for board, factor in zip(drawn.tolist(), factors.tolist(), strict=True)]

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
