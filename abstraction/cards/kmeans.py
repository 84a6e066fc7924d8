"""k-means over weighted vectors of bytes: the same centroids for the same seed, with any number of threads.

k-means++ (Arthur and Vassilvitskii, SODA 2007) seeds several starts, three by default, on a sample of the points, with
the given distance. The best start is continued on all points. Centroids are means, which minimise the sum of distances
for `distances.SQUARED_L2` only. With this distance the sum never rises from round to round; with any other it may rise
slightly.
"""

from dataclasses import dataclass

import numpy as np
from tqdm import tqdm

from plurispiel.abstraction.cards import _distances_kernels as kernels
from plurispiel.abstraction.cards.distances import Distance
from plurispiel.abstraction.machine.sums import dot
from plurispiel.abstraction.machine.threads import run_chunks

_CHUNK = 8192
_WARM_ROUNDS = 5  # greatest number of rounds of Lloyd's algorithm for each start
_ENOUGH = 1e-4  # iteration stops after a round that lowers the weighted sum of distances by a smaller share


@dataclass(frozen=True, eq=False)
class Clustering:
    """The centroids, each point's nearest centroid, and the sum of distances in each round.

    Attributes
    ----------
    centroids : uint8[k, dims]
        Fewer than requested if the sample has fewer different points.
    labels : int32[n]
        The nearest centroid of each point.
    distances : float32[n]
        The distance of each point from its nearest centroid.
    totals : tuple of float
        Weighted sum of distances at the start of each round, and at the end.
    """

    centroids: np.ndarray
    labels: np.ndarray
    distances: np.ndarray
    totals: tuple[float, ...]


def kmeans(
    points: np.ndarray,
    weights: np.ndarray,
    k: int,
    distance: Distance,
    rng: np.random.Generator,
    *,
    rounds: int = 30,
    restarts: int = 3,
    seeding_points: int = 50_000,
    threads: int = 1,
    progress: tqdm | None = None,
) -> Clustering:
    """Return k centroids of weighted points, ordered by the sums of their coordinates.

    Parameters
    ----------
    points : uint8[n, dims]
    weights : int64[n]
        Weight of each point, above 0.
    k : int
        Number of centroids; fewer are returned if the sample has fewer different points.
    distance : Distance
    rounds : int
        Greatest number of rounds on all points. From the second round on, iteration stops after a round that lowers the
        weighted sum of distances by less than a ten-thousandth.
    rng : numpy.random.Generator
        Draws the sample and the seeds.
    restarts, seeding_points : int
        Number of k-means++ starts, and number of points in the one sample from which all starts draw.
    progress : tqdm, optional
        Advanced by one before each round on all points, and to `rounds` at the end.
    """
    sample, sample_weights = points, weights
    if len(points) > seeding_points:
        few = np.sort(rng.choice(len(points), seeding_points, replace=False))
        sample, sample_weights = points[few], weights[few]
    starts = []
    for _ in range(restarts):
        seeds = _seeds(sample, sample_weights, k, distance, rng)
        starts.append(_lloyd(sample, sample_weights, seeds, distance, _WARM_ROUNDS, threads))
    best = min(starts, key=lambda clustering: clustering.totals[-1])
    return _lloyd(points, weights, best.centroids, distance, rounds, threads, progress)


def find_nearest(
    points: np.ndarray, centroids: np.ndarray, distance: Distance, *, threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest centroid of each point, int32[n], and its distance, float32[n]."""
    labels, distances = np.empty(len(points), np.int32), np.empty(len(points), np.float32)

    def make_worker():
        nearest = distance.to(centroids)
        return lambda part: nearest.fill(points[part], labels[part], distances[part])

    run_chunks(make_worker, len(points), chunk=_CHUNK, threads=threads)
    return labels, distances


def _seeds(points: np.ndarray, weights: np.ndarray, k: int, distance: Distance, rng: np.random.Generator) -> np.ndarray:
    """Return up to k different points: uint8[at most k, dims], the seeds of k-means++.

    The odds of a point are its weight times its squared distance from the nearest point drawn before. For the first
    draw, they are the weight alone.
    """
    odds = weights.astype(np.float64)
    closest = np.full(len(points), np.inf, np.float32)
    seeds: list[int] = []
    while len(seeds) < k:
        cumulative = np.cumsum(odds)
        if cumulative[-1] == 0.0:  # every point equals a seed
            break
        # With `right`, a point with odds of 0, such as an earlier seed, is never drawn.
        seeds.append(int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right")))
        np.minimum(closest, distance.from_one(points, points[seeds[-1]]), out=closest)
        odds = weights * distance.square(closest)
    return points[np.sort(seeds)]


def _lloyd(
    points: np.ndarray,
    weights: np.ndarray,
    centroids: np.ndarray,
    distance: Distance,
    rounds: int,
    threads: int,
    progress: tqdm | None = None,
) -> Clustering:
    """Return the clustering after at most `rounds` rounds of Lloyd's algorithm from given centroids."""
    totals: list[float] = []
    for done in range(rounds + 1):
        centroids = centroids[np.argsort(centroids.sum(axis=1, dtype=np.int64), kind="stable")]
        labels, distances = find_nearest(points, centroids, distance, threads=threads)
        totals.append(dot(distances, weights))
        finished = done == rounds or (done > 1 and totals[-2] - totals[-1] < _ENOUGH * totals[-2])
        if progress is not None:
            progress.update(rounds - progress.n if finished else 1)
        if finished:
            break
        centroids = _means(points, weights, labels, distances, len(centroids), distance, threads)
    return Clustering(centroids, labels, distances, tuple(totals))


def _means(
    points: np.ndarray,
    weights: np.ndarray,
    labels: np.ndarray,
    distances: np.ndarray,
    k: int,
    distance: Distance,
    threads: int,
) -> np.ndarray:
    """Return the mean of each centroid's members.

    Centroids without members become the points that are farthest from their own nearest centroids.
    """
    parts: list[tuple[np.ndarray, np.ndarray]] = []

    def make_worker():
        # Integer sums: adding the threads' parts in any order gives the same centroids.
        sums, masses = np.zeros((k, points.shape[1]), np.int64), np.zeros(k, np.int64)
        parts.append((sums, masses))
        return lambda part: kernels.add_members(points[part], weights[part], labels[part], sums, masses)

    run_chunks(make_worker, len(points), chunk=_CHUNK, threads=threads)
    sums, masses = np.sum([part[0] for part in parts], axis=0), np.sum([part[1] for part in parts], axis=0)
    if not (empty := np.flatnonzero(masses == 0)).size:
        return distance.means(sums, masses)
    held = np.flatnonzero(masses)
    centroids = np.empty((k, points.shape[1]), np.uint8)
    centroids[held] = distance.means(sums[held], masses[held])
    farthest = np.argsort(-distances, kind="stable")[: len(empty)]
    centroids[empty] = points[farthest]
    return centroids
