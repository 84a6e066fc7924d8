"""The errors of few bet sizes, with few rivers and iterations."""

import json
import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.tournaments.bench import sparse_lookaheads
from plurispiel.tournaments.bench.sparse_lookaheads import MENUS, bench_sparse_lookaheads

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(sparse_lookaheads, "_RIVERS", 2)
    monkeypatch.setattr(sparse_lookaheads, "_ITERATIONS", 40)
    monkeypatch.setattr(sparse_lookaheads, "_MOST_ITERATIONS", 40)
    monkeypatch.setattr(sparse_lookaheads, "_SPR", (0.5, 1.0))


def test_stacks_and_ranges():
    for number in range(5):
        state, board, ranges = sparse_lookaheads._draw(HUNL, number)
        assert 0.49 <= chips_behind(state) / pot_of(state) <= 1.01 and state.street == 3 and len(board) == 5
        np.testing.assert_allclose(ranges.sum(axis=1), 1.0)
        assert (ranges[:, ~HUNL.free_combos(board)] == 0.0).all() and isinstance(state, BettingState)


def test_the_same_sizes_and_iterations_have_no_error_and_fewer_have_one():
    rows = bench_sparse_lookaheads(1.5)
    assert [row.name.removeprefix("error of ") for row in rows] == list(MENUS)
    assert rows[0].value == 0.0 and all(row.value > 0.01 for row in rows[1:])


def test_a_stopped_measurement_goes_on(tmp_path, monkeypatch):
    straight, kept = bench_sparse_lookaheads(1.5), tmp_path / "rivers.json"
    drawn = []
    draw = sparse_lookaheads._draw

    def counted(rules, number):
        if len(drawn) == 2:
            raise KeyboardInterrupt
        drawn.append(number)
        return draw(rules, number)

    monkeypatch.setattr(sparse_lookaheads, "_draw", counted)
    with pytest.raises(KeyboardInterrupt):
        bench_sparse_lookaheads(1.5, kept)
    monkeypatch.setattr(sparse_lookaheads, "_draw", lambda rules, number: drawn.append(number) or draw(rules, number))
    assert bench_sparse_lookaheads(1.5, kept) == straight and drawn == [0, 1, 2]
    kept.write_text(json.dumps({"seed": 1}))
    with pytest.raises(ValueError, match="figures of other settings"):
        bench_sparse_lookaheads(1.5, kept)
