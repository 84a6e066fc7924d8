"""The error that the encoding alone causes, measured with outputs by least squares in place of a network's.

For each seat of each situation, the outputs are fitted by least squares to all hands' exact values minus their values
of checking down, as if a network knew these. The error that is left comes from the encoding alone. Outputs with the
least mean absolute error would leave a little less.
"""

import numpy as np
from scipy.linalg import solveh_banded

from plurispiel.agents.values.data_set import Situations
from plurispiel.agents.values.encoding import Bins, bins_of
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.training_set import by_board

__all__ = ["encoding_floor"]

_RIDGE = 1e-9  # for bins without a hand


def encoding_floor(level: Level, situations: Situations, num_bins: int) -> float:
    """Return the mean absolute error, in pots, that a number of bins leaves.

    The mean is over the hands that are compatible with any hand of the other seat's range.
    """
    missed, count = 0.0, 0
    for some in by_board(level, situations):
        bins = bins_of(some.ordered.hands, num_bins)
        masses, down = some.ordered.checkdown(situations.ranges(some.rows))
        exact = situations.evs[some.rows].astype(np.float64).transpose(1, 0, 2)
        errors = fit(bins, exact - down) - (exact - down)
        missed += float(np.abs(errors[masses > 0.0]).sum())
        count += int((masses > 0.0).sum())
    return missed / count


def fit(bins: Bins, rows: np.ndarray) -> np.ndarray:
    """Return the least-squares fit of rows, float64[..., num_hands], by an output for each bin."""
    lower, upper = 1.0 - bins.share, bins.share
    bands = np.zeros((2, bins.number))
    bands[1] = np.bincount(bins.first, lower**2, bins.number)
    bands[1, 1:] += np.bincount(bins.first, upper**2, bins.number)[: bins.number - 1]
    bands[0, 1:] = np.bincount(bins.first, lower * upper, bins.number)[: bins.number - 1]
    bands[1] += _RIDGE
    flat = rows.reshape(-1, rows.shape[-1])
    outputs = solveh_banded(bands, bins.summed(flat).T).T
    return bins.spread(outputs).reshape(rows.shape)
