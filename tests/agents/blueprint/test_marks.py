"""Measurements of a training run on its way."""

import dataclasses
import os

import numpy as np
import pytest

from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.run import begin_run

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_marks_tell_that_it_learns(tmp_path, monkeypatch):
    monkeypatch.setattr("plurispiel.agents.blueprint.marks.MATCH_DECKS", 2_000)
    monkeypatch.setattr("plurispiel.agents.blueprint.run._FINAL_DECKS", 2_000)
    config = dataclasses.replace(read_preset("leduc"), iterations=20_000)
    run = begin_run(tmp_path, config, lossless_buckets(config.rules), threads=1)
    run.go()
    first, last = run.marks[0], run.marks[-1]
    assert last.regret < 0.5 * first.regret and last.drift < 0.5 * run.marks[1].drift
    assert first.against_final < 0.0 and np.isnan(last.against_final) and 0.8 < last.met <= 1.0
    for mark in run.marks:  # what one wins another loses
        total, error = sum(mark.seat_values), np.hypot(*mark.seat_deviations)
        assert abs(total) < 4.0 * error and mark.missing < 0.01
