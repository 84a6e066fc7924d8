"""The kernel of iterations with the re-solving gadget (`gadget`) before a subgame of one street."""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import clear
from plurispiel.agents.resolve.vector_cfr_kernels import GAIN, LOSS, update_boards

WEIGHT, FORCED, TERMINATING, ADDED, ACCEPTED, CONTINUE_REGRET, TERMINATE_REGRET = range(7)
"""Rows of a gadget's numbers.

They are: the weight of a combo in the range, its forced weight, its counterfactual value of terminating, the number to
add to its counterfactual value of continuing, the probability with which it continues, and its regrets.
"""


@kernel
def update_behind_gadget(street, visits, seat, gadget, tables, sums, steps, above, work, totals):
    """Do one or more iterations for both seats, one of which may terminate before the root.

    The numbers are those of `Gadget.continuing` and `Gadget.learn`, to the last bit.

    Parameters
    ----------
    seat : int
        The seat that may terminate.
    gadget : float64[7, num_combos]
        The rows named above. The last three rows are modified in place.
    street, visits, tables, sums, steps, above, work, totals
        As in `vector_cfr_kernels.update_boards`. Also modified in place: the seat's reach in `above`.
    """
    num_combos = gadget.shape[1]
    for number in range(steps.shape[0]):
        reach = above.reach[seat]
        for combo in range(num_combos):
            reach[combo, 0] = gadget[ACCEPTED, combo] * gadget[WEIGHT, combo] + gadget[FORCED, combo]
        for turn in range(2):
            clear(totals, np.int64(0), np.int64(totals.shape[0]))
            update_boards(street, visits, turn, tables, sums, steps[number : number + 1], above, work, totals)
            if turn == seat:
                choose(gadget, totals, np.float64(steps[number, GAIN]), np.float64(steps[number, LOSS]))


@kernel(inline=True)
def choose(gadget, totals, gain, loss):
    """Update the choice of each combo by regret matching; `totals` has the combo's value of continuing."""
    for combo in range(gadget.shape[1]):
        stay, terminating = gadget[ACCEPTED, combo], gadget[TERMINATING, combo]
        continuing = np.float64(totals[combo, 0]) + gadget[ADDED, combo]
        value = stay * continuing + (1.0 - stay) * terminating
        go = gadget[CONTINUE_REGRET, combo] + continuing - value
        stop = gadget[TERMINATE_REGRET, combo] + terminating - value
        go *= gain if go > 0.0 else loss
        stop *= gain if stop > 0.0 else loss
        gadget[CONTINUE_REGRET, combo] = go
        gadget[TERMINATE_REGRET, combo] = stop
        go, stop = max(go, 0.0), max(stop, 0.0)
        gadget[ACCEPTED, combo] = go / (go + stop) if go + stop > 0.0 else 0.5
