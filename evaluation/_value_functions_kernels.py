"""Kernels of checkdown values: one seat's every hand against known hands on many boards."""

import numpy as np

from plurispiel.abstraction._jit import kernel
from plurispiel.abstraction.holdem._hand_rank_kernels import fill_board_ranks, fill_combo_ranks


@kernel
def fill_ranks(tables, combos, boards, ranks, held_on):
    """Rank every combo on every board.

    Parameters
    ----------
    tables : RankTables
    combos : uint8[num_combos, h]
    boards : uint8[num_boards, b]
    ranks : uint16[num_boards, num_combos]
        Modified in place; 0 where a combo shares a card with the board.
    held_on : uint16[num_combos]
        Modified in place: on how many boards each combo can be held.
    """
    is_holdem = combos.shape[0] == 1326 and combos.shape[1] == 2 and 3 <= boards.shape[1] <= 5
    held_on[:] = 0
    for b in range(len(boards)):
        row = ranks[b]
        if is_holdem:
            fill_board_ranks(tables, boards[b], row)
        else:
            fill_combo_ranks(tables, boards[b], combos, row)
        for combo in range(len(row)):
            held_on[combo] += row[combo] != 0


@kernel
def count_wins(ranks, opponents, best, num_best, wins, ties):
    """Count for every combo the boards on which it beats all opponents, and those on which it ties with the best.

    Parameters
    ----------
    ranks : uint16[num_boards, num_combos]
        As `fill_ranks` leaves them.
    opponents : int32[num_opponents]
        Their combos; at least one.
    best : uint16[num_boards]
        Workspace: the opponents' highest rank.
    num_best : uint8[num_boards]
        Workspace: how many of them have it.
    wins : uint16[num_combos]
        Modified in place.
    ties : uint16[num_opponents + 1, num_combos]
        Modified in place: by the number of opponents that the combo ties with.
    """
    num_combos = ranks.shape[1]
    for b in range(len(ranks)):
        row = ranks[b]
        best[b] = 0
        for k in range(len(opponents)):
            rank = row[opponents[k]]
            if rank > best[b]:
                best[b] = rank
                num_best[b] = 1
            elif rank == best[b]:
                num_best[b] += 1
    wins[:] = 0
    ties[:] = 0
    for b in range(len(ranks)):
        row, limit, tied = ranks[b], best[b], ties[num_best[b]]
        for combo in range(num_combos):  # sixteen bits throughout: that many combos are compared at once
            wins[combo] += np.uint16(row[combo] > limit)
            tied[combo] += np.uint16(row[combo] == limit)
