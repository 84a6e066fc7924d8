"""The betting tree as traversals read it."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem.hand_rank import RankTables
from plurispiel.agents.blueprint import traversal_kernels as kernels
from plurispiel.agents.blueprint.blueprint import GameArrays
from plurispiel.agents.blueprint.cards import CardArrays


class TraversalTree(NamedTuple):
    """A betting tree with one record for each node: a quarter of a line of the cache, siblings side by side.

    Attributes
    ----------
    nodes : int32[num_nodes, 4]
        Of a decision: what is known of its actor (`_traversal_kernels`), its first child, its row, the chips that its
        seat has put in. Of an end: the complement of the set of seats that have not folded, its number, the pot, and
        the chips that each of those seats has put in, -1 where they differ.
    contributions : int32[num_ends, num_seats]
        Chips each seat has put in.
    """

    nodes: np.ndarray
    contributions: np.ndarray


class DealtGame(NamedTuple):
    """An abstract game as kernels deal and walk it.

    Attributes
    ----------
    tables : RankTables
    tree : TraversalTree
    game : GameArrays
    cards : CardArrays
    """

    tables: RankTables
    tree: TraversalTree
    game: GameArrays
    cards: CardArrays


def traversal_tree(tree: BettingTree) -> TraversalTree:
    """Return a betting tree as traversals read it."""
    nodes = np.empty((len(tree.actor), 4), np.int32)
    kernels.pack_nodes(tree, nodes)
    return TraversalTree(nodes, tree.contributions)
