import os

import numpy as np
import pytest
from reference import buckets as reference

from plurispiel.abstraction.cards.distances import L1, SQUARED_L2
from plurispiel.abstraction.cards.kmeans import find_nearest, kmeans

MANY = 400 if os.environ.get("NUMBA_DISABLE_JIT") else 20_000


def blobs(number, dims, seed, spread=12):
    rng = np.random.default_rng(seed)
    middles = rng.integers(30, 225, (9, dims))
    return np.clip(
        middles[rng.integers(9, size=number)] + rng.integers(-spread, spread, (number, dims)), 0, 255
    ).astype(np.uint8)


@pytest.mark.parametrize("distance", [L1, SQUARED_L2])
@pytest.mark.parametrize(("k", "dims"), [(1, 8), (5, 56), (16, 8), (37, 16)])
def test_nearest_is_the_first_of_the_nearest(distance, k, dims):
    rng = np.random.default_rng(k)
    points = rng.integers(0, 4, (300, dims)).astype(np.uint8) * 60  # few values: many ties
    centroids = rng.integers(0, 4, (k, dims)).astype(np.uint8) * 60
    labels, distances = find_nearest(points, centroids, distance)
    expected, expected_distances = reference.nearest(points, centroids, distance is SQUARED_L2)
    assert (labels == expected).all() and (distances == expected_distances).all()
    assert (
        distance.from_one(points, centroids[0]) == reference.nearest(points, centroids[:1], distance is SQUARED_L2)[1]
    ).all()


@pytest.mark.parametrize("distance", [L1, SQUARED_L2])
def test_any_number_of_threads_gives_the_same(distance):
    points, weights = blobs(MANY, 8, 1), np.random.default_rng(2).integers(1, 24, MANY)
    one, two = (kmeans(points, weights, 9, distance, np.random.default_rng(3), threads=threads) for threads in (1, 2))
    assert (one.centroids == two.centroids).all() and (one.labels == two.labels).all() and one.totals == two.totals


def test_squares_never_rise():
    points, weights = blobs(MANY // 8, 56, 4, spread=60), np.ones(MANY // 8, np.int64)
    totals = kmeans(points, weights, 20, SQUARED_L2, np.random.default_rng(5), restarts=1, seeding_points=40).totals
    assert len(totals) > 3 and (np.diff(totals) <= 0).all() and totals[-1] < totals[0]


def test_separate_blobs_are_found():
    points = blobs(2000, 8, 6, spread=3)
    found = kmeans(points, np.ones(2000, np.int64), 9, L1, np.random.default_rng(7))
    assert found.distances.max() <= 8 * 6
    assert (np.diff(found.centroids.sum(axis=1, dtype=int)) >= 0).all()


def test_fewer_different_points_than_centroids():
    points = np.repeat(np.array([[0], [50], [200]], np.uint8), 8, axis=1)[[0, 1, 2, 2, 1, 0]]
    found = kmeans(points, np.ones(6, np.int64), 5, L1, np.random.default_rng(8))
    assert found.centroids[:, 0].tolist() == [0, 50, 200] and found.totals[-1] == 0


def test_a_centroid_without_members_moves_to_the_farthest_point():
    """The middle one of three in a row loses all its members when the outer ones are nearer."""
    from plurispiel.abstraction.cards.kmeans import _lloyd

    points = np.repeat(np.array([[10], [11], [200], [250]], np.uint8), 8, axis=1)
    start = np.repeat(np.array([[10], [100], [100]], np.uint8), 8, axis=1)
    found = _lloyd(points, np.ones(4, np.int64), start, L1, 10, 1)
    assert len(np.unique(found.labels)) == 3 and found.totals[-1] < found.totals[0]
