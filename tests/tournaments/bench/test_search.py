import os

import pytest

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine.memory import available_bytes, resident_bytes
from plurispiel.agents.search.config import SearchConfig
from plurispiel.tournaments.bench import search


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
def test_times_and_moves_of_search(monkeypatch):
    monkeypatch.setattr(search, "_GAMES", {"heads-up": HUNL})
    few = SearchConfig(iterations=1, threads=1, cards="blueprint", run_outs=1, last_boards=1)
    rows = {row.name.strip(): row for row in search.bench_search(0.3, few)}
    assert {"heads-up: a hand", "a decision, preflop", "a decision, flop", "moved decisions"} <= set(rows)
    assert rows["a decision, flop"].value > 10.0 * rows["a decision, preflop"].value
    assert 0.0 < rows["moved decisions"].value <= 100.0 and rows["moved decisions"].note.startswith("of ")
    assert rows["heads-up: a hand"].note.startswith("9 hands")
    assert 0.9 * resident_bytes() / 2**20 <= rows["memory"].value < available_bytes() / 2**20
