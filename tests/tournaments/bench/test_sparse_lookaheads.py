"""The errors of few bet sizes, with few rivers and iterations."""

import json
import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.continual.lookahead import Lookahead
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.tournaments.bench import sparse_lookaheads
from plurispiel.tournaments.bench.sparse_lookaheads import MENUS, bench_sparse_lookaheads

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(sparse_lookaheads, "_RIVERS", 2)
    monkeypatch.setattr(sparse_lookaheads, "_ITERATIONS", 40)
    monkeypatch.setattr(sparse_lookaheads, "_TOLERANCE", 1e-9)
    monkeypatch.setattr(sparse_lookaheads, "_MOST_ITERATIONS", 12)
    monkeypatch.setattr(sparse_lookaheads, "_SPR", (0.5, 1.0))


def test_stacks_and_ranges():
    for number in range(5):
        state, board, ranges = sparse_lookaheads._draw(HUNL, number)
        assert 0.49 <= chips_behind(state) / pot_of(state) <= 1.01 and state.street == 3 and len(board) == 5
        np.testing.assert_allclose(ranges.sum(axis=1), 1.0)
        assert (ranges[:, ~HUNL.free_combos(board)] == 0.0).all() and isinstance(state, BettingState)


def test_the_same_sizes_and_iterations_have_no_error_and_fewer_have_one():
    rows = bench_sparse_lookaheads(1.5)
    *errors, left = rows
    assert [row.name.removeprefix("error of ") for row in errors] == list(MENUS)
    assert errors[0].value == 0.0 and all(row.value > 0.01 for row in errors[1:])
    assert 0.0 < left.value < 5.0 and "; 12 iterations" in left.note


def test_nine_sizes_are_solved_until_they_are_exact(monkeypatch):
    case = sparse_lookaheads._draw(HUNL, 0)
    monkeypatch.setattr(sparse_lookaheads, "_TOLERANCE", 2e-3)
    monkeypatch.setattr(sparse_lookaheads, "_MOST_ITERATIONS", 10_000)
    found = sparse_lookaheads._errors(case, 20)
    assert found.iterations in (40, 80, 160, 320) and 0.0 < found.exploitability <= 0.2
    assert found.menus[0][0] > 0.0  # twenty iterations of nine sizes are compared with more of them
    pots = pot_of(case.state) / HUNL.big_blind
    assert all(abs(mbb - error / 100.0 * pots * 1000.0) < 1e-9 for error, mbb, _, _ in found.menus)


def test_the_values_are_those_of_continual_re_solvings_lookahead():
    """Two algorithms find one equilibrium: discounted CFR, and the hybrid of CFR and CFR+, whose means are taken."""
    case = sparse_lookaheads._draw(HUNL, 1)
    solver = sparse_lookaheads._solver(case, "1p allin")
    solver.run(1000)
    lookahead = Lookahead(case.state, case.board, (), lambda boundary: None, solver.subgame.menu)
    means = lookahead.solve(case.ranges, 1000, 500).means.values[:, 0]
    hands = rank_hands(HUNL, case.board)
    masses = np.zeros_like(means)
    masses[:, hands.combos] = fold_mass(hands, case.ranges[::-1, hands.combos])
    values = np.divide(means, masses, out=np.zeros_like(means), where=masses > 0.0)
    missed = (solver.ranges * solver.facing * abs(values - sparse_lookaheads._values(solver))).sum()
    assert missed / (solver.ranges * solver.facing).sum() < 0.002 * pot_of(case.state)


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
