"""Finished streets of an unfinished table."""

import dataclasses
import os

import numpy as np
import pytest
from bucket_table import SMALL_TABLE, hide

from plurispiel.abstraction.cards.stages import StreetBuckets, load_stage, save_stage

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.xdist_group("buckets"),
]


@pytest.mark.slow
def test_a_stage_of_other_settings_is_not_used(table, tmp_path):
    found, _ = table
    model = found.model.streets["river"]
    part = StreetBuckets(model, np.array(found.stored["river"]), found.reports["river"])
    save_stage(tmp_path / "river", SMALL_TABLE, part)
    assert load_stage(tmp_path / "river", SMALL_TABLE, "river") is not None
    assert load_stage(tmp_path / "river", dataclasses.replace(SMALL_TABLE, rounds=4), "river") is None
    assert load_stage(tmp_path / "turn", SMALL_TABLE, "turn") is None
    save_stage(tmp_path / "river", SMALL_TABLE, part._replace(rows=hide(np.array(part.rows))))
    assert load_stage(tmp_path / "river", SMALL_TABLE, "river") is None  # built again
