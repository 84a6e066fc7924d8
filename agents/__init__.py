"""Things that act: the contract, the built-in agents, and the way from and to OpenSpiel."""

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.base import (
    Action,
    Agent,
    Board,
    Deal,
    Decision,
    Event,
    PublicState,
    RangeAgent,
    Strategy,
    View,
)
from plurispiel.agents.specs import make_agent

__all__ = [
    "CALL",
    "FOLD",
    "Action",
    "Agent",
    "Board",
    "Deal",
    "Decision",
    "Event",
    "PublicState",
    "RangeAgent",
    "Strategy",
    "View",
    "make_agent",
]
