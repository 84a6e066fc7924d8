import sys

import numpy as np
import pytest

from plurispiel.abstraction.machine.memory import available_bytes, peak_bytes, resident_bytes, sparse_zeros


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell, or give memory out otherwise")
def test_only_pages_that_are_written_to_take_memory():
    before = resident_bytes()
    values = sparse_zeros(1 << 27, np.float64)
    values[:: 1 << 20] = 1.0
    assert resident_bytes() - before < 100 << 20 < values.nbytes
    assert values.sum() == 128.0 and not values[1 : 1 << 20].any()
    assert min(resident_bytes(), peak_bytes(), available_bytes()) > 0


def test_no_numbers_take_no_memory():
    assert sparse_zeros(0, np.int32).shape == (0,)
