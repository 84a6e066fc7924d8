"""Who tells the strategy of an agent from outside that is believed: a process that is never told hole cards."""

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Board, Event, PublicState, Strategy
from plurispiel.tournaments.contestants.supervisor import Contestant


class Speaker(Agent):
    """Tells the strategy of an agent by what everybody sees and the agent's random stream.

    Parameters
    ----------
    contestant : Contestant
        A process of the agent that plays no hand.
    """

    def __init__(self, contestant: Contestant):
        self._contestant = contestant
        self._num_told = -1  # events of this hand; the hand is begun with the first question

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand. The stream has to stay as it is until the last question."""
        super().restart(rules, seat, rng)
        self._num_told = -1

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return what the agent says that it would do with every combo."""
        if self._num_told < 0:
            self._contestant.restart(self.rules, self.seat, self.rng)
            self._num_told = 0
        events = public_events(public)
        for event in events[self._num_told :]:
            self._contestant.observe(event)
        self._num_told = len(events)
        self._contestant.end_hand()  # events that go with a question are lost with the process that was asked
        return self._contestant.range_strategy(public)

    def close(self) -> None:
        """End the process."""
        self._contestant.close()


def public_events(public: PublicState) -> list[Event]:
    """Return what everybody has seen up to a state, in order: actions and boards, no hole cards."""
    rules = public.rules
    events: list[Event] = []
    seen = 0
    for street in range(public.street + 1):
        size = rules.board_size(street)
        if size > seen:
            events.append(Board(public.board[seen:size], street))
            seen = size
        events += [action for action in public.actions if action.street == street]
    return events
