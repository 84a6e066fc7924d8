"""Kernels of `bucket_shares`: sums of hands' weights, and weighted sums of rows."""

from plurispiel.abstraction.machine.jit import kernel


@kernel
def add_weights(first, places, weights, multiplicity, of_board, totals):
    """Add the weights of all boards' hands to the totals of the hands' places.

    The weights of a place are summed on each board, and each sum is multiplied by the board's number of deals.

    Parameters
    ----------
    first : int64[num_boards + 1]
        The index of each board's first hand, then the number of hands.
    places : int64[num_hands]
        The place of each hand in `totals`.
    weights : float[num_hands]
    multiplicity : float64[num_boards]
    of_board : float64[n]
        Workspace: zeros, which are zeros again at the end.
    totals : float64[n]
        Modified in place.
    """
    for board in range(len(multiplicity)):
        for k in range(first[board], first[board + 1]):
            of_board[places[k]] += weights[k]
        for k in range(first[board], first[board + 1]):  # a place that comes up again adds 0
            totals[places[k]] += multiplicity[board] * of_board[places[k]]
            of_board[places[k]] = 0.0


@kernel
def add_mixtures(first, columns, shares, rows, mixtures):
    """Add to each mixture the products of its shares and the rows that they multiply, in the order of the shares.

    Parameters
    ----------
    first : int64[n + 1]
        The index of each mixture's first share, then the number of shares.
    columns : int64[num_shares]
        The index in `rows` of the row that each share multiplies.
    shares : float64[num_shares]
    rows : float64[m, k]
    mixtures : float64[n, k]
        Modified in place.
    """
    for n in range(mixtures.shape[0]):
        for number in range(first[n], first[n + 1]):
            for k in range(rows.shape[1]):
                mixtures[n, k] += shares[number] * rows[columns[number], k]
