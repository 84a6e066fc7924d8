"""Kernels that number a seat's hands on a board (`deals`)."""

from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND
from plurispiel.abstraction.machine.jit import kernel


@kernel
def deal_hands(hands, plays, parents, origins, members, numbers, stops, combos, cards, targets):
    """Write a seat's hands on a board in order of strength, with their numbers, and return how many they are.

    Parameters
    ----------
    hands : RankedHands
    plays : bool[num_combos]
        Whether each combo is in the seat's range.
    parents : int64[num_combos]
        The number of each combo among the seat's hands on the parent, -1 for none.
    origins : int64[num_renamings, num_combos]
        The combo that each combo was before each renaming.
    members : int64[num_members]
        The renaming of each member of the board's class.
    numbers : int64[num_combos]
        The number of each combo among the seat's hands on the board, -1 for none. Modified in place.
    stops : int32[num_groups]
        Receives the number of the seat's hands up to the end of each group of equal strength.
    combos, cards, targets
        As in `SeatHands`, from the board's first entry on. They have room for as many hands as the seat has on the
        parent. Modified in place.
    """
    numbers[:] = -1
    count = 0
    for group in range(len(stops)):
        for hand in range(hands.groups[group], hands.groups[group + 1]):
            combo = hands.combos[hand]
            if plays[combo]:
                numbers[combo] = count
                combos[count] = combo
                cards[count, 0], cards[count, 1] = hands.cards[hand, 0], hands.cards[hand, 1]
                count += 1
        stops[group] = count
    for member in range(len(members)):
        origin = origins[members[member]]
        for k in range(count):
            targets[member * count + k] = parents[origin[combos[k]]]
    return count


@kernel
def match_hands(combos, parents, others, above, same):
    """Write, for each of a seat's hands, its number on the parent and its block in a tile of the other seat's hands.

    Parameters
    ----------
    combos : int32[num_hands]
    parents, others : int64[num_combos]
        The number of each combo among the seat's hands on the parent, and among the other seat's hands on the board; -1
        for none.
    above, same : int32[num_hands]
        As in `SeatHands`. Modified in place.
    """
    for k in range(len(combos)):
        combo = combos[k]
        above[k] = parents[combo]
        same[k] = 0 if others[combo] < 0 else FIRST_HAND + others[combo]
