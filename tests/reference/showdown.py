"""Folds and showdowns between two ranges, by comparing every pair of hands."""

from reference.hand_rank import strength


def fold_mass(hands, combos, board, weights):
    """Return, for each hand, the weight of the combos that share no card with it or the board; 0 where it cannot be."""
    result = []
    for own in hands:
        total = 0.0
        if not set(own) & set(board):
            for other, weight in zip(combos, weights, strict=True):
                if not set(other) & {*own, *board}:
                    total += weight
        result.append(total)
    return result


def showdown_margin(hands, combos, board, weights):
    """Return, for each hand, the weight of the combos it beats less that of the combos that beat it."""
    ranks = [None if set(combo) & set(board) else strength((*combo, *board)) for combo in combos]
    result = []
    for own in hands:
        total = 0.0
        if not set(own) & set(board):
            rank = strength((*own, *board))
            for other, other_rank, weight in zip(combos, ranks, weights, strict=True):
                if other_rank is not None and not set(other) & set(own):
                    total += weight * ((rank > other_rank) - (rank < other_rank))
        result.append(total)
    return result
