"""The bench of search, with a clock of its own: its figures do not depend on the machine."""

import itertools
import os
import types

import pytest

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.search.config import SearchConfig
from plurispiel.tournaments.bench import decision_times, search


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
@pytest.mark.slow
def test_times_and_moves_of_search(monkeypatch):
    ticks = map(float, itertools.count())
    for module in (search, decision_times):
        monkeypatch.setattr(module, "time", types.SimpleNamespace(perf_counter=lambda: next(ticks)))
    monkeypatch.setattr(search, "_GAMES", {"heads-up": HUNL})
    few = SearchConfig(iterations=1, threads=1, cards="blueprint", run_outs=1, last_boards=1)
    rows = {row.name.strip(): row for row in search.bench_search(0.3, few)}
    decisions = {name: row for name, row in rows.items() if name.startswith("a decision")}
    assert {"a decision, preflop", "a decision, flop"} <= set(decisions)
    assert {row.value for row in decisions.values()} == {1.0}  # a clock that is read twice for each
    count = sum(int(row.note.split()[0]) for row in decisions.values())
    assert rows["heads-up: a hand"].value == pytest.approx(1.0 + 2.0 * count / 9)
    assert rows["heads-up: a hand"].note.startswith("9 hands, the longest ")
    searched = int(rows["moved decisions"].note.split()[1])
    after_preflop = count - int(decisions["a decision, preflop"].note.split()[0])
    assert 0 < searched <= after_preflop
    moved = rows["moved decisions"].value * searched / 100.0
    assert moved == pytest.approx(round(moved)) and 0 < round(moved) <= searched
