"""Means and t intervals, against scipy's."""

import math

import numpy as np
import pytest
from scipy import stats

from plurispiel.evaluation.statistics import Estimate, estimate_mean


@pytest.mark.parametrize("count", [2, 3, 10, 1_000, 100_000])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_intervals_are_those_of_scipy(count, scale):
    samples = np.random.default_rng(count).standard_t(3, size=count) * scale + 7.0
    estimate = estimate_mean(samples)
    low, high = stats.t.interval(0.95, count - 1, loc=samples.mean(), scale=stats.sem(samples))
    assert estimate.num_samples == count
    assert estimate.mean == pytest.approx(samples.mean(), rel=1e-12)
    assert (estimate.mean - estimate.ci95, estimate.mean + estimate.ci95) == pytest.approx((low, high), rel=1e-9)


def test_two_samples_by_hand():
    # mean 2, standard deviation sqrt(2), standard error 1, t(1) quantile tan(0.475 pi)
    assert estimate_mean([1.0, 3.0]) == Estimate(2.0, pytest.approx(math.tan(0.475 * math.pi)), 2)


def test_one_sample_has_no_interval():
    assert estimate_mean([5]) == Estimate(5.0, None, 1)


def test_no_sample_has_no_mean():
    with pytest.raises(ValueError, match="no samples"):
        estimate_mean(np.array([]))


def test_equal_samples_have_an_interval_of_zero():
    assert estimate_mean(np.full(200, -750.0)) == Estimate(-750.0, 0.0, 200)
    assert estimate_mean(np.zeros(50)) == Estimate(0.0, 0.0, 50)
    assert estimate_mean(np.full(7, 1 / 3)).ci95 == pytest.approx(0.0, abs=1e-15)


def test_the_interval_covers_the_truth_in_19_of_20():
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(4_000):
        estimate = estimate_mean(rng.normal(3.0, 2.0, size=6))
        covered += abs(estimate.mean - 3.0) <= estimate.ci95
    assert abs(covered / 4_000 - 0.95) < 4 * (0.95 * 0.05 / 4_000) ** 0.5
