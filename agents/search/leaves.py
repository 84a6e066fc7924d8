"""The leaves of a search: nodes of the blueprint's tree from which its continuation strategies are rolled out."""

import functools

from plurispiel.abstraction.actions.translation import ShadowHand
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.roll_outs import FlopStarts, RollOutPlace, find_place, hand_in_tree, roll_out_tables
from plurispiel.agents.search.continuations import CONTINUATIONS

__all__ = ["Continuations"]


class Continuations:
    """The continuation strategies of a blueprint for the leaves of searches.

    Parameters
    ----------
    blueprint : Blueprint
        A blueprint with its bucket table.
    rules : HoldemRules
        Rules of the game that is played.
    num_policies : int
        The number of `CONTINUATIONS` to choose from.

    Raises
    ------
    ValueError
        If the blueprint has no bucket table: roll-outs need millions of buckets, too many to compute.
    """

    def __init__(self, blueprint: Blueprint, rules: HoldemRules, num_policies: int = len(CONTINUATIONS)):
        if not isinstance(blueprint.cards, CardBuckets):
            raise ValueError("roll-outs need the bucket table that the blueprint was trained with; build it")
        if not 1 <= num_policies <= len(CONTINUATIONS):
            raise ValueError(f"there are 1..{len(CONTINUATIONS)} continuations, got {num_policies}")
        self.num_policies = num_policies
        self.cards = blueprint.cards.arrays
        self.tables, self.depth = _tables(blueprint)
        self.rules = blueprint.rules
        self.hand: ShadowHand = hand_in_tree(rules, blueprint)
        self._flops = _flop_starts(blueprint)

    def place(self, actions: tuple[int, ...]) -> RollOutPlace | None:
        """Return the blueprint's node after some actions of the hand, None if its tree has no similar node.

        At the start of a flop to which the tree has no close translation, this is the flop of the same players with
        the nearest pot.
        """
        # Deterministic, as published for leaves: translation at random would give one leaf several values.
        return find_place(self.hand, actions) or self._flops.find_place(self.hand, actions)


_tables = functools.lru_cache(2)(roll_out_tables)


@functools.lru_cache(2)
def _flop_starts(blueprint: Blueprint) -> FlopStarts:
    return FlopStarts(blueprint.tree)
