"""Records for the hand viewer: the strategies that agents announce during a hand, and the hand's AIVAT corrections."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat, Score
from plurispiel.evaluation.announced import Announced
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.value_choice import make_value_function
from plurispiel.tournaments.run.config import TournamentConfig


@dataclass(frozen=True)
class Told:
    """A hand with its AIVAT scores and the announced strategies.

    Attributes
    ----------
    hand : Hand
        The hand as played.
    numbers : sequence of int
        The number of the agent in each seat.
    scores : sequence of Score
        The AIVAT score of every seat; empty if the hand was not scored.
    announced : sequence of (sequence of Announced or None)
        The strategies that each seat announced, decision by decision; None for a seat that announced none.
    """

    hand: Hand
    numbers: Sequence[int]
    scores: Sequence[Score]
    announced: Sequence[Sequence[Announced] | None]


class Witness(Aivat):
    """An `Aivat` with a tournament's value function. It keeps the scores and announced strategies of each hand."""

    def __init__(self, config: TournamentConfig):
        super().__init__(config.rules, make_value_function(config.values, config.rules))
        self._heard: list[tuple[Sequence[Score], Sequence[Sequence[Announced] | None]]] = []

    def scores(self, hand: Hand, agents: Sequence[Agent], trusted: Collection[int] = ()) -> tuple[Score, ...]:
        """Return the score of every seat, and keep the scores and the announced strategies."""
        scores = super().scores(hand, agents, trusted)
        self._heard.append((scores, self.announced))
        return scores

    def take(self, hands: Sequence[tuple[Hand, Sequence[int]]]) -> list[Told]:
        """Return the records of the hands scored since the previous `take` or `forget`, and drop these records.

        Parameters
        ----------
        hands : sequence of (Hand, sequence of int)
            The hands that were scored, in the order of scoring, each with the agent number in every seat.
        """
        told = [Told(hand, numbers, *heard) for (hand, numbers), heard in zip(hands, self._heard, strict=True)]
        self.forget()
        return told

    def forget(self) -> None:
        """Drop all records."""
        self._heard = []
