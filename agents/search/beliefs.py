"""Beliefs: each seat's range, as inferred by an observer who sees no hole cards. Rows are by seat, and sum to 1.

All ranges start uniform, including that of the searching seat. A search from that seat's real hand would solve a game
in which the opponents know the hand, and its actions would give the hand away. Below, the *model* is the strategy that
a seat is assumed to play.
"""

import numpy as np

from plurispiel.abstraction.actions.mapping import lower_place
from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import PublicState, Strategy

__all__ = ["OFF_MODEL_SHARE", "entropy_bits", "initial_beliefs", "likelihood", "see_action", "see_board"]

OFF_MODEL_SHARE = 1e-3
"""The share of the uniform strategy that is mixed into the model after an action to which the model gave probability 0
with every hand in the range."""


def initial_beliefs(rules: HoldemRules) -> np.ndarray:
    """Return the beliefs before anything is seen: float64[num_seats, num_combos]."""
    return np.full((rules.num_seats, rules.num_combos), 1.0 / rules.num_combos)


def see_board(beliefs: np.ndarray, rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    """Return the beliefs once a board is known: without the combos that share a card with it.

    A seat for which no combo is left gets the uniform range of the free combos.
    """
    free = rules.free_combos(board)
    return normalised(beliefs * free, free / free.sum())


def see_action(beliefs: np.ndarray, seat: int, probability: np.ndarray, num_actions: int) -> tuple[np.ndarray, bool]:
    """Return the beliefs after an action, by Bayes' rule, and whether the model takes it with some hand of the range.

    Parameters
    ----------
    probability : float64[num_combos]
        The model's probability of the action for each combo.
    num_actions : int
        Number of actions in the model's strategy.

    Notes
    -----
    An action of probability 0 for every hand in the range would leave no range at all. A share of the uniform strategy
    is then mixed into the model. This gives every hand the same probability, so that the beliefs stay as they were.
    """
    is_expected = dot(beliefs[seat], probability) > 0.0
    if not is_expected:
        probability = (1.0 - OFF_MODEL_SHARE) * probability + OFF_MODEL_SHARE / num_actions
    row = beliefs[seat] * probability
    after = beliefs.copy()
    after[seat] = row / row.sum()
    return after, is_expected


def likelihood(strategy: Strategy, public: PublicState, action: int) -> np.ndarray:
    """Return each combo's probability of an action: float64[num_combos].

    An off-tree raise gets the mean of the probabilities of its two neighbours among the strategy's actions, weighted by
    the pseudo-harmonic mapping (see `translation`); the call is the neighbour of size 0. Drawing one of the two
    neighbours, as play does, would make beliefs random. A strategy that draws raises from intervals
    (`Strategy.highest`) needs no neighbours: a raise outside the intervals has probability 0.

    Parameters
    ----------
    strategy : Strategy
        The model's strategy of all combos.
    public : PublicState
        The public state before the action.
    """
    known = strategy.actions.tolist()
    if action in known or action <= CALL or strategy.highest is not None:
        return strategy.probability(action)
    largest = max(public.contributions)
    # A size is a share of the pot after the call; without the call the mapping's formula does not hold.
    pot = public.pot + public.to_call
    offered = sorted({CALL, *(each for each in known if each > CALL)})
    sizes = [0.0] + [(each - largest) / pot for each in offered[1:]]
    lower, share = lower_place((action - largest) / pot, sizes)
    probability = strategy.probability(offered[lower])
    # The raise equals an offered size, or exceeds the largest size and has no upper neighbour.
    if share == 1.0:
        return probability
    return share * probability + (1.0 - share) * strategy.probability(offered[lower + 1])


def entropy_bits(row: np.ndarray) -> float:
    """Return the entropy of a range in bits; the uniform range of 1326 combos has 10.4."""
    positive = row[row > 0.0]
    return float(-(positive * np.log2(positive)).sum())
