import os

import numpy as np
import pytest

from plurispiel.agents.values.batches.solver import SolvedBatch
from plurispiel.agents.values.data_set import DataConfig, load_situations
from plurispiel.tournaments.run import device_data
from plurispiel.tournaments.run.value_data import solve_situations

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

CONFIG = DataConfig("leduc", 1)


class NoSolver:
    """Stands for the solver of a device; its values are 0."""

    def __init__(self, level, orders, teacher):
        pass

    def solve(self, start):
        count = len(start.boards)
        return SolvedBatch(np.zeros_like(start.roots), np.zeros(count, np.float32), np.zeros(count, np.int32))


def test_each_situation_is_counted_once(tmp_path, monkeypatch):
    """Also those of a shard that was filled in part, and is solved again as a whole."""
    monkeypatch.setattr(device_data, "BatchSolver", NoSolver)
    solve_situations(tmp_path, CONFIG, {"unseen": 3, "train": 2}, 1, lambda split: None)
    told = []
    device_data.solve_on_device(tmp_path, CONFIG, {"unseen": 5, "train": 4}, None, None, 1, told.append)
    assert sorted(told) == ["train"] * 4 + ["unseen"] * 5
    assert len(load_situations(tmp_path, "unseen").pots) == 5
