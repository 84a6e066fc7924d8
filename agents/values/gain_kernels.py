"""Kernels for the gains of bets over checking down: ranges on a board, gains from a network's outputs, and their sums.

Arrays with an entry for each seat, situation and hand are float64[2, n, num_hands].
"""

from plurispiel.abstraction.machine.jit import kernel


@kernel
def fill_ranges(weights, places, ranges, totals):
    """Write the weights of some hands, divided by their totals. Weights that are all 0 give equal weights.

    Parameters
    ----------
    weights : float64[2, n, any number]
    places : int64[num_hands]
        Indices into the last axis of `weights`.
    ranges : float64[2, n, num_hands]
        Modified in place.
    totals : float64[2, n]
        Modified in place.
    """
    num_hands = len(places)
    for seat in range(2):
        for n in range(weights.shape[1]):
            row, given = ranges[seat, n], weights[seat, n]
            total = 0.0
            for hand in range(num_hands):
                row[hand] = given[places[hand]]
                total += row[hand]
            totals[seat, n] = total
            for hand in range(num_hands):
                row[hand] = row[hand] / total if total > 0.0 else 1.0 / num_hands


@kernel
def fill_gains(first, share, outputs, gates, masses, gains):
    """Write the gain of each hand by the outputs of a network, weighted by the hands that it faces.

    Parameters
    ----------
    first, share : int64[num_hands], float64[num_hands]
        As in `encoding.Bins`.
    outputs : float32[n, 2, num_bins]
    gates : float64[n]
        See `encoding.gate`.
    masses : float64[2, n, num_hands]
        The weight of the hands that each hand faces.
    gains : float64[2, n, num_hands]
        Modified in place.
    """
    last = outputs.shape[2] - 1
    for seat in range(2):
        for n in range(len(gates)):
            row = outputs[n, seat]
            for hand in range(len(first)):
                low, upper = first[hand], share[hand]
                mean = row[low] * (1.0 - upper) + row[min(low + 1, last)] * upper  # as in `spread_over_hands`
                gains[seat, n, hand] = gates[n] * mean * masses[seat, n, hand]


@kernel
def add_gains(gains, totals, places, sums):
    """Add the gains of some hands, times the total weight of the other seat's hands, to `sums` in place.

    Parameters
    ----------
    gains : float64[2, n, num_hands]
    totals : float64[2, n]
    places : int64[num_hands]
        Indices into the last axis of `sums`.
    sums : float64[2, n, any number]
    """
    for seat in range(2):
        for n in range(gains.shape[1]):
            for hand in range(gains.shape[2]):
                sums[seat, n, places[hand]] += gains[seat, n, hand] * totals[1 - seat, n]
