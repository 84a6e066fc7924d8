"""Starts of a street from the self-play of a blueprint, with the ranges that follow from the blueprint's play."""

import functools

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, PublicState, draw_column
from plurispiel.agents.blueprint.agent import BlueprintAgent, blueprint_agent
from plurispiel.agents.blueprint.library import BundledBlueprint, bundled_blueprints
from plurispiel.agents.search.beliefs import initial_beliefs, see_action, see_board

__all__ = ["bundled_digest", "play_to"]


def play_to(
    name: str, rules: HoldemRules, board: tuple[int, ...], street: int, rng: np.random.Generator
) -> tuple[BettingState, np.ndarray]:
    """Return the betting state at the start of a street, and both seats' ranges there, from a blueprint's self-play.

    Hands are dealt until one reaches the street without an all-in.

    Parameters
    ----------
    name : str
        Name of a bundled blueprint. Its game must be `rules`.
    rules : HoldemRules
        A game of two seats.
    board : tuple of int
        The board on which the seats hold the ranges that are returned. It may lack the new cards of `street`, for
        ranges at the end of the previous street. The order in which the board's cards come is random.
    street : int
        The street to reach.
    rng : numpy.random.Generator

    Returns
    -------
    state : BettingState
    ranges : float64[2, num_combos]
        Rows sum to 1.
    """
    agent = _agent(name)
    others = np.setdiff1d(rules.cards, board)
    while True:
        dealt = tuple(rng.permutation(board).tolist())
        holes = rng.choice(others, (2, rules.num_hole_cards), replace=False).tolist()
        combos = [rules.combo_id(tuple(cards)) for cards in holes]
        agent.restart(rules, 0, rng)
        state, ranges = BettingState(rules), initial_beliefs(rules)
        actions: tuple[Action, ...] = ()
        while not state.is_over and state.street < street:
            seen = dealt[: rules.board_size(state.street)]
            public = PublicState(rules, state.array.tolist(), seen, actions)
            strategy = agent.range_strategy(public)
            seat, row = public.actor, strategy.probabilities[combos[public.actor]]
            action = int(strategy.actions[draw_column(row.tolist(), rng)])
            chances = strategy.probability(action)
            ranges, _ = see_action(see_board(ranges, rules, seen), seat, chances, len(strategy.actions))
            actions = (*actions, Action(seat, action, public.street))
            state.apply(action)
        if not state.is_over:
            return state, see_board(ranges, rules, board)


def bundled_digest(name: str) -> str:
    """Return the SHA-256 of a bundled blueprint's packed file."""
    return _bundled(name).digest


@functools.cache
def _agent(name: str) -> BlueprintAgent:
    return blueprint_agent(str(_bundled(name).path))


def _bundled(name: str) -> BundledBlueprint:
    return next(each for each in bundled_blueprints() if each.name == name)
