import os

import numpy as np
import pytest

from plurispiel.agents.values.products import products


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="the compiler is asked")
@pytest.mark.parametrize("zeros", [0.0, 0.66, 1.0])
def test_sums_are_in_order_and_zeros_change_no_bit(zeros):
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((2, 7, 301))
    rows[rng.random(rows.shape) < zeros] = 0.0
    matrix = rng.standard_normal((301, 13)).astype(np.float32)
    expected = np.zeros((2, 7, 13), np.float32)
    for i in range(301):
        expected += rows[..., i, None].astype(np.float32) * matrix[i]
    for threads in (1, 2, 5):
        found = products(rows, matrix, threads=threads)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected)
        assert not np.signbit(found[expected == 0.0]).any()


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="takes rows of 3 numbers, got 2"):
        products(np.ones((1, 2)), np.ones((3, 4), np.float32))
