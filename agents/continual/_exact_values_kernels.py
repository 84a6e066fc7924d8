"""The kernel of exact values, which solves all boards of the last street and then measures each board separately."""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.resolve.vector_cfr_kernels import evaluate_boards, update_boards
from plurispiel.agents.resolve.visits import Visits

_BOTH_IN_TURN = -1


@kernel
def solve_boards(street, visits, regrets, sums, steps, above, work, totals):
    """Solve the street from given ranges, and measure the result on each board.

    Parameters
    ----------
    street, above, work
        As in `vector_cfr_kernels`.
    visits : Visits
        All boards.
    regrets, sums : tuple of float64[n, 16]
        The tables of both seats, all zeros on entry. Modified in place.
    steps : float64[num_iterations, 3]
        The step of each iteration.
    totals : float64[2, num_boards, n, 16]
        For each seat and board, both kinds of values, as in `leave_board`. All zeros on entry. Modified in place.
    """
    update_boards(street, visits, np.int64(_BOTH_IN_TURN), regrets, sums, steps, above, work, totals[0, 0])
    totals[0, 0] = 0.0  # the sums over iterations mean nothing here
    for seat in range(2):
        for k in range(len(visits.boards)):
            one = Visits(visits.boards[k : k + 1], visits.factors[k : k + 1])
            evaluate_boards(street, one, np.int64(seat), sums, above, work, totals[seat, k])
