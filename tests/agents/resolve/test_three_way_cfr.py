"""Vector CFR with three seats: the same numbers as scalar CFR on OpenSpiel's tree."""

import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, HoldemRules, no_limit_holdem
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.base import RangeAgent, Strategy
from plurispiel.agents.resolve.three_way_cfr import ThreeWaySolver
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

THREE = HoldemRules(
    blinds=(47, 101, 0),
    stacks=(207, 311, 253),
    first_seats=(2,),
    board_cards=(1,),
    num_suits=2,
    num_ranks=4,
    betting_abstraction="fc",
)
"""One street, one board card, two hole cards of a deck of eight; all-in for different stacks makes side pots."""


class ByBoard(RangeAgent):
    """Plays the solution of the board at hand."""

    name = "by board"

    def __init__(self, solvers):
        self._solvers = solvers

    def strategy(self, public, combo_ids):
        actions, shares = self._solvers[public.board].strategy(tuple(action for _, action, _ in public.actions))
        shares = shares[combo_ids]
        return Strategy(np.array(actions), np.where(np.isnan(shares), 1.0 / len(actions), shares))


@jit_only
@pytest.mark.parametrize(
    ("algorithm", "betting"),
    [("cfr", "fc"), ("cfr", "fcpa"), ("dcfr", "fc"), pytest.param("dcfr", "fcpa", marks=pytest.mark.slow)],
)
def test_every_iteration_is_that_of_scalar_cfr(betting, algorithm):
    rules = THREE.with_menu(betting)
    tree = flatten(game_string(rules))
    uniform = np.ones((3, rules.num_combos))
    solvers = {
        (card,): ThreeWaySolver(BettingState(rules), (card,), uniform, algorithm) for card in rules.cards.tolist()
    }
    scalar = make_solver(tree, algorithm)
    for count in (3,) if betting == "fcpa" else (1, 1, 1):  # the larger tree is read once
        scalar.run(count)
        for solver in solvers.values():
            solver.run(count)
        found, expected = strategy_from_agent(tree, ByBoard(solvers)), scalar.average_strategy()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        in_tree, by_board = exploitability(tree, expected), [solver.evaluate() for solver in solvers.values()]
        for name in ("values", "best_response_values"):
            mean = np.mean([getattr(each, name) for each in by_board], axis=0)
            np.testing.assert_allclose(mean, getattr(in_tree, name), rtol=0, atol=1e-9)
        assert np.mean([each.nash_conv for each in by_board]) == pytest.approx(in_tree.nash_conv, abs=1e-9)


def river_state(menu="fcpa", stack=400):
    """Three seats on a river, a big blind of 100 each in the pot and `stack` less behind."""
    rules = no_limit_holdem(3, stack=stack, blinds=(50, 100)).with_menu(menu)
    state = BettingState(rules)
    while state.street < 3:
        state.apply(CALL)
    return state


RANGES = ("AA:0.5,KK,QJs,98s", "77,AhQh,T9s:0.25", "66,AKs,KQs,54s:0.75")


@jit_only
def test_a_river_of_three_comes_to_little_to_gain():
    board, state = parse_cards("Td 9d 6h Qc 7s"), river_state()
    ranges = np.stack([parse_range(text) for text in RANGES])
    solver = ThreeWaySolver(state, board, ranges, "dcfr")
    first = solver.evaluate()
    solver.run(60)
    found = solver.evaluate()
    for each in (first, found):
        assert each.values.sum() == pytest.approx(0.0, abs=1e-9)
        assert (each.best_response_values >= each.values).all()
    assert found.nash_conv < 0.005 * first.nash_conv
    assert solver.iteration == 60
    actions, shares = solver.strategy((CALL,))
    held = ~np.isnan(shares[:, 0])
    assert actions[0] == CALL
    np.testing.assert_allclose(shares[held].sum(axis=1), 1.0)
    assert not held[(HUNL.combos == board[0]).any(axis=1)].any()


def test_refusals():
    board, state, ranges = parse_cards("Td 9d 6h Qc 7s"), river_state(), np.ones((3, 1326))
    with pytest.raises(ValueError, match="three seats on the last street"):
        ThreeWaySolver(BettingState(LEDUC), (), np.ones((2, 6)))
    with pytest.raises(ValueError, match="5 cards"):
        ThreeWaySolver(state, board[:4], ranges)
    with pytest.raises(ValueError, match="weights of at least 0"):
        ThreeWaySolver(state, board, -ranges)
    with pytest.raises(ValueError, match="no three compatible hands"):
        ThreeWaySolver(state, board, np.stack([parse_range("AsAh")] * 3))
    with pytest.raises(ValueError, match="menu of raises"):
        ThreeWaySolver(river_state("fullgame"), board, np.stack(list(map(parse_range, RANGES))))
    solver = ThreeWaySolver(river_state("fc"), board, np.stack(list(map(parse_range, RANGES))))
    with pytest.raises(ValueError, match="the actions of this decision are"):
        solver.strategy((7,))
    with pytest.raises(ValueError, match="the hand is over"):
        solver.strategy((CALL, CALL, CALL))
