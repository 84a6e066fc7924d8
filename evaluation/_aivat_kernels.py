"""Kernel of AIVAT: what an agent says it would do with every hand."""

from plurispiel.abstraction.machine.jit import kernel


@kernel
def read_rows(rows, is_held, rounding, probabilities):
    """Copy rows of probabilities, and return whether they are some.

    Parameters
    ----------
    rows : float64[num_combos, num_columns]
    is_held : bool[num_combos]
        Rows of other combos are not looked at.
    rounding : float
        By how much a sum may differ from 1.
    probabilities : float64[num_columns, num_combos]
        Modified in place; 0 where no hand is held.
    """
    num_combos, num_columns = rows.shape
    for combo in range(num_combos):
        if not is_held[combo]:
            for k in range(num_columns):
                probabilities[k, combo] = 0.0
            continue
        total = 0.0
        for k in range(num_columns):
            probability = rows[combo, k]
            if not probability >= 0.0:
                return False
            total += probability
            probabilities[k, combo] = probability
        if not abs(total - 1.0) <= rounding:
            return False
    return True
