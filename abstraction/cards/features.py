"""Features of hands for all combos on a board at once: strength against uniformly random hands, and outs."""

import functools
from itertools import combinations
from math import comb
from pathlib import Path
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards import features_kernels as kernels
from plurispiel.abstraction.holdem.cards import combo_cards, deck_cards
from plurispiel.abstraction.holdem.hand_ranks import rank_tables
from plurispiel.abstraction.holdem.rules import LEDUC, MAX_SEATS, HoldemRules
from plurispiel.abstraction.holdem.showdown_kernels import DIGITS

MAX_RUN_OUTS = 25_000
_SAMPLED_RUN_OUTS = 2_000
_CROWD_RUN_OUTS = 300
_CROWD_BOARDS = 1_000


def made_strength(rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    """Return each combo's probability of being ahead on this board, ties counted half: float64[num_combos], read-only.

    The opponent's hand is uniform among the compatible combos, and later board cards are ignored. With three hole
    cards, the opponent's hand is uniform among all other free combos, even those that share a card with the combo.
    Combos that share a card with the board have 0.
    """
    return _mean_strength(_deck_key(rules), tuple(sorted(board)), 0)


def expected_strength(rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    """Return each combo's probability of winning at showdown, ties counted half: E[HS], float64[num_combos], read-only.

    E[HS] is the mean of `made_strength` over all run-outs that share no card with the combo. Before the flop of Texas
    hold'em, stored exact values of the 169 classes are returned. In other games, a board with more than 25,000 run-outs
    gets the mean over 2,000 fixed random run-outs.
    """
    if not board and _deck_key(rules) == (4, 13, 2) and rules.num_board_cards == 5:
        return preflop_equity()
    return _mean_strength(_deck_key(rules), tuple(sorted(board)), rules.num_board_cards - len(board))


def crowd_strength(rules: HoldemRules, board: tuple[int, ...], num_opponents: int) -> np.ndarray:
    """Return each combo's approximate chance of beating several uniformly random hands: float64[num_combos], read-only.

    On a whole board the chance is `made_strength` to the power of the number of opponents, as if their hands were
    independent. The result is the mean over run-outs that share no card with the combo: over all of them if the board
    has at most 1,000 run-outs. Of 1,001 to 25,000 run-outs, at most 300 are taken, at equal steps. On flops of Texas
    hold'em these are every fourth run-out. The mean then differs from the mean over all run-outs by 0.005 on average
    and by 0.05 at most. With more than 25,000 run-outs, the mean is over 1,000 fixed random ones. Combos that share a
    card with the board have 0.

    Raises
    ------
    ValueError
        If there is no opponent, or more than 9.
    """
    if not 1 <= num_opponents < MAX_SEATS:
        raise ValueError(f"num_opponents must be 1 to {MAX_SEATS - 1}, got {num_opponents}")
    return _crowd_strengths(_deck_key(rules), tuple(sorted(board)), rules.num_board_cards)[num_opponents - 1]


def draw_outs(rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    """Return the number of cards that complete each combo's straight or flush: float64[num_combos], read-only.

    A card that completes both counts twice; `features_kernels.count_outs` has the details.
    """
    return _draw_outs(_deck_key(rules), tuple(sorted(board)))


@functools.cache
def preflop_equity() -> np.ndarray:
    """Return the equity of each of the 1326 combos against a uniformly random hand: float64[1326], read-only.

    The stored grid is the result of `compute_preflop_equity`.
    """
    grid = np.load(Path(__file__).with_name("preflop_equity.npy"), allow_pickle=False)
    equity = grid[_grid_cells()]
    equity.setflags(write=False)
    return equity


def compute_preflop_equity() -> np.ndarray:
    """Return the equity of the 169 starting hands against a uniformly random hand, over all 2,598,960 boards.

    Returns
    -------
    float64[13, 13]
        Row and column are ranks, deuces first: pairs on the diagonal, suited hands at [high, low], offsuit hands at
        [low, high].

    Notes
    -----
    A renaming of suits leaves the equity of each starting hand the same. Therefore hands are ranked on one board of
    each of the 134,459 classes of boards under renamings. The board's weight is the number of boards in the class.
    """
    boards = np.array(list(combinations(range(52), 5)), dtype=np.uint8)
    masks = np.zeros((len(boards), 4), dtype=np.int64)
    for column in range(5):
        masks[np.arange(len(boards)), boards[:, column] & 3] |= 1 << (boards[:, column] >> 2).astype(np.int64)
    canonical = (np.diff(masks, axis=1) <= 0).all(axis=1)
    boards, masks = np.ascontiguousarray(boards[canonical]), masks[canonical]
    # Exchanging suits with equal masks changes nothing: a class has 24 / prod(m!) boards, with a factor for each group
    # of m suits that share a mask.
    same = (masks[:, :, None] == masks[:, None, :]).sum(axis=2)
    symmetries = np.array([0, 1, 2**0.5, 6 ** (1 / 3), 24**0.25])[same].prod(axis=1)  # each of m suits: m! ** (1 / m)
    weights = np.round(24.0 / symmetries)
    strength, total_weight = _sum_strength(combo_cards(), boards, weights)
    cells = _grid_cells()
    grid, count = np.zeros((13, 13)), np.zeros((13, 13))
    np.add.at(grid, cells, strength)
    np.add.at(count, cells, total_weight)
    return grid / count


def warmup() -> None:
    """Compile every kernel that this module calls."""
    made_strength(LEDUC, ())
    draw_outs(LEDUC, (0,))


class PointWorkspace(NamedTuple):
    """Memory for `features_kernels.sum_points`.

    Attributes
    ----------
    ranks : uint16[num_combos]
        Hand rank of each combo on one board. On a board without a possible flush, the first 91 entries have the hand
        rank of each pair of card ranks.
    order, spare, counts
        Arguments of `showdown_kernels.sort_by_rank`.
    per_card : float64[3, 52]
        Row 1 counts the weaker combos with each card, row 2 the equal ones; row 0 is not used. On a board without a
        possible flush, an entry is for a card rank: row 0 counts the rank's cards that are not on the board, rows 1 and
        2 the combos with any one of these cards, the same number for each.
    made : float64[91]
        Weighted points of each pair of card ranks on one board.
    pair_points : float64[91]
        Sum of `made` over all boards without a possible flush; no other array is kept from board to board.
    """

    ranks: np.ndarray
    order: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    per_card: np.ndarray
    made: np.ndarray
    pair_points: np.ndarray


@functools.lru_cache(maxsize=2048)
def _mean_strength(deck: tuple[int, int, int], board: tuple[int, ...], cards_to_come: int) -> np.ndarray:
    num_suits, num_ranks, num_hole_cards = deck
    run_outs = _run_outs((num_suits, num_ranks), board, cards_to_come, _SAMPLED_RUN_OUTS)
    boards = np.array([board + run_out for run_out in run_outs], dtype=np.uint8).reshape(len(run_outs), -1)
    strength, total_weight = _sum_strength(combo_cards(*deck), boards, np.ones(len(boards)))
    mean = strength / np.maximum(total_weight, 1.0)
    mean.setflags(write=False)
    return mean


@functools.lru_cache(maxsize=512)
def _crowd_strengths(deck: tuple[int, int, int], board: tuple[int, ...], num_board_cards: int) -> np.ndarray:
    """Return `crowd_strength` for every number of opponents: float64[MAX_SEATS - 1, num_combos], read-only."""
    num_suits, num_ranks, num_hole_cards = deck
    run_outs = _run_outs((num_suits, num_ranks), board, num_board_cards - len(board), _CROWD_BOARDS)
    if len(run_outs) > _CROWD_BOARDS:
        run_outs = run_outs[:: len(run_outs) // _CROWD_RUN_OUTS + 1]
    combos = np.array(combo_cards(num_suits, num_ranks, num_hole_cards))
    sums, num_free = np.zeros((MAX_SEATS - 1, len(combos))), np.zeros(len(combos))
    for run_out in run_outs:
        ahead, is_free = _sum_strength(combos, np.array([board + run_out], dtype=np.uint8), np.ones(1))
        power = is_free.copy()
        for row in sums:
            power *= ahead
            row += power
        num_free += is_free
    sums /= np.maximum(num_free, 1.0)
    sums.setflags(write=False)
    return sums


def _run_outs(
    deck: tuple[int, int], board: tuple[int, ...], cards_to_come: int, num_sampled: int
) -> list[tuple[int, ...]]:
    """Return all run-outs of a board, or `num_sampled` fixed random ones if there are more than `MAX_RUN_OUTS`."""
    rest = [int(card) for card in deck_cards(*deck) if card not in board]
    num_run_outs = comb(len(rest), cards_to_come)
    if num_run_outs <= MAX_RUN_OUTS:
        return list(combinations(rest, cards_to_come))
    rng = np.random.default_rng(np.random.SeedSequence(num_run_outs))
    return [tuple(rng.permutation(rest)[:cards_to_come].tolist()) for _ in range(num_sampled)]


def _sum_strength(combos: np.ndarray, boards: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each combo's sum of weighted strength, and the total weight of the boards in the sum.

    The sum is over the boards that share no card with the combo. Both arrays are float64[num_combos].
    """
    num_combos = len(combos)
    work = PointWorkspace(
        ranks=np.empty(num_combos, dtype=np.uint16),
        order=np.empty(num_combos, dtype=np.int32),
        spare=np.empty(num_combos, dtype=np.int32),
        counts=np.empty((2, DIGITS), dtype=np.int32),
        per_card=np.empty((3, 52)),
        made=np.empty(kernels.NUM_PAIRS),
        pair_points=np.empty(kernels.NUM_PAIRS),
    )
    points, total_weight = np.zeros(num_combos), np.zeros(num_combos)
    kernels.sum_points(rank_tables(), np.array(combos), boards, weights, work, points, total_weight)
    num_hole_cards = combos.shape[1]
    num_left = len(np.unique(combos)) - boards.shape[1]
    if num_hole_cards < 3:
        num_others = comb(num_left - num_hole_cards, num_hole_cards)
    else:  # card removal is ignored, see `made_strength`
        num_others = comb(num_left, num_hole_cards) - 1
    return points / (2.0 * max(num_others, 1)), total_weight


@functools.lru_cache(maxsize=2048)
def _draw_outs(deck: tuple[int, int, int], board: tuple[int, ...]) -> np.ndarray:
    num_suits, num_ranks, num_hole_cards = deck
    combos = np.array(combo_cards(*deck))
    outs = np.empty(len(combos))
    known = np.array(board, dtype=np.uint8)
    kernels.count_outs(np.array(deck_cards(num_suits, num_ranks)), combos, known, num_suits, outs)
    outs.setflags(write=False)
    return outs


def _grid_cells() -> tuple[np.ndarray, np.ndarray]:
    """Return the row and column of each of the 1326 combos in a 13x13 grid of starting hands."""
    combos = combo_cards().astype(np.intp)
    low, high = combos[:, 0] >> 2, combos[:, 1] >> 2
    suited = (combos[:, 0] & 3) == (combos[:, 1] & 3)
    return np.where(suited, high, low), np.where(suited, low, high)


def _deck_key(rules: HoldemRules) -> tuple[int, int, int]:
    return rules.num_suits, rules.num_ranks, rules.num_hole_cards
