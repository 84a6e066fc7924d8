"""Agents that break the contract are found."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents import Agent, Decision, RangeAgent, Strategy
from plurispiel.evaluation.compliance import check_agent


class Cheat(RangeAgent):
    """Reports one thing and does another."""

    def strategy(self, public, combo_ids):
        return Strategy(np.array([CALL]), np.ones((len(combo_ids), 1)))


class Liar(Cheat):
    def act(self, view):
        return FOLD if view.public.can_fold else CALL


class Shy(Cheat):
    """Raises half as often as it says."""

    def strategy(self, public, combo_ids):
        row = [0.5, 0.5] if public.max_raise else [1.0]
        actions = [CALL, public.min_raise] if public.max_raise else [CALL]
        return Strategy(np.array(actions), np.tile(row, (len(combo_ids), 1)))

    def act(self, view):
        raises = view.public.max_raise and self.rng.random() < 0.25
        return view.public.min_raise if raises else CALL


class Peeker(Cheat):
    """Its reported strategy depends on its own cards."""

    def observe(self, event):
        if hasattr(event, "hole_cards"):
            self.high = max(event.hole_cards) // 4

    def strategy(self, public, combo_ids):
        return Strategy(np.array([CALL]), np.full((len(combo_ids), 1), 1.0 + self.high * 1e-12))


class SizePeeker(Cheat):
    """The sizes it may raise to depend on its own cards."""

    def observe(self, event):
        if hasattr(event, "hole_cards"):
            self.high = max(event.hole_cards)

    def strategy(self, public, combo_ids):
        low = public.min_raise or CALL
        highest = low + self.high if public.max_raise > low + 51 else low
        return Strategy(np.array([low]), np.ones((len(combo_ids), 1)), np.array([highest]))


class Forgetful(Agent):
    """Remembers the hand before."""

    hands = 0

    def act(self, view):
        self.hands += 1
        return view.public.raise_by_pot(1.0) if self.hands % 2 else CALL


class Confused(Cheat):
    def act(self, view):
        return Decision(CALL, (CALL, 5), (0.5, 0.5))


class Lengthy(Cheat):
    def act(self, view):
        return Decision(CALL, (CALL,), (1.0, 0.0))


class Nonsense(Cheat):
    def strategy(self, public, combo_ids):
        return Strategy(np.array([CALL]), np.full((len(combo_ids), 1), np.nan))

    def act(self, view):
        return CALL


class Wild(Agent):
    def act(self, view):
        return -3


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (Liar, "probability 0"),
        (Shy, "range_strategy expects"),
        (Peeker, "depends on the cards held"),
        (SizePeeker, "depends on the cards held"),
        (Forgetful, "plays differently"),
        (Confused, "probabilities of a decision differ"),
        (Lengthy, "probabilities of a decision differ"),
        (Nonsense, "not probabilities"),
        (Wild, "illegal: -3 is not legal"),
    ],
)
def test_a_broken_contract_is_found(agent, message):
    report = check_agent(agent, [HUNL], num_hands=120)
    assert any(message in violation for violation in report.violations), report.violations
