"""A seat at a table for tests: the public state after some actions, and an agent that has been dealt in."""

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.agents.base import Action, PublicState


def public_after(rules, actions, board=()):
    """The public state after some actions; of a board, as cards or text, only what is dealt by then is seen."""
    cards = parse_cards(board) if isinstance(board, str) else tuple(board)
    state, done = BettingState(rules), ()
    for action in actions:
        done += (Action(state.actor, action, state.street),)
        state.apply(action)
    return PublicState(rules, state.array.tolist(), cards[: rules.board_size(state.street)], done)


def agent_at(agent, rules, seat=0, *, seed=1):
    """The agent at the beginning of a hand."""
    agent.restart(rules, seat, np.random.default_rng(seed))
    return agent
