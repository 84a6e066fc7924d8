"""Training whose changes of regrets are added."""

import os
from dataclasses import replace

import numpy as np
import pytest

from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.tournaments.bench import summed_regrets
from plurispiel.tournaments.bench.summed_regrets import SummedTraining, bench_summed_regrets

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

CONFIG = replace(read_preset("leduc"), iterations=4_000)


def trained(config):
    trainer = make_trainer(config, lossless_buckets(config.rules))
    trainer.run()
    return trainer


def test_one_worker_in_rounds_trains_as_without_rounds():
    """Rounds end at the discounts, every 100 iterations, so that only the order of additions differs."""
    summed = SummedTraining(CONFIG, 1, 100)
    summed.run()
    usual = trained(CONFIG)
    assert np.allclose(summed.trainer.sums, usual.sums, rtol=1e-9, atol=1e-9)
    assert np.allclose(summed.trainer.regrets, usual.regrets, rtol=1e-9, atol=1e-9)


def test_a_round_adds_what_each_worker_changes():
    config = replace(CONFIG, discount_until=0.0)
    summed = SummedTraining(config, 2, 2_000)
    summed.run()
    apart = [trained(replace(config, iterations=2_000, seed=config.seed + k)) for k in range(2)]
    assert np.array_equal(summed.trainer.regrets, apart[0].regrets + apart[1].regrets)
    assert np.array_equal(summed.trainer.sums, apart[0].sums + apart[1].sums)
    mean = SummedTraining(config, 2, 2_000, mean=True)
    mean.run()
    assert np.array_equal(mean.trainer.regrets, (apart[0].regrets + apart[1].regrets) / 2.0)
    assert np.array_equal(mean.trainer.sums, summed.trainer.sums)
    assert summed.trainer.iteration == 4_000 and 0 < summed.sent <= 12 * 2 * len(summed.trainer.regrets)


@pytest.mark.slow
def test_bench_has_a_row_for_each_number_of_workers_and_each_round(monkeypatch):
    monkeypatch.setattr(summed_regrets, "_GAMES", ("leduc",))
    monkeypatch.setattr(summed_regrets, "_SEEDS", 1)
    rows = bench_summed_regrets(0.01)
    assert [row.name for row in rows] == [
        "leduc, one worker",
        *(
            f"leduc, {workers} workers, {way}, rounds of {every}"
            for workers in (2, 4)
            for every in ("100", "1,000")
            for way in ("sum", "mean")
        ),
    ]
    assert all(row.value > 0.0 for row in rows)
