"""The eight clusters of opponents' starting hands, by their histograms of river equity."""

import functools
from pathlib import Path

import numpy as np

from plurispiel.abstraction.cards.distances import L1
from plurispiel.abstraction.cards.kmeans import kmeans
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.cards.river import NUM_CLUSTERS, RiverTable
from plurispiel.abstraction.cards.run_outs import HISTOGRAM_DIMS, preflop_histograms


@functools.cache
def opponent_clusters() -> np.ndarray:
    """Return the cluster of each combo, 0..7 from weak to strong: uint8[1326], read-only.

    The stored clusters of the 169 starting hands are the result of `compute_opponent_clusters`.
    """
    classes = np.load(Path(__file__).with_name("opponent_clusters.npy"), allow_pickle=False)
    clusters = classes[preflop_classes()]
    clusters.setflags(write=False)
    return clusters


def compute_opponent_clusters(rivers: RiverTable) -> np.ndarray:
    """Return the cluster of each of the 169 starting hands: uint8[169], numbered as in `preflop.preflop_classes`.

    The clusters are found by k-means with the earth mover's distance between histograms of river equity. The weight of
    a starting hand is its number of combos.
    """
    below = preflop_histograms(rivers).cumsum(axis=1)
    points = np.zeros((len(below), HISTOGRAM_DIMS), np.uint8)
    points[:, : below.shape[1] - 1] = np.rint(255 * below[:, :-1] / below[:, -1:])
    weights = np.bincount(preflop_classes()).astype(np.int64)
    found = kmeans(points, weights, NUM_CLUSTERS, L1, np.random.default_rng(0), restarts=100)
    # Strong hands have small cumulative shares, so k-means numbers strong clusters first: the numbers are reversed.
    return (NUM_CLUSTERS - 1 - found.labels).astype(np.uint8)
