import numpy as np
import pytest
from reference import buckets as reference

from plurispiel.abstraction.cards.opponents import compute_opponent_clusters, opponent_clusters
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.cards.river import CONFLICT, RiverReader, all_river_equities, river_equities
from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import parse_cards


@pytest.fixture(scope="module")
def apart():
    return reference.compatible()


def random_boards(number, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(52)[:5] for _ in range(number)], np.uint8)


def test_equities_are_those_of_all_pairs_of_hands(apart):
    boards = random_boards(50, 1)
    boards[0] = parse_cards("AsKsQsJsTs")  # everybody ties
    for board, actual in zip(boards, river_equities(boards), strict=True):
        expected, others = reference.river_points(board, apart)
        live = others > 0
        assert live.sum() == 1081 and (others[live] == 990).all()
        assert (actual[live] == expected[live]).all()
        assert (actual[~live] == CONFLICT).all()


def test_the_mean_equity_of_a_board_is_exactly_one_half():
    equities = river_equities(random_boards(200, 2)).astype(int)
    assert (np.where(equities == CONFLICT, 0, equities).sum(axis=1) * 2 == 1081 * 1980).all()


def test_equities_against_clusters_are_those_of_all_pairs_of_hands(apart):
    clusters = np.random.default_rng(3).integers(0, 8, 1326)
    clusters[clusters == 7] = 6
    clusters[-6:] = 7  # all with the ace of spades: on some boards nobody holds them
    boards = random_boards(5, 4)
    boards[0] = parse_cards("AsAhAd2c3d")
    reader = RiverReader(clusters)
    actual, equities, plain = (
        np.empty((5, 1081, 8), np.uint8),
        np.empty((5, 1081), np.int64),
        np.empty((5, 1081), np.int64),
    )
    reader.fill_clusters(boards, actual, equities)
    reader.fill(boards, plain)
    assert (equities == plain).all()
    for b, board in enumerate(boards):
        live = ~np.isin(reference.COMBOS, board).any(axis=1)
        for cluster in range(8):
            points, others = (values[live] for values in reference.river_points(board, apart, clusters == cluster))
            share = np.where(others > 0, points / np.maximum(2 * others, 1), 0.5)
            assert np.abs(actual[b, :, cluster] - 255 * share).max() <= 0.5 + 1e-4
        assert (equities[b] == river_equities(board[None])[0][live]).all()


def test_renamed_suits_change_nothing():
    board = random_boards(1, 5)
    reader = RiverReader(opponent_clusters())
    rows = np.full((24, 1326, 9), -1)
    for permutation in range(24):
        renamed = relabel_cards(board, permutation)
        points, equities = np.empty((1, 1081, 8), np.uint8), np.empty((1, 1081), np.int64)
        reader.fill_clusters(renamed, points, equities)
        live = ~np.isin(reference.COMBOS, renamed).any(axis=1)
        rows[permutation, live] = np.concatenate([points[0], equities[0][:, None]], axis=1)
        assert (rows[permutation][relabel_combos()[permutation]] == rows[0]).all()


@pytest.mark.slow
def test_all_boards_together():
    """Aces win 85.2 % of all hands, and the stored clusters of opponents are what is computed."""
    rivers = all_river_equities(threads=2)
    weights = rivers.classes.sizes
    total = count = 0.0  # of a class only one board is there, so a pair of aces alone would not stand for all six
    for combo in np.flatnonzero((reference.COMBOS >= 48).all(axis=1)).tolist():
        column = rivers.equities[:, combo].astype(float)
        held = column != CONFLICT
        total += weights[held] @ column[held]
        count += weights[held].sum()
    assert np.isclose(total / count / 1980, 0.8520371330210104, atol=1e-12)
    stored = compute_opponent_clusters(rivers)
    assert (stored[preflop_classes()] == opponent_clusters()).all()
