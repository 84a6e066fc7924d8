"""A blueprint of random rows at a table, with rows missing, and where its answers come from."""

import dataclasses
import functools

import numpy as np
from random_blueprint import random_blueprint

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.fallback import SOURCES

THREE = no_limit_holdem(3)
ALL = np.arange(1326)
BOARD = parse_cards("2c 7d Jh Js Ac")
FLOP = (350, CALL, CALL)
"""Three seats see the flop for 350 each."""


@functools.cache
def blueprint(seats, missing=0.0):
    return random_blueprint(no_limit_holdem(seats), missing=missing)


def agent_at(found, rules=None, seat=0, seed=1):
    agent = BlueprintAgent(found)
    agent.restart(rules or found.rules, seat, np.random.default_rng(seed))
    return agent


def buckets_of(found, public):
    """Return the bucket of each combo, any for those that touch the board."""
    return np.minimum(found.cards.row(public.board, public.street), found.cards.num_buckets[public.street] - 1)


def without(found, *places):
    """Return a blueprint without some rows: pairs of a node and buckets."""
    rows = found.rows.copy()
    for node, buckets in places:
        street, count = int(found.tree.street[node]), int(found.tree.num_actions[node])
        cells = found.game.base[street] + np.asarray(buckets) * found.game.pairs[street] + found.tree.row[node]
        rows[cells[:, None] + np.arange(count)] = 0
    return dataclasses.replace(found, rows=rows)


def node_after(tree, actions):
    """Return the node that some actions lead to."""
    node = 0
    for action in actions:
        node = int(tree.first_child[node]) + tree.actions(node).tolist().index(action)
    return node


def sources_of(agent, public):
    """Return the strategy of all combos, and where each row comes from."""
    return agent.strategy(public, ALL), np.array(SOURCES)[agent.sources(public, ALL)]


def random_path(tree, rng):
    """Return a random decision of a tree, and the actions before it; calls are likelier than folds."""
    node, actions, found = 0, [], []
    while tree.actor[node] >= 0:
        found.append((node, tuple(actions)))
        offered = tree.actions(node).tolist()
        weights = np.array([0.1 if action == FOLD else 1.0 for action in offered])
        place = int(rng.choice(len(offered), p=weights / weights.sum()))
        actions.append(offered[place])
        node = int(tree.first_child[node]) + place
    return found[int(rng.integers(len(found)))]
