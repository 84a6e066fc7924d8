"""The simplest agents: random, call, fold, raise. They play every game that `HoldemRules` can describe."""

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.base import Agent, Decision, PublicState, RangeAgent, Strategy, View


class RandomAgent(RangeAgent):
    """Acts uniformly at random.

    In a game with a menu of raises, all legal actions are equally likely. In a game where every raise size is legal,
    fold, call and raise are equally likely where legal. The size of a raise is then uniform from the smallest legal
    size to the largest.
    """

    name = "random"
    is_deterministic = True

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the same row for every combo."""
        actions = [FOLD, CALL] if public.can_fold else [CALL]
        highest = None
        if public.menu is not None:
            actions.extend(public.menu)
        elif public.max_raise:
            highest = np.array([*actions, public.max_raise])
            actions.append(public.min_raise)
        return Strategy(np.array(actions), np.full((len(combo_ids), len(actions)), 1.0 / len(actions)), highest)


class FixedAgent(Agent):
    """An agent whose action depends on the public state alone; subclasses define `action`."""

    is_deterministic = True

    def action(self, public: PublicState) -> int:
        """Return the action taken with every combo.

        Raises
        ------
        TypeError
            If the subclass does not define this method.
        """
        raise TypeError(f"{type(self).__name__} must define action(public)")

    def act(self, view: View) -> Decision:
        """Return the action, with probability 1."""
        action = self.action(view.public)
        return Decision(action, (action,), (1.0,))

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the action for every combo, with probability 1."""
        return Strategy(np.array([self.action(public)]), np.ones((public.rules.num_combos, 1)))


class CallAgent(FixedAgent):
    """Checks and calls."""

    name = "call"

    def action(self, public: PublicState) -> int:
        """Return check or call."""
        return CALL


class FoldAgent(FixedAgent):
    """Folds to any bet, and checks where there is no bet."""

    name = "fold"

    def action(self, public: PublicState) -> int:
        """Return fold where folding is legal, else check."""
        return FOLD if public.can_fold else CALL


class RaiseAgent(FixedAgent):
    """Bets and raises the pot, or the nearest legal raise; calls when no raise is legal."""

    name = "raise"

    def action(self, public: PublicState) -> int:
        """Return the legal raise nearest to a raise by the pot; a call if no raise is legal."""
        return public.raise_by_pot(1.0)
