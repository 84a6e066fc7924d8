"""The boards that an iteration visits: all of them, or a sample.

Samples are systematic: boards lie on a line, each as long as the number of deals that it represents. Points at equal
steps from one random start pick boards from the line. Neighbouring boards are similar, so the sample is spread more
evenly than independent draws. Values of a sampled board are divided by the board's expected number of draws, which
keeps sums unbiased.
"""

from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.agents.resolve.discounting import Discounting
from plurispiel.agents.resolve.street import NUM_CHUNKS, SolverStreet

__all__ = ["AllRunOuts", "OneRunOut", "SampledRunOuts", "ThinnedRunOuts", "Visited", "Visits"]


_GOLDEN_RATIO = 0.6180339887498949
_STEPS = 0.7548776662466927, 0.5698402909980532
"""Powers of 1 / the plastic number: a low-discrepancy sequence in two dimensions, as the golden ratio gives in one."""


class Visits(NamedTuple):
    """Boards to visit, one after the other.

    Attributes
    ----------
    boards : int64[n]
        The index of each board among the street's boards.
    factors : float[n]
        The factor on each board's values: the number of times that the board was drawn for this visit, divided by its
        expected number of draws; 1 if all boards are visited.
    """

    boards: np.ndarray
    factors: np.ndarray


class Visited(Protocol):
    """The boards that an iteration, or a measurement, visits.

    Attributes
    ----------
    num_chunks : int
        The largest number of chunks into which the first deal's boards are cut.
    """

    num_chunks: int

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return the boards to visit after a board, in chunks that threads can work on at the same time.

        Parameters
        ----------
        index : int
            The street's number in the subgame; 1 for the first deal, the only one with several chunks.
        street : SolverStreet
            The street of the boards to visit.
        parent : int
            The index of the board of the street before.
        seat : int
            The traverser.
        of_chunk : int
            The chunk of the first deal's boards that the parent is in.
        """


class AllRunOuts:
    """All boards."""

    num_chunks = NUM_CHUNKS

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return all boards after a board."""
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        count = min(NUM_CHUNKS, last - first) if index == 1 else 1
        bounds = np.linspace(first, last, count + 1).astype(np.int64).tolist()
        return [
            Visits(np.arange(begin, end), np.ones(end - begin, street.dtype))
            for begin, end in zip(bounds, bounds[1:], strict=False)
        ]


