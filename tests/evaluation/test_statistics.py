"""Means and t intervals, against scipy's."""

import math

import numpy as np
import pytest
from scipy import stats

from plurispiel.evaluation.statistics import (
    MIN_SEQUENTIAL_SAMPLES,
    Estimate,
    always_valid_half_width,
    bootstrap_interval,
    combined_half_width,
    estimate_mean,
    expected_half_width,
    one_tailed_p,
    samples_for_half_width,
    samples_for_sequential_half_width,
    samples_to_detect,
    sequential_half_width,
)


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


def test_p_values_are_those_of_scipy():
    samples = np.random.default_rng(2).normal(0.3, 1.0, size=40)
    wanted = stats.ttest_1samp(samples, 0.0, alternative="greater").pvalue
    error = samples.std(ddof=1) / 40**0.5
    assert one_tailed_p(samples.mean(), error, 40) == pytest.approx(wanted, rel=1e-9)
    assert one_tailed_p(-samples.mean(), error, 40) == pytest.approx(1.0 - wanted, rel=1e-9)


def test_no_spread_has_no_p_value():
    assert one_tailed_p(5.0, 0.0) is None
    assert one_tailed_p(5.0, 0.0, 100) is None
    assert one_tailed_p(5.0, 1.0, 1) is None
    assert one_tailed_p(5.0, float("nan")) is None


def test_bootstrap_intervals_agree_with_t_intervals_where_these_hold():
    samples = np.random.default_rng(3).normal(2.0, 5.0, size=800)
    estimate = estimate_mean(samples)
    low, high = bootstrap_interval(samples, np.random.default_rng(4))
    assert low == pytest.approx(estimate.mean - estimate.ci95, abs=0.06)
    assert high == pytest.approx(estimate.mean + estimate.ci95, abs=0.06)
    assert bootstrap_interval(samples[:1], np.random.default_rng(4)) is None
    assert bootstrap_interval(np.full(9, 2.0), np.random.default_rng(4)) == (2.0, 2.0)
    wide = bootstrap_interval(samples, np.random.default_rng(4), confidence=0.99)
    assert wide[0] < low < high < wide[1]


def test_the_sequential_interval_is_where_the_likelihood_ratio_crosses():
    n, sd, alpha = 400, 3.0, 0.05
    half_width = sequential_half_width(sd, n, alpha=alpha)

    def density(t, variance):
        """Of a t statistic whose numerator is normal with this variance: over the spread of the samples, summed."""
        spread = np.linspace(0.5, 1.5, 20_001)  # of the sample's standard deviation around the true one
        weights = stats.chi.pdf(spread * (n - 1) ** 0.5, n - 1) * spread
        return (stats.norm.pdf(t * spread, scale=variance**0.5) * weights).sum()

    def ratio(offset):
        t = offset / (sd / n**0.5)
        return density(t, 1.0 + 0.01 * n) / density(t, 1.0)

    assert ratio(half_width) == pytest.approx(1 / alpha, rel=1e-3)
    assert ratio(0.9 * half_width) < 1 / alpha < ratio(1.1 * half_width)


def test_the_sequential_interval_is_wider_than_that_of_one_look():
    for n in (100, 1_000, 100_000):
        ratio = sequential_half_width(1.0, n) / (1.96 / n**0.5)
        assert 1.4 < ratio < 2.1
    assert sequential_half_width(1.0, MIN_SEQUENTIAL_SAMPLES - 1) == math.inf
    assert sequential_half_width(0.0, 500) == 0.0


def false_alarms(draw, runs=2_000, length=1_500):
    """Return in how many null runs the sequential interval ever excludes 0, looking after every sample."""
    rng = np.random.default_rng(17)
    count = np.arange(1, length + 1)
    unit = np.array([sequential_half_width(1.0, n) for n in count.tolist()])
    alarms = 0
    for _ in range(runs):
        samples = draw(rng, length)
        mean = samples.cumsum() / count
        variance = ((samples**2).cumsum() - count * mean**2) / np.maximum(count - 1, 1)
        sd = np.sqrt(np.maximum(variance, 0.0))
        alarms += bool((abs(mean)[99:] > sd[99:] * unit[99:]).any())
    return alarms


