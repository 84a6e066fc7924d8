"""Agents: their contract, the built-in ones, and the bridges to and from OpenSpiel."""

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
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
from plurispiel.agents.factory import make_agent

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
    "cards_text",
    "make_agent",
    "parse_cards",
]