class OneRunOut(AllRunOuts):
    """One board after the first street, and all boards after it.

    Parameters
    ----------
    board : int
        Its number among the boards of the second street.
    """

    num_chunks = 1

    def __init__(self, board: int):
        self._board = board

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return the board, or all boards after it."""
        if index > 1:
            return super().visits(index, street, parent, seat, of_chunk)
        return [Visits(np.array([self._board]), np.ones(1, street.dtype))]


class _DrawnRunOuts(AllRunOuts):
    """Samples of boards, a new one for each seat in each iteration.

    Parameters
    ----------
    seed : int
    algorithm : Discounting
        The solver's algorithm, whose discounts are applied later to the tables of boards that were not visited.
    iteration : int
        Iterations done.
    """

    def __init__(self, seed: int, algorithm: Discounting, iteration: int):
        self._seed = seed
        self._algorithm = algorithm
        self._iteration = iteration

    def _visits(self, street: SolverStreet, seat: int, drawn: np.ndarray, probabilities: np.ndarray) -> Visits:
        """Return visits of sampled boards, some perhaps sampled several times.

        Parameters
        ----------
        drawn : int64[n]
            The sampled boards, repeated if sampled several times.
        probabilities : float64[n]
            The probability of each of these boards in one draw.
        """
        times = np.ones(len(drawn), np.int64)
        count = len(drawn)
        if not street.buckets:  # a board's own tables are updated once an iteration, however often it is drawn
            drawn, first, times = np.unique(drawn, return_index=True, return_counts=True)
            probabilities = probabilities[first]
            for board in drawn.tolist():
                self._catch_up(street, board, seat)
        # Each board is drawn count * probability times on average, also in a systematic sample, so sums are unbiased.
        return Visits(drawn, (times / (count * probabilities)).astype(street.dtype))

    def _catch_up(self, street: SolverStreet, board: int, seat: int) -> None:
        """Apply the discounts of the iterations that did not visit a board to its tables, as one product."""
        last = int(street.drawn[seat, board])
        street.drawn[seat, board] = self._iteration
        missed = self._iteration - last - 1
        if last < 0 or missed == 0:
            return
        # Without additions in between a regret keeps its sign, so the factors of its sign can be multiplied.
        gain, loss, decay = self._algorithm.steps(last + 1, missed).prod(axis=0).astype(street.dtype)
        hands, rows = street.deals.arrays.seats[seat], street.size.table_rows[seat]
        table = slice(int(hands.block[board]) * rows, int(hands.block[board + 1]) * rows)
        regrets = street.regrets[seat][table]
        # Locked rows are in the same table and get no additions, so repeated discounts would shrink them to 0.
        # Therefore a lock on the street also spares free rows the discounts of positive regrets and of sums.
        locked = street.layout.locked.any()
        regrets *= np.where(regrets > 0, street.dtype.type(1) if locked else gain, loss)
        if not locked:
            street.sums[seat][table] *= decay


class SampledRunOuts(_DrawnRunOuts):
    """A few whole run-outs of the first board; a board is drawn in proportion to the number of deals it represents.

    The starts of the systematic samples advance by irrational steps from iteration to iteration, so that boards come up
    evenly over time: with a few of the 49 turns sampled, strategies converge two to three times as fast as by
    independent draws.

    Parameters
    ----------
    count : int
        Number of run-outs drawn for each seat in an iteration.
    seed, algorithm, iteration
        As in `ThinnedRunOuts`.
    """

    def __init__(self, count: int, seed: int, algorithm: Discounting, iteration: int):
        super().__init__(seed, algorithm, iteration)
        self._count = self.num_chunks = count
        # Each iteration makes a new sampler, with the same numbers here: only the iteration's number moves the starts.
        self._starts = np.random.default_rng(seed).random((2, 2))

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return the boards sampled after a board, each a chunk of its own."""
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        bounds = street.deals.arrays.member_first[first : last + 1]
        count = self._count if index == 1 else 1  # after the first deal one board each completes a run-out
        deeper = int(index > 1)
        start = self._starts[seat, deeper] + self._iteration * _STEPS[deeper] + deeper * parent * _GOLDEN_RATIO
        picked, share = _systematic_sample(bounds, count, start % 1.0)
        visits = self._visits(street, seat, first + picked, share)
        return [Visits(visits.boards[k : k + 1], visits.factors[k : k + 1]) for k in range(len(visits.boards))]


class ThinnedRunOuts(_DrawnRunOuts):
    """All boards of earlier streets, and a few sampled boards of the last street after each of them.

    Parameters
    ----------
    count : int
        Number of draws from the last street's boards after each board of the street before.
    seed : int
    algorithm : Discounting
    iteration : int
        Iterations done.
    """

    def __init__(self, count: int, seed: int, algorithm: Discounting, iteration: int):
        super().__init__(seed, algorithm, iteration)
        self._count = count
        self._starts: dict[int, np.ndarray] = {}

    def visits(self, index: int, street: SolverStreet, parent: int, seat: int, of_chunk: int) -> list[Visits]:
        """Return all boards after a board, or a sample on the last street."""
        first, last = street.deals.child_first[parent : parent + 2].tolist()
        if not street.is_last or self._count >= last - first:
            return super().visits(index, street, parent, seat, of_chunk)
        bounds = street.deals.arrays.member_first[first : last + 1]
        if seat not in self._starts:
            # Threads may ask for the boards in any order, so the starts of all parents are drawn together.
            rng = np.random.default_rng([self._seed, self._iteration, seat])
            self._starts[seat] = rng.random(len(street.deals.child_first) - 1)
        picked, share = _systematic_sample(bounds, self._count, self._starts[seat][parent])
        visits = self._visits(street, seat, first + picked, share)
        count = min(NUM_CHUNKS, len(visits.boards)) if index == 1 else 1
        return [Visits(*each) for each in zip(*(np.array_split(part, count) for part in visits), strict=True)]


def _systematic_sample(bounds: np.ndarray, count: int, start: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of `count` boards at equal steps, and the probability of each of them in one draw.

    Parameters
    ----------
    bounds : int64[num_boards + 1]
        The first deal that each board stands for, and one past the last deal.
    start : float
        Position of the first draw within the first step, from 0 to 1.
    """
    total = bounds[-1] - bounds[0]
    points = bounds[0] + (start + np.arange(count)) / count * total
    # "right": a point on a bound belongs to the board that begins there.
    picked = np.searchsorted(bounds, points, side="right") - 1
    return picked, (bounds[picked + 1] - bounds[picked]) / total
