"""Defence against bets between the sizes of a betting tree: how many hands go on, and which.

Sizes are shares of the pot after calling. The pseudo-harmonic mapping maps a bet of size x to the lower of two sizes,
A < x < B, with probability ``f = (B - x) (1 + A) / ((B - A) (1 + x))``. If a hand goes on with probability a against A
and b against B, then ``f a + (1 - f) b`` is the mean over the draw. If the ranges defend by pot / (pot + bet) at both
sizes, so does the mean range: ``f / (1 + A) + (1 - f) / (1 + B) = 1 / (1 + x)``.

If the bet is below the smallest size, that size is B, and A = 0 stands for no bet: a = 1 for every hand. With r(h) the
reach of hand h, and sums over all hands, the share of a range that goes on is

    s = f + (1 - f) c,    c = (sum of r(h) b(h)) / (sum of r(h)).

If every hand went on with probability f + (1 - f) b(h), a share f (1 - c) of the range would go on with hands that fold
to the smallest size. Of these hands, the worst would go on as often as the best. `defend_by_order` keeps the share s
and gives it to the strongest hands.

Raises are part of s. Hand h raises with the probability q(h) in the row of the decision from which play goes on, and
this probability stays as it is. A weak hand that bluffs one time in ten should then fold the other nine times. The rest
of each hand, 1 - q(h), calls or folds. Hands call in the order of their probability of a call against the smallest
size, given that they do not raise there, and then in the order of their strength. Let t(h) be the share of this rest
that calls: 1 above a border, 0 below it, and between 0 and 1 for one class of equal hands at the border. Then

    s = (sum of r(h) (q(h) + (1 - q(h)) t(h))) / (sum of r(h)).

If the raises alone exceed s, they are all reduced by the same factor, and no hand calls.
"""

import numpy as np

from plurispiel.abstraction.machine.sums import dot

__all__ = ["call_chances", "defend_by_order", "strongest"]


def defend_by_order(
    raises: np.ndarray, chances: np.ndarray, equity: np.ndarray, reach: np.ndarray, share: float
) -> tuple[float, np.ndarray]:
    """Return how a range raises and calls so that a share of it goes on.

    Raises stay as given unless they alone exceed the share, and the strongest hands call.

    Parameters
    ----------
    raises : float64[n]
        The probability of each hand to raise. Rounding may put it just above 1.
    chances, equity : float64[n]
        Hands are ordered by `chances`, and those with equal chances by `equity`, the highest first.
    reach : float64[n]
        The weight of each hand in the range, not all 0.
    share : float
        The share of the range that goes on, from 0 to 1.

    Returns
    -------
    factor : float
        The factor of all raises, below 1 only if raises alone exceed the share.
    calls : float64[n]
        The probability of each hand to call, at least 0.
    """
    total, raised = float(reach.sum()), dot(reach, raises)
    wanted = share * total
    if raised >= wanted and raised > 0.0:
        return wanted / raised, np.zeros(len(raises))
    rest = 1.0 - raises  # -2e-16 for a hand that always raises, if rounding lets its raises sum to 1 + 2e-16
    return 1.0, np.maximum(rest, 0.0) * strongest(chances, equity, reach * rest, wanted - raised)


def strongest(chances: np.ndarray, equity: np.ndarray, weights: np.ndarray, wanted: float) -> np.ndarray:
    """Return the part of each hand that is taken if hands are taken in order, until their weight is `wanted`.

    The order is that of `defend_by_order`. Hands that are equal in `chances` and `equity` form a class. Classes are
    taken whole as long as no more than `wanted` is taken. Of the next class every hand is taken in the same part, and
    of lower classes nothing. A class without weight is taken if the classes above it weigh less than `wanted`.

    Returns
    -------
    float64[n]
        Numbers from 0 to 1, whose sum weighted by `weights` is `wanted`, or the sum of `weights` if this is less.
    """
    order = np.lexsort((-equity, -chances))
    sorted_chances, sorted_equity = chances[order], equity[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = (sorted_chances[1:] != sorted_chances[:-1]) | (sorted_equity[1:] != sorted_equity[:-1])
    sums = np.add.reduceat(weights[order], np.flatnonzero(is_first))
    left = wanted - (np.cumsum(sums) - sums)  # the weight still wanted from a class and all classes below it
    parts = np.where(left > 0.0, 1.0, 0.0)
    np.divide(left, sums, out=parts, where=(left > 0.0) & (sums > left))
    taken = np.empty(len(order))
    taken[order] = parts[np.cumsum(is_first) - 1]
    return taken


def call_chances(rows: np.ndarray, call: int) -> np.ndarray:
    """Return the probability of a call of each hand, given that it does not raise: float64[n]; 1 if it always raises.

    Parameters
    ----------
    rows : float64[n, num_actions]
        Their first column is the fold.
    call : int
        The column of the call.
    """
    stays = rows[:, 0] + rows[:, call]
    return np.where(stays > 0.0, rows[:, call] / np.where(stays > 0.0, stays, 1.0), 1.0)
