"""Buckets of later streets: 500 of the flop where they are cached or there is time, else the blueprint's."""

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.hand_ranks import board_ranks
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.search import later_buckets
from plurispiel.agents.search.config import SearchConfig

BOARD = parse_cards("QsJh2h7c3d")


class FlopRows:
    """Stands for the 500 buckets of a flop."""

    def row(self, board):
        return np.full(1326, 7)


@pytest.mark.parametrize("is_cached", [False, True])
def test_flop_buckets_are_used_where_they_are_cached(monkeypatch, is_cached):
    """Under a time limit an uncached flop has the blueprint's buckets; with iterations its buckets are built."""
    monkeypatch.setattr(later_buckets, "is_kept", lambda flop: is_cached)
    monkeypatch.setattr(later_buckets, "_flop_buckets", lambda flop, threads: FlopRows())
    buckets = random_blueprint(HUNL).cards
    for config, is_blueprint in (
        (SearchConfig(), not is_cached),
        (SearchConfig(iterations=3), False),
        (SearchConfig(iterations=3, cards="blueprint"), True),
    ):
        rows = later_buckets.later_buckets(config, HUNL, buckets, BOARD[:4])(BOARD)
        assert np.array_equal(rows, buckets.row(BOARD, 3)) == is_blueprint


def test_without_a_blueprint_hands_of_equal_rank_share_a_bucket(monkeypatch):
    """Under a time limit nothing is clustered on the turn; on the flop there is no other way."""
    monkeypatch.setattr(later_buckets, "is_kept", lambda flop: False)
    monkeypatch.setattr(later_buckets, "_flop_buckets", lambda flop, threads: FlopRows())
    rows = later_buckets.later_buckets(SearchConfig(), HUNL, None, BOARD[:4])(BOARD)
    ranks = board_ranks(BOARD)
    assert (rows.min(), rows.max() + 1) == (0, len(np.unique(ranks))) and len(np.unique(rows[ranks == 0])) == 1
    assert ((rows[:, None] == rows) == (ranks[:, None] == ranks)).all()
    for config, board in ((SearchConfig(), BOARD[:3]), (SearchConfig(iterations=3), BOARD[:4])):
        assert (later_buckets.later_buckets(config, HUNL, None, board)(BOARD) == 7).all()


def test_later_streets_without_buckets_are_refused():
    config = SearchConfig(iterations=3, cards="blueprint")
    for board in (BOARD[:3], BOARD[:4]):
        with pytest.raises(ValueError, match="need buckets: give a blueprint, or cards=flop-500"):
            later_buckets.later_buckets(config, HUNL, None, board)
    assert not later_buckets.later_buckets(config, HUNL, None, BOARD)(BOARD).any()
