"""The sequence form of a game tree: the payoffs of all combinations of the players' sequences, as sparse arrays.

A *sequence* is an action of a player with all of that player's earlier actions. Its number is the offset of that action
in a strategy of A actions; player i's empty sequence has the number A + i. A *realisation plan* holds, for each
sequence, its player's reach. With such plans, counterfactual values are sums over terminal histories, in any order: no
pass over the tree is needed. Source: Koller, Megiddo and von Stengel, "Efficient computation of equilibria for
extensive two-person games" (1996).
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.trees.game_tree import TERMINAL, GameTree


class SequenceForm(NamedTuple):
    """A game of n players, A actions and I infosets, as kernels read it.

    Indices are unsigned, because numba checks signed indices for negative values; these checks took half of the time.

    Attributes
    ----------
    player_first : uint32[n + 1]
        First infoset of each player; the last entry is I.
    infoset_first : uint32[I + 1]
        First sequence of each infoset; the last entry is A.
    infoset_parent : uint32[I]
        The sequence of the infoset's player that leads to the infoset: the empty sequence, or one that ends in an
        infoset of a lower number.
    row_first : uint32[n + 1]
        First row of each player; the last number is R, the number of rows. A row is a sequence that is its player's
        last one at some terminal history, and that has at least one entry.
    row_sequence : uint32[R]
        The sequence of each row.
    entry_first : uint32[R + 1]
        First entry of each row; the last number is E, the number of entries. An entry is a row together with one
        combination of the other players' last sequences, if its payoff is not 0.
    entry_others : uint32[E, n - 1]
        The other players' last sequences in each entry, in the order of the players.
    entry_payoff : float64[E]
        Payoff of the row's player, times the reach of chance, summed over the entry's terminal histories.
    """

    player_first: np.ndarray
    infoset_first: np.ndarray
    infoset_parent: np.ndarray
    row_first: np.ndarray
    row_sequence: np.ndarray
    entry_first: np.ndarray
    entry_others: np.ndarray
    entry_payoff: np.ndarray


def sequence_form(tree: GameTree) -> SequenceForm:
    """Return the sequence form of a game.

    For each player, terminal histories with equal last sequences of all players form one entry. Entries whose payoffs
    sum to 0 are not stored.
    """
    num_players, num_actions = tree.num_players, tree.num_actions
    sequences, chance = _last_sequences(tree)
    ends = np.flatnonzero(tree.player == TERMINAL)
    sequences, chance = sequences[ends], chance[ends]
    payoffs = tree.payoffs[tree.payoff_id[ends]] * chance[:, np.newaxis]
    row_first, row_sequence, num_entries, entry_others, entry_payoff = [0], [], [], [], []
    for player in range(num_players):
        own, others, payoff = _merge(sequences, payoffs[:, player], player)
        rows, first, counts = np.unique(own, return_index=True, return_counts=True)
        # Rows are ordered by their number of entries, so that the processor predicts the end of the loop over entries.
        order = np.argsort(counts, kind="stable")
        entries = _ranges(first[order], counts[order])
        row_sequence.append(rows[order])
        num_entries.append(counts[order])
        entry_others.append(others[entries])
        entry_payoff.append(payoff[entries])
        row_first.append(row_first[-1] + len(rows))
    parent = np.where(tree.infoset_parent < 0, num_actions + tree.infoset_player.astype(np.int64), tree.infoset_parent)
    return SequenceForm(
        player_first=np.searchsorted(tree.infoset_player, np.arange(num_players + 1)).astype(np.uint32),
        infoset_first=tree.infoset_first.astype(np.uint32),
        infoset_parent=parent.astype(np.uint32),
        row_first=np.array(row_first, dtype=np.uint32),
        row_sequence=np.concatenate(row_sequence).astype(np.uint32),
        entry_first=np.concatenate([[0], np.cumsum(np.concatenate(num_entries))]).astype(np.uint32),
        entry_others=np.ascontiguousarray(np.concatenate(entry_others), dtype=np.uint32),
        entry_payoff=np.concatenate(entry_payoff),
    )


def _last_sequences(tree: GameTree) -> tuple[np.ndarray, np.ndarray]:
    """Return every player's last sequence on the way to each history, int32[H, n], and chance's reach, float64[H]."""
    sequences = np.empty((tree.num_histories, tree.num_players), dtype=np.int32)
    sequences[0] = tree.num_actions + np.arange(tree.num_players)
    chance = tree.chance.copy()
    # Depth by depth: the parents' entries are complete before they are copied.
    for begin, end in zip(tree.depth_first[1:-1].tolist(), tree.depth_first[2:].tolist(), strict=True):
        parent = tree.parent[begin:end]
        sequences[begin:end] = sequences[parent]
        chance[begin:end] *= chance[parent]
        moved = np.flatnonzero(tree.player[parent] >= 0)
        parent = parent[moved]
        number = tree.infoset_first[tree.infoset[parent]] + begin + moved - tree.first_child[parent]
        sequences[begin + moved, tree.player[parent]] = number
    return sequences, chance


def _merge(sequences: np.ndarray, payoff: np.ndarray, player: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a player's entries, sorted by own sequence: own sequences, the others' sequences, and summed payoffs.

    Entries whose payoffs sum to 0 are left out.
    """
    others = np.delete(sequences, player, axis=1)
    own = sequences[:, player]
    order = np.lexsort((*others.T[::-1], own))
    own, others = own[order], others[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (own[1:] != own[:-1]) | (others[1:] != others[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    payoff = np.add.reduceat(payoff[order], starts)
    worth = payoff != 0.0
    starts = starts[worth]
    return own[starts], others[starts], payoff[worth]


def _ranges(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the numbers ``starts[0] : starts[0] + lengths[0]``, then the numbers of the next range, and so on."""
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(starts - before, lengths)
