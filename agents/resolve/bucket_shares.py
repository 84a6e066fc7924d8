"""The buckets of a solver's street as mixtures of other buckets, such as those of a blueprint."""

import numpy as np

from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.agents.resolve import _share_kernels as kernels
from plurispiel.agents.resolve.street import SolverStreet

__all__ = ["BucketShares"]


class BucketShares:
    """How the hands of each bucket of a street divide among *other buckets*, those of another card abstraction.

    A hand counts with its weight in the range, times the number of deals of its board. The shares of a bucket sum to 1.
    A bucket without hands has no shares.

    Parameters
    ----------
    street : SolverStreet
        A street with buckets.
    seat : int
        The seat whose hands are counted.
    others : int[num_boards, num_combos]
        The other bucket of each combo on each of the street's boards. Entries of combos that share a card with the
        board are not read.
    num_others : int
        Number of the other buckets.

    Raises
    ------
    ValueError
        If a hand's other bucket is not in 0..num_others - 1.
    """

    def __init__(self, street: SolverStreet, seat: int, others: np.ndarray, num_others: int):
        assert street.buckets is not None, "the street has buckets"
        hands = street.deals.arrays.seats[seat]
        boards = np.repeat(np.arange(len(others)), np.diff(hands.first))
        columns = others[boards, hands.combos].astype(np.int64)
        if columns.size and not 0 <= int(columns.min()) <= int(columns.max()) < num_others:
            raise ValueError(f"buckets are numbers below {num_others:,}, got {columns.min()} to {columns.max()}")
        places = street.buckets.numbers[seat] * np.int64(num_others) + columns
        totals = np.zeros((street.width, num_others))
        # Boards that differ only by a renaming of suits are stored as one, with their number as multiplicity.
        multiplicity = street.deals.arrays.multiplicity.astype(np.float64)
        weights = street.buckets.weights[seat]
        kernels.add_weights(hands.first, places, weights, multiplicity, np.zeros(totals.size), totals.reshape(-1))
        shares = normalised(totals, 0.0)
        # `nonzero` returns views with gaps, for which another version of the kernel would be compiled.
        numbers, self._columns = (np.ascontiguousarray(places) for places in np.nonzero(shares))
        self._shares = shares[numbers, self._columns]
        self._first = np.searchsorted(numbers, np.arange(street.width + 1))

    def mixtures(self, rows: np.ndarray) -> np.ndarray:
        """Return the mean of `rows` for each of the street's buckets, weighted by its shares: float64[width, n].

        The row of a bucket without hands is 0.

        Parameters
        ----------
        rows : float64[num_others, n]
            A row for each other bucket.
        """
        mixtures = np.zeros((len(self._first) - 1, rows.shape[1]))
        kernels.add_mixtures(self._first, self._columns, self._shares, np.ascontiguousarray(rows), mixtures)
        return mixtures


def warmup() -> None:
    """Compile every kernel of this module."""
    first, place, zero = np.array([0, 1]), np.zeros(1, np.int64), np.zeros(1)
    kernels.add_weights(first, place, np.zeros(1, np.float32), zero, zero.copy(), zero.copy())
    kernels.add_mixtures(first, place, zero, np.zeros((1, 1)), np.zeros((1, 1)))
