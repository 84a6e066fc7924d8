"""Kernels of the flat game tree."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction._jit import kernel


class TreeNodes(NamedTuple):
    """The arrays of a `GameTree` that kernels read, C-contiguous, dtypes as there."""

    player: np.ndarray
    first_child: np.ndarray
    num_children: np.ndarray
    infoset: np.ndarray
    chance: np.ndarray
    payoff_id: np.ndarray
    payoffs: np.ndarray
    infoset_player: np.ndarray
    infoset_first: np.ndarray
    infoset_parent: np.ndarray


@kernel
def own_pasts(parent, player, first_child, infoset, infoset_first, past):
    """Write for each decision the last sequence its actor took part in before: its offset in a strategy, or -1.

    Parameters
    ----------
    past : int32[num_histories]
        Modified in place; -1 where nobody decides, too.
    """
    for history in range(len(parent)):
        past[history] = -1
        actor = player[history]
        if actor < 0:
            continue
        child = history
        before = parent[child]
        while before >= 0 and player[before] != actor:
            child = before
            before = parent[child]
        if before >= 0:
            past[history] = infoset_first[infoset[before]] + child - first_child[before]
