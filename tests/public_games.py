"""Games of few cards with one or two boards, and agents that play any strategy in them."""

import dataclasses

import numpy as np

from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import KUHN, LEDUC, HoldemRules
from plurispiel.agents import make_agent
from plurispiel.agents.base import Agent, Strategy


def small_game(num_suits, num_ranks, board_cards, num_hole_cards=2, stack=500, first_seats=(1, 0, 0), **changes):
    return HoldemRules(
        blinds=(100, 50),
        stacks=(stack, stack),
        first_seats=first_seats[: len(board_cards)],
        board_cards=board_cards,
        num_suits=num_suits,
        num_ranks=num_ranks,
        num_hole_cards=num_hole_cards,
        betting_abstraction="fcpa",
        **changes,
    )


class Noise(Agent):
    """Random probabilities at every public state and for every combo, many of them 0, in any order of actions."""

    def __init__(self, seed):
        self.seed = seed

    def range_strategy(self, public):
        history = [action.action for action in public.actions]
        rng = np.random.default_rng([self.seed, *history, 99, *public.board])
        actions = rng.permutation([FOLD, CALL, *public.menu] if public.can_fold else [CALL, *public.menu])
        if len(actions) > 1 and rng.random() < 0.3:
            actions = actions[:-1]  # never the last one
        weights = rng.random((public.rules.num_combos, len(actions)))
        weights[rng.random(weights.shape) < 0.4] = 0.0
        weights[weights.sum(axis=1) == 0.0, 0] = 1.0
        return Strategy(actions, weights / weights.sum(axis=1, keepdims=True))


def pair(spec):
    return [make_agent(spec), make_agent(spec)]


SMALL = {
    "one board card": small_game(2, 3, (0, 1), stack=300),
    "two of three suits": small_game(3, 2, (0, 2), stack=300),
    "flop": small_game(2, 4, (0, 3), stack=250),
    "three streets": small_game(2, 3, (0, 1, 1), stack=200),
    "a board at once": small_game(2, 3, (1,), stack=300),
    "a street without cards": small_game(2, 3, (0, 0, 1), stack=200),
    "one hole card": small_game(2, 3, (0, 1), num_hole_cards=1),
    "unequal stacks": dataclasses.replace(small_game(2, 3, (0, 1)), stacks=(450, 220)),
    "limit": dataclasses.replace(LEDUC, num_ranks=4),
    "Kuhn": KUHN,
}


class Wave(Agent):
    """Probabilities that depend on the betting and the strength of the hand now, so not on which suit is which."""

    def __init__(self, seed):
        self.seed = seed

    def range_strategy(self, public):
        actions = np.array([FOLD, CALL, *public.menu] if public.can_fold else [CALL, *public.menu])
        rng = np.random.default_rng([self.seed, *(action.action for action in public.actions)])
        strength = made_strength(public.rules, public.board)[:, None]
        weights = np.sin(rng.random(len(actions)) + 5 * rng.random(len(actions)) * strength) ** 2
        return Strategy(actions, weights / weights.sum(axis=1, keepdims=True))
