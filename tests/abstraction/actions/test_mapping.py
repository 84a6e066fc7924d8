"""The pseudo-harmonic mapping of a bet between two sizes."""

import numpy as np
import pytest

from plurispiel.abstraction.actions.mapping import lower_share, translate


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.5), (0.5, 1.0), (0.33, 2.0), (1.0, 39.6)])
def test_properties(lower, upper):
    assert lower_share(lower, lower, upper) == 1.0 and lower_share(upper, lower, upper) == 0.0
    sizes = np.linspace(lower, upper, 1000)
    shares = np.array([lower_share(size, lower, upper) for size in sizes])
    assert (np.diff(shares) < 0).all()
    np.testing.assert_allclose(shares / (1 + lower) + (1 - shares) / (1 + upper), 1 / (1 + sizes), atol=1e-12)
    for near in (1e-9, -1e-9):  # continuous in the neighbours
        assert lower_share(sizes[300], lower, upper + near) == pytest.approx(shares[300], abs=1e-7)


def test_the_deterministic_mapping_goes_by_the_middle():
    sizes = (0.0, 0.5, 1.0)
    assert [translate(size, sizes) for size in (0.0, 0.19, 0.21, 0.5, 0.71, 0.72, 1.0, 7.0)] == [0, 0, 1, 1, 1, 2, 2, 2]
    assert translate(0.1, (0.5, 1.0)) == 0


def test_the_random_mapping_has_its_probabilities():
    coins = np.random.default_rng(1).random(20_000)
    for size in (0.55, 0.6, 0.75, 0.9):
        lower = np.mean([translate(size, (0.0, 0.5, 1.0), coin) == 1 for coin in coins])
        assert lower == pytest.approx(lower_share(size, 0.5, 1.0), abs=0.015)
    for place, size in enumerate((0.0, 0.5, 1.0)):  # a size of the tree is that size
        assert {translate(size, (0.0, 0.5, 1.0), coin) for coin in (0.0, 0.5, 1.0 - 1e-9)} == {place}
