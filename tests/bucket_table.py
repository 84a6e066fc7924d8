"""The bucket table that several test modules look at."""

import functools

import numpy as np
import pytest

from plurispiel.abstraction.cards import build as building
from plurispiel.abstraction.cards.build import build_table
from plurispiel.abstraction.cards.config import AbstractionConfig, StreetConfig
from plurispiel.abstraction.cards.river import all_river_equities
from plurispiel.abstraction.cards.stages import load_stage, stage_folder

CARDS = {"flop": 3, "turn": 4, "river": 5}
SMALL_TABLE = AbstractionConfig(
    "smallest",
    flop=StreetConfig(12, "histogram", "cramer"),
    turn=StreetConfig(20, "histogram"),
    river=StreetConfig(9, "ehs"),  # ochs takes eight seconds more; test_flops.py has it
    fit_points=20_000,
    rounds=3,
)


class Stopped(Exception):
    """Stands for whatever ends a build."""


def build_with_a_stop(folder):
    """Build the table; the first build is stopped after its first street, the second goes on."""
    built = []

    def load(stage, config, street):
        found = load_stage(stage, config, street)
        if found is None and street == "turn" and len(built) == 1:
            built.append("stopped")
            raise Stopped
        if found is None:
            built.append(street)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "load_stage", load)
        # Both builds share the river equities, which are the same each time and cost seconds.
        shared = functools.cache(lambda: all_river_equities(threads=2))
        patch.setattr(building, "all_river_equities", lambda **how: shared())
        with pytest.raises(Stopped):
            build_table(SMALL_TABLE, folder, threads=2)
        assert not folder.exists() and (stage_folder(folder) / "river").is_dir()
        build_table(SMALL_TABLE, folder, threads=1)
    assert built == ["river", "stopped", "turn", "flop"]
    assert not stage_folder(folder).exists()


def random_boards(street, number, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(52)[: CARDS[street]] for _ in range(number)], np.uint8)


def put(value, place):
    def change(values):
        values.reshape(-1)[place] = value
        return values

    return change


def hide(values):
    """Say of a combo that it shares a card with the board."""
    return put(255, np.flatnonzero(values != 255)[0])(values)
