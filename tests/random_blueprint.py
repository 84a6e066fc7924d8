"""Blueprints that nobody trained, with buckets that need no table."""

import dataclasses
import functools
import tempfile
from pathlib import Path

import numpy as np

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree, tree_size
from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.agents.blueprint.blueprint import Blueprint, game_arrays, street_decisions
from plurispiel.agents.blueprint.bundle import SUFFIX, pack_blueprint
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig, MenuConfig

MENU = GameMenu(
    (
        StreetMenu(("0.5p 1p allin", "allin")),
        StreetMenu(("0.5p 1p", "allin"), multiway=("1p",)),
        StreetMenu(("1p allin",), multiway=("",)),
    )
)

TRAINING = {"iterations": 10, "traversals": 20, "nodes": 100, "seconds": 3.6, "threads": 2, "marks": []}


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


def timid(found, divisor):
    """Return a blueprint that folds often from the flop on, with rows of at most ``255 // divisor`` different numbers.

    With few of them, many buckets call equally often.
    """
    tree, game, rows = found.tree, found.game, np.maximum(found.rows // divisor, 1)
    for street in range(1, found.rules.num_streets):
        table = rows[game.base[street] : game.base[street + 1]].reshape(found.cards.num_buckets[street], -1)
        for node in found.decisions(street).tolist():
            if tree.actions(node)[0] == FOLD:
                table[:, tree.row[node]] *= 4
    return Blueprint(found.rules, tree, found.cards, game, rows)


def pack_random(folder, name, *, seed=1, training=None, **config):
    """Pack a blueprint of random rows, of all-in or fold in hold'em with so many `seats` and `stack_bb`, or a `game`.

    Returns the file.
    """
    menu = None if "game" in config else MenuConfig(("allin",), push_or_fold=True)
    settings = BlueprintConfig(name, 10, menu=menu, **config)
    cards = lossless_buckets(settings.rules, 4 if "game" in config else 1)
    found = random_blueprint(settings.rules, settings.game_menu, cards=cards, seed=seed)
    path = Path(folder) / f"{name}{SUFFIX}"
    with tempfile.TemporaryDirectory() as kept:
        dataclasses.replace(found, config=settings, training=training or TRAINING).save(Path(kept))
        pack_blueprint(Path(kept), path, num_decks=0)
    return path
