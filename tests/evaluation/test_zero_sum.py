"""The zero-sum correction: against a slow reference, its bounds, and that it never looks ahead."""

import numpy as np
import pytest
from reference import zero_sum as reference

from plurispiel.evaluation.zero_sum import HIGHEST, LOWEST, coefficients, prior_coefficients, zero_sum_scores


def tables(num_groups, spreads, seed, shared=0.0):
    """Return heavy-tailed scores of as many contestants as spreads, and the groups before each block of eight."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_t(4, size=(num_groups, len(spreads))) * spreads
    scores[:, 0] += shared * scores[:, 1:].sum(axis=1)
    return scores, np.arange(num_groups) // 8 * 8


CASES = {
    "one silent": ([30.0, 1.0], 0.0, [1.0, 0.0]),
    "equal": ([5.0, 5.0], 0.0, [0.5, 0.5]),
    "cut": ([1.0, 10.0], -2.0, [0.5, 0.5]),
    "six": ([50.0, 1.0, 2.0, 3.0, 4.0, 5.0], -0.5, [1 / 6] * 6),
    "mirrored": ([1e3, 1e-3], 0.0, [0.5, 0.5]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("num_groups", [1, 9, 100])
def test_scores_are_those_of_the_reference(case, num_groups):
    spreads, shared, prior = CASES[case]
    scores, num_earlier = tables(num_groups, spreads, 3, shared)
    if case == "mirrored":
        scores[:, 1] -= scores[:, 0]
    found = zero_sum_scores(scores, num_earlier, np.array(prior))
    wanted = reference.corrected(scores, num_earlier // 8, prior)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.max(spreads))
    np.testing.assert_allclose(found.sum(axis=1), 0.0, atol=1e-9 * np.max(spreads))


def test_coefficients_sum_to_one_within_their_bounds_and_are_cut():
    for case, (spreads, shared, prior) in CASES.items():
        scores, num_earlier = tables(400, spreads, 5, shared)
        found = coefficients(scores, num_earlier, np.array(prior))
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
        assert found.min() >= LOWEST - 1e-12 and found.max() <= HIGHEST + 1e-12
        assert np.array_equal(found[:8], [prior] * 8)
        assert (case == "cut") == bool(np.isclose(found.max(), HIGHEST) or np.isclose(found.min(), LOWEST))


def test_no_group_is_changed_by_later_ones():
    scores, num_earlier = tables(300, [7.0, 3.0, 1.0], 8)
    prior = np.full(3, 1 / 3)
    whole = zero_sum_scores(scores, num_earlier, prior)
    for count in (1, 8, 13, 100, 299):
        assert np.array_equal(zero_sum_scores(scores[:count], num_earlier[:count], prior), whole[:count])
    other = scores.copy()
    other[120:] *= -3.0
    found = zero_sum_scores(other, num_earlier, prior)
    assert np.array_equal(found[:120], whole[:120])
    # Groups of one block do not know each other: the coefficients of 120 to 127 come from the first 120 groups.
    shares = coefficients(other, num_earlier, prior)
    assert np.array_equal(shares[:128], coefficients(scores, num_earlier, prior)[:128])
    assert not np.allclose(shares[128], coefficients(scores, num_earlier, prior)[128])


def test_prior_stands_where_the_sum_hardly_varies():
    rng = np.random.default_rng(1)
    own = rng.normal(0.0, 1000.0, size=200)
    for spread, is_fitted in ((0.0, False), (5.0, False), (20.0, True)):
        scores = np.stack([own, -own + rng.normal(0.0, spread, size=200)], axis=1)
        found = coefficients(scores, np.arange(200) // 8 * 8, np.array([0.5, 0.5]))
        assert (found[-1, 0] != 0.5) == is_fitted
    same = np.tile([-75.0, 75.0], (40, 1))
    assert np.array_equal(zero_sum_scores(same, np.arange(40), np.array([0.5, 0.5])), same)
    assert zero_sum_scores(np.empty((0, 2)), np.empty(0, dtype=int), np.array([0.5, 0.5])).shape == (0, 2)


def test_best_coefficients_are_found():
    """A silent agent whose noise stands in the sum loses nearly all of it; coefficients go to Cov / Var."""
    rng = np.random.default_rng(2)
    noise, rest = rng.normal(0.0, 100.0, size=4_000), rng.normal(0.0, 10.0, size=4_000)
    scores = np.stack([3.0 + noise + rest, -3.0 - rest + rng.normal(0.0, 1.0, size=4_000)], axis=1)
    num_earlier = np.arange(4_000) // 8 * 8
    found = coefficients(scores, num_earlier, np.array([0.5, 0.5]))
    assert found[-1] == pytest.approx([1.0, 0.0], abs=0.01)
    corrected = zero_sum_scores(scores, num_earlier, np.array([0.5, 0.5]))[:, 0]
    assert corrected[400:].std() == pytest.approx(10.0, rel=0.05)
    assert abs(corrected.mean() - 3.0) < 4.0 * corrected.std() / 4_000**0.5


def test_priors():
    seats = np.array([1, 2, 3])
    silent = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1]], dtype=bool)
    told = [1 / 6, 1 / 3, 1 / 2]
    wanted = [told, [1 / 2, 1 / 5, 3 / 10], [1 / 8, 1 / 2, 3 / 8], [0, 0, 1], [1 / 4, 0, 3 / 4], told]
    np.testing.assert_allclose(prior_coefficients(seats, silent), wanted)
    assert prior_coefficients(seats, silent[3]).tolist() == [0.0, 0.0, 1.0]
    heads_up = prior_coefficients(np.array([2, 2]), np.array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=bool))
    assert heads_up.tolist() == [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    rng = np.random.default_rng(6)
    for size in (2, 3, 6):
        seats, silent = rng.integers(1, 6, size=size), rng.random((40, size)) < 0.4
        wanted = [reference.prior_of(seats.tolist(), row) for row in silent.tolist()]
        np.testing.assert_allclose(prior_coefficients(seats, silent), wanted, atol=1e-15)
        np.testing.assert_allclose(prior_coefficients(seats * 6, silent).sum(axis=1), 1.0)
