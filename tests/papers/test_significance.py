"""The p-values of Brown and Sandholm, "Superhuman AI for multiplayer poker" (2019), from its means and standard errors.

Win rates in mbb/hand over 10,000 hands and more, one-tailed.
"""

import pytest

from plurispiel.evaluation.statistics import one_tailed_p


@pytest.mark.parametrize(
    ("rate_mbb", "standard_error_mbb", "p_value"),
    [(47.7, 25.0, 0.028), (32.7, 14.9, 0.014), (25.2, 20.2, 0.106), (40.2, 21.9, 0.033)],
)
def test_published_p_values(rate_mbb, standard_error_mbb, p_value):
    assert round(one_tailed_p(rate_mbb, standard_error_mbb), 3) == p_value
    assert round(one_tailed_p(rate_mbb, standard_error_mbb, 10_000), 3) == p_value
