"""Sums of products in a fixed order, so that every processor computes the same bits.

``a @ b`` and `numpy.dot` leave the order of their sums to a BLAS library, which takes another order for another
processor. Where such a sum decides an action or is stored as a result, it is computed here: runs then have equal
results on different machines.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel


def dot(first: np.ndarray, second: np.ndarray) -> float:
    """Return the sum of the products of two arrays, added in a fixed order.

    Each of eight partial sums takes every eighth product. If n is not a multiple of 8, a ninth sum takes the last
    products.

    Parameters
    ----------
    first, second : float64[n]
        Arrays of other numbers or booleans are converted.
    """
    return ordered_dot(_plain(first), _plain(second))


def product(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the matrix product of two arrays, float64[n, k] and float64[k, m]: float64[n, m].

    Every entry is summed from the first product to the last, from left to right.
    """
    result = np.zeros((len(first), second.shape[1]))
    _add_product(np.array(first, np.float64, order="C"), np.array(second, np.float64, order="C"), result)
    return result


def _plain(array: np.ndarray) -> np.ndarray:
    """Return an array as the one type that `ordered_dot` is compiled for: float64, contiguous and writeable."""
    return array if array.flags.carray and array.dtype == np.float64 else np.array(array, np.float64)


@kernel
def ordered_dot(first, second):
    """Return the sum of the products of two arrays, float64[n].

    There are eight sums, because a single sum would wait for each addition before it begins the next.
    """
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = len(first) // 8 * 8
    for k in range(0, whole, 8):
        s0 += first[k] * second[k]
        s1 += first[k + 1] * second[k + 1]
        s2 += first[k + 2] * second[k + 2]
        s3 += first[k + 3] * second[k + 3]
        s4 += first[k + 4] * second[k + 4]
        s5 += first[k + 5] * second[k + 5]
        s6 += first[k + 6] * second[k + 6]
        s7 += first[k + 7] * second[k + 7]
    rest = 0.0
    for k in range(whole, len(first)):
        rest += first[k] * second[k]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)) + rest


@kernel
def _add_product(first, second, result):
    """Add the matrix product of `first` and `second` to `result`."""
    for n in range(first.shape[0]):
        for k in range(first.shape[1]):
            factor = first[n, k]
            for m in range(second.shape[1]):
                result[n, m] += factor * second[k, m]


def warmup() -> None:
    """Compile every kernel of this module."""
    dot(np.ones(1), np.ones(1))
    product(np.ones((1, 1)), np.ones((1, 1)))
