"""Bridges to OpenSpiel: our agents as OpenSpiel's bots and policies, and OpenSpiel's bots and solvers as our agents."""

from plurispiel.agents.guests import OPENSPIEL_BOTS, BotAgent, PolicyAgent, SolverAgent, openspiel_agent
from plurispiel.agents.openspiel.bot import OpenSpielBot, RLAgent, agent_policy
from plurispiel.agents.openspiel.environment import make_environment
from plurispiel.agents.openspiel.learned_agent import LearnedAgent

__all__ = [
    "OPENSPIEL_BOTS",
    "BotAgent",
    "LearnedAgent",
    "OpenSpielBot",
    "PolicyAgent",
    "RLAgent",
    "SolverAgent",
    "agent_policy",
    "make_environment",
    "openspiel_agent",
]
