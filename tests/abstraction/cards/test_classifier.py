"""Features of hands, from which a classifier tells their buckets."""

import os

import numpy as np
import pytest
from reference import buckets as reference

from plurispiel.abstraction.cards.classifier import FeatureReader
from plurispiel.abstraction.cards.opponents import opponent_clusters
from plurispiel.abstraction.holdem.cards import parse_cards

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_potential_features_count_the_next_streets_buckets():
    board = np.array(parse_cards("QsJh2h7c"), np.uint8)
    rng = np.random.default_rng(6)
    rows = rng.integers(0, 24, (52, 1326)).astype(np.uint16)  # by the river card
    reader = FeatureReader(
        "turn", "potential", opponent_clusters(), next_rows=lambda boards: rows[boards[:, 4]], num_next_buckets=24
    )
    points = reader.read(board[None]).points
    live = np.flatnonzero(~np.isin(reference.COMBOS, board).any(axis=1))
    for place in range(0, len(live), 50):
        hand = reference.COMBOS[live[place]]
        rivers = [card for card in range(52) if card not in board and card not in hand]
        expected = np.bincount([rows[card, live[place]] for card in rivers], minlength=24)
        assert (points[place] == 5 * expected).all() and expected.sum() == 46
