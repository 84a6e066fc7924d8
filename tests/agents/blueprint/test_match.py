import dataclasses
import os

import numpy as np
import pytest

from plurispiel.abstraction.actions.tree import game_menu
from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.blueprint.blueprint import load_blueprint
from plurispiel.agents.blueprint.cards import lossless_buckets, single_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig, MenuConfig
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.library import find_blueprint
from plurispiel.agents.blueprint.match import play_match
from plurispiel.agents.blueprint.schedule import Schedule
from plurispiel.agents.blueprint.trainer import Trainer

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_matches_are_the_same_on_any_threads():
    config = BlueprintConfig(
        "push", 3_000, seats=3, stack_bb=8, menu=MenuConfig(("allin",), push_or_fold=True), num_snapshots=0
    )
    cards = lossless_buckets(config.rules, 1)
    trainer = make_trainer(config, cards)
    fresh = trainer.blueprint()
    trainer.run()
    trained = trainer.blueprint()
    one, three = (play_match(trained, fresh, 9_001, threads=threads) for threads in (1, 3))
    assert one == three and one.num_decks == 9_001
    assert one.mean > 5 * one.deviation and one.missing > 0.3  # what was never learnt plays evenly
    alone = play_match(trained, trained, 20_000)
    assert abs(alone.mean) < 1e-9 and alone.deviation < 1e-9  # luck cancels out
    assert abs(sum(alone.seat_means)) < 4 * np.linalg.norm(alone.seat_deviations)


def test_another_betting_with_as_many_rows_is_refused():
    def fresh(stack):
        menu = MenuConfig(("allin",), push_or_fold=True)
        config = BlueprintConfig("push", 10, seats=2, stack_bb=stack, menu=menu, num_snapshots=0)
        return make_trainer(config, lossless_buckets(config.rules, 1)).blueprint()

    one, shallow = fresh(8), fresh(7)
    assert one.rows.shape == shallow.rows.shape
    assert play_match(one, one, 10).mean == 0.0
    with pytest.raises(ValueError, match="for different games"):
        play_match(one, shallow, 10)
    with pytest.raises(ValueError, match="exact = true"):
        play_match(one, dataclasses.replace(one, rows=one.rows.astype(np.float32)), 10)


def test_blueprints_with_different_buckets():
    """One tells all hands apart, the other none after the first street."""
    rules = rules_of(find_game("holdem-mini"))
    plan = Schedule(30_000, discount_until=1.0, prune_from=1.0, average_from=0.0, num_snapshots=0)
    fine, coarse = (
        Trainer(rules, game_menu(rules), cards(rules), plan, exact=True) for cards in (lossless_buckets, single_buckets)
    )
    for each in (fine, coarse):
        each.run()
    won = play_match(fine.blueprint(), coarse.blueprint(), 20_000)
    lost = play_match(coarse.blueprint(), fine.blueprint(), 20_000)
    assert won.mean > 5 * won.deviation and lost.mean == pytest.approx(-won.mean)  # the same hands


def test_other_bet_sizes_are_refused():
    one, two = (
        Trainer(LEDUC, menu, lossless_buckets(LEDUC), Schedule(1)).blueprint()
        for menu in (game_menu(LEDUC), BlueprintConfig("few", 1, game="leduc", menu=MenuConfig(("allin",))).game_menu)
    )
    with pytest.raises(ValueError, match="different bet sizes; plurispiel tournament plays them"):
        play_match(one, two, 10)


def test_blueprints_without_a_bucket_table_are_refused():
    start = load_blueprint(find_blueprint("headsup-refined"))
    with pytest.raises(ValueError, match="needs the bucket table"):
        play_match(start, start, 10)
