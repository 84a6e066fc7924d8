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


@jit_only
@pytest.mark.parametrize(
    ("rules", "actions"),
    [
        (LEDUC, ()),
        (LEDUC, ((0, 1, 0),)),
        (LEDUC, ((0, 1, 0), (1, 1, 0))),
        (ONE_STREET, ()),
        (ONE_STREET, ((0, 1, 0),)),
    ],
)
def test_best_responses_keep_to_the_locks_of_single_hands(rules, actions):
    """All hands locked to one strategy, decision by decision or hand by hand, leave the same best response."""
    root = BettingState(rules)
    decision = next(each for street in street_betting(root) for each in street.decisions if each.actions == actions)
    rng = np.random.default_rng(3)
    rows = rng.dirichlet(np.ones(len(decision.children)), 6)
    found = []
    for locked in (range(6), (0, 1, 4), (2, 3, 5), ()):
        lock = np.full(rows.shape, np.nan)
        lock[list(locked)] = rows[list(locked)]
        locks = {actions: lock} if len(locked) else {}
        solver = VectorSolver(Subgame(root, (), np.ones((2, 6)), locks=locks), "cfr", dtype=np.float64)
        for street in solver.streets:  # the same average strategy throughout: only the locks differ
            for each in street.betting.decisions:
                for board in range(len(street.deals.boards)):
                    entries = street.rows(street.sums, each, board)
                    combos = street.entries(street.sums, each, board)[0]
                    known = rows if each.actions == actions else np.full((6, len(each.children)), 1.0)
                    entries[:, : len(combos)] = known[combos].T
        found.append(solver.combo_values(decision.seat)[0])
    every, first, second, none = found
    in_first = np.isin(np.arange(6), (0, 1, 4))
    if len(actions) < 2:  # hands keep apart: what one hand does changes no other hand's value
        np.testing.assert_allclose(first, np.where(in_first, every, none), rtol=0, atol=1e-12)
        np.testing.assert_allclose(second, np.where(in_first, none, every), rtol=0, atol=1e-12)
    assert (none >= every - 1e-12).all() and (none > every + 1e-6).any()
