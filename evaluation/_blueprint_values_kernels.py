"""Kernels of values of self-play: several roll-outs of one seat, and means over the actions of a decision.

A *point* is a situation of a hand that is asked about; it has a row in the tables of shares and values. A *world* is a
sampled whole board (`roll_outs`).
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.blueprint.roll_out_kernels import add_values, first_cell
from plurispiel.agents.blueprint.roll_outs import RollOutSeats, Stakes, Worlds


class RollOut(NamedTuple):
    """The arguments of `add_values` that are the same in all roll-outs of one call of `fill_values`."""

    seats: RollOutSeats
    stakes: Stakes
    worlds: Worlds
    small: int
    seed: np.uint64


class KnownMeans(NamedTuple):
    """The combos' mean values at some nodes, and which of them are known: float64 and bool[num_lines, num_combos]."""

    means: np.ndarray
    is_known: np.ndarray


class Thinning(NamedTuple):
    """The choice of the combos to value.

    Attributes
    ----------
    shares : float64[num_points, num_combos]
        The chance that each combo is valued; with a share of 1 or more it is always valued.
    thresholds : float64[num_combos]
        A combo is valued if its share is above this number.
    asked : bool[num_combos]
        Workspace.
    """

    shares: np.ndarray
    thresholds: np.ndarray
    asked: np.ndarray


@kernel
def share_worlds(offsets, per_combo, ranks):
    """Leave every combo a few of the worlds where it shares no card with the board, by rank 0 in the others.

    Parameters
    ----------
    offsets : int64[num_combos]
        The number of the world from which each combo takes worlds in ascending order; the first world follows the last.
        It is drawn without regard to the boards. So the worlds of a combo are a fair sample of those in which the combo
        is possible. For a combo with an offset below 0 nothing is changed.
    per_combo : int
        The number of worlds for each combo; it has fewer if it is possible in fewer.
    ranks : uint16[num_worlds, num_combos]
        Modified in place.
    """
    num_worlds = len(ranks)
    for combo in range(len(offsets)):
        if offsets[combo] < 0:
            continue
        taken = 0
        for step in range(num_worlds):
            world = (offsets[combo] + step) % num_worlds
            if taken == per_combo:
                ranks[world, combo] = 0
            taken += ranks[world, combo] != 0


@kernel
def raise_shares(shares, weights, num_hands, own):
    """Raise the shares of a situation's combos to those of one more question.

    Parameters
    ----------
    shares : float64[num_combos]
        See `Thinning`. Modified in place.
    weights : float64[num_combos]
        The weight of each combo's value in the score.
    num_hands : float
        The share of a combo is this number times its weight.
    own : int
        A combo that gets the share 1; -1 for none.
    """
    for combo in range(len(shares)):
        shares[combo] = max(shares[combo], weights[combo] * num_hands)
    if own >= 0:
        shares[own] = 1.0


