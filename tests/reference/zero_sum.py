"""The zero-sum correction, group by group, with numpy's least squares."""

import numpy as np


def prior_of(seats, silent):
    """Return the prior coefficients, seat by seat."""
    told = sum(number for number, is_silent in zip(seats, silent, strict=True) if not is_silent)
    untold = sum(seats) - told
    if untold == 0:
        share = 0.0
    elif untold < told:
        share = 0.5
    else:
        share = 1.0
    pairs = zip(seats, silent, strict=True)
    return [number * (share / untold if is_silent else (1.0 - share) / told) for number, is_silent in pairs]


def coefficients_of(earlier, prior):
    """Return the coefficients fitted on earlier groups (a list of rows) and drawn to the prior."""
    earlier = np.array(earlier).reshape(-1, len(prior))
    table = earlier.sum(axis=1)
    if len(earlier) < 2 or not table.std() > 0.01 * earlier.std(axis=0).max():
        return np.array(prior)
    design = np.stack([np.ones(len(table)), table], axis=1)
    fitted = np.linalg.lstsq(design, earlier, rcond=None)[0][1]
    found = (len(earlier) * fitted + 20 * np.array(prior)) / (len(earlier) + 20)
    share = 1.0
    for end, start in zip(found, prior, strict=True):
        if end > 1.5:
            share = min(share, (1.5 - start) / (end - start))
        if end < -0.5:
            share = min(share, (-0.5 - start) / (end - start))
    return prior + share * (found - prior)


def corrected(scores, blocks, prior):
    """Return the corrected scores of groups in order, of which each has the number of its block."""
    found = []
    for row, block in zip(scores, blocks, strict=True):
        earlier = [other for other, its_block in zip(scores, blocks, strict=True) if its_block < block]
        found.append(row - coefficients_of(earlier, prior) * sum(row))
    return np.array(found)
