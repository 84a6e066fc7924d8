"""The bench of the evaluator."""

import math

from plurispiel.tournaments.bench import hand_rank as bench


def test_without_a_compiler_our_own_figures_remain(monkeypatch):
    monkeypatch.setattr(bench.shutil, "which", lambda name: None)
    rows = {row.name: row for row in bench.bench_hand_rank(0.001)}
    assert list(rows)[:3] == ["random 7-card hands", "combos on river boards", "C"]
    assert math.isnan(rows["C"].value) and rows["C"].note == "no C compiler found"
    assert all(row.value > 0.0 for name, row in rows.items() if name != "C")
