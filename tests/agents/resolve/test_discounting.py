"""The schedules of vector CFR's algorithms."""

import numpy as np
import pytest

from plurispiel.agents.resolve.discounting import parse_discounting


def test_restarts_forget_what_was_before():
    steps = parse_discounting("dcfr-restarts").steps(0, 20)
    weights = np.ones(20)
    for t in range(1, 20):
        weights[:t] *= steps[t, 2]
    assert (weights[:15] == 0.0).all()
    np.testing.assert_allclose(weights[15:] / weights[15], np.arange(1, 6) ** 3.0)
    plain = parse_discounting("dcfr").steps(0, 20)
    np.testing.assert_array_equal(steps[:, :2], plain[:, :2])
    np.testing.assert_allclose(np.cumprod(plain[::-1, 2])[:-1], (np.arange(19, 0, -1) / 20.0) ** 2)
    np.testing.assert_array_equal(plain[7:], parse_discounting("dcfr").steps(7, 13))


@pytest.mark.parametrize(
    "text", ["mccfr", "pcfr+", "hybrid", "cfr:simultaneous", "dcfr-restart", "nonsense", "-restarts"]
)
def test_other_algorithms_are_refused(text):
    with pytest.raises(ValueError, match=r"unknown algorithm|a subgame is solved by"):
        parse_discounting(text)


@pytest.mark.parametrize("text", ["cfr-restarts", "dcfr(1.5,0,0)-restarts"])
def test_restarts_without_growing_weights_are_refused(text):
    with pytest.raises(ValueError, match="GAMMA must be above 0"):
        parse_discounting(text)
