"""The kernel that reads the strategy that an agent reports for all its combos."""

from plurispiel.abstraction.machine.jit import kernel


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
