"""What a hand tells beside its actions: everybody's strategy where it acted, and the corrections of AIVAT."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat, Announced, Score
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.value_choice import make_value_function
from plurispiel.tournaments.run.config import TournamentConfig


@dataclass(frozen=True)
class Told:
    """A hand and what it tells.

    Attributes
    ----------
    hand : Hand
    numbers : sequence of int
        The agent in each seat.
    scores : sequence of Score
        Of every seat; empty if it was not scored.
    announced : sequence of (sequence of Announced or None)
        What each seat's agent said of its decisions.
    """

    hand: Hand
    numbers: Sequence[int]
    scores: Sequence[Score]
    announced: Sequence[Sequence[Announced] | None]


class Witness(Aivat):
    """AIVAT with the values of a tournament that keeps what it was told."""

    def __init__(self, config: TournamentConfig):
        super().__init__(config.rules, make_value_function(config.values, config.rules))
        self._heard: list[tuple[Sequence[Score], Sequence[Sequence[Announced] | None]]] = []

    def scores(self, hand: Hand, agents: Sequence[Agent], trusted: Collection[int] = ()) -> tuple[Score, ...]:
        """Return the score of every seat."""
        scores = super().scores(hand, agents, trusted)
        self._heard.append((scores, self.announced))
        return scores

    def take(self, hands: Sequence[tuple[Hand, Sequence[int]]]) -> list[Told]:
        """Return what was told since the last call, in which these hands were played; and forget it."""
        told = [Told(hand, numbers, *heard) for (hand, numbers), heard in zip(hands, self._heard, strict=True)]
        self.forget()
        return told

    def forget(self) -> None:
        """Forget what was told."""
        self._heard = []
