"""The greedy earth mover's distance."""

import numpy as np
from reference import buckets as reference

from plurispiel.abstraction.cards.distances import GreedyEarthMover
from plurispiel.abstraction.cards.kmeans import find_nearest, kmeans


def test_the_greedy_distance_is_the_reference_and_above_the_exact_one():
    rng = np.random.default_rng(9)
    buckets = 24
    place = np.sort(rng.random(buckets))
    ground = np.rint(1000 * np.abs(place[:, None] - place)).astype(np.float32)
    rows = np.array(
        [
            np.bincount(rng.choice(buckets, 46, p=rng.dirichlet(np.full(buckets, 0.2))), minlength=buckets)
            for _ in range(60)
        ]
    )
    rows = (5 * rows).astype(np.uint8)
    points, centroids = rows[:12], rows[50:]
    distance = GreedyEarthMover(ground)
    labels, distances = find_nearest(points, centroids, distance)
    ratios = []
    for i, point in enumerate(points):
        greedy = [reference.greedy_earth_mover(point, centroid, ground) for centroid in centroids]
        assert labels[i] == int(np.argmin(greedy)) and distances[i] == np.float32(min(greedy))
        exact = [reference.earth_mover(point.astype(float), centroid.astype(float), ground) for centroid in centroids]
        assert all(a >= b - 1e-6 for a, b in zip(greedy, exact, strict=True))
        ratios.append(np.sum(greedy) / np.sum(exact))
    assert np.mean(ratios) <= 1.2
    assert (find_nearest(centroids, centroids, distance)[1] == 0).all()


def test_means_of_histograms_keep_their_mass():
    rng = np.random.default_rng(10)
    points = (5 * np.array([np.bincount(rng.integers(0, 30, 46), minlength=30) for _ in range(200)])).astype(np.uint8)
    distance = GreedyEarthMover(np.abs(np.arange(30)[:, None] - np.arange(30)).astype(np.float32))
    found = kmeans(points, np.ones(200, np.int64), 6, distance, rng, rounds=3, restarts=1)
    assert (found.centroids.sum(axis=1, dtype=int) == 230).all()
