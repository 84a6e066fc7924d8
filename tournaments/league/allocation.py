"""The choice of the pairing that plays next: the one whose hands separate neighbours in the ranking most."""

import numpy as np

from plurispiel.tournaments.league.pairings import Crosstable
from plurispiel.tournaments.run.schedule import BLOCK_DECKS

_GROWTH = 4
"""A batch adds a quarter of the pairing's decks, so that few batches choose by many hands."""


def choose_pairing(table: Crosstable) -> tuple[int, int]:
    """Return the indices of the two entries that play next, the smaller index first.

    A gap between neighbours in the ranking is *open* while its anytime-valid interval contains 0. Each group of a
    pairing takes a share off the variance of every gap that the pairing is part of; the pairing that takes most off the
    open gaps is chosen. If no gap is open, all gaps count.
    """
    order = table.ranking
    gaps = list(zip(order, order[1:], strict=False))
    gaps = [gap for gap in gaps if not table.is_separated(*gap)] or gaps
    worth = np.zeros_like(table.rates)
    for gap in gaps:
        _, weights = table.gap(*gap)
        variances = (weights * table.errors) ** 2
        if total := float(np.triu(variances).sum()):
            worth += variances / np.maximum(table.groups, 1) / total
    pairs = list(zip(*np.triu_indices(len(order), 1), strict=True))
    # Equal rates in all groups leave no variance to take off: then the pairing with the fewest groups plays.
    row, column = max(pairs, key=lambda pair: (worth[pair], -table.groups[pair]))
    return int(row), int(column)


def batch_decks(groups: int) -> int:
    """Return the decks that a pairing plays before the next choice: a quarter more, in whole blocks.

    >>> batch_decks(104), batch_decks(1000)
    (32, 256)
    """
    return BLOCK_DECKS * max(1, -(-groups // (_GROWTH * BLOCK_DECKS)))
