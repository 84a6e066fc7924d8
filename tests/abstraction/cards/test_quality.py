import numpy as np

from plurispiel.abstraction.cards.quality import measure_partition, percentiles


def test_percentiles_cut_into_equal_weights():
    rng = np.random.default_rng(11)
    values, weights = rng.integers(0, 10_000, 5000), rng.integers(1, 24, 5000)
    cut = percentiles(values, weights, 10)
    mass = np.bincount(np.searchsorted(cut, values, side="right"), weights)
    assert len(mass) == 10 and np.abs(mass / weights.sum() - 0.1).max() < 0.01
    assert percentiles(np.array([5, 5, 5]), np.ones(3, np.int64), 4).tolist() == []
    assert percentiles(np.array([1, 2]), np.ones(2, np.int64), 2).tolist() == [2]


def test_what_is_left_inside_a_partition():
    points = np.array([[0] * 56, [0] * 56, [230] * 49 + [0] * 7, [230] * 49 + [0] * 7], np.uint8)
    weights = np.array([1, 2, 3, 4])
    parted = measure_partition(points, weights, np.array([0, 0, 1, 1], np.int32), "histogram")
    assert parted.mean_distance == 0 and parted.explained == 1
    whole = measure_partition(points, weights, np.zeros(4, np.int32), "histogram")
    assert np.isclose(whole.mean_distance, 2 * 0.3 * 0.7 * 49 / 50) and np.isclose(whole.explained, 0)
