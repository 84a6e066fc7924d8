"""The crosstable: opponents count equally, and gaps weigh the pairs that they consist of."""

import numpy as np
import pytest

from plurispiel.evaluation.statistics import combined_half_width, sequential_half_width
from plurispiel.tournaments.league.crosstable import Crosstable, field_means
from plurispiel.tournaments.league.pairings import Pairing


def pairing(rates):
    return Pairing(np.asarray(rates, dtype=np.float64), len(rates), True, 1.0, (0, 0), (False, False), "")


def drawn(rng, mean, groups, sd=100.0):
    rates = rng.normal(size=groups)
    return pairing(mean + sd * (rates - rates.mean()) / rates.std(ddof=1))


def test_opponents_count_equally():
    """However many groups a pairing has."""
    rng = np.random.default_rng(0)
    table = Crosstable(
        [1, 4, 6], {(1, 4): drawn(rng, 30, 5000), (1, 6): drawn(rng, -10, 10), (4, 6): drawn(rng, 0, 200)}
    )
    assert table.means == pytest.approx([10.0, -15.0, 5.0])
    assert table.ranking == [0, 2, 1]
    assert table.groups[1].tolist() == [5000, 0, 200]
    assert table.rates[2, 0] == pytest.approx(10.0)
    assert np.isinf(table.always[0, 2]) and table.always[0, 1] == pytest.approx(sequential_half_width(100.0, 5000))


def test_a_gap_is_the_weighted_sum_of_rates():
    rng = np.random.default_rng(1)
    rates = rng.normal(size=(5, 5))
    rates -= rates.T
    pairings = {(one, other): pairing([rates[one, other]] * 2) for other in range(5) for one in range(other)}
    table = Crosstable(range(5), pairings)
    difference, weights = table.gap(3, 1)
    means = field_means(rates)
    assert difference == pytest.approx(means[3] - means[1])
    for one, other in pairings:
        changed = rates.copy()
        changed[one, other] += 1.0
        changed[other, one] -= 1.0
        moved = field_means(changed) - means
        assert weights[one, other] == pytest.approx(abs(moved[3] - moved[1]))


def test_neighbours_are_separated_when_the_always_valid_interval_excludes_0():
    rng = np.random.default_rng(2)
    half = sequential_half_width(100.0, 400)
    for mean, is_separated in ((0.99 * half, False), (1.01 * half, True)):
        table = Crosstable([1, 2], {(1, 2): drawn(rng, mean, 400)})
        assert table.is_separated(0, 1) is is_separated
    assert not Crosstable([1, 2], {(1, 2): drawn(rng, 1e6, 50)}).is_separated(0, 1)  # too few groups for any


def test_a_mean_and_a_difference_have_intervals_of_all_their_pairs():
    rng = np.random.default_rng(3)
    groups, sds = {(0, 1): 200, (0, 2): 400, (1, 2): 800}, {(0, 1): 100.0, (0, 2): 300.0, (1, 2): 50.0}
    pairings = {pair: drawn(rng, 10.0, groups[pair], sds[pair]) for pair in groups}
    table = Crosstable(range(3), pairings)
    field = combined_half_width([0.5, 0.5], [100.0, 50.0], [200, 800])
    assert table.field_half_width(1) == pytest.approx(field)
    assert field > ((0.5 * table.always[0, 1]) ** 2 + (0.5 * table.always[1, 2]) ** 2) ** 0.5
    # The difference of the means of 0 and 2 has the pair itself twice. Three differences share the 5 %.
    gap = combined_half_width([0.5, 1.0, 0.5], [100.0, 300.0, 50.0], [200, 400, 800], alpha=0.05 / 3)
    for shift, is_separated in ((0.99, False), (1.01, True)):
        moved = shift * gap - 0.5 * (10.0 - -10.0)  # what the rate between 0 and 2 has to be
        table = Crosstable(range(3), pairings | {(0, 2): drawn(rng, moved, 400, 300.0)})
        assert table.gap(0, 2)[0] == pytest.approx(shift * gap)
        assert table.is_separated(0, 2) is is_separated
