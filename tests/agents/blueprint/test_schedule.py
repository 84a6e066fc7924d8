import dataclasses

import numpy as np
import pytest

from plurispiel.agents.blueprint.config import (
    BlueprintConfig,
    MenuConfig,
)
from plurispiel.agents.blueprint.schedule import MAX_SNAPSHOTS, Schedule


def test_the_threshold_of_pruning_grows_with_the_run():
    config = BlueprintConfig("mine", 10**9, seats=6, menu=MenuConfig(("1p",)))
    visits = 0.05 * 10**9 / 169 / 10
    assert config.prune_below(169) == pytest.approx(-3 * visits * 100)
    assert dataclasses.replace(config, iterations=1000).prune_below(169) == -10 * 10_000
    assert dataclasses.replace(config, prune_below_bb=-7.0).prune_below(169) == -700


def test_a_longer_run_begins_alike():
    short = Schedule(100_000)
    long = short.extended(250_000)
    assert long.iterations == 250_000
    assert {k: v for k, v in long.discounts.items()} == short.discounts
    assert np.diff(sorted(long.snapshots)).mean() == pytest.approx(1_800, rel=0.01) and max(long.snapshots) == 250_000
    with pytest.raises(ValueError, match="cannot be cut"):
        short.extended(10)
    assert short.extended(10**9).num_snapshots == MAX_SNAPSHOTS  # sums of 8 bits hold no more
