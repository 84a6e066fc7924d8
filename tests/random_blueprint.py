"""Blueprints that nobody trained, with buckets that need no table."""

import functools

import numpy as np

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree, tree_size
from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.agents.blueprint.blueprint import Blueprint, game_arrays, street_decisions

MENU = GameMenu(
    (
        StreetMenu(("0.5p 1p allin", "allin")),
        StreetMenu(("0.5p 1p", "allin"), multiway=("1p",)),
        StreetMenu(("1p allin",), multiway=("",)),
    )
)


class StrengthBuckets:
    """Starting hands, then so many even steps of made strength: sorted from weak to strong, as tables are."""

    model = "stands for one"
    table_digest = ""

    def __init__(self, rules, num_steps=20):
        self.rules = rules
        self.num_buckets = (169, *(num_steps,) * (rules.num_streets - 1))

    @functools.lru_cache(64)  # noqa: B019
    def row(self, board, street):
        if street == 0:
            return np.array(preflop_classes())
        steps = made_strength(self.rules, board) * self.num_buckets[street]
        row = np.minimum(steps, self.num_buckets[street] - 1).astype(np.uint8)
        row[np.isin(self.rules.combos, board).any(axis=1)] = 255
        return row


def random_blueprint(rules, menu=MENU, *, cards=None, missing=0.0, seed=1):
    """Return a blueprint of random rows in 8 bits, some of them missing."""
    tree, size = build_tree(rules, menu), tree_size(rules, menu)
    cards = cards or StrengthBuckets(rules)
    game = game_arrays(rules, size, cards.num_buckets)
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 256, int(game.base[-1]), dtype=np.uint8)
    for street, buckets in enumerate(cards.num_buckets):
        table = rows[game.base[street] : game.base[street + 1]].reshape(buckets, -1)
        counts = tree.num_actions[street_decisions(tree, street)]
        table[np.repeat(rng.random((buckets, len(counts))) < missing, counts, axis=1)] = 0
    return Blueprint(rules, tree, cards, game, rows)
