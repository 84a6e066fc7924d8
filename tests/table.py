"""A seat at a table for tests: the public state after some actions, and an agent that has been dealt in."""

import dataclasses

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import no_limit_holdem
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


def random_rules(seats, rng):
    """Return a table with stacks from one big blind to 600, all equal, or each its own."""
    base = no_limit_holdem(seats)
    stacks = 100.0 * np.exp(rng.uniform(0.0, 6.4, seats if rng.random() < 0.7 else 1))
    stacks = np.broadcast_to(stacks, seats).astype(int)
    return dataclasses.replace(base, stacks=tuple(np.maximum(stacks, 101).tolist()))
