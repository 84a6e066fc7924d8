import dataclasses
import os

import numpy as np
import pytest

from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig, MenuConfig
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.blueprint.match import play_match

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
    with pytest.raises(ValueError, match="same betting and buckets"):
        play_match(one, shallow, 10)


def test_a_bucket_table_with_as_many_buckets_is_refused():
    config = BlueprintConfig(
        "push", 10, seats=2, stack_bb=8, menu=MenuConfig(("allin",), push_or_fold=True), num_snapshots=0
    )
    fresh = make_trainer(config, lossless_buckets(config.rules, 1)).blueprint()
    one, other = (
        dataclasses.replace(fresh, cards=dataclasses.replace(fresh.cards, table_digest=digest * 64)) for digest in "01"
    )
    assert play_match(one, one, 10).mean == 0.0
    with pytest.raises(ValueError, match="same betting and buckets"):
        play_match(one, other, 10)
