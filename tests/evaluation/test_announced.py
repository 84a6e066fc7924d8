"""Reports of strategies: a fixed strategy is read once, and checked against every decision all the same."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents.base import Agent, Strategy
from plurispiel.agents.baselines.simple import FoldAgent
from plurispiel.evaluation import announced
from plurispiel.evaluation.announced import Reports
from plurispiel.evaluation.betting_lines import BettingLines
from plurispiel.evaluation.hand import play_hand


class Same(Agent):
    """Calls, and reports one and the same strategy everywhere."""

    def __init__(self, actions, *, fixed):
        actions = np.array(actions)
        rows = np.full((LEDUC.num_combos, len(actions)), 1.0 / len(actions))
        for array in (actions, rows):
            array.setflags(write=not fixed)
        self.strategy = Strategy(actions, rows)

    def act(self, view):
        return CALL

    def range_strategy(self, public):
        return self.strategy


def answers_of(reports, agents, hands=1, deck=(9, 0, 8)):
    deck = np.array(deck, dtype=np.uint8)
    lines = BettingLines(LEDUC)
    for _ in range(hands):
        hand = play_hand(LEDUC, agents, deck, [np.random.default_rng(seat) for seat in range(2)])
        found = reports.ask(hand, lines.along(hand.actions), agents)
    return found


@pytest.mark.parametrize("fixed", [True, False], ids=["read-only", "writeable"])
def test_only_a_strategy_that_is_read_only_is_read_once(fixed, monkeypatch):
    read = []
    whole = announced.kernels.read_rows
    monkeypatch.setattr(announced.kernels, "read_rows", lambda *args: read.append(len(args)) or whole(*args))
    agents = [Same([CALL], fixed=fixed), Same([CALL], fixed=fixed)]
    reports, preflop, flop = Reports(LEDUC, LEDUC.free_combos), 2, 2
    for deck, num_read in ((9, 0, 8), preflop + flop), ((9, 0, 1), flop), ((9, 0, 8), flop):  # a strategy on each board
        read.clear()
        found = answers_of(reports, agents, hands=3, deck=deck)
        assert len(read) == (num_read if fixed else 3 * (preflop + flop))
        for answers in found:
            first, second = answers.announced
            assert first.probabilities.tolist() == [[1.0] * LEDUC.num_combos]
            assert second.probabilities.tolist() == [LEDUC.free_combos([deck[2]]).astype(float).tolist()]


def test_a_strategy_that_changes_is_read_again():
    agents = [Same([CALL], fixed=False), Same([CALL], fixed=False)]
    reports = Reports(LEDUC, LEDUC.free_combos)
    assert not answers_of(reports, agents)[0].refused
    agents[0].strategy.probabilities[:] = 0.5
    assert "not probabilities" in answers_of(reports, agents)[0].refused


def test_a_strategy_that_was_read_is_checked_at_the_next_decision():
    """The raise that it names is legal for the first seat, and not for the seat that answers this raise."""

    class Raise(Same):
        def act(self, view):
            return view.public.max_raise or CALL

    raise_to = BettingLines(LEDUC).along([])[0].state[betting_layout.MIN_RAISE]
    first = Raise([CALL, raise_to], fixed=True)
    reports = Reports(LEDUC, LEDUC.free_combos)
    assert answers_of(reports, [first, FoldAgent()])[0].announced[0].played == 1
    second = Raise([CALL], fixed=True)
    second.strategy = first.strategy
    assert "not legal" in answers_of(reports, [first, second])[1].refused
