"""Trial starts of isolated agents, which show before a run begins that an agent cannot play."""

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import PublicState
from plurispiel.evaluation.hand import AgentFault
from plurispiel.evaluation.local_best_response import StrategyUnknown, check_told
from plurispiel.tournaments.contestants.isolated import IsolatedAgent
from plurispiel.tournaments.contestants.program_agent import ProgramAgent

__all__ = ["try_to_load", "try_to_tell"]


def try_to_load(contestant: IsolatedAgent, rules: HoldemRules | None = None) -> None:
    """Start the process of an isolated agent and load the agent, for the game `rules` (`IsolatedAgent.load`).

    Raises
    ------
    ValueError
        If the agent does not exist, its sandbox does not start, its code fails, or its process ends repeatedly or does
        not answer in time.
    """
    try:
        contestant.load(rules)
    except AgentFault as fault:
        cause = fault.message.removeprefix("load: ")
        raise ValueError(cause if fault.kind == "load" else f"{contestant.name} does not load: {cause}") from None


def try_to_tell(contestant: IsolatedAgent, rules: HoldemRules) -> None:
    """Have an isolated agent report its strategy for every combo at the first decision.

    Raises
    ------
    ValueError
        If the agent does not load, commits a fault, or reports a strategy of the wrong type or shape, or with rows that
        are not probabilities.
    StrategyUnknown
        If the agent reports no strategy; this exception is a ValueError, too.
    """
    try_to_load(contestant, rules)
    state = BettingState(rules)
    public = PublicState(rules, state.array.tolist())
    try:
        contestant.restart(rules, public.actor, np.random.default_rng(0))
        strategy = contestant.range_strategy(public)
        if strategy is None and isinstance(contestant, ProgramAgent):
            raise StrategyUnknown(
                f"{contestant.name}: the program does not report its strategy for every hand, which local best "
                f"response needs; {contestant.way_to_tell or 'only the line protocol (stdio:PROGRAM) has a way'}"
            )
        check_told(contestant, public, strategy)
    except AgentFault as fault:
        raise ValueError(f"{contestant.name}: {fault.message}") from fault
