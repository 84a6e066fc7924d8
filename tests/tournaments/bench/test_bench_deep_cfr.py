"""Figures of solvers after equal processor time."""

import itertools

import numpy as np
import pytest

from plurispiel.abstraction.trees.game_tree import flatten, uniform_strategy
from plurispiel.tournaments.bench import deep_cfr
from plurispiel.tournaments.bench.deep_cfr import deep_cfr_text, snapshots
from plurispiel.tournaments.bench.measurement import Measurement


class SlowSolver:
    """A solver for which each iteration takes 2 s by the clock of the test, and each average 3 s."""

    def __init__(self, tree, clock):
        self.tree, self.clock, self.iteration, self.averages = tree, clock, 0, []

    def run(self, count):
        self.iteration += count
        self.clock.now += 2.0 * count

    def average_strategy(self):
        if self.iteration not in self.averages:
            self.clock.now += 3.0
            self.averages.append(self.iteration)
        return uniform_strategy(self.tree)


class Clock:
    now = 100.0

    def process_time(self):
        return self.now


def test_time_of_earlier_figures_does_not_count(monkeypatch):
    """After n iterations and an average of its own, a figure has cost 2n + 3 s."""
    clock = Clock()
    monkeypatch.setattr(deep_cfr, "time", clock)
    solver = SlowSolver(flatten("kuhn"), clock)
    found = [(each.budget, each.spent, each.iteration) for each in snapshots(solver, (1.0, 10.0, 10.5, 33.0))]
    assert found == [(1.0, 5.0, 1), (10.0, 9.0, 3), (10.5, 9.0, 3), (33.0, 33.0, 15)]
    assert solver.averages == [1, 3, 15]


def test_runs_that_need_no_pytorch():
    rows = deep_cfr.measured_run("kuhn", "MCCFR", 1, 0.001)
    again = deep_cfr.measured_run("kuhn", "CFR+", 1, 0.001)
    assert [row.name for row in rows] == [f"kuhn | MCCFR | {budget} s | seed 1" for budget in ("0.01", "0.06", "0.3")]
    for figures in (rows, again):
        assert figures[-1].value < 0.05 and all(row.unit == "chips" for row in figures)


def test_text():
    """Games, algorithms and budgets stand in the order of the runs; a figure that is missing is a hyphen."""
    rows = [Measurement("kuhn | uniform |  | ", 0.4583, "chips")]
    for (budget, seed), value in zip(itertools.product(("1 s", "6 s"), (1, 2)), (0.2, 0.4, 0.1, 0.2), strict=True):
        rows.append(Measurement(f"kuhn | MCCFR | {budget} | seed {seed}", value, "chips"))
    rows.append(Measurement("kuhn | CFR+ | 1 s | seed 1", 1.25e-5, "chips"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in deep_cfr_text(rows).splitlines()]
    assert cells[0] == ["game", "uniform play", "algorithm", "1 s", "6 s"]
    assert cells[2:] == [
        ["kuhn", "0.458", "MCCFR", "0.3 (0.2 to 0.4)", "0.15 (0.1 to 0.2)"],
        ["kuhn", "0.458", "CFR+", "1.25e-05", "-"],
    ]


@pytest.mark.torch
def test_figures_of_deep_cfr():
    pytest.importorskip("torch")
    pytest.importorskip("tree")
    uniform, *rows = deep_cfr.measured_run("kuhn", "Deep CFR", 1, 0.001)
    assert uniform.value == pytest.approx(0.4583, abs=1e-4) and len(rows) == 3
    assert all(np.isfinite(row.value) and "1 iterations" in row.note for row in rows)  # one at least, in any budget
