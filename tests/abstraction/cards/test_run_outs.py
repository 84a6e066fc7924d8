import os
from itertools import combinations

import numpy as np
import pytest
from reference import buckets as reference
from scipy.stats import wasserstein_distance

from plurispiel.abstraction.cards.features import expected_strength
from plurispiel.abstraction.cards.river import CONFLICT, river_equities
from plurispiel.abstraction.cards.run_outs import CDF_UNITS, NUM_LIVE, NUM_RIVERS, RunOutReader, empty_run_outs
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL

WITHOUT_COMPILER = bool(os.environ.get("NUMBA_DISABLE_JIT"))
BOARDS = ["QsJh2h7c"] if WITHOUT_COMPILER else ["QsJh2h7c", "QsJh2h", "AsAhAd", "2c3c4c5c"]


def features(text):
    board = np.array([parse_cards(text)], np.uint8)
    found = empty_run_outs(1, board.shape[1])
    RunOutReader(board.shape[1]).fill(board, found)
    return board[0], *(array[0] for array in found)


@pytest.mark.parametrize("text", BOARDS)
def test_features_are_those_of_every_run_out(text):
    board, histograms, sums, squares = features(text)
    rest = [card for card in range(52) if card not in board]
    rivers = river_equities([[*board, *more] for more in combinations(rest, 5 - len(board))]).astype(int)
    live = np.flatnonzero(~np.isin(reference.COMBOS, board).any(axis=1))
    assert len(live) == NUM_LIVE[len(board)]
    for place in range(0, len(live), 37):
        equities = rivers[:, live[place]]
        equities = equities[equities != CONFLICT]
        assert len(equities) == NUM_RIVERS[len(board)]
        assert sums[place] == equities.sum() and squares[place] == (equities**2).sum()
        below = [(equities * 50 < 1980 * edge).sum() for edge in range(1, 50)]
        assert np.abs(histograms[place, :49] - CDF_UNITS * np.array(below) / len(equities)).max() <= 0.51
        assert not histograms[place, 49:].any()


def test_a_turn_is_exact_in_bytes():
    _, histograms, _, _ = features("QsJh2h7c")
    assert (histograms % (CDF_UNITS // NUM_RIVERS[4]) == 0).all()


@pytest.mark.parametrize("text", BOARDS)
def test_sums_are_the_expected_strength(text):
    board, _, sums, _ = features(text)
    live = ~np.isin(reference.COMBOS, board).any(axis=1)
    expected = expected_strength(HUNL, tuple(board.tolist()))[live]
    assert np.allclose(sums / NUM_RIVERS[len(board)] / 1980, expected, atol=1e-12)


def test_distances_of_cumulative_histograms_are_the_earth_movers():
    _, histograms, _, _ = features("QsJh2h7c")
    values = np.arange(50)
    for a, b in np.random.default_rng(1).integers(0, len(histograms), (50, 2)):
        p, q = (np.diff(np.append(histograms[row, :49].astype(float), CDF_UNITS), prepend=0) for row in (a, b))
        expected = wasserstein_distance(values, values, p, q)
        actual = np.abs(histograms[a].astype(int) - histograms[b]).sum() / CDF_UNITS
        assert np.isclose(actual, expected)
