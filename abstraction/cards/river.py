"""River equity, with exact card removal, of every combo on one board or on all boards.

The opponent's hand is uniformly random among all hands, or within one of eight clusters of starting hands. Equities
against all hands are integers in units of 1/1980: of the 990 compatible hands, two points for each that the combo beats
and one for each that it ties with. Equities against clusters are rounded to units of 1/255. They are called Opponent
Cluster Hand Strength (OCHS); source: Johanson, Burch, Valenzano and Bowling, "Evaluating state-space abstractions in
extensive-form games" (AAMAS 2013), section 3.2.
"""

import functools
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from plurispiel.abstraction.cards import _river_kernels as kernels
from plurispiel.abstraction.cards._river_kernels import CONFLICT, EQUITY_UNITS, NUM_CLUSTERS
from plurispiel.abstraction.holdem.boards import BoardClasses, board_classes, relabel_combos
from plurispiel.abstraction.holdem.cards import combo_cards
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.showdown_kernels import DIGITS
from plurispiel.abstraction.machine.threads import run_chunks

NUM_COMBOS = 1326
_CHUNK = 512


class RiverTable(NamedTuple):
    """The equities on every river board up to a renaming of suits.

    Attributes
    ----------
    classes : BoardClasses
    relabel : uint16[24, 1326]
        Each combo's id after each renaming of suits, as in `boards.relabel_combos`.
    equities : uint16[134459, 1326]
        Equity of each combo on the representative of each class, in 1/1980; CONFLICT for combos that share a card with
        the board.
    """

    classes: BoardClasses
    relabel: np.ndarray
    equities: np.ndarray


class RiverWorkspace(NamedTuple):
    """Memory for one river board at a time.

    Attributes
    ----------
    ranks, order, spare, counts
        Arguments of `sort_by_rank`: for all combos or, on a board without a possible flush, for the 91 pairs of ranks.
    cards : uint8[1326, 2]
        Cards of each hand in `order`.
    weaker : int32[52]
        Number of weaker hands with each card or, on a board without a possible flush, with a given card of each rank.
    left : int32[13]
        Number of cards of each rank that are not on the board.
    equal : int32[13]
        Number of equally strong hands with a given card of each rank.
    made : uint16[91]
        Equity of each pair of ranks.
    places : int32[1326]
        Index of each combo among the free combos.
    before : float32[1326, 8]
        For each hand in `order` and each cluster: twice the number of the cluster's hands that the hand beats, plus the
        number that it ties with. The entry of the hand's own cluster is 1 too low: the hand counts
        once, and is subtracted for each of its two cards. The kernel corrects this later.
    cluster_weaker, cluster_totals : float32[52, 8], float32[8]
        Number of hands of each cluster that have been passed in order of strength: `cluster_weaker` counts those with
        each card, `cluster_totals` all of them.
    cluster_held, all_held : float32[52, 8], float32[8]
        Number of free combos of each cluster on the board: `cluster_held` counts those with each card, `all_held` all
        of them.
    """

    ranks: np.ndarray
    order: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    cards: np.ndarray
    weaker: np.ndarray
    left: np.ndarray
    equal: np.ndarray
    made: np.ndarray
    places: np.ndarray
    before: np.ndarray
    cluster_weaker: np.ndarray
    cluster_held: np.ndarray
    cluster_totals: np.ndarray
    all_held: np.ndarray


def river_workspace() -> RiverWorkspace:
    """Return a workspace; each thread needs its own."""
    return RiverWorkspace(
        ranks=np.empty(NUM_COMBOS, np.uint16),
        order=np.empty(NUM_COMBOS, np.int32),
        spare=np.empty(NUM_COMBOS, np.int32),
        counts=np.empty((2, DIGITS), np.int32),
        cards=np.empty((NUM_COMBOS, 2), np.uint8),
        weaker=np.empty(52, np.int32),
        left=np.empty(13, np.int32),
        equal=np.empty(13, np.int32),
        made=np.zeros(kernels.NUM_PAIRS, np.uint16),
        places=np.empty(NUM_COMBOS, np.int32),
        before=np.empty((NUM_COMBOS, NUM_CLUSTERS), np.float32),
        cluster_weaker=np.empty((52, NUM_CLUSTERS), np.float32),
        cluster_held=np.empty((52, NUM_CLUSTERS), np.float32),
        cluster_totals=np.empty(NUM_CLUSTERS, np.float32),
        all_held=np.empty(NUM_CLUSTERS, np.float32),
    )


