"""The bookkeeping of a hand: ranges and bounds against computations by hand."""

import os

import numpy as np
import pytest
import table
from search_seat import BOARD, START, blueprint, live_combos, public_after

from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.continual.table import TableAgent, TableConfig
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.search.beliefs import planned_beliefs

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

FEW = TableConfig(iterations=4, threads=1, cards="blueprint", last_boards=1)
BET, RAISE = 417, 1777
"""Sizes that no menu has."""


def agent_at(config=FEW, seat=0):
    return table.agent_at(TableAgent(config, BlueprintAgent(blueprint(2))), HUNL, seat)


def test_the_first_decision_trusts_both_ranges():
    agent = agent_at(seat=1)
    public = public_after((*START, BET))
    carried = agent.decision(public).carried
    flop = public_after(START)
    _, beliefs = planned_beliefs(agent.blueprint, HUNL, flop.actions, flop.board)
    np.testing.assert_array_equal(carried.range, beliefs[1])
    solved = agent.solution(public)
    assert carried.bounds is None and solved.solver.gadget is None and solved.history == START
    assert BET in solved.strategy(()).actions  # the bet is part of the game that is solved
    chances = np.nan_to_num(solved.strategy(()).probability(BET))
    expected = beliefs[0] * chances
    np.testing.assert_allclose(carried.estimate, expected / expected.sum(), atol=1e-15)


def test_an_own_action_multiplies_the_range_and_moves_the_bounds():
    agent = agent_at()
    first, later = public_after(START), public_after((*START, 500, RAISE))
    before, now = agent.decision(first), agent.decision(later)
    assert 500 in before.actions and RAISE not in agent.solution(first).strategy((500,)).actions
    expected = before.carried.range * before.played[:, before.actions.index(500)]
    np.testing.assert_allclose(now.carried.range, expected / expected.sum(), atol=1e-15)
    # The opponent's action changes neither.
    other = agent.decision(public_after((*START, 500, 2 * RAISE)))
    np.testing.assert_array_equal(other.carried.bounds, now.carried.bounds)
    np.testing.assert_array_equal(other.carried.range, now.carried.range)
    solved = agent.solution(later)
    assert solved.root.state.array.tolist() == later.betting().array.tolist()
    np.testing.assert_array_equal(solved.solver.ranges[1][live_combos(later)], 1.0)


@pytest.mark.parametrize("line", [(500, 1), (1, 1)])
def test_a_card_takes_hands_out_and_moves_the_bounds(line):
    """The bounds are the values of a best response to the strategy of the solution before, in chips of the hand."""
    agent = agent_at()
    turn = (*START, *line)
    river = (*turn, 1, 1)
    before, public = agent.decision(public_after(turn)), public_after(river)
    now, solved = agent.decision(public), agent.solution(public_after(turn))
    free = live_combos(public)
    taken = before.carried.range * before.played[:, before.actions.index(1)] * free
    np.testing.assert_allclose(now.carried.range, taken / taken.sum(), atol=1e-15)
    # The river alone, where the own seat plays the solution's strategy by buckets, and the other answers best.
    decisions = {decision.actions: decision for decision in solved.solver.streets[1].betting.decisions}
    own = taken_average(solved, before) * free
    ranges = np.stack([own, free.astype(float)])
    solver = VectorSolver(Subgame(public.betting(), BOARD, ranges, menu_of(decisions)), threads=1)
    number, image = solved.solver.locate((BOARD[4:],))
    for decision in solver.streets[0].betting.decisions:
        whole = ((0, 1, 2), (1, 1, 2)) + decision.actions
        rows = solved.solver.strategy(1, decisions[whole], number)[image]
        solver.streets[0].write(solver.streets[0].sums, decision, np.nan_to_num(rows, nan=0.5))
    hands = rank_hands(HUNL, BOARD)
    facing = np.zeros(HUNL.num_combos)
    facing[hands.combos] = fold_mass(hands, solver.ranges[0, hands.combos])
    expected = solver.combo_values(1)[0] / np.where(facing > 0.0, facing, 1.0)
    seen = free & (facing > 1e-6)
    assert seen.sum() > 900
    np.testing.assert_allclose(now.carried.bounds[seen], expected[seen], rtol=1e-3, atol=0.5)


def taken_average(solved, before):
    average = solved.strategy(()).probability(1)
    return before.carried.range * np.nan_to_num(average)


def menu_of(decisions: dict[tuple, BettingDecision]):
    """The raises of a solver's decisions, by the betting state."""
    raises = {tuple(decision.state): tuple(a for a in decision.children if a > 1) for decision in decisions.values()}
    return lambda rules, state: raises[tuple(state)]


@pytest.mark.slow
def test_the_gadget_holds_with_a_wrong_estimate():
    """On the river no hand wins more than its bound, whichever range the opponent is said to have."""
    config = TableConfig(iterations=60, threads=1, cards="blueprint", last_boards=1, estimate=0.0)
    agent = agent_at(config)
    public = public_after((*START, 1, 1, 1, 500, 1, 1, 1100))
    solved = agent.solution(public)
    before = agent.solution(public_after((*START, 1, 1, 1, 500)))
    assert before.bounds is not None and solved.bounds is not None
    free, values = live_combos(public), solved.bounds_after(())
    assert (values - solved.bounds)[free].max() < 0.01 * public.pot, (values - solved.bounds)[free].max()


def test_lines_that_no_hand_takes():
    """Somebody asks about an action that the seat never takes: every hand alike, no bounds, and it is counted."""
    agent = agent_at()
    assert 444 not in agent.decision(public_after(START)).actions
    public = public_after((*START, 444, 1))
    carried, free = agent.decision(public).carried, live_combos(public)
    assert carried.bounds is None and agent.counts["anew"] == 1
    np.testing.assert_allclose(carried.range, free / free.sum())


def test_hands_that_the_range_lacks_play_the_blueprint():
    agent = agent_at(TableConfig(iterations=4, threads=1, cards="blueprint", last_boards=1, purge=0.3))
    public = public_after((*START, 500, RAISE))
    found, planned = agent.range_strategy(public), agent.blueprint.range_strategy(public)
    lacking = (agent.decision(public).carried.range == 0.0) & live_combos(public)
    assert lacking.any()
    np.testing.assert_allclose(found.probability(0)[lacking], planned.probability(0)[lacking], atol=1e-6)
