"""Beliefs: each seat's range, as inferred by an observer who sees no hole cards. Rows are by seat, and sum to 1.

All ranges start uniform, including the searching seat's own range. A search from the seat's real hand would solve a
game in which the opponents know the hand, and the actions found would give the hand away. Below, the *model* is the
strategy that a seat is assumed to play.
"""

import numpy as np

from plurispiel.abstraction.actions.mapping import lower_place
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Action, Agent, PublicState, Strategy

__all__ = [
    "OFF_MODEL_SHARE",
    "entropy_bits",
    "initial_beliefs",
    "likelihood",
    "planned_beliefs",
    "range_text",
    "see_action",
    "see_board",
]

OFF_MODEL_SHARE = 1e-3
"""The share of the uniform strategy that is mixed into the model after an action to which the model gave probability 0
with every hand in the range."""

_NUM_TOP_HANDS = 5


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
    is then mixed into the model. This gives every hand in the range the same probability, so that the beliefs stay as
    they were.
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
    the pseudo-harmonic mapping (see `mapping`); the call is the neighbour of size 0. Drawing one of the two
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
    # A size is a share of the pot after the call. For shares of the pot before the call, the mapping's formula does not
    # hold.
    pot = public.pot + public.to_call
    offered = sorted({CALL, *(each for each in known if each > CALL)})
    sizes = [0.0] + [(each - largest) / pot for each in offered[1:]]
    lower, share = lower_place((action - largest) / pot, sizes)
    probability = strategy.probability(offered[lower])
    # The raise exceeds the largest size, and has no upper neighbour.
    if share == 1.0:
        return probability
    return share * probability + (1.0 - share) * strategy.probability(offered[lower + 1])


def planned_beliefs(
    agent: Agent, rules: HoldemRules, actions: tuple[Action, ...], board: tuple[int, ...]
) -> tuple[BettingState, np.ndarray]:
    """Return the betting state after some actions, and the beliefs there if all seats play as `agent` does.

    Parameters
    ----------
    agent : Agent
        An agent in a hand, with `range_strategy`.
    actions : tuple of Action
        All actions of the hand so far.
    board : tuple of int
        The board after the actions.

    Returns
    -------
    state : BettingState
    beliefs : float64[num_seats, num_combos]
    """
    state, beliefs, seen = BettingState(rules), initial_beliefs(rules), board[:0]
    for number, action in enumerate(actions):
        if rules.board_size(action.street) != len(seen):
            seen = board[: rules.board_size(action.street)]
            beliefs = see_board(beliefs, rules, seen)
        public = PublicState(rules, state.array.tolist(), seen, actions[:number])
        strategy = agent.range_strategy(public)
        assert strategy is not None, "the agent reports its strategy"
        chances = likelihood(strategy, public, action.action)
        beliefs, _ = see_action(beliefs, action.seat, chances, len(strategy.actions))
        state.apply_legal(action.action)
    return state, see_board(beliefs, rules, board)


def entropy_bits(row: np.ndarray) -> float:
    """Return the entropy of a range in bits; the uniform range of 1326 combos has 10.4."""
    positive = row[row > 0.0]
    return float(-(positive * np.log2(positive)).sum())


def range_text(seat: int, row: np.ndarray, num_hands: int) -> str:
    """Return a line on a seat's range: its number of hands, its entropy and its likeliest hands."""
    top = np.argsort(-row, kind="stable")[:_NUM_TOP_HANDS].tolist()
    hands_text = ", ".join(f"{combo_text(combo)} {100.0 * row[combo]:.2g}%" for combo in top)
    return f"seat {seat}: {num_hands} hands, {entropy_bits(row):.1f} bits; {hands_text}"
