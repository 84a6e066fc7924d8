"""Distances between hands' features and centroids, and the search for the nearest centroid.

Features and centroids are vectors of bytes; all distances are sums of integers. For cumulative histograms, `L1` is the
earth mover's distance between the histograms, and `SQUARED_L2` is Cramér's distance. For equities against clusters,
`SQUARED_L2` is the squared Euclidean distance.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.abstraction.cards import _distances_kernels as kernels
from plurispiel.abstraction.cards._distances_kernels import WORD_BYTES
from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks

_NUM_RECENT = 4096  # number of entries of the hash table `recent` in `fill_nearest`
_FAR = 1e6  # coordinate of an unused place in a block of centroids: farther than any point, and exact in float32


class Nearest(Protocol):
    """Finds the nearest of fixed centroids; each thread needs its own object, which holds a workspace."""

    def fill(self, points: np.ndarray, labels: np.ndarray, distances: np.ndarray) -> None:
        """Write the number of each point's nearest centroid, the lowest among equals, and the distance from it.

        Points are uint8[n, dims]. Modified in place: labels, int32[n], and distances, float32[n].
        """


class Distance(Protocol):
    """A distance between vectors of bytes."""

    def to(self, centroids: np.ndarray) -> "Nearest":
        """Return a search for the nearest of uint8[k, dims] centroids."""

    def from_one(self, points: np.ndarray, centroid: np.ndarray) -> np.ndarray:
        """Return the distance of each of the uint8[n, dims] points from one centroid: float32[n]."""

    def square(self, distances: np.ndarray) -> np.ndarray:
        """Return the squared distances by which k-means++ draws, float64; distances already squared are not changed."""

    def means(self, sums: np.ndarray, masses: np.ndarray) -> np.ndarray:
        """Return centroids, uint8[k, dims], from weighted sums of points, int64[k, dims], and total weights above 0."""


class CentroidBlocks(NamedTuple):
    """Centroids in blocks of 16, ordered by the sums of their coordinates, to compare a point with a block at a time.

    Attributes
    ----------
    blocks : float32[num_blocks * dims, 16]
        Coordinates by block, dimension and centroid of the block; the last block is padded with far centroids.
    numbers : float32[num_blocks, 16]
        The index of each centroid in the array given to `VectorDistance.to`.
    lowest, highest : int64[num_blocks]
        Lowest and highest coordinate sum among the centroids of each block.
    first : int32[255 * dims + 1]
        For each possible sum of a point's coordinates, the block whose sums are nearest.
    """

    blocks: np.ndarray
    numbers: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    first: np.ndarray


@dataclass(frozen=True)
class VectorDistance:
    """The sum of the absolute differences between coordinates, or the sum of the squared differences.

    Attributes
    ----------
    squared : bool
        Whether differences are squared.
    """

    squared: bool

    def to(self, centroids: np.ndarray) -> Nearest:
        """Return a search for the nearest of uint8[k, dims] centroids; dims is a multiple of 8.

        Raises
        ------
        ValueError
            If there is no centroid, or dims is not a multiple of 8.
        """
        k, dims = centroids.shape
        if k == 0 or dims % WORD_BYTES:
            raise ValueError(
                f"centroids are at least one row of a multiple of {WORD_BYTES} bytes, got shape {centroids.shape}"
            )
        num_blocks = blocks_for(k)
        sums = centroids.sum(axis=1, dtype=np.int64)
        order = np.argsort(sums, kind="stable")
        padded = np.full((num_blocks * LANES, dims), _FAR, np.float32)
        padded[:k] = centroids[order]
        blocks = empty_blocks(num_blocks * dims, np.float32)
        blocks[:] = padded.reshape(num_blocks, LANES, dims).transpose(0, 2, 1).reshape(-1, LANES)
        numbers = np.full(num_blocks * LANES, _FAR, np.float32)
        numbers[:k] = order
        starts = np.arange(0, k, LANES)
        lowest, highest = (reduce.reduceat(sums[order], starts) for reduce in (np.minimum, np.maximum))
        first = np.searchsorted((highest[:-1] + lowest[1:]) // 2, np.arange(255 * dims + 1)).astype(np.int32)
        return _NearestVector(
            CentroidBlocks(blocks, numbers.reshape(num_blocks, LANES), lowest, highest, first), dims, self.squared
        )

    def from_one(self, points: np.ndarray, centroid: np.ndarray) -> np.ndarray:
        """Return the distance of uint8[n, dims] points from one centroid: float32[n]."""
        distances = np.empty(len(points), np.float32)
        kernels.fill_distances(points, centroid, self.squared, distances)
        return distances

    def square(self, distances: np.ndarray) -> np.ndarray:
        """Return squared distances, float64; if `squared`, the given distances are squares already."""
        return distances.astype(np.float64) ** (1 if self.squared else 2)

    def means(self, sums: np.ndarray, masses: np.ndarray) -> np.ndarray:
        """Return rounded arithmetic means, even for `L1`; they minimise the sum of squared Euclidean distances."""
        return ((2 * sums + masses[:, None]) // (2 * masses[:, None])).astype(np.uint8)


L1, SQUARED_L2 = VectorDistance(squared=False), VectorDistance(squared=True)


class _NearestVector:
    def __init__(self, centroids: CentroidBlocks, dims: int, squared: bool):
        self._centroids = centroids
        self._squared = squared
        self._point = np.empty(dims, np.float32)
        self._recent = np.empty(_NUM_RECENT, np.int32)

    def fill(self, points: np.ndarray, labels: np.ndarray, distances: np.ndarray) -> None:
        words = points.view(np.uint64)
        with np.errstate(over="ignore"):  # without the compiler, numpy warns where a hash wraps around
            kernels.fill_nearest(
                points, words, self._centroids, self._squared, self._point, self._recent, labels, distances
            )


@dataclass(frozen=True, eq=False)
class GreedyEarthMover:
    """An upper bound of the earth mover's distance between histograms over buckets of the next street.

    The point's mass in each bucket is moved to buckets of the centroid. In the first round, every bucket moves to the
    centroid's nearest bucket as much as still fits there; in the second round to the second nearest, and so on. The
    result is not a metric, and takes much longer than distances between vectors. Source: Ganzfried and Sandholm,
    "Potential-aware imperfect-recall abstraction with earth mover's distance in imperfect-information games" (AAAI
    2014), algorithm 2.

    Attributes
    ----------
    ground : float32[num_buckets, num_buckets]
        Distance between any two buckets of the next street, in whole numbers, so that all sums are exact.
    """

    ground: np.ndarray

    def to(self, centroids: np.ndarray) -> Nearest:
        """Return a search for the nearest of uint8[k, num_buckets] centroids, all of the same mass as the points."""
        return _NearestHistogram(centroids, self.ground)

    def from_one(self, points: np.ndarray, centroid: np.ndarray) -> np.ndarray:
        """Return the distance of uint8[n, num_buckets] points from one centroid: float32[n]."""
        labels, distances = np.empty(len(points), np.int32), np.empty(len(points), np.float32)
        self.to(centroid[None]).fill(points, labels, distances)
        return distances

    def square(self, distances: np.ndarray) -> np.ndarray:
        """Return the squares of distances: float64."""
        return distances.astype(np.float64) ** 2

    def means(self, sums: np.ndarray, masses: np.ndarray) -> np.ndarray:
        """Return arithmetic means, rounded by largest remainders, so that each mean has the total mass of a point."""
        total = int(sums[0].sum() // masses[0])  # the mass of a point, the same for all
        floors = sums // masses[:, None]
        remainders = sums - floors * masses[:, None]
        order = np.argsort(-remainders, axis=1, kind="stable")
        short = total - floors.sum(axis=1)
        places = np.argsort(order, axis=1, kind="stable")
        return (floors + (places < short[:, None])).astype(np.uint8)


class _NearestHistogram:
    def __init__(self, centroids: np.ndarray, ground: np.ndarray):
        num_centroids, num_buckets = centroids.shape
        held = np.argsort(centroids == 0, axis=1, kind="stable").astype(np.int16)  # the buckets with mass come first
        num_held = (centroids > 0).sum(axis=1)
        # nearest[m, s, r] is the r-th nearest bucket to bucket s in which centroid m has mass.
        nearest = np.zeros((num_centroids, num_buckets, int(num_held.max())), np.int16)
        for m in range(num_centroids):
            own = np.sort(held[m, : num_held[m]])
            nearest[m, :, : len(own)] = own[np.argsort(ground[:, own], axis=1, kind="stable")]
        self._centroids = np.array(centroids)
        self._nearest = nearest
        self._num_held = num_held.astype(np.int32)
        self._ground = ground
        self._work = GreedyWorkspace(
            np.empty(num_buckets, np.int32), np.empty(num_buckets, np.int32), np.empty(num_buckets, np.int32)
        )

    def fill(self, points: np.ndarray, labels: np.ndarray, distances: np.ndarray) -> None:
        kernels.fill_nearest_greedy(
            points, self._centroids, self._nearest, self._num_held, self._ground, self._work, labels, distances
        )


class GreedyWorkspace(NamedTuple):
    """Memory of one greedy transport, each int32[num_buckets].

    Attributes
    ----------
    buckets, need
        The point's buckets from which some mass is still to be moved, and the remaining mass in each.
    left
        For each bucket, how much mass of the point the centroid can still receive.
    """

    buckets: np.ndarray
    need: np.ndarray
    left: np.ndarray


def warmup() -> None:
    """Compile every kernel of `_distances_kernels`."""
    points, weights = np.zeros((2, WORD_BYTES), np.uint8), np.ones(2, np.int64)
    labels, distances = np.zeros(2, np.int32), np.empty(2, np.float32)
    L1.to(points).fill(points, labels, distances)
    L1.from_one(points, points[0])
    GreedyEarthMover(np.zeros((WORD_BYTES, WORD_BYTES), np.float32)).to(points + 1).fill(points + 1, labels, distances)
    kernels.add_members(points, weights, labels, np.zeros((2, WORD_BYTES), np.int64), np.zeros(2, np.int64))
    kernels.add_gaps(points, weights, labels, np.zeros((2, WORD_BYTES)), np.zeros(3))
