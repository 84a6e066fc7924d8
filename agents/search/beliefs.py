"""Beliefs: how likely each seat holds each combo, for somebody who sees no cards.

They start alike for all combos, the own ones included: whoever searches must not know its hand, or others could read
it from what it does. Rows are by seat, and sum to 1.
"""

import numpy as np

from plurispiel.abstraction.actions.translation import lower_place
from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import PublicState, Strategy

__all__ = ["OFF_MODEL_SHARE", "entropy_bits", "initial_beliefs", "likelihood", "see_action", "see_board"]

OFF_MODEL_SHARE = 1e-3
"""After an action that no hand should have taken: the share of all actions alike that is mixed into the strategy."""


def initial_beliefs(rules: HoldemRules) -> np.ndarray:
    """Return the beliefs before anything is seen: float64[num_seats, num_combos]."""
    return np.full((rules.num_seats, rules.num_combos), 1.0 / rules.num_combos)


def see_board(beliefs: np.ndarray, rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    """Return the beliefs when a board is known: combos that share a card with it are ruled out.

    A seat that had none but those gets all others, alike.
    """
    held = ~np.isin(rules.combos, board).any(axis=1)
    seen = beliefs * held
    totals = seen.sum(axis=1, keepdims=True)
    return np.where(totals > 0.0, seen / np.where(totals > 0.0, totals, 1.0), held / held.sum())


def see_action(beliefs: np.ndarray, seat: int, chances: np.ndarray, num_actions: int) -> tuple[np.ndarray, bool]:
    """Return the beliefs after an action, by Bayes, and whether some hand should have taken it.

    Parameters
    ----------
    chances : float64[num_combos]
        With which probability each combo takes it.
    num_actions : int
        Actions of the strategy that says so.

    Notes
    -----
    Where no hand should have taken it, a share of all actions alike is mixed into the strategy: then the beliefs are
    those before.
    """
    is_expected = bool(beliefs[seat] @ chances > 0.0)
    if not is_expected:
        chances = (1.0 - OFF_MODEL_SHARE) * chances + OFF_MODEL_SHARE / num_actions
    row = beliefs[seat] * chances
    after = beliefs.copy()
    after[seat] = row / row.sum()
    return after, is_expected


def likelihood(strategy: Strategy, public: PublicState, action: int) -> np.ndarray:
    """Return with which probability each combo would have taken an action: float64[num_combos].

    A raise that the strategy does not know counts as those around it, by the pseudo-harmonic mapping: as the mean of
    both, weighted by the chances to count as either (see `translation`). A call is a raise of nothing.
    """
    known = strategy.actions.tolist()
    if action in known or action <= CALL or strategy.highest is not None:
        return strategy.probability(action)
    most = max(public.contributions)
    pot = public.pot + public.to_call
    offered = sorted({CALL, *(each for each in known if each > CALL)})
    sizes = [0.0] + [(each - most) / pot for each in offered[1:]]
    lower, share = lower_place((action - most) / pot, sizes)
    chances = strategy.probability(offered[lower])
    return chances if share == 1.0 else share * chances + (1.0 - share) * strategy.probability(offered[lower + 1])


def entropy_bits(row: np.ndarray) -> float:
    """Return how much is not known of a seat's cards, in bits; all 1326 combos alike are 10.4."""
    held = row[row > 0.0]
    return float(-(held * np.log2(held)).sum())
