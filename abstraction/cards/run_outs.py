"""Run-outs: the river equities of a hand on the flop or turn, over all board cards still to come.

A hand's histogram counts its river equities in 50 bins of width 0.02 (Ganzfried and Sandholm, AAAI 2014; title in
`distances`). The histogram is stored as cumulative shares, because the L1 distance between two cumulative histograms is
the earth mover's distance. Shares are bytes in units of 1/230; they are exact for the 46 rivers of a hand on the turn,
and rounded for the 1,081 run-outs of a hand on the flop.
"""

import functools
from itertools import combinations
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards import _run_outs_kernels as kernels
from plurispiel.abstraction.cards._river_kernels import CONFLICT, EQUITY_UNITS
from plurispiel.abstraction.cards._run_outs_kernels import NUM_BINS
from plurispiel.abstraction.cards.preflop import NUM_CLASSES, preflop_classes
from plurispiel.abstraction.cards.river import (
    NUM_COMBOS,
    RiverTable,
    RiverWorkspace,
    narrow_relabel,
    river_workspace,
    writable_combos,
)
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.hand_ranks import RankTables, rank_tables

HISTOGRAM_DIMS = 56
"""Entries of a cumulative histogram: 49 shares, then seven zeros up to a multiple of 8 (`_distances_kernels`)."""
CDF_UNITS = 230
"""The byte for a cumulative share of 1: five units for each of the turn's 46 rivers."""
NUM_LIVE = {3: 1176, 4: 1128, 5: 1081}
"""Number of free combos, by the number of board cards."""
NUM_RIVERS = {3: 1081, 4: 46, 5: 1}
"""Number of river boards that a free combo can reach, by the number of board cards."""


class RunOuts(NamedTuple):
    """Features of the free combos of n boards, in ascending order of combo id.

    Attributes
    ----------
    histograms : uint8[n, num_live, 56]
        Among the run-outs that share no card with the combo, the share with an equity below 0.02, 0.04, ... 0.98, in
        1/230; then seven zeros.
    sums, squares : int64[n, num_live]
        Sums of the equities in 1/1980, and of their squares, over the river boards that the combo can reach: E[HS] and
        E[HS^2] up to a factor.
    """

    histograms: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


class RunOutPlan(NamedTuple):
    """How kernels sum the run-outs of one street's boards.

    Attributes
    ----------
    run_outs : uint8[num_run_outs, cards to come]
        Each run-out as ascending positions among the cards that are not on the board.
    bins : uint8[1982]
        The bin of each equity, see `equity_bins`.
    num_rivers : int
        Number of run-outs that share no card with a given free combo.
    unit : int
        Increment of a cumulative histogram for one run-out, in units of 1/230, times 2**16.
    """

    run_outs: np.ndarray
    bins: np.ndarray
    num_rivers: int
    unit: int


class RiverHands(NamedTuple):
    """Tables and memory to compute river equities without a `RiverTable`."""

    tables: RankTables
    combos: np.ndarray  # uint8[1326, 2]
    relabel: np.ndarray  # uint16[24, 1326]
    work: RiverWorkspace


class RunOutWorkspace(NamedTuple):
    """Memory for one board at a time.

    Attributes
    ----------
    live : int16[num_live]
        Ids of the free combos.
    river : uint8[5]
        The board completed by a run-out.
    row : uint16[1326]
        Equities on `river`.
    histogram : uint16[num_live, NUM_BINS + 1]
        Number of run-outs in each bin, for each free combo; the last bin counts run-outs that share a card with the
        combo.
    """

    live: np.ndarray
    river: np.ndarray
    row: np.ndarray
    histogram: np.ndarray


class RunOutReader:
    """Computes the `RunOuts` of flops or turns; each thread needs its own reader.

    Parameters
    ----------
    num_board_cards : int
        3 or 4.
    rivers : RiverTable, optional
        A table of all river equities. Without a table, each river board's equities are computed, which takes eight
        times as long and gives results equal to the bit.
    """

    def __init__(self, num_board_cards: int, rivers: RiverTable | None = None):
        num_live = NUM_LIVE[num_board_cards]
        num_rivers = NUM_RIVERS[num_board_cards]
        run_outs = combinations(range(52 - num_board_cards), 5 - num_board_cards)
        self._plan = RunOutPlan(
            run_outs=np.array(list(run_outs), np.uint8),
            bins=equity_bins(),
            num_rivers=num_rivers,
            unit=round(CDF_UNITS * 65536 / num_rivers),
        )
        self._rivers = rivers
        self._hands = RiverHands(rank_tables(), writable_combos(), narrow_relabel(), river_workspace())
        self._work = RunOutWorkspace(
            live=np.empty(num_live, np.int16),
            river=np.empty(5, np.uint8),
            row=np.empty(NUM_COMBOS, np.uint16),
            histogram=np.empty((num_live, NUM_BINS + 1), np.uint16),
        )

    def fill(self, boards: np.ndarray, out: RunOuts) -> None:
        """Write the features of boards, uint8[n, 3..4]; the last seven entries of each histogram must already be 0."""
        if self._rivers is None:
            kernels.sum_run_outs(self._hands, self._plan, boards, self._work, out)
        else:
            kernels.sum_stored_run_outs(self._rivers, self._plan, boards, self._work, out)


@functools.cache
def equity_bins() -> np.ndarray:
    """Return the bin of each equity 0..1980, and the extra bin 50 for CONFLICT: uint8[1982]."""
    bins = np.minimum(NUM_BINS - 1, np.arange(EQUITY_UNITS + 2) * NUM_BINS // EQUITY_UNITS)
    bins[CONFLICT] = NUM_BINS
    return bins.astype(np.uint8)


def preflop_histograms(rivers: RiverTable) -> np.ndarray:
    """Return the histogram of river equity of each of the 169 starting hands, not cumulative: int64[169, 50]."""
    counts = np.zeros((NUM_CLASSES, NUM_BINS + 1), np.int64)
    sizes = np.array(rivers.classes.sizes)
    kernels.count_by_class(rivers.equities, sizes, np.array(preflop_classes()), equity_bins(), counts)
    return counts[:, :NUM_BINS]


def empty_run_outs(num_boards: int, num_board_cards: int) -> RunOuts:
    """Return memory for the features of boards, with histograms of zeros; the sums are not initialised."""
    num_live = NUM_LIVE[num_board_cards]
    return RunOuts(
        histograms=np.zeros((num_boards, num_live, HISTOGRAM_DIMS), np.uint8),
        sums=np.empty((num_boards, num_live), np.int64),
        squares=np.empty((num_boards, num_live), np.int64),
    )


def warmup() -> None:
    """Compile every kernel that this module calls."""
    classes = board_classes(5, 1, 5)  # a deck of five cards: only the arrays' types matter
    rivers = RiverTable(classes, narrow_relabel(), np.zeros((1, NUM_COMBOS), np.uint16))
    preflop_histograms(rivers)
    found = empty_run_outs(0, 4)
    for table in (None, rivers):
        RunOutReader(4, table).fill(np.empty((0, 4), np.uint8), found)
