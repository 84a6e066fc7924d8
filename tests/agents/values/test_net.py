import os

import numpy as np
import pytest
from reference import value_net as reference

from plurispiel.agents.values.net import Layers, ValueNet, new_layers


@pytest.fixture
def layers():
    rng = np.random.default_rng(3)
    found = new_layers((7, 9, 6, 4), rng)
    for each in found.biases:
        each[:] = rng.standard_normal(len(each))
    return found


def test_reference(layers):
    rows = np.random.default_rng(1).standard_normal((5, 7)).astype(np.float32)
    actual = ValueNet(layers).outputs(rows)
    assert actual.shape == (5, 2, 2)
    expected = [reference.outputs(layers, row) for row in rows]
    np.testing.assert_allclose(actual.reshape(5, 4), expected, rtol=1e-5, atol=1e-5)


def test_batches_change_no_bit(layers):
    rows = np.random.default_rng(2).standard_normal((23, 7)).astype(np.float32)
    net = ValueNet(layers)
    whole = net.outputs(rows)
    np.testing.assert_array_equal(whole, np.concatenate([net.outputs(row[None]) for row in rows]))
    order = np.random.default_rng(3).permutation(23)
    np.testing.assert_array_equal(whole[order], net.outputs(rows[order]))


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="the compiler is asked")
@pytest.mark.parametrize("num_inputs", [7, 128, 301])
def test_sums_are_in_order(num_inputs):
    """Bias first, then input by input, each product rounded: the bits of a loop in single precision."""
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((5, num_inputs)).astype(np.float32)  # four at a time, and one
    weights, biases = rng.standard_normal((num_inputs, 8)).astype(np.float32), rng.random(8).astype(np.float32)
    found = np.tile(biases, (5, 1))
    for i in range(num_inputs):
        found += rows[:, i, None] * weights[i]
    single = ValueNet(Layers([weights], [biases], np.zeros(0, np.float32)))
    np.testing.assert_array_equal(single.outputs(rows).reshape(5, 8), found)


def test_arrays(layers):
    again = Layers.of(layers.arrays())
    assert len(again.weights) == len(again.biases) == 3 and len(again.slopes) == 2
    assert all(a is b for a, b in zip(again.arrays(), layers.arrays(), strict=True))
    assert layers.num_parameters == 7 * 9 + 9 + 9 * 6 + 6 + 6 * 4 + 4 + 2
