"""Strategies that are known before a solver's iterations: it can begin with them, or be held to what they lose.

A warm start lets regrets begin in proportion to the strategies, of a size as if some iterations had come to them. They
fade: what a solver converges to is the same.

References
----------
N. Brown and T. Sandholm: Strategy-based warm starting for regret minimization in games. AAAI (2016).
"""

from collections.abc import Callable

import numpy as np

from plurispiel.abstraction.holdem.betting_state import CONTRIB
from plurispiel.abstraction.holdem.betting_tree import STREET_END, BettingDecision
from plurispiel.agents.resolve import _vector_cfr_kernels as kernels
from plurispiel.agents.resolve.street import SolverStreet
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["KnownRows", "response_values", "warm_start"]

KnownRows = Callable[[int, BettingDecision], np.ndarray | None]
"""From the number of a street and its decision to strategies, or None where none is known.

float[n, num_actions]: a row for each combo on the first street, for each bucket on others. Rows of zeros are unknown.
"""


def warm_start(solver: VectorSolver, known: KnownRows, weight: float) -> None:
    """Let a solver begin with given strategies.

    Parameters
    ----------
    solver : VectorSolver
        That has done no iteration. Its streets after the first must be played by buckets.
    known : callable
    weight : float
        Regrets of an action that is always taken, as a share of the pot that may be won there.

    Raises
    ------
    ValueError
        If there were iterations before, or hands of a later street are told apart.
    """
    if solver.iteration:
        raise ValueError(f"a warm start comes before all iterations, and there were {solver.iteration:,}")
    dead_chips = solver.subgame.dead_chips
    above = np.ones((2, 1))
    for number, street in enumerate(solver.streets):
        if number and not street.buckets:
            raise ValueError("a warm start takes buckets on streets after the first one")
        masses = [_masses(solver, street, seat) for seat in range(2)]
        nodes = street.betting.nodes
        reach = np.zeros((2, len(nodes.kind)))
        reach[:, nodes.parent < 0] = above
        for decision in street.betting.decisions:
            seat, children = decision.seat, list(decision.children.values())
            reach[:, children] = reach[:, [decision.node]]
            rows = known(number, decision)
            mass = masses[seat]
            shares = np.full(len(children), 1.0 / len(children)) if rows is None else _mean_row(rows, mass)
            reach[seat, children] *= shares
            if rows is None or street.layout.locked[decision.node]:
                continue
            state = decision.state
            pot = sum(state[CONTRIB : CONTRIB + 2]) + dead_chips
            size = weight * pot * float(reach[1 - seat, decision.node])
            street.write(street.regrets, decision, size * mass[:, None] * rows)
        above = reach[:, nodes.kind == STREET_END]
    solver.restore_locks()


def response_values(solver: VectorSolver, known: KnownRows, seat: int) -> np.ndarray:
    """Return what each combo of a seat wins by a best response to given strategies, in chips: float64[num_combos].

    Where none is known, all actions are taken alike. The solver must have done no iteration, and stays as it was.
    """
    written = []
    for number, street in enumerate(solver.streets):
        for decision in street.betting.decisions:
            if street.layout.locked[decision.node]:
                continue
            rows = known(number, decision)
            num_rows = street.width or solver.ranges.shape[1]
            street.write(street.sums, decision, np.ones((num_rows, len(decision.children))) if rows is None else rows)
            written.append((street, decision, num_rows))
    solver.restore_locks()
    facing = solver.facing[seat]
    values = solver.combo_values(seat)[kernels.BEST] / np.where(facing > 0.0, facing, 1.0)
    for street, decision, num_rows in written:
        street.write(street.sums, decision, np.zeros((num_rows, len(decision.children))))
    solver.restore_locks()
    return values


def _masses(solver: VectorSolver, street: SolverStreet, seat: int) -> np.ndarray:
    """Return how much of the other seat's range each combo, or the hands of each bucket, can meet: float64[n]."""
    hands = street.deals.arrays.seats[seat]
    if not street.buckets:
        return solver.facing[seat]
    boards = np.repeat(street.deals.arrays.multiplicity.astype(np.float64), np.diff(hands.first))
    facing = solver.facing[seat, hands.combos] * street.buckets.weights[seat] * boards
    return np.bincount(street.buckets.numbers[seat], facing, street.width)


def _mean_row(rows: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return what all hands do together; all actions alike where nothing is known."""
    total = mass @ rows
    return total / total.sum() if total.sum() > 0.0 else np.full(rows.shape[1], 1.0 / rows.shape[1])
