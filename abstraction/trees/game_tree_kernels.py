"""Kernels that number the infosets of a flat game tree, and compute expected payoffs from every history."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel


class TreeNodes(NamedTuple):
    """The arrays of a `GameTree` that kernels read, C-contiguous, with the dtypes described there."""

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
    """Write for each decision the last earlier action of the same player, as an offset in a strategy.

    Parameters
    ----------
    past : int32[num_histories]
        Modified in place: -1 if the player has not acted before, and where no player decides.
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


@kernel
def number_labels(label, first):
    """Write the first history of each label that occurs into `first`, int32[num_labels], modified in place.

    Entries of labels that do not occur keep their value.
    """
    for history in range(len(label) - 1, -1, -1):  # backwards: the first history is written last
        if label[history] >= 0:
            first[label[history]] = history


@kernel
def sort_by_infoset(infoset, ends, histories):
    """Write the histories of infoset 0, then those of infoset 1, and so on, ascending within each infoset.

    Parameters
    ----------
    ends : int32[num_infosets + 1]
        At the call, the index in `histories` where each infoset begins. Modified in place: the index where it ends.
    histories : int32[number of decisions]
        Modified in place.
    """
    for history in range(len(infoset)):
        number = infoset[history]
        if number >= 0:
            histories[ends[number]] = history
            ends[number] += 1


@kernel
def all_alike(infoset, expected, found):
    """Return whether ``found[h]`` equals ``expected[infoset[h]]`` in every history h with an infoset (int32 arrays)."""
    for history in range(len(infoset)):
        number = infoset[history]
        if number >= 0 and found[history] != expected[number]:
            return False
    return True


@kernel
def fill_values(nodes, strategy, values):
    """Write every player's expected payoff from each history on, when all players follow a strategy.

    Parameters
    ----------
    nodes : TreeNodes
    strategy : float64[num_actions]
    values : float64[num_histories, num_players]
        Modified in place.
    """
    num_players = nodes.payoffs.shape[1]
    for history in range(len(nodes.player) - 1, -1, -1):  # children have higher numbers than their parents
        size = nodes.num_children[history]
        if size == 0:
            for player in range(num_players):
                values[history, player] = nodes.payoffs[nodes.payoff_id[history], player]
            continue
        first = nodes.first_child[history]
        infoset = nodes.infoset[history]
        offset = nodes.infoset_first[infoset] if infoset >= 0 else 0
        for player in range(num_players):
            values[history, player] = 0.0
        for k in range(size):
            probability = strategy[offset + k] if infoset >= 0 else nodes.chance[first + k]
            for player in range(num_players):
                values[history, player] += probability * values[first + k, player]
