"""The errors of networks and of other solutions."""

import os

import numpy as np
import pytest
from solved_leduc import sample_leduc

from plurispiel.agents.values.data_set import load_situations
from plurispiel.agents.values.levels import find_level
from plurispiel.agents.values.validation import compare

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def test_a_shift_of_all_values_is_the_error(tmp_path):
    level = find_level("leduc")
    sample_leduc(tmp_path, train=1, unseen=8)
    situations = load_situations(tmp_path, "unseen")
    shifted = situations._replace(evs=situations.evs.astype(np.float64) + 0.5)
    found = compare(level, situations, shifted)
    assert found["mae"] == pytest.approx(0.5) and found["rms"] == pytest.approx(0.5)
    assert found["huber"] == pytest.approx(0.125)
    assert [each["mae"] for each in found["strata"]] == pytest.approx([0.5] * len(found["strata"]))
    with pytest.raises(ValueError, match="different situations"):
        compare(level, situations, situations._replace(pots=situations.pots + 1))
