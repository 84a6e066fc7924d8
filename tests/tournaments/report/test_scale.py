"""Scales and their ticks."""

import numpy as np

from plurispiel.tournaments.report.scale import LinearScale


def test_ticks_are_round_and_within():
    rng = np.random.default_rng(0)
    for _ in range(200):
        low = rng.normal() * 10.0 ** rng.integers(-3, 6)
        scale = LinearScale(low, low + 10.0 ** rng.uniform(-3, 6), 0.0, 300.0)
        ticks = scale.ticks(5)
        assert 1 <= len(ticks) <= 6
        assert all(-1e-6 <= scale(tick) <= 300.0 + 1e-6 for tick in ticks)
