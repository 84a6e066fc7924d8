"""Showdowns of three hands, by comparing every triple."""

from reference.hand_rank import strength


def payoff(ranks, contributions, folded):
    """Return the first hand's net chips: layer by layer, the best hands that have paid for it share it."""
    won, below = -contributions[0], 0.0
    levels = sorted(set(contributions))
    for level in levels:
        last = level == levels[-1]
        layer = 0.0
        for chips in (*contributions, *folded):
            layer += max(0.0, (chips if last else min(chips, level)) - below)
        competing = [rank for rank, chips in zip(ranks, contributions, strict=True) if chips >= level]
        if contributions[0] >= level and ranks[0] == max(competing):
            won += layer / competing.count(ranks[0])
        below = level
    return won


def values(own, combos, board, first, second, contributions, folded):
    """Return the value of each of the hands `own` against two ranges over `combos`."""
    ranks = {k: strength((*combo, *board)) for k, combo in enumerate(combos) if not set(combo) & set(board)}
    result = []
    for hand in own:
        total = 0.0
        rank = strength((*hand, *board))
        for g in ranks:
            if first[g] == 0.0 or set(combos[g]) & set(hand):
                continue
            for k in ranks:
                if second[k] == 0.0 or set(combos[k]) & {*hand, *combos[g]}:
                    continue
                weight = first[g] * second[k]
                total += weight * payoff((rank, ranks[g], ranks[k]), contributions, folded)
        result.append(total)
    return result
