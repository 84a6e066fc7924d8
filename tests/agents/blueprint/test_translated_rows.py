"""A blueprint's strategies in trees with other bet sizes."""

import os

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.blueprint.cards import single_buckets
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.agents.blueprint.translated_rows import nearest_action, rows_in_tree

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

RULES = no_limit_holdem(3, 1_000)
MENU = GameMenu((StreetMenu(("1p allin", "allin")), StreetMenu(("0.5p 1p", "allin"))), all_in_share=0.9)
OTHER = GameMenu((StreetMenu(("0.5p 1p allin", "allin")), StreetMenu(("0.5p 0.9p 2p", "1p allin"))), all_in_share=0.9)


@pytest.fixture(scope="module")
def start():
    return random_blueprint(RULES, MENU, cards=single_buckets(RULES), missing=0.2)


def test_in_its_own_tree_a_blueprint_keeps_its_rows(start):
    found = dict(rows_in_tree(start, start.tree))
    assert sorted(found) == np.flatnonzero(start.tree.actor >= 0).tolist()
    for node, rows in found.items():
        own = start.strategy(node, np.arange(len(rows)))
        np.testing.assert_array_equal(rows, own)


def test_in_another_tree_the_nearest_sizes_stand_in(start):
    tree = build_tree(RULES, OTHER)
    found = dict(rows_in_tree(start, tree))
    assert 0.9 * np.count_nonzero(tree.actor >= 0) < len(found)
    for rows in found.values():
        sums = rows.sum(axis=1)
        assert ((rows >= 0.0).all(axis=1) & (np.isclose(sums, 1.0) | (sums == 0.0))).all()
    root, own = found[0], start.strategy(0, np.arange(169))
    actions, known = tree.actions(0).tolist(), start.tree.actions(0).tolist()
    assert len(actions) == len(known) + 1
    for column, action in enumerate(actions):  # half the pot is no size of the blueprint
        expected = own[:, known.index(action)] if action in known else np.zeros(169)
        np.testing.assert_array_equal(root[:, column], expected)


@pytest.mark.slow
def test_training_starts_from_a_blueprint_of_another_tree(start):
    trainer = Trainer(RULES, OTHER, single_buckets(RULES), Schedule(1_000))
    trainer.start_from(start, 1e6)
    before = trainer.blueprint()
    for node, rows in rows_in_tree(start, trainer.tree):
        begun = before.strategy(node, np.arange(len(rows)))
        np.testing.assert_allclose(begun, rows, atol=0.02)  # 8 bits
    trainer.run(200)
    assert not np.array_equal(trainer.blueprint().rows, before.rows)


@pytest.mark.parametrize(
    ("actions", "action", "nearest"),
    [((FOLD, 700), CALL, FOLD), ((FOLD, CALL, 700), 900, 700), ((CALL, 700), FOLD, CALL), ((FOLD,), 900, FOLD)],
)
def test_the_nearest_action_where_some_are_not_offered(actions, action, nearest):
    assert actions[nearest_action(actions, action)] == nearest
