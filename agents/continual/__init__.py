"""Continual re-solving: a seat solves anew at each decision, from its own range and bounds on the opponent's values."""

from plurispiel.agents.continual.agent import ContinualAgent, continual_agent
from plurispiel.agents.continual.config import ContinualConfig, config_from_options
from plurispiel.agents.continual.lookahead import Lookahead, Opponent, SolvedLookahead
from plurispiel.agents.continual.resolver import Resolver
from plurispiel.agents.continual.small_games import continual_strategy

__all__ = [
    "ContinualAgent",
    "ContinualConfig",
    "Lookahead",
    "Opponent",
    "Resolver",
    "SolvedLookahead",
    "config_from_options",
    "continual_agent",
    "continual_strategy",
]
