"""Corrects values so that the expected winnings of both seats sum to 0, even where hands share cards."""

import numpy as np

__all__ = ["without_gain"]


def without_gain(values: np.ndarray, reach: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Subtract the same expected value from all hands, so that both seats' expected winnings sum to 0.

    DeepStack's paper subtracts half of the sum of both seats' winnings from each hand's value. Where hands share cards,
    the winnings then do not sum to 0. Here the amount is weighted by `masses`, as the values are.

    Parameters
    ----------
    values : float64[2, ..., num_hands]
        Counterfactual values of both seats, weighted by `masses`.
    reach : float64[2, ..., num_hands]
        The weights of both seats' hands.
    masses : float64[2, ..., num_hands]
        For each hand, the weight of the other seat's compatible hands.

    Returns
    -------
    float64[2, ..., num_hands]
        The corrected values. If no hand of one seat is compatible with a hand of the other, the values as given.
    """
    both = (reach * values).sum(axis=(0, -1))
    total = (reach * masses).sum(axis=(0, -1))
    share = np.divide(both, total, out=np.zeros_like(both), where=total > 0.0)
    return values - share[..., None] * masses
