"""Agents that play as they say, and agents that do not."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.evaluation.calibration import Calibration

ACTIONS = (FOLD, CALL, 300)


def verdict(says, plays, decisions=10_000, seed=1):
    """Return the verdict on an agent that says one distribution and plays another."""
    rng = np.random.default_rng(seed)
    calibration = Calibration()
    calibration.add((int(k), ACTIONS, says) for k in rng.choice(3, size=decisions, p=plays))
    assert np.isfinite(calibration.sums).all()
    assert calibration.sums[0] == decisions
    return calibration.verdict()


@pytest.mark.parametrize(
    "probabilities, seeds",
    [((0.2, 0.5, 0.3), 20), ((0.0, 1.0, 0.0), 1), ((1e-6, 0.999998, 1e-6), 4), ((0.5, 0.5, 0.0), 20)],
)
def test_honest_agents_are_not_blamed(probabilities, seeds):
    for seed in range(seeds):
        assert verdict(probabilities, probabilities, seed=seed) == ""
    assert verdict(probabilities, probabilities, decisions=3) == ""


def test_liars_are():
    assert "more folds than announced" in verdict((0.2, 0.5, 0.3), (0.25, 0.45, 0.3))
    assert "fewer calls than announced" in verdict((0.2, 0.5, 0.3), (0.2, 0.45, 0.35))
    assert verdict((0.5, 0.5, 0.0), (0.4, 0.4, 0.2)).startswith("it took 2,0")
    assert verdict((1.0, 0.0, 0.0), (0.999, 0.001, 0.0))


def test_a_lie_about_which_hands_raise_is_found_though_the_totals_fit():
    rng = np.random.default_rng(3)
    calibration = Calibration()
    for _ in range(10_000):
        strong = rng.random() < 0.5
        says = (0.0, 0.2, 0.8) if strong else (0.0, 0.8, 0.2)
        plays = (0.0, 0.5, 0.5)
        calibration.add([(int(rng.choice(3, p=plays)), ACTIONS, says)])
    assert "more surprising" in calibration.verdict()


def test_nothing_played_is_nothing_to_blame():
    assert Calibration().verdict() == ""
