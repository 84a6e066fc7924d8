"""A model alone, without the stored table, tells every hand's bucket."""

import os

import numpy as np
import pytest
from bucket_table import random_boards
from reference import buckets as reference

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.xdist_group("buckets"),
]


@pytest.mark.parametrize(("street", "number"), [("flop", 4), ("turn", 60), ("river", 150)])
def test_buckets_are_the_same_without_the_table(table, street, number):
    found, _ = table
    boards = random_boards(street, number, 1)
    rows = found.rows(boards)
    for board, row in zip(boards, rows, strict=True):
        assert (found.row(board) == row).all()
        assert (found.model.classify(board) == row).all()
        live = ~np.isin(reference.COMBOS, board).any(axis=1)
        assert (row[live] < found.num_buckets[street]).all() and (row[~live] == 255).all()
