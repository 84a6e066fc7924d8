"""The crosstable of a league: the rates of all pairs of entries, with the intervals of weighted sums of rates."""

from collections.abc import Mapping, Sequence

import numpy as np

from plurispiel.evaluation.statistics import combined_half_width, estimate_mean, sequential_half_width
from plurispiel.tournaments.league.pairings import Pair, Pairing


class Crosstable:
    """The rates of all pairs of entries.

    Parameters
    ----------
    numbers : sequence of int
        The numbers of the entries, ascending. All pairs of entries must have met in two groups or more.
    pairings : mapping of Pair to Pairing
        The pairings of all pairs.

    Attributes
    ----------
    rates : float64[num_entries, num_entries]
        Mean rate of the row's entry against the column's in mbb/hand, antisymmetric.
    errors : float64[num_entries, num_entries]
        The standard errors of `rates`.
    ci95, always : float64[num_entries, num_entries]
        The half-widths in mbb/hand of the 95 % t intervals of `rates` (`ci95`), and of the anytime-valid intervals
        (`always`; infinite with few groups).
    groups : int64[num_entries, num_entries]
        The number of groups of each pair.
    """

    def __init__(self, numbers: Sequence[int], pairings: Mapping[Pair, Pairing]):
        size = len(numbers)
        self.numbers = list(numbers)
        self.rates, self.errors, self.ci95, self.always = np.zeros((4, size, size))
        self.groups = np.zeros((size, size), dtype=np.int64)
        for row, own in enumerate(numbers):
            for column in range(row + 1, size):
                rates = pairings[own, numbers[column]].rates_mbb
                estimate, sd = estimate_mean(rates), float(rates.std(ddof=1))
                self.rates[row, column], self.rates[column, row] = estimate.mean, 0.0 - estimate.mean
                self.errors[row, column] = self.errors[column, row] = sd / len(rates) ** 0.5
                self.ci95[row, column] = self.ci95[column, row] = estimate.ci95
                self.always[row, column] = self.always[column, row] = sequential_half_width(sd, len(rates))
                self.groups[row, column] = self.groups[column, row] = len(rates)

    @property
    def means(self) -> np.ndarray:
        """The mean of each entry's rates: float64[num_entries]. All opponents count equally, with few hands or many."""
        return field_means(self.rates)

    @property
    def ranking(self) -> list[int]:
        """The indices of the entries, the highest mean first; equal means in the order of the numbers."""
        return np.argsort(-self.means, kind="stable").tolist()

    def gap(self, upper: int, lower: int) -> tuple[float, np.ndarray]:
        """Return the difference of two entries' means, and the weight of each pair's rate in this difference.

        Returns
        -------
        (float, float64[num_entries, num_entries])
            The difference in mbb/hand, and the absolute weights. The weights are symmetric, and 0 for pairs that
            contain neither of the two entries.
        """
        size = len(self.numbers)
        weights = np.zeros((size, size))
        for index in (upper, lower):  # the rate between the two counts in both means
            weights[index, :] += 1.0
            weights[:, index] += 1.0
        np.fill_diagonal(weights, 0.0)
        means = self.means
        return float(means[upper] - means[lower]), weights / (size - 1)

    def is_separated(self, upper: int, lower: int) -> bool:
        """Return whether the anytime-valid interval of the difference of two means excludes 0.

        The results that are tested also decide which entries are neighbours. Therefore the 5 % of allowed errors are
        divided among the differences of all pairs of entries. With 95 % confidence all these intervals hold, whichever
        of them are looked at.
        """
        size = len(self.numbers)
        difference, weights = self.gap(upper, lower)
        return abs(difference) > self._half_width(weights, 0.05 / (size * (size - 1) / 2))

    def field_half_width(self, index: int) -> float:
        """Return the half-width of the anytime-valid 95 % interval of an entry's mean; infinite with few groups."""
        weights = np.zeros_like(self.rates)
        weights[index, :] = weights[:, index] = 1.0 / (len(self.numbers) - 1)
        weights[index, index] = 0.0
        return self._half_width(weights, 0.05)

    def _half_width(self, weights: np.ndarray, alpha: float) -> float:
        """Return the half-width of the anytime-valid interval of a weighted sum of all pairs' rates."""
        counted = np.triu(weights > 0.0)
        counts = self.groups[counted]
        sds = self.errors[counted] * np.sqrt(counts)
        return combined_half_width(weights[counted].tolist(), sds.tolist(), counts.tolist(), alpha=alpha)


def field_means(rates: np.ndarray) -> np.ndarray:
    """Return the mean of each row without its diagonal.

    Parameters
    ----------
    rates : float64[..., num_entries, num_entries]
        The rates of the rows' entries, with zeros in the diagonal; two entries or more.

    Returns
    -------
    float64[..., num_entries]
        The means.
    """
    return rates.sum(axis=-1) / (rates.shape[-1] - 1)
