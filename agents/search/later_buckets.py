"""The buckets of the streets after the street on which a two-player search begins."""

import functools

import numpy as np

from plurispiel.abstraction.cards.flops import FlopBuckets, flop_buckets, is_kept
from plurispiel.abstraction.holdem.hand_ranks import board_ranks
from plurispiel.abstraction.holdem.rules import HoldemRules, is_holdem
from plurispiel.agents.blueprint.cards import BucketLookup
from plurispiel.agents.resolve.subgame import BucketRows
from plurispiel.agents.search.config import SearchConfig

__all__ = ["later_buckets"]


def later_buckets(
    config: SearchConfig, rules: HoldemRules, buckets: BucketLookup | None, board: tuple[int, ...]
) -> BucketRows:
    """Return the function from a later board to the bucket of each combo.

    Parameters
    ----------
    buckets : BucketLookup or None
        The blueprint's buckets. They are used if `config.cards` asks for them, and in games other than hold'em. With a
        time limit they are also used if the flop's own 500 buckets are not in the cache: computing these takes seconds.
        None without a blueprint: a search of the turn then takes hands of equal rank on the river for a bucket.
    board : tuple of int
        The board on which the search begins.

    Raises
    ------
    ValueError
        If later streets need a blueprint's buckets and there is no blueprint.
    """
    if config.cards == "flop-500" and is_holdem(rules) and len(board) < rules.num_board_cards:
        is_needed = buckets is None and len(board) < rules.num_board_cards - 1
        if config.iterations or is_needed or is_kept(board[:3]):
            # As in Pluribus: 500 buckets on each street, clustered separately for each flop (supplement, "Further
            # details of the abstraction algorithm").
            return _flop_buckets(board[:3], config.num_threads).row
        if buckets is None:
            return _by_rank
    if buckets is None:
        if len(board) < rules.num_board_cards:
            raise ValueError("streets after the searched street need buckets: give a blueprint, or cards=flop-500")
        return lambda cards: np.zeros(rules.num_combos, np.int64)  # on the last street no buckets are asked for
    return lambda cards: buckets.row(cards, rules.street_of_board(cards))


def _by_rank(board: tuple[int, ...]) -> np.ndarray:
    """Return a bucket for each rank of hand on a complete board; they lose only which cards a hand blocks."""
    return np.unique(board_ranks(board), return_inverse=True)[1]


@functools.lru_cache(4)
def _flop_buckets(flop: tuple[int, ...], threads: int) -> FlopBuckets:
    return flop_buckets(flop, threads=threads)
