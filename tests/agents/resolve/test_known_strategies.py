"""Known strategies: solvers begin with them, come to the same as without, and measure responses to them."""

import functools

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.resolve.known_strategies import response_values, warm_start

pytestmark = pytest.mark.xdist_group("gadget")  # one worker compiles the kernels in float64

RANKS = np.arange(LEDUC.num_combos) // 2


def by_rank(board):
    """Buckets of Leduc that lose nothing."""
    return RANKS + 3 * (board[0] // 4)


def leduc(**settings):
    subgame = Subgame(BettingState(LEDUC), (), np.ones((2, LEDUC.num_combos)), buckets=by_rank, **settings)
    return VectorSolver(subgame, "cfr+", dtype=np.float64, threads=1)


@functools.cache
def solved():
    solver = leduc()
    solver.run(300)
    return solver


def rows_of(solver, street, decision):
    """The average strategy by combo, or on the second street by bucket."""
    if not street:
        return solver.strategy(street, decision)
    rows = np.full((solver.streets[street].width, len(decision.children)), np.nan)
    for board, cards in enumerate(solver.streets[street].deals.boards):
        held = solver.strategy(street, decision, board)
        combos = ~np.isnan(held[:, 0])
        rows[by_rank(cards)[combos]] = held[combos]
    return np.nan_to_num(rows)


def known(street, decision):
    return rows_of(solved(), street, decision)


def test_a_solver_begins_with_what_is_given():
    solver = leduc()
    warm_start(solver, known, 1.0)
    for number, street in enumerate(solver.streets):
        for decision in street.betting.decisions:
            for board in range(len(street.deals.boards)):
                begun = solver.current_strategy(number, decision, board)
                np.testing.assert_allclose(begun, solved().strategy(number, decision, board), atol=1e-12)


def test_iterations_from_a_good_strategy_stay_near_it():
    measured = {}
    for weight in (None, 1.0, 30.0):
        solver = leduc()
        if weight is not None:
            warm_start(solver, known, weight)
        solver.run(5)
        measured[weight] = solver.evaluate().exploitability
    assert measured[30.0] < measured[1.0] < measured[None] / 4.0, measured


def test_a_bad_start_fades():
    solver = leduc()

    def always_the_first(street, decision):
        return np.eye(len(decision.children))[[0] * (solver.streets[street].width or LEDUC.num_combos)]

    warm_start(solver, always_the_first, 1.0)
    solver.run(2000)
    assert solver.evaluate().exploitability < 0.01


def test_what_is_not_known_begins_with_all_actions_alike():
    solver = leduc()
    warm_start(solver, lambda street, decision: None if decision.root else known(street, decision), 1.0)
    for decision in solver.streets[1].betting.decisions:
        if decision.root:
            assert not solver.streets[1].entries(solver.streets[1].regrets, decision, 0)[1].any()


def test_what_is_held_stays_held():
    path = ((0, 1, 0),)
    rows = np.full((LEDUC.num_combos, 2), np.nan)
    rows[3] = 0.25, 0.75
    free, all_held = leduc(locks={path: rows}), leduc(locks={path: np.tile(rows[3], (LEDUC.num_combos, 1))})
    for solver in (free, all_held):
        warm_start(solver, known, 5.0)
        (decision,) = (each for each in solver.streets[0].betting.decisions if each.actions == path)
        np.testing.assert_allclose(solver.current_strategy(0, decision)[3], rows[3])
    assert (abs(all_held.current_strategy(0, decision) - rows[3]) < 1e-12).all()


@pytest.mark.parametrize("seat", [0, 1])
def test_responses_to_known_strategies_are_those_to_their_averages(seat):
    solver = leduc()
    found = response_values(solver, known, seat)
    np.testing.assert_allclose(found, solved().combo_values(seat)[0] / solved().facing[seat], atol=1e-9)
    solver.run(20)
    other = leduc()
    other.run(20)
    np.testing.assert_array_equal(
        solver.strategy(0, solver.streets[0].betting.decisions[0]),
        other.strategy(0, other.streets[0].betting.decisions[0]),
    )
    assert solver.evaluate().exploitability == other.evaluate().exploitability


def test_too_late_or_with_exact_cards_later_on_it_is_refused():
    solver = leduc()
    solver.run(1)
    with pytest.raises(ValueError, match="before all iterations, and there were 1"):
        warm_start(solver, known, 1.0)
    exact = VectorSolver(Subgame(BettingState(LEDUC), (), np.ones((2, LEDUC.num_combos))), threads=1)
    with pytest.raises(ValueError, match="needs buckets on streets after the first"):
        warm_start(exact, known, 1.0)
