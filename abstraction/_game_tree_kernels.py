"""Kernels of the flat game tree."""

from plurispiel.abstraction._jit import kernel


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
