"""What comes behind the leaves of a search: the blueprint in several versions, from where its tree goes on."""

import functools

from plurispiel.abstraction.actions.translation import ShadowHand
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.roll_outs import FlopStarts, RollOutPlace, find_place, hand_in_tree, roll_out_tables
from plurispiel.agents.search.continuations import CONTINUATIONS

__all__ = ["Continuations"]


class Continuations:
    """How hands of a game go on behind a leaf: the blueprint in several versions.

    Parameters
    ----------
    blueprint : Blueprint
        With its bucket table.
    rules : HoldemRules
        Of the game that is played.
    num_policies : int
        How many of `CONTINUATIONS` there are to choose from.

    Raises
    ------
    ValueError
        If the buckets of the blueprint would have to be computed.
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
        """Return where the blueprint goes on after some actions, None if nothing in its tree is like that.

        When the flop is dealt and its tree says little of it, that is a flop with the same players and the nearest pot.
        """
        return find_place(self.hand, actions) or self._flops.find_place(self.hand, actions)


_tables = functools.lru_cache(2)(roll_out_tables)


@functools.lru_cache(2)
def _flop_starts(blueprint: Blueprint) -> FlopStarts:
    return FlopStarts(blueprint.tree)
