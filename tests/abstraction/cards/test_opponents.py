import numpy as np

from plurispiel.abstraction.cards.features import preflop_equity
from plurispiel.abstraction.cards.opponents import opponent_clusters
from plurispiel.abstraction.cards.preflop import preflop_classes


def test_clusters_are_of_starting_hands_and_rise_with_their_equity():
    """Slow tests compute them again (test_river.py)."""
    clusters, classes = opponent_clusters(), preflop_classes()
    assert len(np.unique(np.stack([classes, clusters]), axis=1).T) == 169
    means = [preflop_equity()[clusters == cluster].mean() for cluster in range(8)]
    assert means == sorted(means) and means[0] < 0.4 and means[-1] > 0.6
