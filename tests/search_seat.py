"""A searching agent at a table, with a blueprint of random rows and few iterations."""

import functools

import numpy as np
import table
from random_blueprint import random_blueprint

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, no_limit_holdem
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import single_buckets
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.config import SearchConfig

FEW = SearchConfig(
    iterations=4,
    threads=1,
    cards="blueprint",
    run_outs=2,
    last_boards=1,
    later_sizes=("allin",),
    purge=0.0,
    warm_start=0.0,
)
BOARD = parse_cards("QsJh2h7c3d")
START = (250, 1)  # the small blind raises, the big blind calls and acts first on the flop
TO_TURN = (*START, 1, 1)
TO_RIVER = (*TO_TURN, 1, 500, 1)


class Gambler(RandomAgent):
    """Mostly calls; raises to any size, small ones as often as large ones."""

    def act(self, view):
        public, chance = view.public, self.rng.random()
        if chance < 0.4 and public.max_raise:
            share = self.rng.random() ** 2
            return int(round(public.min_raise ** (1.0 - share) * public.max_raise**share))
        return 0 if chance > 0.95 and public.can_fold else 1


@functools.cache
def blueprint(seats, has_table=False):
    rules = HUNL if seats == 2 else no_limit_holdem(seats)
    return random_blueprint(rules, cards=single_buckets(rules) if has_table else None)


def agent_at(config=FEW, *, rules=HUNL, seat=0, beliefs=None):
    agent = SearchAgent(BlueprintAgent(blueprint(rules.num_seats)), config, beliefs=beliefs)
    return table.agent_at(agent, rules, seat)


def public_after(actions, *, rules=HUNL):
    return table.public_after(rules, actions, BOARD)


def whole_strategy(agent, public):
    return agent.strategy(public, np.arange(public.rules.num_combos))


def live_combos(public):
    return public.rules.free_combos(public.board)
