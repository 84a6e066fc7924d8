import numpy as np
import pytest
from reference.value_net import mean_range

from plurispiel.agents.values.range_generator import draw_ranges

COUNT = 20_000


@pytest.mark.parametrize("groups", [[0, 1], [0, 1, 2, 3], [0, 2, 5], [0, 1, 2, 3, 4, 5, 6, 7], [0, 3, 4, 9, 13]])
def test_means(groups):
    """The means are those of the recursion; alike they are only where the number of hands is a power of 2."""
    found = draw_ranges(np.array(groups), COUNT, np.random.default_rng(5))
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert (found >= 0.0).all()
    error = found.std(axis=0) / np.sqrt(COUNT)
    assert (abs(found.mean(axis=0) - mean_range(tuple(groups))) <= 4.0 * error + 1e-12).all()


def test_seed():
    groups = np.array([0, 2, 3, 7])
    first, again, other = (draw_ranges(groups, 3, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


def test_odd_hands():
    """Of three hands, the middle one is in either half: its mean is below 1 / 3, not that of an outer hand."""
    means = mean_range((0, 1, 2, 3))
    assert means == [0.375, 0.25, 0.375]
