"""Advice at a decision: an adviser's strategy with all hands, and how often it takes the action that was played.

An adviser's strategy does not depend on hole cards. If the question states the hole cards of the seat to act, advice
also tells the frequency with these cards. Ranges are beliefs of an observer who sees no hole cards.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules
from plurispiel.agents.base import Action, Agent, PublicState, Strategy
from plurispiel.agents.blueprint.agent import BundledAgent
from plurispiel.agents.continual.agent import ContinualAgent
from plurispiel.agents.continual.config import ContinualConfig
from plurispiel.agents.continual.table.agent import TableAgent
from plurispiel.agents.continual.table.config import TableConfig
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.beliefs import likelihood, planned_beliefs
from plurispiel.agents.search.config import SearchConfig
from plurispiel.tournaments.run.hand_story import strategy_grid
from plurispiel.tournaments.web.asked_hand import AskedHand

__all__ = [
    "Adviser",
    "AgentAdviser",
    "blueprint_adviser",
    "continual_adviser",
    "planned_ranges",
    "search_adviser",
    "strategy_advice",
]

Beliefs = Callable[[Any, AskedHand, PublicState], np.ndarray]
"""Maps an agent, a hand and the public state at a decision to the actor's range at this decision, in any scale."""


class Adviser(Protocol):
    """A source of advice at decisions."""

    def warm(self) -> None:
        """Load and compile everything that advice needs."""

    def advise(self, hand: AskedHand, decision: int, seconds: float) -> dict[str, Any]:
        """Return advice at a decision; see `strategy_advice`.

        Raises
        ------
        ValueError
            If the adviser has no advice for this decision; the message is the reason.
        """


class AgentAdviser:
    """An agent of this package as adviser. Agents and their searches are kept until the hand or the seconds change.

    Parameters
    ----------
    make : callable
        Returns an agent, given the seconds for an answer.
    beliefs : callable
        See `Beliefs`.
    by_seat : bool
        Whether each seat needs an agent of its own, because an agent's answers depend on its seat's earlier decisions.
    """

    def __init__(self, make: Callable[[float], Any], beliefs: Beliefs, *, by_seat: bool):
        self._make = make
        self._beliefs = beliefs
        self._by_seat = by_seat
        self._about: tuple[AskedHand, float] | None = None
        self._agents: dict[int, Any] = {}

    def warm(self) -> None:
        """Begin a hand, at which agents load and compile, and ask for the first strategy."""
        self.advise(AskedHand(HUNL, (Action(1, CALL, 0),), ((), ()), ()), 0, 1.0)

    def advise(self, hand: AskedHand, decision: int, seconds: float) -> dict[str, Any]:
        """Return advice at a decision, with the agent's own words on it (``words``) if it has any."""
        public = hand.public(decision)
        agent = self._agent_of(hand, public.actor, seconds)
        strategy = agent.expected_strategy(public)
        advice = strategy_advice(hand, decision, strategy, self._beliefs(agent, hand, public))
        explain = getattr(agent, "explain", None)
        return advice | ({"words": explain(public)} if explain else {})

    def _agent_of(self, hand: AskedHand, seat: int, seconds: float) -> Any:
        if self._about != (hand, seconds):
            self._about, self._agents = (hand, seconds), {}
        key = seat if self._by_seat else 0
        if key not in self._agents:
            agent = self._make(seconds)
            agent.restart(hand.rules, seat, np.random.default_rng(0))  # equal questions have equal answers
            self._agents[key] = agent
        return self._agents[key]


def strategy_advice(hand: AskedHand, decision: int, strategy: Strategy, reach: np.ndarray) -> dict[str, Any]:
    """Return a strategy as advice.

    Parameters
    ----------
    strategy : Strategy
        The strategy of all combos at the decision.
    reach : float64[num_combos]
        The actor's range, in any scale.

    Returns
    -------
    dict
        ``grid`` (`hand_story.strategy_grid`, with ``played``, the index of the action that was played, or None),
        ``frequency`` (of the action that was played, with the hand held; None if the hand is not known),
        ``range_frequency`` (of this action over the range; None for an empty range) and ``remark`` (a sentence, or
        empty).
    """
    public = hand.public(decision)
    free = hand.rules.free_combos(public.board)
    played, own = hand.actions[decision].action, hand.combo(public.actor)
    probabilities = np.nan_to_num(strategy.probabilities, nan=0.0)
    highest = strategy.actions if strategy.highest is None else strategy.highest
    kinds = list(zip(strategy.actions.tolist(), np.asarray(highest).tolist(), strict=True))
    column = next((k for k, (low, high) in enumerate(kinds) if low <= played <= high), None)
    remark = ""
    if column is not None:
        chances = probabilities[:, column]
    elif played <= CALL:
        chances = np.zeros(hand.rules.num_combos)
    else:
        chances = likelihood(Strategy(strategy.actions, probabilities, strategy.highest), public, played)
        remark = f"The adviser has no raise to {played:,}: the frequency is a mean over its sizes next to that."
    reach = np.where(free, np.nan_to_num(reach, nan=0.0), 0.0)
    most, total = float(reach.max()), float(reach.sum())
    grid = strategy_grid(public.betting(), kinds, probabilities.T, reach / most if most > 0.0 else reach, free, own)
    return {
        "grid": grid | {"played": column},
        "frequency": None if own is None else round(float(chances[own]), 4),
        "range_frequency": round(float(reach @ chances) / total, 4) if total > 0.0 else None,
        "remark": remark,
    }


def blueprint_adviser() -> Adviser:
    """Return the bundled blueprint that fits the table, as adviser."""
    return AgentAdviser(lambda seconds: BundledAgent(None), _planned, by_seat=True)


def search_adviser() -> Adviser:
    """Return search as adviser; the seconds of a question are the time of a search."""

    def beliefs(agent: SearchAgent, hand: AskedHand, public: PublicState) -> np.ndarray:
        return agent.beliefs(public)[public.actor]

    return AgentAdviser(lambda seconds: SearchAgent(config=SearchConfig(time=seconds)), beliefs, by_seat=True)


def continual_adviser(small: ContinualConfig | None = None) -> Adviser:
    """Return continual re-solving as adviser.

    In hold'em its time is the seconds of the question, at least 1. In small games it has the settings `small`, or the
    defaults of `ContinualConfig`.
    """

    def beliefs(agent: ContinualAgent, hand: AskedHand, public: PublicState) -> np.ndarray:
        if not isinstance(agent.agent, TableAgent):
            return _planned(agent.agent, hand, public)
        if not public.street and agent.agent.blueprint is not None:
            return _planned(agent.agent.blueprint, hand, public)
        return agent.agent.decision(public).carried.range

    def make(seconds: float) -> ContinualAgent:
        return ContinualAgent(small or ContinualConfig(), TableConfig(time=max(seconds, 1.0)))

    return AgentAdviser(make, beliefs, by_seat=False)


def planned_ranges(agent: Agent, rules: HoldemRules, public: PublicState) -> np.ndarray:
    """Return each seat's range at a public state if all seats play like one agent: float64[num_seats, num_combos]."""
    return planned_beliefs(agent, rules, public.actions, public.board)[1]


def _planned(agent: Agent, hand: AskedHand, public: PublicState) -> np.ndarray:
    return planned_ranges(agent, hand.rules, public)[public.actor]
