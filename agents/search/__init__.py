"""Nested search: subgames solved while a hand is played, from beliefs about every seat's cards."""

from plurispiel.agents.search.agent import SearchAgent, search_agent
from plurispiel.agents.search.config import SearchConfig, config_from_options
from plurispiel.agents.search.root import Root
from plurispiel.agents.search.solution import SearchedNode, StreetSolution

__all__ = [
    "Root",
    "SearchAgent",
    "SearchConfig",
    "SearchedNode",
    "StreetSolution",
    "config_from_options",
    "search_agent",
]
