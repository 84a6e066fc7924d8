"""The re-solving gadget: whoever may turn a subgame down for a hand's worth wins no more than that with it."""

import dataclasses
import functools

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.resolve import Subgame, VectorSolver

pytestmark = pytest.mark.xdist_group("gadget")  # one worker compiles the kernels in float64

BOARD = (8,)


@functools.cache
def equilibrium():
    solver = VectorSolver(Subgame(BettingState(LEDUC), (), np.ones((2, LEDUC.num_combos))), "cfr+", dtype=np.float64)
    solver.run(1000)
    return solver


def second_street(opponent):
    """The subgame after two calls, with all of an opponent's hands alike, and the equilibrium's strategies in it."""
    whole, state, ranges = equilibrium(), BettingState(LEDUC), np.ones((2, LEDUC.num_combos))
    path = ()
    for action in (CALL, CALL):
        (decision,) = (each for each in whole.streets[0].betting.decisions if each.actions == path)
        if decision.seat != opponent:
            ranges[decision.seat] *= whole.strategy(0, decision)[:, list(decision.children).index(action)]
        path += ((decision.seat, action, 0),)
        state.apply(action)
    number, image = whole.locate([BOARD])
    strategies = {
        decision.actions[len(path) :]: np.nan_to_num(whole.strategy(1, decision, number)[image], nan=0.5)
        for decision in whole.streets[1].betting.decisions
        if decision.actions[: len(path)] == path
    }
    even = {actions: rows / rows.sum(axis=1, keepdims=True) for actions, rows in strategies.items()}
    return Subgame(state, BOARD, ranges), even


@functools.cache
def bounds_of(opponent):
    """The subgame, and what the opponent's hands win by best responses to the equilibrium, in chips."""
    subgame, strategies = second_street(opponent)
    solver = VectorSolver(dataclasses.replace(subgame, locks=strategies), "cfr+", dtype=np.float64)
    return subgame, solver.combo_values(opponent)[0] / np.maximum(solver.facing[opponent], 1e-9)


def gains(solver, opponent, bounds):
    """What each of the opponent's hands wins over its bound by a best response, in chips."""
    found = solver.combo_values(opponent)[0] / np.maximum(solver.facing[opponent], 1e-9) - bounds
    return found[solver.ranges[opponent] > 0.0]


@pytest.mark.parametrize("opponent", [0, 1])
@pytest.mark.parametrize("algorithm", ["cfr+", "dcfr"])
def test_no_hand_wins_more_than_its_bound(opponent, algorithm):
    subgame, bounds = bounds_of(opponent)
    safe = VectorSolver(subgame, algorithm)
    safe.add_gadget(opponent, bounds)
    safe.run(800)
    assert gains(safe, opponent, bounds).max() < 0.01
    wrong = subgame.ranges.copy()
    wrong[opponent] *= [0.02, 0.02, 1.0, 1.0, 0.02, 0.02]
    unsafe = VectorSolver(dataclasses.replace(subgame, ranges=wrong), algorithm)
    unsafe.run(400)
    assert gains(unsafe, opponent, bounds).max() > 0.05


@pytest.mark.parametrize("opponent", [0, 1])
def test_hands_that_are_forced_to_go_on_change_no_equilibrium(opponent):
    """With what the equilibrium comes there with, half as often as all others may choose."""
    subgame, bounds = bounds_of(opponent)
    safe = VectorSolver(subgame, "cfr+")
    safe.add_gadget(opponent, bounds, 0.5 * second_street(None)[0].ranges[opponent])
    safe.run(800)
    assert gains(safe, opponent, bounds).max() < 0.01


@pytest.mark.parametrize("opponent", [0, 1])
def test_where_bounds_are_generous_they_are_what_is_learnt_from(opponent):
    """As in a search that is not safe, and whose range they are; without them the strategy is any."""
    subgame, bounds = bounds_of(opponent)
    ranges = second_street(None)[0].ranges
    found = []
    for forced in (0.5 * ranges[opponent], 0.0):
        solver = VectorSolver(subgame, "cfr+")
        solver.add_gadget(opponent, bounds + 5.0, forced)
        solver.run(500)
        whole = VectorSolver(dataclasses.replace(subgame, ranges=ranges), "cfr+")
        whole.run(500)
        value = whole.evaluate().values[1 - opponent]
        for decision, other in zip(
            whole.streets[0].betting.decisions, solver.streets[0].betting.decisions, strict=True
        ):
            if decision.seat != opponent:
                whole.streets[0].write(whole.streets[0].sums, decision, np.nan_to_num(solver.strategy(0, other)))
        found.append(value + whole.evaluate().best_response_values[opponent])
    assert abs(found[0]) < 0.01 and found[1] > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("opponent", [0, 1])
def test_it_holds_over_two_streets_with_buckets(opponent):
    """From the first decision on, where the equilibrium's own values are the bounds."""
    bounds = equilibrium().combo_values(opponent)[0] / equilibrium().facing[opponent]
    ranks = np.arange(LEDUC.num_combos) // 2
    subgame = Subgame(
        BettingState(LEDUC), (), np.ones((2, LEDUC.num_combos)), buckets=lambda b: ranks + 3 * (b[0] // 4)
    )
    safe = VectorSolver(subgame, "cfr+", dtype=np.float64)
    safe.add_gadget(opponent, bounds)
    safe.run(400)
    assert gains(safe, opponent, bounds).max() < 0.01


def test_a_bound_that_no_hand_can_reach_is_always_taken():
    subgame, _ = bounds_of(0)
    solver = VectorSolver(subgame, "cfr+")
    solver.add_gadget(0, np.full(LEDUC.num_combos, 100.0))
    solver.run(5)
    held = solver.ranges[0] > 0.0
    np.testing.assert_array_equal(solver.gadget.accepted[held], 0.0)
    solver = VectorSolver(subgame, "cfr+")
    solver.add_gadget(0, np.full(LEDUC.num_combos, -100.0))
    solver.run(5)
    np.testing.assert_array_equal(solver.gadget.accepted[held], 1.0)


def test_a_gadget_needs_a_bound_for_every_combo():
    subgame, bounds = bounds_of(0)
    solver = VectorSolver(subgame)
    with pytest.raises(ValueError, match="a finite bound for each of 6 combos"):
        solver.add_gadget(0, bounds[:3])
    with pytest.raises(ValueError, match="finite bound"):
        solver.add_gadget(0, bounds * np.nan)


@pytest.mark.parametrize("opponent", [0, 1])
def test_the_kernel_of_one_street_is_the_gadget_to_the_last_bit(opponent):
    """Beside walks and `Gadget.learn`, which all other subgames take; with three chips of players who have folded."""
    subgame, bounds = bounds_of(opponent)
    subgame = dataclasses.replace(subgame, dead_chips=3)
    quick, plain = VectorSolver(subgame), VectorSolver(subgame)
    for solver in (quick, plain):
        solver.add_gadget(opponent, bounds + [0.3, -0.1, 0.0, 0.2, -5.0, 5.0], 0.1 * np.arange(LEDUC.num_combos))
    for count in (1, 40):
        quick.run(count)
        for step in plain.algorithm.steps(plain.iteration, count).astype(plain.dtype):
            plain._iterate(step)
            plain.iteration += 1
        np.testing.assert_array_equal(quick.gadget.accepted, plain.gadget.accepted)
        for tables, others in zip(quick.streets[0].sums, plain.streets[0].sums, strict=True):
            np.testing.assert_array_equal(tables, others)
    assert len(set(quick.gadget.accepted.tolist())) > 2
