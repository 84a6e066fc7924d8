import os

import numpy as np
import pytest

from plurispiel.agents.values.encoding import num_inputs
from plurispiel.agents.values.examples import examples
from plurispiel.agents.values.levels import LEVELS
from plurispiel.agents.values.net import Layers, ValueNet, new_layers
from plurispiel.agents.values.net_file import StoredNet

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def stored(name, bins, scale):
    """A network of random numbers; with a scale of 0 it says nothing but the values of checking down."""
    layers = new_layers((num_inputs(LEVELS[name].rules, bins), 8, 2 * bins), np.random.default_rng(1))
    numbers = Layers.of([scale * each for each in layers.arrays()])
    return StoredNet(ValueNet(numbers), LEVELS[name], {}, "")


@pytest.mark.parametrize(
    ("name", "bins", "limits"), [("leduc", 5, [(0, 1), (1, 4), (4, 25)]), ("river", 16, [(1, 4), (4, 25), (25, 200)])]
)
def test_situations_of_each_depth(name, bins, limits):
    """All networks of a level are shown with the same exact values, which no hand exceeds by more than the stacks."""
    found, others = examples(stored(name, bins, 0.0)), examples(stored(name, bins, 1.0))
    for (low, high), each, other in zip(limits, found, others, strict=True):
        assert low <= each.spr < high and each.spr == other.spr
        assert each.exact.shape == (2, LEVELS[name].num_hands) and each.counted.any(axis=1).all()
        np.testing.assert_array_equal(each.exact, other.exact)
        np.testing.assert_allclose(each.net, each.checked_down, atol=1e-6)
        assert abs(other.net - each.net)[each.counted].mean() > 1e-3
        assert abs(each.exact - each.checked_down)[each.counted].mean() > 0.03
        assert -0.5 - each.spr <= each.exact.min() and 0.5 < each.exact.max() <= 0.5 + each.spr
        assert not each.net[~each.counted].any() and not each.exact[~each.counted].any()


def test_fewer_situations():
    assert [each.spr for each in examples(stored("leduc", 5, 0.0), 1)] == [4.0]


def test_the_end_of_a_street_has_no_exact_values():
    assert examples(stored("end-of-turn", 16, 0.0)) == []
