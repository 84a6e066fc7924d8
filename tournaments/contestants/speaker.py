"""Reports of believed outside agents, from processes that never see hole cards."""

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Board, Event, PublicState, Strategy
from plurispiel.tournaments.contestants.supervisor import Contestant


class Speaker(Agent):
    """Reports an agent's strategy from public information and the agent's random stream alone.

    Parameters
    ----------
    contestant : Contestant
        The agent in a process that plays no hands.
    """

    def __init__(self, contestant: Contestant):
        self._contestant = contestant
        self._num_told = -1  # number of events passed on; -1 before the first question, which begins the hand

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand. The random stream must not advance before the last question."""
        super().restart(rules, seat, rng)
        self._num_told = -1

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return the agent's reported strategy for every combo."""
        if self._num_told < 0:
            self._contestant.restart(self.rules, self.seat, self.rng)
            self._num_told = 0
        events = public_events(public)
        for event in events[self._num_told :]:
            self._contestant.observe(event)
        self._num_told = len(events)
        self._contestant.end_hand()  # sent separately: a process that dies of the question loses its events too
        return self._contestant.range_strategy(public)

    def close(self) -> None:
        """End the process."""
        self._contestant.close()


def public_events(public: PublicState) -> list[Event]:
    """Return the public events up to a state, in order: actions and boards, no hole cards."""
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
