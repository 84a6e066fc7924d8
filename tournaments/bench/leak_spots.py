"""Spots with a bet between or below the sizes of usual betting trees, and the share of hands that do not fold."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import FOLD, BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, PublicState, Strategy
from plurispiel.evaluation.play_profile import answer_shares

__all__ = ["LeakSpot", "measure_spot", "spots_of"]

_BOARD = "AhKdQs9c8h"
_TIMES = 200
"""Number of hands over which a share is averaged, each with different random choices of the agent."""


class LeakSpot(NamedTuple):
    """A decision, given by the board and the actions before the decision.

    Attributes
    ----------
    name : str
        A description of the decision, with bets and pots in chips.
    actions : tuple of int
        All actions of the hand so far: 0 fold, 1 check or call, N raise to N chips over the whole hand.
    board : tuple of int
        The board cards at the decision.
    """

    name: str
    actions: tuple[int, ...]
    board: tuple[int, ...]


def spots_of(rules: HoldemRules) -> list[LeakSpot]:
    """Return the spots of a game with 52 cards, a big blind of 100 chips, and two or six seats; otherwise none."""
    board = parse_cards(_BOARD)
    if (rules.num_seats, rules.big_blind, len(rules.cards)) not in ((6, 100, 52), (2, 100, 52)):
        return []
    opens = (250, 1) if rules.num_seats == 2 else (0, 0, 0, 225, 0, 1)
    level = max(opens)
    spots = [
        LeakSpot("flop, 100 into 500 after a check", (*opens, 1, level + 100), board[:3]),
        LeakSpot("river, 100 into 500 after checks", (*opens, 1, 1, 1, 1, 1, level + 100), board),
    ]
    if rules.num_seats == 2:
        return spots
    raises = [LeakSpot(f"HJ, UTG raises to {total}", (total,), ()) for total in (200, 210, 220)]
    return [*raises, LeakSpot("CO, UTG raises to 225, HJ to 350", (225, 350), ()), *spots]


def measure_spot(agent: Agent, rules: HoldemRules, spot: LeakSpot, seed: int) -> dict[str, float] | None:
    """Return the shares of 72o and of the agent's own range (``range``) that do not fold at a spot.

    The range is all hands, weighted by the agent's strategy at the agent's earlier decisions. A share is the mean over
    `_TIMES` hands, in which the agent draws different random numbers. Without a reported strategy, None is returned.
    """
    publics = list(_public_states(rules, spot))
    actor, free = publics[-1].actor, rules.free_combos(spot.board)
    goes_on, of_range = np.zeros(rules.num_combos), 0.0
    for number in range(_TIMES):
        agent.restart(rules, actor, np.random.default_rng((seed, number)))
        reach = np.ones(rules.num_combos)
        for public, action in zip(publics, spot.actions, strict=False):
            if public.actor == actor:
                earlier = agent.range_strategy(public)
                reach *= 1.0 if earlier is None else _nearest_probability(earlier, action)
        strategy = agent.expected_strategy(publics[-1])
        if strategy is None:
            return None
        share = 1.0 - answer_shares(strategy)[:, FOLD]
        goes_on += share / _TIMES
        of_range += float(normalised(reach * free, free / free.sum()) @ share) / _TIMES
    cards = [(4 * 5 + first, second) for first in range(4) for second in range(4) if first != second]
    combos = np.array([rules.combo_id(pair) for pair in cards])
    return {"72o": float(goes_on[combos[free[combos]]].mean()), "range": of_range}


def _nearest_probability(strategy: Strategy, action: int) -> np.ndarray:
    """Return each combo's probability of an action.

    If the strategy lacks the raise `action`, its nearest raise is taken instead. A strategy that draws raises from
    intervals (`highest`) needs no replacement: a raise has its share of the probability of its interval, or 0.
    """
    known = np.asarray(strategy.actions)
    raises = known[known > 1]
    if strategy.highest is None and action > 1 and action not in known and len(raises):
        action = int(raises[np.argmin(abs(raises - action))])
    return strategy.probability(action)


def _public_states(rules: HoldemRules, spot: LeakSpot) -> Iterator[PublicState]:
    """Yield the public state before each action of a spot, and finally the state at the spot's decision."""
    state = BettingState(rules)
    before: tuple[Action, ...] = ()
    for action in (*spot.actions, None):
        yield PublicState(rules, state.array.tolist(), spot.board[: rules.board_size(state.street)], before)
        if action is not None:
            before = (*before, Action(state.actor, action, state.street))
            state.apply(action)
