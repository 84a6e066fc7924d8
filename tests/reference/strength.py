"""Hand strength against a uniform opponent, by comparing every pair of hands."""

from itertools import combinations

from reference.hand_rank import strength as rank


def strength(combos, board, cards, to_come, num_opponents=1):
    """Return each combo's chance to win, ties half, over all run-outs; 0 where it touches the board.

    Several opponents are as if their hands were independent.
    """
    result = []
    for own in combos:
        if set(own) & set(board):
            result.append(0.0)
            continue
        won = total = 0.0
        rest = [card for card in cards if card not in own and card not in board]
        for run_out in combinations(rest, to_come):
            final = (*board, *run_out)
            mine = rank((*own, *final))
            share = count = 0.0
            for other in combos:
                if not set(other) & {*own, *final}:
                    theirs = rank((*other, *final))
                    share += (mine > theirs) + 0.5 * (mine == theirs)
                    count += 1
            if count:
                won += (share / count) ** num_opponents
            total += 1
        result.append(won / total)
    return result
