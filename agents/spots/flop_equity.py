"""Exact equities of two ranges on all flops, computed together.

The showdown on a board of five cards counts for every flop that the board contains. The ranges must treat all suits
alike, so that one showdown is enough for each of the 134,459 classes of boards.
"""

from itertools import combinations

import numpy as np

from plurispiel.abstraction.holdem.boards import board_classes, find_boards, relabel_combos
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker, fold_mass, showdown_margin
from plurispiel.abstraction.machine.sums import dot

__all__ = ["flop_equities", "treats_suits_alike"]


def treats_suits_alike(weights: np.ndarray) -> bool:
    """Return whether `weights`, float64[..., num_combos], stay the same under every renaming of suits."""
    return all(np.array_equal(weights[..., row], weights, equal_nan=True) for row in relabel_combos())


def flop_equities(ranges: np.ndarray, rules: HoldemRules) -> tuple[np.ndarray, np.ndarray]:
    """Return the equity of seat 0 on every class of flops, and the weight of all compatible pairs of hands on the flop.

    Parameters
    ----------
    ranges : float64[2, num_combos]
        Each seat's weight of each combo; no renaming of suits changes the weights.

    Returns
    -------
    equity : float64[1755]
        In the order of `board_classes`; see `spot_solution.equity`. 0.5 where no hands are compatible.
    pairs : float64[1755]
        The summed weights of compatible pairs of hands that share no card with the flop.

    Raises
    ------
    ValueError
        If a range does not treat all suits alike.
    """
    if not treats_suits_alike(ranges):
        raise ValueError("the ranges must have the same weights in all suits: name whole classes of hands, such as AKs")
    ranker = HandRanker(rules)
    rivers, flops = board_classes(5), board_classes(3)
    margin, mass = np.zeros(len(rivers.boards)), np.zeros(len(rivers.boards))
    for number, board in enumerate(rivers.boards.tolist()):
        hands = ranker.rank(tuple(board))
        first, second = ranges[:, hands.combos]
        margin[number] = dot(first, showdown_margin(hands, second))
        mass[number] = dot(first, fold_mass(hands, second))
    equity, pairs = np.zeros(len(flops.boards)), np.zeros(len(flops.boards))
    for number, flop in enumerate(flops.boards.tolist()):
        left = [card for card in rules.cards.tolist() if card not in flop]
        boards = np.array([(*flop, *new) for new in combinations(left, 2)])
        rows = find_boards(boards)[0]
        total = mass[rows].sum()
        equity[number] = 0.5 + 0.5 * margin[rows].sum() / total if total > 0.0 else 0.5
        pairs[number] = total / 990.0  # 45 cards are neither on the flop nor in the hands: 990 run-outs
    return equity, pairs
