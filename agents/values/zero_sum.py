"""Corrects values so that the gains of both seats sum to 0, exactly with card removal."""

import numpy as np

__all__ = ["without_gain"]


def without_gain(values: np.ndarray, reach: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Subtract the same expected value from all hands, so that both seats' expected winnings sum to 0.

    DeepStack's paper subtracts half of both seats' gain from each hand, which leaves a gain where hands share cards.
    Here the amount is weighted by `masses`, as the values are.

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
        If no two hands of the seats are compatible, there is no gain, and the values are as given.
    """
    both = (reach * values).sum(axis=(0, -1))
    total = (reach * masses).sum(axis=(0, -1))
    share = np.divide(both, total, out=np.zeros_like(both), where=total > 0.0)
    return values - share[..., None] * masses
