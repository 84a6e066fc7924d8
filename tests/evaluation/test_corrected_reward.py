"""Rewards of a learner with part of the luck removed."""

import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.openspiel import make_environment
from plurispiel.evaluation.corrected_reward import CorrectedReward

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def rewards(num_hands, score, **settings):
    environment = make_environment(seed=4, score=score, **settings)
    rng, found = np.random.default_rng(2), []
    for _ in range(num_hands):
        step = environment.reset()
        while not step.last():
            step = environment.step([rng.choice(step.observations["legal_actions"][0])])
        found.append(step.rewards[0])
    return np.array(found)


@pytest.mark.parametrize(
    ("settings", "num_hands", "share"),
    [
        ({"game": "leduc", "opponents": ["random"]}, 500, 0.8),
        pytest.param({"game": HUNL.with_menu("fcpa"), "opponents": ["call"]}, 150, 0.5, marks=jit_only),
    ],
)
def test_the_mean_stays_and_the_spread_shrinks(settings, num_hands, share):
    raw, corrected = rewards(num_hands, None, **settings), rewards(num_hands, CorrectedReward(), **settings)
    difference = corrected - raw
    assert difference.std() > 0.1
    assert abs(difference.mean()) < 3.0 * difference.std() / num_hands**0.5
    assert corrected.var() < share * raw.var()
