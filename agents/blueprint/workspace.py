"""What a thread writes to while it deals, traverses and plays."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions import _tree_kernels
from plurispiel.abstraction.holdem.cards import deck_cards
from plurispiel.abstraction.holdem.rules import MAX_SEATS, HoldemRules


class TraversalWorkspace(NamedTuple):
    """Memory for one thread: the deal, what it means to every seat, and the stack of a traversal."""

    deck: np.ndarray
    combos: np.ndarray
    buckets: np.ndarray
    ranks: np.ndarray
    nodes: np.ndarray
    cells: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    values: np.ndarray
    strategies: np.ndarray
    explored: np.ndarray


def traversal_workspace(rules: HoldemRules) -> TraversalWorkspace:
    """Return the memory of one thread."""
    depth, actions = _tree_kernels.MAX_DEPTH + 1, _tree_kernels.MAX_ACTIONS
    return TraversalWorkspace(
        deck=np.array(deck_cards(rules.num_suits, rules.num_ranks)),
        combos=np.zeros(MAX_SEATS, np.int64),
        buckets=np.zeros((MAX_SEATS, rules.num_streets), np.int64),
        ranks=np.zeros(MAX_SEATS, np.int64),
        nodes=np.zeros(depth, np.int64),
        cells=np.zeros(depth, np.int64),
        places=np.zeros(depth, np.int64),
        counts=np.zeros(depth, np.int64),
        values=np.zeros((depth, actions)),
        strategies=np.zeros((depth + 1, actions)),
        explored=np.zeros((depth, actions), np.bool_),
    )
