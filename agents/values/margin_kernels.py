"""The kernel that counts, for each pair of hands, the boards on which the first hand beats the second."""

from plurispiel.abstraction.machine.jit import kernel


@kernel
def add_wins(strengths, wins):
    """Add to `wins`, for each pair of hands, the number of boards on which the first beats the second.

    Parameters
    ----------
    strengths : int16[num_boards, num_hands]
        The strength of each hand on each board; -1 for a hand that shares a card with the board.
    wins : int16[num_hands, num_hands]
        Modified in place.
    """
    num_boards, num_hands = strengths.shape
    for i in range(num_hands):
        row = wins[i]
        for board in range(num_boards):
            there = strengths[board]
            own = there[i]
            for j in range(num_hands):
                row[j] += (there[j] < own) & (there[j] >= 0)
