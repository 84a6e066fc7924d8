import numpy as np
import pytest

from plurispiel.abstraction.holdem.distributions import normalised


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_divided_by_their_sums(dtype):
    rows = np.random.default_rng(0).random((50, 4)).astype(dtype)
    rows[7] = 0.0
    expected = [row / row.sum() if row.any() else np.full(4, 0.25, dtype) for row in rows]
    actual = normalised(rows, 0.25)
    assert actual.dtype == dtype
    assert np.array_equal(actual, expected)


def test_rows_without_weight_take_their_own_row_of_otherwise():
    rows = np.array([[0.0, 0.0], [1.0, 3.0], [0.0, 0.0]])
    otherwise = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    assert normalised(rows, otherwise).tolist() == [[0.1, 0.9], [0.25, 0.75], [0.3, 0.7]]


def test_one_row():
    assert normalised(np.array([2.0, 6.0]), 0.0).tolist() == [0.25, 0.75]
    assert normalised(np.zeros(3), 0.0).tolist() == [0.0, 0.0, 0.0]
