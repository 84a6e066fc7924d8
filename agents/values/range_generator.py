"""Random ranges R(S, p), in which hands of similar strength have similar weights: DeepStack's training ranges.

R(S, p) spreads the probability p over the set S of hands. A set of one hand gets the whole of p. A larger set is halved
by strength: the weaker half gets a probability drawn uniformly from 0 to p, and the stronger half gets the rest of p.

References
----------
M. Moravcik et al.: DeepStack: expert-level artificial intelligence in heads-up no-limit poker. Science (2017),
supplementary materials, "Deep counterfactual value networks".
"""

import numpy as np

__all__ = ["draw_ranges"]


def draw_ranges(groups: np.ndarray, num_ranges: int, rng: np.random.Generator) -> np.ndarray:
    """Return random ranges over the hands of one board; the hands are ordered from the weakest to the strongest.

    Parameters
    ----------
    groups : int[num_groups + 1]
        Index of the first hand of each group of equal strength; the last entry is the number of hands (`RankedHands`).
    num_ranges : int
    rng : numpy.random.Generator

    Returns
    -------
    float64[num_ranges, num_hands]
        Rows sum to 1.

    Notes
    -----
    The paper does not say in which order hands of equal strength come, nor which half gets the odd hand. Here each
    range has its own random order, and the odd hand goes to either half with equal probability.

    >>> draw_ranges(np.array([0, 2, 5]), 1, np.random.default_rng(1)).sum().round(12)
    np.float64(1.0)
    """
    num_hands = int(groups[-1])
    sizes = np.full((num_ranges, 1), num_hands)
    masses = np.ones((num_ranges, 1))
    while sizes.max() > 1:
        odd = sizes % 2 * (sizes > 1)
        weaker = np.where(sizes > 1, sizes // 2, sizes) + odd * rng.integers(0, 2, sizes.shape)
        share = np.where(sizes > 1, rng.random(sizes.shape), 1.0)
        sizes = np.stack([weaker, sizes - weaker], axis=2).reshape(num_ranges, -1)
        masses = np.stack([masses * share, masses * (1.0 - share)], axis=2).reshape(num_ranges, -1)
    strength = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
    order = np.argsort(strength + rng.random((num_ranges, num_hands)), axis=1)
    ranges = np.empty((num_ranges, num_hands))
    np.put_along_axis(ranges, order, masses[sizes == 1].reshape(num_ranges, num_hands), axis=1)
    return ranges
