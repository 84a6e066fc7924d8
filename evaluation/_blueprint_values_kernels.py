"""Kernels of values of self-play: several roll-outs of one seat, and means over the actions of a decision."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.agents.blueprint.roll_out_kernels import add_values, first_cell
from plurispiel.agents.blueprint.roll_outs import RollOutSeats, Stakes, Worlds


class RollOut(NamedTuple):
    """What all roll-outs of one call have in common; the fields are arguments of `add_values`."""

    seats: RollOutSeats
    stakes: Stakes
    worlds: Worlds
    small: int
    seed: np.uint64


@kernel
def share_worlds(offsets, per_combo, ranks):
    """Leave every combo a few of the worlds where it shares no card with the board, by rank 0 in the others.

    Parameters
    ----------
    offsets : int64[num_combos]
        The world from which each combo takes worlds, in order and around; drawn without regard to the boards. So the
        worlds of a combo are a fair sample of those in which it is possible. For a combo below 0 nothing is changed.
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
def fill_means(tables, roll_out, asked, nodes, work, sums, means):
    """Write the mean values of the own seat's hands from several nodes on.

    Parameters
    ----------
    tables : RollOutTables
    roll_out : RollOut
    asked : bool[n, num_combos]
        For each node, whether to value each combo.
    nodes : int64[n]
        The nodes where the roll-outs begin.
    work : RollOutWorkspace
    sums : RollOutSums
        Workspace.
    means : float64[n, num_combos]
        The mean over the worlds of each combo; 0 for combos without a world. Modified in place.
    """
    seats, stakes, worlds, small, seed = roll_out
    for k in range(len(nodes)):
        sums.totals[:] = 0.0
        sums.counts[:] = 0.0
        add_values(tables, seats, stakes, worlds, asked[k], nodes[k], small, seed, work, sums)
        for combo in range(len(sums.totals)):
            means[k, combo] = sums.totals[combo] / max(sums.counts[combo], 1.0)


@kernel
def fill_values(means, shares, thresholds, paid, scale, contribution, values):
    """Write the values of the combos whose share is above their threshold, and 0 for others.

    A value is divided by its share if that is below 1, the chance that it is above the threshold. So the expectation
    over thresholds, which are uniform from 0 to 1, is the value.

    Parameters
    ----------
    means : float64[num_combos]
        Net chips in the tree, see `fill_means`.
    shares, thresholds : float64[num_combos]
    paid, scale, contribution : float
        The seat's contribution in the tree, the ratio of the pots at the table and in the tree, and the seat's
        contribution at the table.
    values : float64[num_combos]
        Modified in place.
    """
    for combo in range(len(values)):
        if shares[combo] > thresholds[combo]:
            values[combo] = ((means[combo] + paid) * scale - contribution) / min(shares[combo], 1.0)
        else:
            values[combo] = 0.0


@kernel
def spread(tables, node, buckets, named, shares, probabilities):
    """Write the probability of each action of a decision for each combo, and return whether the actions are enough.

    They are if every action that the blueprint takes with a combo of positive share is named.

    Parameters
    ----------
    tables : RollOutTables
    node : int
        The decision.
    buckets : int32[num_combos or 1]
        The bucket of each combo of the seat to act on the decision's street, or of its one known combo. Buckets of
        combos without a share have no meaning.
    named : bool[num_actions]
        Whether the values after each action are known.
    shares : float64[1 + num_actions, num_combos]
        The shares at the decision and after each action, see `fill_values`. A share after an action that the blueprint
        takes becomes 1 if it was 0. Modified in place.
    probabilities : float64[num_actions, num_combos or 1]
        0 for combos without a share. Modified in place.
    """
    rows, start = tables.rows, first_cell(tables, node)
    num_actions, num_rows = probabilities.shape
    for row in range(num_rows):
        if num_rows > 1 and shares[0, row] == 0.0:  # a combo on the board has no bucket
            probabilities[:, row] = 0.0
            continue
        cell = start + np.int64(buckets[row]) * num_actions
        total = 0.0
        for a in range(num_actions):
            total += rows[cell + a]
        for a in range(num_actions):
            probabilities[a, row] = rows[cell + a] / total
    for a in range(num_actions):
        for combo in range(shares.shape[1]):
            probability = probabilities[a, combo if num_rows > 1 else 0]
            if probability > 0.0 and shares[0, combo] > 0.0:
                if not named[a]:
                    return False
                if shares[1 + a, combo] == 0.0:
                    shares[1 + a, combo] = 1.0
    return True
