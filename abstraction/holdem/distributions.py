"""Rows of probabilities: weights scaled to sum to 1, and rows without rare actions."""

import numpy as np
import numpy.typing as npt

__all__ = ["normalised", "purged"]


def normalised(rows: np.ndarray, otherwise: npt.ArrayLike) -> np.ndarray:
    """Return rows that sum to 1: each row divided by its sum.

    Parameters
    ----------
    rows : float[..., n]
        Non-negative weights.
    otherwise : array-like, broadcast to `rows`
        The result for each row whose weights are all 0.

    Examples
    --------
    >>> normalised(np.array([[3.0, 1.0], [0.0, 0.0]]), 0.5).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    totals = rows.sum(axis=-1, keepdims=True)
    positive = totals > 0.0
    return np.where(positive, rows / np.where(positive, totals, 1.0), otherwise)


def purged(rows: np.ndarray, threshold: float) -> np.ndarray:
    """Return rows in which probabilities below a threshold are 0 and the other probabilities are scaled to sum to 1.

    A row whose probabilities are all below the threshold is not changed.
    """
    return normalised(np.where(rows >= threshold, rows, 0.0), rows)
