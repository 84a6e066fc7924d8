"""The value of a hand that is checked down, by plain loops over boards and chips."""

from itertools import combinations

from plurispiel.abstraction.holdem.hand_ranks import hand_rank


def share_chip_by_chip(contributions, folded, ranks):
    """Return every seat's net chips: chip by chip, from the first that everybody put in to the last.

    A chip that only one seat has put in goes back to it.
    """
    net = [0.0] * len(contributions)
    for chip in range(max(contributions)):
        seats = [seat for seat, contribution in enumerate(contributions) if contribution > chip]
        if len(seats) == 1:
            continue
        best = max(ranks[seat] for seat in seats if not folded[seat])
        winners = [seat for seat in seats if not folded[seat] and ranks[seat] == best]
        for seat in seats:
            net[seat] -= 1.0
        for seat in winners:
            net[seat] += len(seats) / len(winners)
    return net


def checkdown(rules, hole_cards, board, contributions, folded):
    """Return every seat's mean net chips over all boards that can come."""
    known = {*board, *(card for cards in hole_cards for card in cards)}
    rest = [card for card in rules.cards.tolist() if card not in known]
    total, count = [0.0] * len(hole_cards), 0
    for more in combinations(rest, rules.num_board_cards - len(board)):
        ranks = [int(hand_rank([[*cards, *board, *more]])[0]) for cards in hole_cards]
        for seat, chips in enumerate(share_chip_by_chip(contributions, folded, ranks)):
            total[seat] += chips
        count += 1
    return [chips / count for chips in total]
