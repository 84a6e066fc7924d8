"""Quality of buckets: distances within buckets and explained variance; and percentiles that cut hands into buckets."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards import _distances_kernels as kernels
from plurispiel.abstraction.cards.run_outs import CDF_UNITS, NUM_BINS


class Partition(NamedTuple):
    """Quality of a partition of weighted points.

    Attributes
    ----------
    mean_distance : float
        Mean distance of a hand from the mean of its bucket, 0 to 1. The distance of histograms is the earth mover's
        distance; the distance of vectors of equities is the root mean square difference of their entries.
    explained : float
        Share of the features' variance that lies between buckets, 0 to 1.
    """

    mean_distance: float
    explained: float


def measure_partition(points: np.ndarray, weights: np.ndarray, labels: np.ndarray, features: str) -> Partition:
    """Return the quality of a partition of points into buckets.

    Parameters
    ----------
    points : uint8[n, dims]
        Feature vectors.
    weights : int64[n]
        Weight of each point.
    labels : int32[n]
        The bucket of each point.
    features : {"histogram", "ochs"}
        The kind of `points`.
    """
    k = int(labels.max()) + 1
    inside, total = np.zeros(3), np.zeros(3)
    kernels.add_gaps(points, weights, labels, _means(points, weights, labels, k), inside)
    everyone = np.zeros_like(labels)
    kernels.add_gaps(points, weights, everyone, _means(points, weights, everyone, 1), total)
    # Bytes of cumulative histograms (50 bins) are in units of 1/230, bytes of equities in units of 1/255.
    mean_distance = inside[0] / (CDF_UNITS * NUM_BINS) if features == "histogram" else inside[1] / 255
    explained = 1.0 - inside[2] / total[2] if total[2] else 1.0
    return Partition(float(mean_distance / weights.sum()), float(explained))


def _means(points: np.ndarray, weights: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    sums, masses = np.zeros((k, points.shape[1]), np.int64), np.zeros(k, np.int64)
    kernels.add_members(points, weights, labels, sums, masses)
    return sums / np.maximum(masses, 1)[:, None]


def percentiles(values: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """Return the thresholds that cut values into k buckets of about equal weight: int64[at most k - 1], ascending.

    Each threshold is the lowest value of a bucket; the first bucket has none. Equal values share a bucket, so there may
    be fewer than k buckets.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    below = np.cumsum(weights[order])
    cuts = np.searchsorted(below, below[-1] * np.arange(1, k) / k, side="left")
    # `cuts` has the index of the last point of each bucket; the value of the next point is a threshold.
    thresholds = np.unique(ordered[np.minimum(cuts + 1, len(ordered) - 1)])
    return thresholds[thresholds > ordered[0]].astype(np.int64)
