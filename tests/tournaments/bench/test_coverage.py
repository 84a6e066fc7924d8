"""Coverage of intervals over simulated runs."""

import os

import numpy as np
import pytest

from plurispiel.evaluation.statistics import sequential_half_width
from plurispiel.tournaments.bench import coverage
from plurispiel.tournaments.bench.measurement import Measurement

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@jit_only
def test_intervals_over_a_pool_of_leduc_cover_the_truth(monkeypatch):
    monkeypatch.setattr(coverage, "_TABLES", {"Leduc": coverage._TABLES["Leduc"]})
    rows = coverage.bench_coverage(0.04)
    names = [row.name.split(" | ") for row in rows]
    assert {(title, silent) for title, silent, _ in names} == {("Leduc", "0"), ("Leduc", "1"), ("Leduc", "2")}
    for row in rows:
        if "left out" in row.name:
            assert row.value <= 10.0  # of 400 runs; at most 6 % of all 10,000
        elif "width" not in row.name:
            assert row.value >= 80.0, row
        elif " | 1 | " in row.name:  # who tells nothing gains
            assert 40.0 < row.value < 100.0
    text = coverage.coverage_text(rows).splitlines()
    assert len(text) == 2 + 3 and text[0].split(" | ")[2].strip() == "10 groups"


def test_shares_of_runs_by_hand():
    runs = np.zeros((3, 400))
    runs[:, ::2], runs[:, 1::2] = 1.0, -1.0
    runs[1] += 0.5
    runs[2, :150] += 0.5  # left out at a look, and not at the end
    runs[2, 150:] -= 150 * 0.5 / 250
    assert coverage.covered(runs, 400).tolist() == [True, False, True]
    assert coverage.ever_left_out(runs).tolist() == [False, True, True]
    assert abs(runs[2, :144].mean()) > sequential_half_width(runs[2, :144].std(ddof=1), 144)


def test_normal_scores_are_covered_as_often_as_promised():
    scores = np.random.default_rng(3).normal(size=(5_000, 2)) * [3.0, 1.0]
    plain, corrected = coverage.simulate(scores - scores.mean(axis=0), np.array([1.0, 0.0]), 400)
    assert plain.shape == corrected.shape == (400, 400)
    for runs in (plain, corrected):
        assert 0.91 < coverage.covered(runs, 100).mean() < 0.985
        assert coverage.ever_left_out(runs).mean() < 0.06
    # Z = X_0 + X_1, so that X_0 - beta Z keeps the luck of X_1 at most.
    assert corrected[:, 100:].std() == pytest.approx(3.0 / 10**0.5, rel=0.05)


def test_text_has_figures_without_correction_in_parentheses():
    rows = [
        Measurement("Leduc | 1 | 10", 94.25, "%", "95.1 % without correction"),
        Measurement("Leduc | 1 | left out", 3.0, "%", "2.0 % without correction"),
        Measurement("Leduc | 1 | width 10", 61.4, "%", "relative to the mean half-width without correction"),
        Measurement("Leduc | 1 | width 30", 62.6, "%", "70 % with prior coefficients of sum 1; relative to"),
    ]
    head, _, line = coverage.coverage_text(rows).splitlines()
    heads = ["game", "silent", "10 groups", "left out", "width 10", "width 30"]
    assert [cell.strip() for cell in head.split("|")[1:-1]] == heads
    assert line.split(" | ")[2:] == ["94.2 (95.1)", "3.0 (2.0)", "61      ", "63 (70)  |"]
