"""The pseudo-harmonic mapping of Ganzfried and Sandholm, "Action translation in extensive-form games" (IJCAI 2013).

Its probabilities between half the pot and the pot, by the paper's formula worked out as fractions; the two sizes are
equally likely where the formula's median lies, at (A + B + 2AB) / (A + B + 2) = 5/7.
"""

import pytest

from plurispiel.abstraction.actions.mapping import lower_share


@pytest.mark.parametrize(("size", "share"), [(0.6, 3 / 4), (5 / 7, 1 / 2), (0.75, 3 / 7), (0.9, 3 / 19)])
def test_published_mapping(size, share):
    assert lower_share(size, 0.5, 1.0) == pytest.approx(share, abs=1e-12)
