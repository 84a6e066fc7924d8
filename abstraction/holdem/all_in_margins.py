"""Margins by which one class of hands beats another if both are all-in before the flop: exact, over all boards."""

import functools
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.boards import board_classes, relabel_combos
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker
from plurispiel.abstraction.holdem.showdown_kernels import CARD_SLOTS, FIRST_HAND, fill_margin_tile
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import LANES, blocks_for, clear, empty_blocks

__all__ = ["all_in_margins", "compute_all_in_totals", "hand_classes"]


def hand_classes(rules: HoldemRules) -> np.ndarray:
    """Return the class of each combo under renamings of suits, from 0: int64[num_combos]; 169 classes in hold'em."""
    lowest = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards).min(axis=0)
    return np.unique(lowest, return_inverse=True)[1].astype(np.int64)


@functools.lru_cache(4)
def all_in_margins(rules: HoldemRules) -> np.ndarray:
    """Return summed margins of hands that are all-in before the flop, by classes: float64[num_classes, num_classes].

    The margin between two combos is the first one's probability of winning minus that of losing, over all boards. Entry
    [a, b] is the sum of a combo's margins against all compatible combos of class b, not divided by their number; then
    the mean is taken over the combos of class a. For hold'em with 52 cards the totals are stored.
    """
    if (rules.num_suits, rules.num_ranks, rules.num_hole_cards, rules.num_board_cards) == (4, 13, 2, 5):
        totals = np.load(Path(__file__).with_name("all_in_totals.npy"), allow_pickle=False)
    else:
        totals = compute_all_in_totals(rules)
    unseen = len(rules.cards) - 2 * rules.num_hole_cards
    num_boards = math.comb(unseen, rules.num_board_cards)
    return totals / num_boards / np.bincount(hand_classes(rules))[:, None]


def compute_all_in_totals(rules: HoldemRules) -> np.ndarray:
    """Return, for each pair of classes of hands, the number of deals that the first wins less the number that it loses.

    A deal is a combo of each class and a board. For hold'em the computation takes about half a minute.

    Returns
    -------
    int32[num_classes, num_classes]
        Antisymmetric.
    """
    classes = hand_classes(rules)
    num_classes = int(classes.max()) + 1
    num_tiles = blocks_for(num_classes)
    boards = board_classes(rules.num_board_cards, rules.num_suits, rules.num_ranks)
    ranker = HandRanker(rules)
    rows = LANES * blocks_for(FIRST_HAND + rules.num_combos)
    work = _MarginWorkspace(*(empty_blocks(count, np.float32) for count in (rows, CARD_SLOTS, rows)))
    totals = np.zeros((num_classes, num_tiles * LANES))
    for board, weight in zip(boards.boards.tolist(), boards.sizes.tolist(), strict=True):
        _add_margins(ranker.rank(tuple(board)), classes, float(weight), num_tiles, work, totals)
    return np.rint(totals[:, :num_classes]).astype(np.int32)


def warmup() -> None:
    """Compile every kernel of this module."""
    compute_all_in_totals(LEDUC)


class _MarginWorkspace(NamedTuple):
    """Scratch memory of `_add_margins`; fields as in `fill_margin_tile`."""

    tile: np.ndarray
    mass: np.ndarray
    out: np.ndarray


@kernel
def _add_margins(hands, classes, weight, num_tiles, work, totals):
    """Add one board's margins, times the number of boards it stands for.

    Parameters
    ----------
    hands : RankedHands
    classes : int64[num_combos]
        The class of each combo, from `hand_classes`.
    weight : float
        The number of boards for which this board stands.
    num_tiles : int
        The number of blocks of 16 lanes that hold all classes, with a lane for each class.
    work : _MarginWorkspace
        Modified in place.
    totals : float64[num_classes, 16 * num_tiles]
        Modified in place.

    Notes
    -----
    On one board, a combo's wins less its losses against a class are a whole number, which float32 holds exactly. Totals
    over boards need float64.
    """
    num_hands = len(hands.combos)
    stops = hands.groups[1:]
    for tile in range(num_tiles):
        clear(work.tile, 0, FIRST_HAND + num_hands)
        for k in range(num_hands):
            number = classes[hands.combos[k]]
            if number // LANES == tile:
                work.tile[FIRST_HAND + k, number % LANES] = 1.0
        fill_margin_tile(hands.cards, stops, hands.cards, stops, work.tile, work.mass, work.out)
        for k in range(num_hands):
            row = classes[hands.combos[k]]
            for lane in range(LANES):
                totals[row, tile * LANES + lane] += weight * work.out[k, lane]
