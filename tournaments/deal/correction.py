"""The results of a match with luck taken off by AIVAT, which needs all cards and the strategies of our agents."""

from collections.abc import Collection, Sequence

import numpy as np

from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.streams import Streams
from plurispiel.evaluation.value_functions import ValueFunction
from plurispiel.tournaments.remote.score import zero_sum_estimates

_SILENT = Agent()


class Correction:
    """Estimates of the players' results in the hands of a match.

    Parameters
    ----------
    agents : sequence of Agent
        The players.
    trusted : collection of int
        The numbers of the players whose reported strategies count: agents of this package.
    values : ValueFunction
        The value function of AIVAT.
    streams : Streams
        The source of the value function's random samples, by the number of the hand.

    Attributes
    ----------
    estimates : list of float64[num_players]
        For each hand the players' net chips with luck taken off, which sum to 0.
    """

    def __init__(self, agents: Sequence[Agent], trusted: Collection[int], values: ValueFunction, streams: Streams):
        self._tellers = [agent if player in trusted else _SILENT for player, agent in enumerate(agents)]
        self._values = values
        self._streams = streams
        self.estimates: list[np.ndarray] = []

    def add(self, hand: Hand, players: Sequence[int], number: int) -> None:
        """Estimate a hand that has just been played.

        Parameters
        ----------
        players : sequence of int
            The player in each seat.
        number : int
            The number of the hand.
        """
        aivat = Aivat(hand.rules, self._values)
        aivat.restart(self._streams.values((number,)))
        found = np.zeros(len(players))
        found[list(players)] = zero_sum_estimates(aivat.scores(hand, [self._tellers[player] for player in players]))
        self.estimates.append(found)
