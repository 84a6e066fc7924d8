"""Kernels of AIVAT: the strategy that an agent reports for all its combos, and the weights of its imaginary hands.

A *kind* of action is one action, or a range of raises among which the reported strategy draws evenly
(`announced.Announced`).
"""

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.sums import ordered_dot


@kernel
def read_rows(rows, is_free, rounding, probabilities):
    """Copy the rows of free combos, and return whether every copied row is a distribution.

    Copying ends at the first row that is not a distribution.

    Parameters
    ----------
    rows : float64[num_combos, num_columns]
        The reported probabilities of each combo.
    is_free : bool[num_combos]
        Whether each combo shares no card with the board; rows of other combos are ignored.
    rounding : float
        Largest allowed difference of a row's sum from 1.
    probabilities : float64[num_columns, num_combos]
        Receives the rows as columns, with 0 for combos that are not free. Modified in place.
    """
    num_combos, num_columns = rows.shape
    for combo in range(num_combos):
        if not is_free[combo]:
            for k in range(num_columns):
                probabilities[k, combo] = 0.0
            continue
        total = 0.0
        for k in range(num_columns):
            probability = rows[combo, k]
            if not probability >= 0.0:  # so that NaN fails
                return False
            total += probability
            probabilities[k, combo] = probability
        if not abs(total - 1.0) <= rounding:
            return False
    return True


@kernel
def weigh_actions(weights, row, first, probabilities, played, own, numbers):
    """Divide the weights of a seat's combos among the kinds of action of a decision.

    Parameters
    ----------
    weights : float64[num_rows, num_combos]
        Row `row` is B_t, see `aivat`. From row `first` on, one row for each kind receives B_t times the probabilities
        of the kind. The row after these receives B_t+1, the weights after the kind that was played. It is not written
        if the share of that kind is 0. Modified in place.
    row, first : int
    probabilities : float64[num_kinds, num_combos]
        p(a|h), the probability of each kind with each combo.
    played, own : int
        The kind that was played, and the combo that the seat really held.
    numbers : float64[2, num_kinds]
        Row 0: the share of each kind, the sum over combos of B_t times the probability of the kind. Row 1: the
        probability of each kind with `own`. Modified in place.
    """
    before = weights[row]
    for kind in range(len(probabilities)):
        chances, products = probabilities[kind], weights[first + kind]
        numbers[0, kind] = ordered_dot(chances, before)
        numbers[1, kind] = chances[own]
        for combo in range(len(before)):
            products[combo] = before[combo] * chances[combo]
    share = numbers[0, played]
    if share > 0.0:
        products, after = weights[first + played], weights[first + len(probabilities)]
        for combo in range(len(before)):
            after[combo] = products[combo] / share
