"""A stand-in at the table for an agent whose decisions are watched or changed."""

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Event
from plurispiel.evaluation.hand import HandEnd, RemoteAgent, observes


class Listener(RemoteAgent):
    """Passes restarts, events and the end of a hand to an agent. Subclasses pass the decisions.

    Attributes
    ----------
    agent : Agent
        The agent, which may be one in another process.
    """

    def __init__(self, agent: Agent):
        self.name = agent.name
        self.agent = agent
        self.observes = observes(agent)

    @property
    def is_remote(self) -> bool:
        """Whether the agent that decides runs in another process."""
        return self.agent.is_remote if isinstance(self.agent, Listener) else isinstance(self.agent, RemoteAgent)

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand."""
        super().restart(rules, seat, rng)
        self.agent.restart(rules, seat, rng)

    def observe(self, event: Event) -> None:
        """Show the event to the agent."""
        self.agent.observe(event)

    def end_hand(self) -> None:
        """Tell an agent in another process that the hand is over."""
        if isinstance(self.agent, RemoteAgent):
            self.agent.end_hand()

    def show_end(self, end: HandEnd) -> None:
        """Show an agent in another process the outcome."""
        if isinstance(self.agent, RemoteAgent):
            self.agent.show_end(end)
