"""Kernels between hands and bins of strength: a hand has shares in two neighbouring bins (`encoding.Bins`)."""

from plurispiel.abstraction.machine.jit import kernel


@kernel
def sum_by_bin(first, share, rows, above, sums):
    """Write sums by bin of rows by hand.

    Parameters
    ----------
    first : int64[num_hands]
        The lower one of a hand's two bins.
    share : float64[num_hands]
        The hand's share in the other bin; 0 for a hand in the last bin.
    rows : float64[n, num_hands]
    above : float64[num_bins + 1]
        Workspace.
    sums : float64[n, num_bins]
        Modified in place.

    Notes
    -----
    Shares in lower and in upper bins are summed apart, which fixes the order of the additions.
    """
    num_bins = sums.shape[1]
    for n in range(rows.shape[0]):
        above[:] = 0.0
        sums[n] = 0.0
        for hand in range(rows.shape[1]):
            sums[n, first[hand]] += rows[n, hand] * (1.0 - share[hand])
            above[first[hand] + 1] += rows[n, hand] * share[hand]
        for k in range(num_bins):
            sums[n, k] += above[k]


@kernel
def spread_over_hands(first, share, outputs, values):
    """Write the value of each hand: the mean of the outputs of its two bins, weighted by its shares.

    Parameters
    ----------
    first, share
        As in `sum_by_bin`.
    outputs : float64[n, num_bins]
    values : float64[n, num_hands]
        Modified in place.
    """
    last = outputs.shape[1] - 1
    for n in range(values.shape[0]):
        for hand in range(values.shape[1]):
            k = first[hand]
            values[n, hand] = outputs[n, k] * (1.0 - share[hand]) + outputs[n, min(k + 1, last)] * share[hand]
