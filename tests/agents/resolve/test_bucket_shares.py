"""Buckets of a street as mixtures of other buckets."""

import numba
import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.resolve import _share_kernels as kernels
from plurispiel.agents.resolve.bucket_shares import BucketShares, warmup

RANKS = np.arange(LEDUC.num_combos) // 2
PAIRED = np.array([0, 1, 1, 2, 0, 2])
"""Other buckets, which cut across the ranks."""


def street():
    ranges = np.random.default_rng(3).random((2, LEDUC.num_combos))
    subgame = Subgame(BettingState(LEDUC), (), ranges, buckets=lambda board: RANKS)
    return VectorSolver(subgame, threads=1).streets[1]


@pytest.mark.parametrize("seat", [0, 1])
def test_mixtures_are_the_means_of_the_hands(seat):
    solved, rows = street(), np.random.default_rng(4).random((4, 2))
    others = np.tile(PAIRED, (len(solved.deals.boards), 1))
    found = BucketShares(solved, seat, others, 4).mixtures(rows)
    hands, sums, totals = solved.deals.arrays.seats[seat], np.zeros((solved.width, 2)), np.zeros((solved.width, 1))
    for board in range(len(solved.deals.boards)):
        for k in range(hands.first[board], hands.first[board + 1]):
            weight = float(solved.buckets.weights[seat][k]) * float(solved.deals.arrays.multiplicity[board])
            sums[RANKS[hands.combos[k]]] += weight * rows[PAIRED[hands.combos[k]]]
            totals[RANKS[hands.combos[k]]] += weight
    np.testing.assert_allclose(found, sums / totals, rtol=1e-12)


def test_buckets_beyond_the_number_are_refused():
    solved = street()
    with pytest.raises(ValueError, match="numbers below 2"):
        BucketShares(solved, 0, np.tile(PAIRED, (len(solved.deals.boards), 1)), 2)


class Recorded:
    """A kernel that notes the types of its arguments; for other types a kernel would be compiled anew."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.types = set()

    def __call__(self, *arguments):
        self.types.add(tuple(map(numba.typeof, arguments)))
        self.kernel(*arguments)


@pytest.mark.parametrize("name", ["add_weights", "add_mixtures"])
def test_warmup_compiles_all_that_is_called(monkeypatch, name):
    recorded = Recorded(getattr(kernels, name))
    monkeypatch.setattr(kernels, name, recorded)
    BucketShares(street(), 0, np.tile(PAIRED, (6, 1)), 4).mixtures(np.ones((4, 2)))
    called = recorded.types.copy()
    warmup()
    assert recorded.types == called