def all_in_pots(rng, length):
    """Draw group scores like those of no-limit hold'em: mostly small pots, some of a hundred big blinds."""
    small = rng.standard_t(4, size=length) * 4.0
    return np.where(rng.random(length) < 0.06, rng.choice([-100.0, 100.0], size=length), small)


@pytest.mark.parametrize("draw", [lambda rng, length: rng.normal(size=length), all_in_pots], ids=["normal", "heavy"])
def test_sequential_tests_raise_few_false_alarms(draw):
    alarms = false_alarms(draw)
    assert 0 < alarms <= 2_000 * 0.05 + 3.0 * (2_000 * 0.05 * 0.95) ** 0.5


def log_ratio(error, sd, count):
    """Return the logarithm of the likelihood ratio of `sequential_half_width` against the mean plus `error`."""
    spread = 1.0 + 0.01 * count
    u = count * (error / sd) ** 2 / (count - 1)
    return 0.5 * count * math.log((1.0 + u) / (1.0 + u / spread)) - 0.5 * math.log(spread)


def test_one_stream_has_the_sequential_interval():
    for weights in ([0.7], [0.7, 0.0]):
        found = combined_half_width(weights, [3.0, 9.0][: len(weights)], [400, 5][: len(weights)])
        assert found == pytest.approx(0.7 * sequential_half_width(3.0, 400), rel=1e-9)
    assert log_ratio(sequential_half_width(3.0, 400), 3.0, 400) == pytest.approx(math.log(20.0))
    assert combined_half_width([1.0, 1.0], [1.0, 1.0], [99, 400]) == math.inf
    assert combined_half_width([1.0, 1.0], [0.0, 0.0], [200, 400]) == 0.0


@pytest.mark.parametrize("num_streams", [2, 5, 12])
def test_a_combined_interval_holds_all_means_that_are_not_rejected(num_streams):
    """The sums of errors whose likelihood ratios multiply to 1 / alpha, in random directions and near the worst."""
    rng = np.random.default_rng(num_streams)
    weights, sds = rng.uniform(0.1, 2.0, num_streams), 10.0 ** rng.uniform(0, 2, num_streams)
    counts = rng.integers(100, 3_000, num_streams).tolist()
    limit = combined_half_width(weights.tolist(), sds.tolist(), counts, alpha=0.02)
    worst = weights * sds**2 / np.array(counts)
    found = []
    for trial in range(100):
        direction = worst * np.exp(rng.normal(size=num_streams) * trial / 50)
        low, high = 0.0, 1e3 / direction.max() * sds.max()
        for _ in range(60):
            middle = (low + high) / 2
            ratio = sum(map(log_ratio, middle * direction, sds, counts))
            low, high = (low, middle) if ratio > math.log(50.0) else (middle, high)
        found.append(float((weights * low * direction).sum()))
    assert 0.9 * limit < max(found) <= limit


def test_choosing_the_next_stream_by_results_raises_few_false_alarms():
    """The next samples go to the stream with the most evidence against the truth; a look after every batch."""
    rng = np.random.default_rng(5)
    alarms, runs, num_streams = 0, 300, 3
    for _ in range(runs):
        counts, sds = np.full(num_streams, 104), np.array([1.0, 2.0, 5.0])
        samples = [all_in_pots(rng, 104) * sd for sd in sds]
        sums, squares = (np.array([(each**power).sum() for each in samples]) for power in (1, 2))
        for _ in range(15):
            means = sums / counts
            spreads = np.sqrt((squares - counts * means**2) / (counts - 1))
            if abs(means.sum()) > combined_half_width([1.0] * num_streams, spreads.tolist(), counts.tolist()):
                alarms += 1
                break
            chosen = int(np.argmax(list(map(log_ratio, means, spreads, counts))))
            batch = all_in_pots(rng, 40) * sds[chosen]
            sums[chosen], squares[chosen] = sums[chosen] + batch.sum(), squares[chosen] + (batch**2).sum()
            counts[chosen] += 40
    assert alarms <= runs * 0.05