@functools.cache
def writable_combos() -> np.ndarray:
    """Return `combo_cards` as a writeable array, because kernels are compiled for such arrays: uint8[1326, 2]."""
    return np.array(combo_cards())


@functools.cache
def narrow_relabel() -> np.ndarray:
    """Return `boards.relabel_combos` of the full deck in half the memory: uint16[24, 1326]."""
    return relabel_combos().astype(np.uint16)


def river_equities(boards: npt.ArrayLike) -> np.ndarray:
    """Return the equity of every combo on river boards.

    Parameters
    ----------
    boards : array-like of int, [n, 5]
        The five cards of a board have to be distinct, which is not checked.

    Returns
    -------
    uint16[n, 1326]
        Equity in units of 1/1980, by board and combo; CONFLICT (1981) for combos that share a card with the board. The
        mean over the 1,081 free combos is exactly one half.
    """
    cards = np.require(boards, np.uint8, ["C", "W"])
    out = np.empty((len(cards), NUM_COMBOS), np.uint16)
    kernels.fill_boards_equities(rank_tables(), writable_combos(), cards, river_workspace(), out)
    return out


def all_river_equities(*, threads: int = 1, progress: tqdm | None = None) -> RiverTable:
    """Return the equities on all 134,459 classes of river boards, which take 357 MB."""
    classes = board_classes(5)
    boards = np.array(classes.boards)
    equities = np.empty((len(boards), NUM_COMBOS), np.uint16)
    tables, combos = rank_tables(), writable_combos()

    def make_worker():
        work = river_workspace()
        return lambda part: kernels.fill_boards_equities(tables, combos, boards[part], work, equities[part])

    run_chunks(make_worker, len(boards), chunk=_CHUNK, threads=threads, progress=progress)
    return RiverTable(classes, narrow_relabel(), equities)


class RiverReader:
    """Computes the equities of the free combos on river boards; each thread needs its own reader.

    Parameters
    ----------
    clusters : uint8[1326]
        The cluster of each combo, 0..7.
    """

    def __init__(self, clusters: np.ndarray):
        self._clusters = np.array(clusters, dtype=np.uint8)
        self._own = np.eye(NUM_CLUSTERS, dtype=np.float32)
        self._work = river_workspace()
        self._row = np.empty(NUM_COMBOS, np.uint16)

    def fill(self, boards: np.ndarray, out: np.ndarray) -> None:
        """Write equities against a uniformly random hand, in 1/1980; boards: uint8[n, 5], `out`: int64[n, 1081]."""
        kernels.fill_live_equities(rank_tables(), writable_combos(), boards, self._work, self._row, out)

    def fill_clusters(self, boards: np.ndarray, out: np.ndarray, equities: np.ndarray) -> None:
        """Write equities against each cluster, in 1/255, to `out`, and against a uniformly random hand to `equities`.

        Modified in place: `out`, uint8[n, 1081, 8], and `equities`, int64[n, 1081] as in `fill`. The equity against a
        cluster without a compatible hand is written as 128.
        """
        kernels.fill_cluster_equities(
            rank_tables(), writable_combos(), self._clusters, self._own, boards, self._work, out, equities
        )


def warmup() -> None:
    """Compile every kernel that this module calls."""
    board = np.arange(5, dtype=np.uint8)[None]
    river_equities(board)
    reader, equities = RiverReader(np.zeros(NUM_COMBOS)), np.empty((1, 1081), np.int64)
    reader.fill(board, equities)
    reader.fill_clusters(board, np.empty((1, 1081, NUM_CLUSTERS), np.uint8), equities)


__all__ = ["CONFLICT", "EQUITY_UNITS", "RiverReader", "RiverTable", "all_river_equities", "river_equities"]
