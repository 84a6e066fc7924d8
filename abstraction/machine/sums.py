"""Sums of products in a fixed order, so that every processor computes the same bits.

``a @ b`` and `numpy.dot` leave the order of their sums to a BLAS library, which takes another order for another
processor. Where such a sum decides an action or is stored as a result, it is computed here: runs then have equal
results on different machines.
"""

import functools

import numpy as np

from plurispiel.abstraction.machine.jit import kernel

_LEAF = 128  # numbers that numpy adds without a split, in eight sums


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


@functools.lru_cache(64)
def numpy_order(length: int) -> np.ndarray:
    """Return the order in which `numpy_sum` adds `length` numbers: int64[num_leaves, 3].

    A row has the first index and the number of the numbers of a leaf, and how often the last two sums are added after
    this leaf.
    """
    leaves: list[list[int]] = []

    def split(first: int, count: int) -> None:
        if count <= _LEAF:
            leaves.append([first, count, 0])
            return
        half = count // 2
        half -= half % 8
        split(first, half)
        split(first + half, count - half)
        leaves[-1][2] += 1

    split(0, length)
    return np.array(leaves, np.int64)


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
def numpy_sum(array, order):
    """Return the sum of an array, float64[n], in the order of ``numpy.sum``: pairs of sums of at most 128 numbers.

    Parameters
    ----------
    order : int64[num_leaves, 3]
        The result of `numpy_order` for n.
    """
    # Sums that wait for a partner, the last one first; arrays of more than 128 * 2^7 numbers would need more.
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for leaf in range(len(order)):
        s1, s2, s3, s4, s5, s6, s7 = s0, s1, s2, s3, s4, s5, s6
        s0 = _leaf_sum(array[order[leaf, 0] : order[leaf, 0] + order[leaf, 1]])
        for _ in range(order[leaf, 2]):
            s0, s1, s2, s3, s4, s5, s6 = s1 + s0, s2, s3, s4, s5, s6, s7
    return s0


@kernel(inline=True)
def _leaf_sum(numbers):
    """Return the sum of at most 128 numbers, in the order of `ordered_dot`, but the rest is added number by number."""
    whole = len(numbers) // 8 * 8
    r0 = r1 = r2 = r3 = r4 = r5 = r6 = r7 = 0.0
    for k in range(0, whole, 8):
        r0 += numbers[k]
        r1 += numbers[k + 1]
        r2 += numbers[k + 2]
        r3 += numbers[k + 3]
        r4 += numbers[k + 4]
        r5 += numbers[k + 5]
        r6 += numbers[k + 6]
        r7 += numbers[k + 7]
    total = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7))
    for k in range(whole, len(numbers)):
        total += numbers[k]
    return total


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
    numpy_sum(np.ones(1), numpy_order(1))