@kernel
def fill_values(tables, roll_out, known, places, chips, thinning, work, sums, values):
    """Write the values of points with the same cards, by roll-outs for the combos whose means are not known yet.

    A combo is valued if its share is above its threshold; other combos get the value 0. Thresholds are uniform from 0
    to 1, so a share below 1 is the chance that the combo is valued. Values are divided by such shares, which keeps
    their expectation over thresholds.

    Parameters
    ----------
    tables : RollOutTables
    roll_out : RollOut
    known : KnownMeans
        Modified in place.
    places : int64[n, 3]
        For each point its row, the line of its node in `known`, and the node.
    chips : float64[n, 3]
        For each point the seat's contribution in the tree, the ratio of the pots at the table and in the tree, and the
        seat's contribution at the table.
    thinning : Thinning
    work : RollOutWorkspace
    sums : RollOutSums
        Workspace.
    values : float64[num_points, num_combos]
        Modified in place.
    """
    seats, stakes, worlds, small, seed = roll_out
    thresholds, asked = thinning.thresholds, thinning.asked
    for k in range(len(places)):
        shares, row = thinning.shares[places[k, 0]], values[places[k, 0]]
        means, is_known = known.means[places[k, 1]], known.is_known[places[k, 1]]
        count = 0
        for combo in range(len(row)):
            asked[combo] = shares[combo] > thresholds[combo] and not is_known[combo]
            count += asked[combo]
        if count:
            sums.totals[:] = 0.0
            sums.counts[:] = 0.0
            add_values(tables, seats, stakes, worlds, asked, places[k, 2], small, seed, work, sums)
            for combo in range(len(row)):
                if asked[combo]:  # the mean is 0 for a combo without a world
                    means[combo] = sums.totals[combo] / max(sums.counts[combo], 1.0)
                    is_known[combo] = True
        paid, scale, contribution = chips[k, 0], chips[k, 1], chips[k, 2]
        for combo in range(len(row)):
            if shares[combo] > thresholds[combo]:
                row[combo] = ((means[combo] + paid) * scale - contribution) / min(shares[combo], 1.0)
            else:
                row[combo] = 0.0


@kernel
def spread(tables, node, buckets, points, shares, probabilities):
    """Write the probability of each action of a decision for each combo, and return whether the actions are enough.

    The actions are enough if every action that the blueprint takes with a combo of positive share is asked about.

    Parameters
    ----------
    tables : RollOutTables
    node : int
        The decision.
    buckets : int32[num_combos or 1]
        The bucket, on the decision's street, of each combo of the seat to act, or of the one known combo of that seat.
        Buckets of combos without a share have no meaning.
    points : int64[1 + num_actions]
        The rows of `shares` at the decision and after each action; -1 for an action that is not asked about.
    shares : float64[num_points, num_combos]
        See `Thinning`. If the actions are enough, a combo with a share at the decision gets the share 1 after every
        action that the blueprint takes with it, unless it has a share there already. Modified in place.
    probabilities : float64[num_actions, num_combos or 1]
        0 for combos without a share. Modified in place.
    """
    rows, start, here = tables.rows, first_cell(tables, node), shares[points[0]]
    num_actions, num_rows = probabilities.shape
    for row in range(num_rows):
        if num_rows > 1 and here[row] == 0.0:  # a combo on the board has no bucket
            probabilities[:, row] = 0.0
            continue
        cell = start + np.int64(buckets[row]) * num_actions
        total = 0.0
        for a in range(num_actions):
            total += rows[cell + a]
        for a in range(num_actions):
            probabilities[a, row] = rows[cell + a] / total
    for a in range(num_actions):
        if points[1 + a] < 0:
            for combo in range(len(here)):
                if probabilities[a, combo if num_rows > 1 else 0] > 0.0 and here[combo] > 0.0:
                    return False
    for a in range(num_actions):
        if points[1 + a] >= 0:
            after = shares[points[1 + a]]
            for combo in range(len(here)):
                probability = probabilities[a, combo if num_rows > 1 else 0]
                if probability > 0.0 and here[combo] > 0.0 and after[combo] == 0.0:
                    after[combo] = 1.0
    return True


@kernel
def mix(probabilities, points, values):
    """Write the values before a decision, the means of those after its actions.

    Parameters
    ----------
    probabilities : float64[num_actions, num_combos or 1]
    points : int64[1 + num_actions]
        The rows of `values` at the decision and after each action; -1 for an action without values.
    values : float64[num_points, num_combos]
        Modified in place.
    """
    here = values[points[0]]
    here[:] = 0.0
    for a in range(len(probabilities)):
        if points[1 + a] >= 0:
            after = values[points[1 + a]]
            if probabilities.shape[1] == 1:
                for combo in range(len(here)):
                    here[combo] += probabilities[a, 0] * after[combo]
            else:
                for combo in range(len(here)):
                    here[combo] += probabilities[a, combo] * after[combo]
