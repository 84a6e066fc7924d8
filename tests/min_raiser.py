"""Bots that bet as little as they may: what small bets win from an agent."""

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.agents.base import PublicState, RangeAgent, Strategy
from plurispiel.agents.baselines.equity import weigh_equity
from plurispiel.agents.baselines.simple import FixedAgent

POT_SHARE = 0.2


class MinRaiser(FixedAgent):
    """Bets a fifth of the pot wherever nobody has bet, and raises every bet by the least; calls if it cannot raise."""

    def action(self, public: PublicState) -> int:
        return smallest_raise(public)


class SmallBettor(RangeAgent):
    """Opens every street with the bet of `MinRaiser`, with any hand; answers bets by its equity, as `equity` does.

    Where `equity` raises, it raises by the least.
    """

    is_deterministic = True

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        if public.num_raises == 0:
            return Strategy(np.array([smallest_raise(public)]), np.ones((len(combo_ids), 1)))
        strategy = weigh_equity(public, combo_ids)
        return Strategy(np.where(strategy.actions > CALL, public.min_raise, strategy.actions), strategy.probabilities)


def smallest_raise(public: PublicState) -> int:
    """The smallest raise of a bet, or a bet of a fifth of the pot after the flop; a call where no raise is legal."""
    if not public.max_raise:
        return CALL
    return public.min_raise if public.can_fold or not public.board else public.raise_by_pot(POT_SHARE)
