"""A learner's rewards with part of the luck removed, for `agents.openspiel.make_environment`."""

import numpy as np

from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.agents.base import Agent
from plurispiel.agents.openspiel.learner_table import LearnerHand
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.value_functions import ValueFunction

__all__ = ["CorrectedReward"]


class CorrectedReward:
    """The learner's payoff, corrected for chance and for the agents' known strategies.

    An object of this class can be the argument `score` of `make_environment`. The reward is AIVAT's reduced form
    (`Score.reduced`), which needs no strategy of the learner. Its mean is the mean of the payoff. Once two seats are
    left, it is also corrected for the actions of an agent that reports its strategy.

    Parameters
    ----------
    value_function : ValueFunction, optional
        As in `Aivat`.
    seed : int
        Seed of the run-outs that the value function samples.
    """

    def __init__(self, value_function: ValueFunction | None = None, seed: int = 0):
        self._value_function = value_function
        self._rng = np.random.default_rng(seed)
        self._aivat: Aivat | None = None

    def __call__(self, hand: LearnerHand) -> float:
        """Return the learner's corrected payoff of a hand, in chips."""
        if self._aivat is None:
            self._aivat = Aivat(hand.rules, self._value_function)
            self._aivat.restart(self._rng)
        agents = [Agent() if agent is None else agent for agent in hand.agents]
        trusted = [seat for seat, agent in enumerate(hand.agents) if agent is not None]
        num_folds = sum(action.action == FOLD for action in hand.actions)
        played = Hand(hand.rules, hand.deck, hand.actions, hand.payoffs, hand.rules.num_seats - num_folds > 1)
        return self._aivat.scores(played, agents, trusted)[hand.seat].reduced
