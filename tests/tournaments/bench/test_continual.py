"""The bench of continual re-solving, with a clock of its own and few iterations."""

import itertools
import os
import types

import pytest

from plurispiel.agents.continual.table import TableConfig
from plurispiel.tournaments.bench import continual, decision_times


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
@pytest.mark.slow
def test_times_and_bounds(monkeypatch):
    ticks = map(float, itertools.count())
    monkeypatch.setattr(decision_times, "time", types.SimpleNamespace(perf_counter=lambda: next(ticks)))
    monkeypatch.setattr(continual, "_TIMED_HANDS_A_SECOND", 1)
    few = TableConfig(iterations=20, threads=1, cards="blueprint", last_boards=1)
    rows = continual.bench_continual(0.4, few)
    names = [row.name.strip() for row in rows]
    ways = [f"{way}, {limit}: a decision" for way in ("C1", "C2", "C3") for limit in ("by iterations", "time=1")]
    assert set(ways) <= set(names)
    assert {row.value for row in rows if row.unit == "s"} == {1.0}  # a clock that is read twice for each
    shares = [(row.name.strip(), row.value) for row in rows if row.unit == "%"]
    assert {"bounds kept, turn", "range kept, turn", "bounds kept, river"} <= {name for name, _ in shares}
    assert all(0.0 <= value <= 100.0 for _, value in shares)
    rivers = [value for name, value in shares if name == "bounds kept, river"]
    assert len(rivers) == 3 and min(rivers) > 90.0
