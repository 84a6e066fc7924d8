import numpy as np
import pytest

from plurispiel.abstraction.machine.sums import dot, numpy_order, numpy_sum, product


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 1326])
def test_dot_adds_eight_partial_sums_in_one_order(length):
    first, second = np.random.default_rng(length).normal(size=(2, length)) * 10.0 ** np.arange(length).clip(max=12)
    products = (first * second).tolist()
    whole = length // 8 * 8
    parts = [sum(products[k:whole:8], 0.0) for k in range(8)]
    sums = [(parts[0] + parts[1]) + (parts[2] + parts[3]), (parts[4] + parts[5]) + (parts[6] + parts[7])]
    assert dot(first, second) == sums[0] + sums[1] + sum(products[whole:], 0.0)


def test_dot_takes_any_layout():
    table = np.random.default_rng(1).normal(size=(20, 3))
    table.setflags(write=False)
    free = np.arange(20) % 3 > 0
    assert dot(table[:, 1], free) == dot(table[:, 1].copy(), free.astype(np.float64)) != 0.0


@pytest.mark.parametrize("length", [1, 7, 8, 9, 128, 129, 1000, 1326, 5000])
def test_sums_in_the_order_of_numpy(length):
    array = np.random.default_rng(length).normal(size=length) * 10.0 ** (np.arange(length) % 12)
    assert numpy_sum(array, numpy_order(length)) == array.sum()


def test_product_adds_from_left_to_right():
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(4, 30)), rng.normal(size=(30, 5)).astype(np.float32)
    found = product(first, second)
    for n in range(4):
        for m in range(5):
            assert found[n, m] == sum((first[n] * second[:, m].astype(np.float64)).tolist(), 0.0)
    assert product(first.T, second[:4]).shape == (30, 5)
