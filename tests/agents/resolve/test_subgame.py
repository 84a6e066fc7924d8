"""Locks of a subgame are played and answered; subgames that make no sense are refused."""

import dataclasses

import numpy as np
import pytest
from subgames import (
    ONE_STREET,
    jit_only,
    whole_game,
)

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.resolve import Subgame, VectorSolver


@jit_only
def test_locked_decisions_are_played_as_given():
    """Leduc with player 0's first decision given: player 1's best answer, and nobody's gain from changing it."""
    free = whole_game(LEDUC, "dcfr")
    root = free.streets[0].betting.decisions[0]
    lock = np.tile([0.25, 0.75], (6, 1))
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, 6)), locks={root.actions: lock})
    solver = VectorSolver(subgame, "dcfr", dtype=np.float64)
    for each in (free, solver):
        each.run(400)
    np.testing.assert_array_equal(solver.strategy(0, root), lock)
    found = solver.evaluate()
    assert found.exploitability < 0.002
    assert found.values[0] < free.evaluate().values[0] - 0.01
    for wrong in ({root.actions: lock[:, :1]}, {root.actions: 2 * lock}, {((0, 7, 0),): lock}):
        with pytest.raises(ValueError, match="lock"):
            VectorSolver(Subgame(BettingState(LEDUC), (), np.ones((2, 6)), locks=wrong))


@jit_only
@pytest.mark.parametrize("rules", [LEDUC, ONE_STREET])
def test_single_hands_can_be_locked(rules):
    """Two of six hands at Leduc's first decision, on the first street and on the only one."""
    root = BettingState(rules)
    lock = np.full((6, 2), np.nan)
    lock[:2] = 0.3, 0.7
    first = street_betting(root)[0].decisions[0]
    solver = VectorSolver(Subgame(root, (), np.ones((2, 6)), locks={first.actions: lock}), "cfr", dtype=np.float64)
    held = solver.streets[0].rows(solver.streets[0].regrets, first, 0).copy()
    free = whole_game(rules, "cfr")
    for each in (free, solver):
        each.run(1)
    now = solver.streets[0].rows(solver.streets[0].regrets, first, 0)
    combos = solver.streets[0].entries(solver.streets[0].sums, first, 0)[0]
    locked = np.flatnonzero(combos < 2)
    np.testing.assert_array_equal(now[:, locked], held[:, locked])
    solver.run(300)
    free.run(300)
    np.testing.assert_allclose(solver.strategy(0, first)[:2], lock[:2], rtol=0, atol=1e-15)
    np.testing.assert_allclose(solver.current_strategy(0, first)[:2], lock[:2], rtol=0, atol=1e-15)
    assert (solver.strategy(0, first)[2:] != 0.5).all()
    assert (solver.combo_values(1)[0] >= solver.combo_values(1)[1] - 1e-12).all()
    assert solver.evaluate().values[0] < free.evaluate().values[0]


def test_refusals():
    state = BettingState(LEDUC)
    with pytest.raises(ValueError, match="whole board"):
        Subgame(state, (3,), np.ones((2, 6)))
    with pytest.raises(ValueError, match="two seats and 6 combos"):
        Subgame(state, (), np.ones((2, 5)))
    with pytest.raises(ValueError, match="weights of at least 0"):
        Subgame(state, (), -np.ones((2, 6)))
    alone = np.zeros((2, 6))
    alone[:, 3] = 1.0
    with pytest.raises(ValueError, match="no compatible hands"):
        VectorSolver(Subgame(state, (), alone))
    with pytest.raises(ValueError, match="threads"):
        VectorSolver(Subgame(state, (), np.ones((2, 6))), threads=0)
    with pytest.raises(ValueError, match="holds"):
        limited = dataclasses.replace(LEDUC)

        def refuse(num_bytes):
            raise ValueError(f"holds {num_bytes}")

        VectorSolver(Subgame(BettingState(limited), (), np.ones((2, 6))), on_memory=refuse)
