"""The agent behind ``--hint``, which watches from the person's seat and is asked how it would act."""

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Decision, Event, View
from plurispiel.evaluation.hand import CONTESTANT_ERRORS, AgentFault, action_of, error_text
from plurispiel.tournaments.play.table_view import action_words, street_start

_MIN_SHARE = 0.005
"""Actions below this probability are left out."""


class HintAdviser:
    """An agent that gets all messages to the person's seat, and whose actions are never played.

    Parameters
    ----------
    agent : Agent
        The agent; for an agent from outside, the object that asks the agent's process.
    name : str
        The agent's name, for messages.
    """

    def __init__(self, agent: Agent, name: str):
        self._agent = agent
        self._name = name
        self._trouble = ""

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand at the person's seat."""
        self._trouble = ""
        self._try(lambda: self._agent.restart(rules, seat, rng))

    def observe(self, event: Event) -> None:
        """Show an event to the agent."""
        self._try(lambda: self._agent.observe(event))

    def words(self, view: View) -> str:
        """Return the answer of `shares` in words, or why there is no hint."""
        shares, trouble = self.shares(view)
        if trouble:
            return f"no hint from {self._name}: {trouble}"
        parts = [f"{words} ({share:.0%})" for words, share in shares]
        return f"hint from {self._name}: {', '.join(parts) or 'no legal action'}"

    def shares(self, view: View) -> tuple[list[tuple[str, float]], str]:
        """Return the agent's answer, and its error if it has failed in this hand.

        Returns
        -------
        list of (str, float)
            Legal actions in words with their probabilities, if the agent reports probabilities; otherwise its action
            with probability 1. Empty if the agent has failed in this hand, or if none of its actions is legal.
        str
            The agent's first error in this hand; empty without one.
        """
        answers: list[Decision] = []

        def ask() -> None:
            answer = self._agent.act(view)
            answers.append(answer if isinstance(answer, Decision) else Decision(action_of(answer)))

        self._try(ask)
        if self._trouble:
            return [], self._trouble
        (answer,) = answers
        public = view.public
        state, before = public.betting(), street_start(public)
        shares = dict.fromkeys((answer.action,), 1.0)
        if len(answer.actions) == len(answer.probabilities) > 0:
            shares = {}
            for action, share in zip(answer.actions, answer.probabilities, strict=True):
                shares[action] = shares.get(action, 0.0) + share
        legal = [(action, share) for action, share in shares.items() if share >= _MIN_SHARE and public.is_legal(action)]
        return [(action_words(state, before, action), share) for action, share in legal], ""

    def _try(self, step) -> None:
        """Take a step, unless an earlier one failed in this hand."""
        if not self._trouble:
            try:
                step()
            except AgentFault as fault:
                self._trouble = fault.message
            except CONTESTANT_ERRORS as error:
                self._trouble = error_text(error)
