"""A blueprint's strategies in other buckets."""

import dataclasses

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree, game_menu
from plurispiel.abstraction.holdem.rules import LEDUC, no_limit_holdem
from plurispiel.agents.blueprint import starting_rows as starts
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.blueprint.starting_rows import bucket_counts, shared_hands, starting_rows

RULES = no_limit_holdem(2, 1_000)
MENU = GameMenu((StreetMenu(("1p allin", "allin")),))
OTHER = GameMenu((StreetMenu(("0.5p 1p allin", "allin")),))


@pytest.fixture
def few_boards(monkeypatch):
    monkeypatch.setattr(starts, "NUM_BOARDS", 300)


def leduc(cards, missing=0.3):
    return random_blueprint(LEDUC, game_menu(LEDUC), cards=cards, missing=missing)


def test_the_hands_of_a_bucket_are_shared_out(few_boards):
    """Leduc's five hands on each of six boards are fifteen pairs of hand and board, if suits are renamed."""
    fine, coarse = lossless_buckets(LEDUC), single_buckets(LEDUC)
    into_coarse = shared_hands(LEDUC, fine, coarse)
    assert [each.shape for each in into_coarse] == [(3, 3), (18, 1)]
    np.testing.assert_array_equal(into_coarse[0], np.eye(3))
    assert np.count_nonzero(into_coarse[1]) == 15 and set(into_coarse[1].ravel()) == {0.0, 1.0}
    (row,) = shared_hands(LEDUC, coarse, fine)[1]
    np.testing.assert_allclose(row[row > 0.0], 1 / 15, atol=0.02)
    assert np.count_nonzero(row) == 15 and row.sum() == pytest.approx(1.0)
    counts = bucket_counts(LEDUC, fine)
    assert counts[0].sum() == pytest.approx(5.0)
    np.testing.assert_allclose(counts[1], np.where(row > 0.0, 5.0 * row, 1 / 300))


def test_a_bucket_gets_the_mean_of_its_hands_without_missing_rows(few_boards):
    start, cards = leduc(lossless_buckets(LEDUC)), single_buckets(LEDUC)
    shares = shared_hands(LEDUC, cards, start.cards)
    found = dict(starting_rows(start, start.tree, cards))
    assert sorted(found) == np.flatnonzero(start.tree.actor >= 0).tolist()
    for node, rows in found.items():
        street = int(start.tree.street[node])
        own = start.strategy(node, np.arange(start.cards.num_buckets[street])).astype(np.float64)
        for bucket, row in enumerate(rows):
            weights = shares[street][bucket] * own.any(axis=1)
            expected = weights @ own / weights.sum() if weights.any() else np.zeros(own.shape[1])
            np.testing.assert_allclose(row, expected, atol=1e-6)


def test_a_row_is_missing_where_all_rows_of_its_hands_are(few_boards):
    start = leduc(single_buckets(LEDUC), missing=1.0)
    rows = [rows for _, rows in starting_rows(start, start.tree, lossless_buckets(LEDUC))]
    assert rows and not any(each.any() for each in rows)


def test_bet_sizes_and_buckets_are_translated_together(few_boards):
    start = random_blueprint(RULES, MENU, cards=single_buckets(RULES))
    own = start.cards
    merged = dataclasses.replace(
        own,
        num_buckets=(2, *own.num_buckets[1:]),
        arrays=own.arrays._replace(rows=(np.minimum(own.arrays.rows[0], 1), *own.arrays.rows[1:])),
    )
    tree = build_tree(RULES, OTHER)
    plain = dict(starting_rows(start, tree, own))
    found = dict(starting_rows(start, tree, merged))
    assert sorted(found) == sorted(plain)
    shares = shared_hands(RULES, merged, own)
    for node, rows in plain.items():
        np.testing.assert_allclose(found[node], shares[int(tree.street[node])] @ rows, atol=1e-6)
