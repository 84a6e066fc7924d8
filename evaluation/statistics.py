"""Means, intervals and tests over independent samples; in a duplicate match a sample is a group."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, isfinite, log, sqrt

import numpy as np

MIN_SEQUENTIAL_SAMPLES = 100
"""With fewer samples a sequential test decides nothing, since few samples may miss the spread of heavy tails."""

_RESAMPLED = 1 << 16
"""Samples that the bootstrap draws at once: half a megabyte of numbers, which stays in the cache of a processor."""

# An anytime-valid interval is valid with any `_EFFECT_VARIANCE` that was fixed beforehand. This variance only decides
# for which numbers of samples the interval is tightest.
_EFFECT_VARIANCE = 0.01
"""Variance of the standardised effects that the sequential test expects: effects of about a tenth of the samples'
standard deviation."""


@dataclass(frozen=True)
class Estimate:
    """A mean and the half-width of its 95 % interval.

    Attributes
    ----------
    mean : float
        The mean of the samples, in their unit.
    ci95 : float or None
        Half-width of the two-sided 95 % t interval; None with fewer than two samples.
    num_samples : int
        The number of samples.
    """

    mean: float
    ci95: float | None
    num_samples: int


def estimate_mean(samples: np.ndarray) -> Estimate:
    """Return the mean of independent samples with its t interval.

    Parameters
    ----------
    samples : float64[n]
        One or more samples.

    Raises
    ------
    ValueError
        If there is no sample.

    >>> estimate_mean(np.array([-75.0, -75.0]))
    Estimate(mean=-75.0, ci95=0.0, num_samples=2)
    """
    samples = np.asarray(samples, dtype=np.float64)
    count = len(samples)
    if count == 0:
        raise ValueError("a mean needs one sample or more, got no samples")
    mean = float(samples.mean())
    if count == 1:
        return Estimate(mean, None, 1)
    return Estimate(mean, expected_half_width(float(samples.std(ddof=1)), count), count)


def one_tailed_p(mean: float, standard_error: float, num_samples: int | None = None) -> float | None:
    """Return the probability of a mean as high as `mean` or higher if the true mean is 0.

    Parameters
    ----------
    num_samples : int, optional
        If given, the test uses the t distribution with `num_samples` - 1 degrees of freedom, else the normal
        distribution.

    Returns
    -------
    float or None
        None if `num_samples` is below 2, or the standard error is 0.

    >>> round(one_tailed_p(32.7, 14.9), 3)
    0.014
    """
    from scipy.special import ndtr, stdtr

    if not standard_error > 0.0 or (num_samples is not None and num_samples < 2):
        return None
    t = mean / standard_error
    return float(ndtr(-t) if num_samples is None else stdtr(num_samples - 1, -t))


def bootstrap_interval(
    samples: np.ndarray, rng: np.random.Generator, *, confidence: float = 0.95, num_resamples: int = 2000
) -> tuple[float, float] | None:
    """Return the low and high end of a percentile bootstrap interval of the mean; None with fewer than two samples.

    The interval assumes no distribution of the samples.
    """
    if len(samples) < 2:
        return None
    means = bootstrap_means(samples, rng, num_resamples)
    low, high = np.quantile(means, [(1.0 - confidence) / 2, (1.0 + confidence) / 2])
    return float(low), float(high)


def bootstrap_means(samples: np.ndarray, rng: np.random.Generator, num_resamples: int) -> np.ndarray:
    """Return the means of resamples, each of as many samples as there are, drawn with replacement.

    Parameters
    ----------
    samples : float64[n]
        One or more samples.

    Returns
    -------
    float64[num_resamples]
        The mean of each resample, in the unit of the samples.
    """
    samples = np.asarray(samples, dtype=np.float64)
    means = np.empty(num_resamples)
    step = max(1, _RESAMPLED // len(samples))
    for first in range(0, num_resamples, step):
        chosen = rng.integers(len(samples), size=(min(step, num_resamples - first), len(samples)))
        means[first : first + step] = samples[chosen].mean(axis=1)
    return means


def sequential_half_width(sd: float, num_samples: int, *, alpha: float = 0.05) -> float:
    """Return the half-width of an anytime-valid interval of the mean of normal samples with a given spread.

    There is one interval for each number of samples. With probability at least 1 - alpha, all intervals cover the true
    mean. So a run may look at the interval after every sample, and stop at any result. The interval of `estimate_mean`
    does not allow this. For a hundred to a million samples the anytime-valid interval is 1.5 to 2 times as wide as that
    of `estimate_mean`. For samples at hand, which may be skewed, see `always_valid_half_width`.

    Parameters
    ----------
    sd : float
        Standard deviation of the samples so far.
    num_samples : int
        The number of samples so far; below `MIN_SEQUENTIAL_SAMPLES` the half-width is infinite.
    alpha : float
        The largest allowed probability that at least one of the intervals misses the true mean.

    Notes
    -----
    The interval holds the means that a mixture t test does not reject. The alternatives are standardised effects with
    a normal density of variance 0.01, and the standard deviation has the right Haar measure as its prior. Then the
    likelihood ratio is a martingale for normal samples of any variance (T. L. Lai: On Confidence Sequences, Annals of
    Statistics 4, 1976). By Ville's inequality, the ratio ever exceeds 1 / alpha with a probability of at most alpha. A
    mean is rejected where the ratio exceeds 1 / alpha.
    """
    if num_samples < MIN_SEQUENTIAL_SAMPLES:
        return inf
    # With u = t^2 / (n - 1) the likelihood ratio is spread^(-1/2) * ((1 + u) / (1 + u / spread))^(n / 2). Where the
    # ratio is 1 / alpha, the fraction (1 + u) / (1 + u / spread) is `bound`. The fraction is below `spread` for every
    # t. Therefore no t rejects a mean if `bound` is at least `spread`.
    spread = 1.0 + num_samples * _EFFECT_VARIANCE
    bound = (sqrt(spread) / alpha) ** (2.0 / num_samples)
    if bound >= spread:
        return inf
    t_squared = (num_samples - 1) * (bound - 1.0) / (1.0 - bound / spread)
    return sd * sqrt(t_squared / num_samples)


def combined_half_width(
    weights: Sequence[float], sds: Sequence[float], counts: Sequence[int], *, alpha: float = 0.05
) -> float:
    """Return the half-width of an anytime-valid interval of a weighted sum of means of independent streams of samples.

    With probability at least 1 - alpha, all intervals cover the true sum, whichever stream each next sample was taken
    from. So a rule may choose the stream by looking at all samples so far, and stop at any result.

    Parameters
    ----------
    weights : sequence of float
        The absolute weight of each stream's mean in the sum; streams of weight 0 do not count.
    sds, counts : sequence of float, sequence of int
        As in `sequential_half_width`, for each stream.
    alpha : float
        The largest allowed probability that at least one of the intervals misses the true sum.

    Notes
    -----
    A sample changes the likelihood ratio of its own stream alone (`sequential_half_width`), so the product of the
    streams' ratios is a martingale, too, whichever stream is chosen. A ratio is a martingale in the mean over the
    standard deviations that fit the samples so far, not for each of these standard deviations. So a rule that knew the
    true standard deviations in addition to the samples could raise the product somewhat. By Ville's inequality, the
    product ever exceeds 1 / alpha with a probability of at most alpha. The interval holds the sums of all sets of means
    for which the product does not exceed 1 / alpha, and somewhat more. With d the error of a mean and
    u = d^2 n / (s^2 (n - 1)), the logarithm of a ratio is concave in u. For each stream, let v be the u that brings the
    product to 1 / alpha if u is 0 in the other streams. Where the product does not exceed 1 / alpha, the sum of u / v
    over the streams is then at most 1. By Cauchy and Schwarz, the weighted errors sum to at most the root of the sum of
    squares of the weighted half-widths that belong to the v.
    """
    streams = [each for each in zip(weights, sds, counts, strict=True) if each[0] > 0.0]
    penalties = [0.5 * log(1.0 + count * _EFFECT_VARIANCE) for _, _, count in streams]
    squares = 0.0
    for (weight, sd, count), penalty in zip(streams, penalties, strict=True):
        alone = alpha * exp(penalty - sum(penalties))
        squares += (weight * sequential_half_width(sd, count, alpha=alone)) ** 2 if alone > 0.0 else inf
    return sqrt(squares)


def always_valid_half_width(samples: np.ndarray) -> np.ndarray:
    """Return the half-width of the anytime-valid interval of the mean, wider for samples of a skewed distribution.

    Parameters
    ----------
    samples : float64[..., n]
        Two or more samples along the last axis.

    Returns
    -------
    float64[...]
        At least `sequential_half_width` for the standard deviation of the samples.

    Notes
    -----
    `sequential_half_width` is for normal samples. For samples of skewness g and excess kurtosis k, let c =
    g^2 (x^4 + 2 x^2 - 3) / 18 - k (x^2 - 3) / 12. Then the absolute t statistic of n samples exceeds x (1 + c / n) as
    often as that of normal samples exceeds x, except for terms of higher order than 1 / n (P. Hall: The Bootstrap and
    Edgeworth Expansion, 1992, section 2.6). The interval is therefore widened by the factor 1 + c / n. Here x is the
    unwidened half-width in standard errors, and g and k are computed from the samples. The interval is never narrowed.
    The widening vanishes as samples become many. It matters while the mean depends on a few large samples. Values so
    rare that no sample has one are not accounted for.
    """
    samples = np.asarray(samples, dtype=np.float64)
    count = samples.shape[-1]
    half_width = sequential_half_width(1.0, count)
    if not isfinite(half_width):
        return np.full(samples.shape[:-1], inf)
    centred = samples - samples.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    standard = centred / np.sqrt(np.where(variance > 0.0, variance, 1.0))
    skewness = (standard**3).mean(axis=-1)
    kurtosis = (standard**4).mean(axis=-1) - 3.0
    x_squared = half_width**2 * count
    excess = skewness**2 * (x_squared**2 + 2.0 * x_squared - 3.0) / 18.0 - kurtosis * (x_squared - 3.0) / 12.0
    return half_width * samples.std(axis=-1, ddof=1) * (1.0 + np.maximum(excess, 0.0) / count)


def expected_half_width(sd: float, num_samples: int) -> float:
    """Return the half-width of the 95 % t interval of the mean of two or more samples with standard deviation `sd`."""
    from scipy.special import stdtrit  # imported here: the import takes a tenth of a second, which most workers save

    return float(stdtrit(num_samples - 1, 0.975)) * sd / sqrt(num_samples)


def samples_to_detect(sd: float, difference: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Return the number of samples with which a one-tailed test finds a difference with probability `power`.

    Parameters
    ----------
    sd, difference : float
        The samples' standard deviation, and the true mean to detect, in the same unit; `difference` must be positive.
    alpha : float
        The probability that the test finds a difference if the true mean is 0.

    Raises
    ------
    ValueError
        If `difference` is not positive.

    >>> samples_to_detect(2_500, 50)
    15457
    """
    from scipy.special import ndtri

    if not difference > 0.0:
        raise ValueError(f"the difference to detect must be positive, got {difference}")
    return ceil(((ndtri(1.0 - alpha) + ndtri(power)) * sd / difference) ** 2)


def samples_for_half_width(sd: float, half_width: float) -> int:
    """Return the number of samples that bring the 95 % interval of `estimate_mean` down to a half-width.

    The normal distribution is used in place of the t distribution.

    Raises
    ------
    ValueError
        If `half_width` is not positive.
    """
    if not half_width > 0.0:
        raise ValueError(f"the half-width must be positive, got {half_width}")
    return max(2, ceil((1.96 * sd / half_width) ** 2))


def samples_for_sequential_half_width(sd: float, half_width: float) -> int:
    """Return the number of samples that bring an anytime-valid interval down to a half-width.

    Raises
    ------
    ValueError
        If `half_width` is not positive.
    """
    high = max(MIN_SEQUENTIAL_SAMPLES, samples_for_half_width(sd, half_width))  # at least as many as for a t interval
    while sequential_half_width(sd, high) > half_width:
        high *= 2
    low = MIN_SEQUENTIAL_SAMPLES
    while low < high:
        middle = (low + high) // 2
        if sequential_half_width(sd, middle) <= half_width:
            high = middle
        else:
            low = middle + 1
    return high
