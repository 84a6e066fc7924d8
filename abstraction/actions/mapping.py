"""The pseudo-harmonic mapping, by which a bet between two sizes of a tree counts as one of the two.

Ganzfried and Sandholm, "Action translation in extensive-form games with large action spaces", IJCAI 2013. Sizes are
shares of the pot after calling.
"""

import bisect
from collections.abc import Sequence

__all__ = ["lower_place", "lower_share", "translate"]


def lower_share(size: float, lower: float, upper: float) -> float:
    """Return the probability that a bet of `size` is mapped to `lower`, for ``lower <= size <= upper``, lower < upper.

    All three sizes are shares of the pot after calling.

    Notes
    -----
    A bet of x into a pot of 1 must be called by 1 / (1 + x) of the hands (minimum defence frequency). The bet is
    answered as the lower size A with probability f, otherwise as the upper size B. The probability f makes hands
    call with the right mean frequency: ``f / (1 + A) + (1 - f) / (1 + B) = 1 / (1 + x)``. The solution is
    ``f = (B - x) (1 + A) / ((B - A) (1 + x))``, which is 1 at x = A and 0 at x = B. The probability f is one half at
    ``x = (A + B + 2 A B) / (A + B + 2)``, which is below the middle of A and B.
    """
    return (upper - size) * (1.0 + lower) / ((upper - lower) * (1.0 + size))


def translate(size: float, sizes: Sequence[float], coin: float = 0.5) -> int:
    """Return the index in `sizes` of the size to which a bet is mapped.

    Parameters
    ----------
    size : float
        The bet as a share of the pot after calling.
    sizes : sequence of float
        The tree's sizes, also as shares of the pot after calling, ascending; at least one.
    coin : float, optional
        A uniform random number, at least 0 and below 1. With the default of 0.5 the bet is mapped to the likelier
        neighbour.
    """
    lower, share = lower_place(size, sizes)
    return lower if coin < share else lower + 1


def lower_place(size: float, sizes: Sequence[float]) -> tuple[int, float]:
    """Return the index of the lower of two sizes to which a bet may be mapped, and the probability of this size.

    If there is only one such size, its index and the probability 1 are returned.
    """
    upper = bisect.bisect_left(sizes, size)
    if upper == 0:
        return 0, 1.0
    if upper == len(sizes):
        return upper - 1, 1.0
    if sizes[upper] == size:
        return upper, 1.0
    return upper - 1, lower_share(size, sizes[upper - 1], sizes[upper])
