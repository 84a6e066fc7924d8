"""The leaves of a search: nodes of the blueprint's tree, from which continuation strategies are rolled out."""

import functools

from plurispiel.abstraction.actions.translation import ShadowHand
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.roll_outs import RollOutPlace, StreetStarts, find_place, hand_in_tree, roll_out_tables
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
        The number of policies among which players choose: the first ones of `CONTINUATIONS`.

    Attributes
    ----------
    num_policies : int
        As given.
    cards : CardArrays
        The arrays of the blueprint's bucket table.
    tables : RollOutTables
        The blueprint laid out for roll-outs.
    size : RollOutSize
        The size of the blueprint's tree.
    rules : HoldemRules
        The blueprint's own rules.
    hand : ShadowHand
        Finds the blueprint's nodes for hands of the game that is played.

    Raises
    ------
    ValueError
        If `num_policies` is out of range, or the blueprint has no bucket table: roll-outs need the buckets of millions
        of hands, too many to compute during play.
    """

    def __init__(self, blueprint: Blueprint, rules: HoldemRules, num_policies: int = len(CONTINUATIONS)):
        if not isinstance(blueprint.cards, CardBuckets):
            raise ValueError("roll-outs need the bucket table that the blueprint was trained with; build that table")
        if not 1 <= num_policies <= len(CONTINUATIONS):
            raise ValueError(f"there are 1..{len(CONTINUATIONS)} continuations, got {num_policies}")
        self.num_policies = num_policies
        self.cards = blueprint.cards.arrays
        self.tables, self.size = _tables(blueprint)
        self.rules = blueprint.rules
        self.hand: ShadowHand = hand_in_tree(rules, blueprint)
        self._starts = _street_starts(blueprint)

    def place(self, actions: tuple[int, ...]) -> RollOutPlace | None:
        """Return the blueprint's node after all actions of a hand so far; None if the tree has no similar node.

        At the start of a street, action translation may find no node, or only a node that does not fit (`find_place`).
        Then the result is the tree's start of this street with the same players and the nearest contribution of the
        seat to act, if the pot there fits (`StreetStarts`). Whether or not `StreetStarts` found the node, the pots of
        the hand and of the tree, in big blinds, differ by a factor of at most `roll_outs.MAX_SCALE`.
        """
        # Translation is deterministic, as published for leaves: random translation would give one leaf several values.
        return find_place(self.hand, actions) or self._starts.find_place(self.hand, actions)


_tables = functools.lru_cache(2)(roll_out_tables)


@functools.lru_cache(2)
def _street_starts(blueprint: Blueprint) -> StreetStarts:
    return StreetStarts(blueprint.tree)
