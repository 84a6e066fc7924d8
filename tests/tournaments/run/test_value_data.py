import os
import time

import numpy as np
import pytest

from plurispiel.agents.values import data_set
from plurispiel.agents.values.data_set import DataConfig, load_situations
from plurispiel.tournaments.run import value_data
from plurispiel.tournaments.run.value_data import solve_situations

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

CONFIG = DataConfig("leduc", 1)
COUNTS = {"unseen": 6, "train": 9}


def solved(folder, workers, counts=COUNTS):
    """Return all situations of a folder after a call, and the splits that progress was told of."""
    splits = []
    solve_situations(folder, CONFIG, counts, workers, splits.append)
    assert sorted(splits) == sorted(split for split, count in counts.items() for _ in range(count))
    return [each for split in counts for each in load_situations(folder, split)]


def test_data_do_not_depend_on_the_number_of_workers(tmp_path):
    straight = solved(tmp_path / "one", 1)
    solved(tmp_path / "two", 1, {"unseen": 2, "train": 3})  # what is left makes two workers start
    for mine, other in zip(solved(tmp_path / "two", 2), straight, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.slow
def test_a_stop_costs_a_piece_of_a_shard(tmp_path, monkeypatch):
    """Pieces come in order, so that those before a stop are kept; the next call gives the data of one go."""
    monkeypatch.setattr(value_data, "_PIECE", 2)
    monkeypatch.setattr(value_data, "FLUSH_SECONDS", 0.0)
    told = []

    def stop(split):
        told.append(split)
        if len(told) == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_situations(tmp_path / "stopped", CONFIG, COUNTS, 2, stop)
    there = value_data.num_there(tmp_path / "stopped", CONFIG, data_set.Shard("train", 0, 9))
    assert 2 <= there < 9 and value_data.num_there(tmp_path / "stopped", CONFIG, data_set.Shard("unseen", 0, 6)) == 6
    for mine, other in zip(solved(tmp_path / "stopped", 2), solved(tmp_path / "straight", 1), strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_finished_data_set_starts_no_process(tmp_path, monkeypatch):
    straight = solved(tmp_path, 1)
    monkeypatch.setattr("plurispiel.tournaments.run.value_data.in_order", None)
    monkeypatch.setattr(data_set, "draw_situation", None)
    for mine, other in zip(solved(tmp_path, 8), straight, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_solved_once_the_time_is_past(tmp_path, workers):
    solve_situations(tmp_path, CONFIG, {"unseen": 3, "train": 9}, 1, lambda split: None)
    told = []
    solve_situations(tmp_path, CONFIG, {"unseen": 40, "train": 9}, workers, told.append, until=time.monotonic())
    assert told.count("unseen") == 3
    assert len(load_situations(tmp_path, "unseen").pots) == 3