def test_looking_all_the_time_at_the_interval_of_one_look_raises_many():
    rng = np.random.default_rng(17)
    count = np.arange(1, 1_501)
    means = rng.normal(size=(300, 1_500)).cumsum(axis=1) / count
    assert ((abs(means) > 1.96 / count**0.5)[:, 99:].any(axis=1)).mean() > 0.15


def test_power():
    for sd, difference in ((2_500, 50), (7_500, 50)):
        n = samples_to_detect(sd, difference)
        assert n == pytest.approx((2.4865 * sd / difference) ** 2, rel=1e-3)
    rng = np.random.default_rng(5)
    n = samples_to_detect(1.0, 0.2)
    found = 0
    for _ in range(2_000):
        samples = rng.normal(0.2, 1.0, size=n)
        found += one_tailed_p(samples.mean(), samples.std(ddof=1) / n**0.5, n) < 0.05
    assert abs(found / 2_000 - 0.8) < 4.0 * (0.8 * 0.2 / 2_000) ** 0.5
    assert samples_for_half_width(100.0, 10.0) == 385
    with pytest.raises(ValueError, match="positive"):
        samples_to_detect(1.0, 0.0)
    with pytest.raises(ValueError, match="positive"):
        samples_for_half_width(1.0, -1.0)


@pytest.mark.parametrize("half_width", [2.0, 0.3, 0.01])
def test_samples_for_a_sequential_interval_are_the_fewest(half_width):
    count = samples_for_sequential_half_width(3.0, half_width)
    assert sequential_half_width(3.0, count) <= half_width
    assert count == MIN_SEQUENTIAL_SAMPLES or sequential_half_width(3.0, count - 1) > half_width
    assert samples_for_sequential_half_width(0.0, half_width) == MIN_SEQUENTIAL_SAMPLES


def test_the_expected_interval_is_that_of_such_samples():
    samples = np.random.default_rng(3).normal(size=50)
    assert expected_half_width(samples.std(ddof=1), 50) == estimate_mean(samples).ci95


def test_always_valid_intervals_are_widened_by_the_moments_of_the_samples():
    samples = np.random.default_rng(4).gamma(0.2, size=150)
    normal = sequential_half_width(samples.std(ddof=1), 150)
    x = normal / (samples.std(ddof=1) / 150**0.5)
    by_skewness = stats.skew(samples) ** 2 * (x**4 + 2 * x**2 - 3) / 18
    by_kurtosis = stats.kurtosis(samples) * (x**2 - 3) / 12
    found = always_valid_half_width(samples)
    assert found == pytest.approx(normal * (1 + (by_skewness - by_kurtosis) / 150), rel=1e-9)
    assert found > 1.2 * normal
    both = np.stack([samples, np.random.default_rng(5).normal(size=150)])
    assert always_valid_half_width(both).tolist() == [found, always_valid_half_width(both[1])]
    symmetric = np.repeat([-1.0, 0.0, 1.0], [5, 190, 5])  # heavy tails alone narrow nothing
    assert always_valid_half_width(symmetric) == pytest.approx(sequential_half_width(symmetric.std(ddof=1), 200))


def test_always_valid_intervals_of_few_or_equal_samples():
    assert always_valid_half_width(np.arange(MIN_SEQUENTIAL_SAMPLES - 1.0)) == math.inf
    assert always_valid_half_width(np.full(200, -750.0)) == 0.0
    assert 0.0 <= always_valid_half_width(np.full(200, 1 / 3)) < 1e-12


def test_always_valid_intervals_of_skew_samples_rarely_leave_out_the_truth():
    runs = np.random.default_rng(7).lognormal(sigma=1.5, size=(600, 400)) - math.exp(1.5**2 / 2)
    missed = np.zeros((2, 600), dtype=bool)
    for count in range(100, 401, 20):
        first = runs[:, :count]
        mean, sd = abs(first.mean(axis=1)), first.std(axis=1, ddof=1)
        missed[0] |= mean > sequential_half_width(1.0, count) * sd
        missed[1] |= mean > always_valid_half_width(first)
    assert missed[0].mean() > 0.08 and missed[1].mean() < 0.06
