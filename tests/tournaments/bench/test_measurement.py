import numpy as np
import pytest

from plurispiel.tournaments.bench import continual_spots, search_spots
from plurispiel.tournaments.bench.measurement import half_width_text


def test_intervals():
    assert half_width_text(np.array([1.0, 2.0, 4.5]), 2) == "± 2.04, "
    assert half_width_text(np.array([1.0]), 2) == ""


@pytest.mark.parametrize("count", [1, 2])
def test_one_spot_has_no_interval(count):
    figures = [continual_spots._VariantFigures(0.5, 99.0, 1.0, 150.0)] * count
    found = search_spots._Found([1.0] * count, [2.0] * count)
    for row in (continual_spots._row("river", figures), search_spots._row("river", found, 9, "")):
        assert "nan" not in row.note and ("±" in row.note) == (count > 1)
