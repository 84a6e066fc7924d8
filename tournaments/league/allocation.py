"""The choice of the pairing that plays next: the one whose hands best separate neighbours in the ranking."""

import numpy as np

from plurispiel.tournaments.league.crosstable import Crosstable
from plurispiel.tournaments.run.schedule import BLOCK_DECKS

_GROWTH = 4
"""A batch has the pairing's decks divided by this number: choices are few, and each rests on many new hands."""


def choose_pairing(table: Crosstable) -> tuple[int, int]:
    """Return the indices in `table` of the two entries that play next, the smaller index first.

    A gap between neighbours in the ranking is *open* while its anytime-valid interval contains 0. One more group of a
    pairing lowers the variance of every gap next to one of the pairing's entries. The chosen pairing has the largest
    sum of relative decreases of variance over the open gaps. If no gap is open, all gaps count.
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
    # If all groups of every pairing have equal rates, there is no variance: the pairing with the fewest groups plays.
    row, column = max(pairs, key=lambda pair: (worth[pair], -table.groups[pair]))
    return int(row), int(column)


def batch_decks(groups: int) -> int:
    """Return the decks that a pairing plays before the next choice: a quarter of its groups, rounded up to blocks.

    >>> batch_decks(104), batch_decks(1000)
    (32, 256)
    """
    return BLOCK_DECKS * max(1, -(-groups // (_GROWTH * BLOCK_DECKS)))
