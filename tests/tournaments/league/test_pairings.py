"""Pairings and the crosstable: opponents count equally, and gaps weigh the pairs that they consist of."""

import numpy as np
import pytest
from small_league import play_on, small_league

from plurispiel.evaluation.statistics import estimate_mean, sequential_half_width
from plurispiel.tournaments.league.pairings import Crosstable, Pairing, field_means, is_resumable
from plurispiel.tournaments.report.run_record import read_run

pytestmark = pytest.mark.usefixtures("home")


def pairing(rates):
    return Pairing(np.asarray(rates, dtype=np.float64), len(rates), True, 1.0, (0, 0), 20, "")


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


def test_a_pairing_is_an_ordinary_run(tmp_path):
    """What the report of a tournament shows of the run folder is what the league counts."""
    league = small_league(tmp_path / "league", "tag", "random")
    play_on(league)
    found = league.pairing(*league.entries)
    run = read_run(league.pairing_folder((1, 2)), "A")
    assert found.groups == run.num_groups == 8 and found.decks == 8
    assert estimate_mean(found.rates_mbb).mean == pytest.approx(run.results["matrix"][0][1]["mbb_per_hand"])
    assert run.names == ["tag", "random"]
    assert is_resumable(league.pairing_folder((1, 2)))
