"""Strategy reports of outside agents, from processes that never see hole cards.

The reports of an agent that the user believes (``--believe``) correct its score. The process that plays knows its hole
cards and could shape a report by them, so the report comes from another process of the same agent.
"""

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Board, Event, PublicState, Strategy
from plurispiel.tournaments.contestants.supervisor import Contestant


class Speaker(Agent):
    """Reports an agent's strategy, from public information and the agent's random stream alone.

    Parameters
    ----------
    contestant : Contestant
        The agent in a process that plays no hands.
    """

    def __init__(self, contestant: Contestant):
        self._contestant = contestant
        self._num_told = -1  # events passed on in this hand; -1 before the first question, which begins the hand

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand. The caller must not draw from `rng` before the first question copies the state of `rng`."""
        super().restart(rules, seat, rng)
        self._num_told = -1

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return the agent's reported strategy for every combo; None if it reports none."""
        if self._num_told < 0:
            self._contestant.restart(self.rules, self.seat, self.rng)
            self._num_told = 0
        events = public_events(public)
        for event in events[self._num_told :]:
            self._contestant.observe(event)
        self._num_told = len(events)
        # A process that is restarted during the hand gets earlier requests again, except questions for a strategy.
        # Events sent with such a question would be lost, so they are sent before the question, in a separate request.
        self._contestant.end_hand()
        return self._contestant.range_strategy(public)

    def close(self) -> None:
        """End the process."""
        self._contestant.close()


def public_events(public: PublicState) -> list[Event]:
    """Return the actions and the boards up to a state, in the order of the hand."""
    rules = public.rules
    events: list[Event] = []
    num_seen = 0  # board cards
    for street in range(public.street + 1):
        size = rules.board_size(street)
        if size > num_seen:
            events.append(Board(public.board[num_seen:size], street))
            num_seen = size
        events += [action for action in public.actions if action.street == street]
    return events
