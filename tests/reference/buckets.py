"""Card features, distances and clusters by definition, one hand or one pair at a time."""

import numpy as np
from scipy.optimize import linprog

from plurispiel.abstraction.holdem.cards import combo_cards
from plurispiel.abstraction.holdem.hand_ranks import board_ranks

COMBOS = combo_cards().astype(int)


def compatible():
    """Return which pairs of combos share no card: bool[1326, 1326]."""
    a, b = COMBOS[:, None], COMBOS[None]
    return ~(a[..., :, None] == b[..., None, :]).any(axis=(2, 3))


def river_points(board, apart, opponents=None):
    """Return twice the hands each combo beats plus those it ties, and how many there are, by comparing all pairs.

    ``opponents`` is a mask of the hands to compare with; combos on the board have no others.
    """
    ranks = board_ranks(np.array(board)).astype(int)
    live = ranks > 0
    pairs = apart & live[:, None] & live[None]
    if opponents is not None:
        pairs &= opponents[None]
    wins = (pairs & (ranks[:, None] > ranks[None])).sum(axis=1)
    ties = (pairs & (ranks[:, None] == ranks[None])).sum(axis=1)
    return 2 * wins + ties, pairs.sum(axis=1)


def earth_mover(p, q, ground):
    """Return the exact earth mover's distance of two histograms of equal mass, by linear programming."""
    n, m = len(p), len(q)
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    found = linprog(ground.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.concatenate([p, q]))
    assert found.status == 0
    return found.fun


def greedy_earth_mover(point, centroid, ground):
    """Return what the greedy approximation moves a point to a centroid for (algorithms of Ganzfried and Sandholm).

    In round r every bucket that still has mass moves it to the centroid's r-th nearest bucket, in order of id.
    """
    need = {int(s): int(point[s]) for s in np.flatnonzero(point)}
    left = {int(t): int(centroid[t]) for t in np.flatnonzero(centroid)}
    cost = 0.0
    for rank in range(len(left)):
        for s in sorted(need):
            target = sorted(left, key=lambda t: (ground[s, t], t))[rank]
            moved = min(need[s], left[target])
            cost += moved * ground[s, target]
            need[s] -= moved
            left[target] -= moved
    assert not any(need.values())
    return cost


def nearest(points, centroids, squared):
    """Return the nearest centroid of each point, the lowest id among equals, and its distance."""
    gaps = np.abs(points[:, None].astype(int) - centroids[None].astype(int))
    distances = (gaps**2 if squared else gaps).sum(axis=2)
    return distances.argmin(axis=1), distances.min(axis=1)
