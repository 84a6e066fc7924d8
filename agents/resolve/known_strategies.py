"""Strategies that are known before a solver's iterations: a warm start from them, and best responses to them.

A warm start sets regrets in proportion to the strategies, so that regret matching plays them in the first iteration.
Brown and Sandholm (2016) derive the size of the regrets from the strategies' values, and so bound the regret. Here the
size is a parameter: this takes no walk over the boards, and gives no such bound. Later regrets outgrow these regrets,
so the solver's limit is the same.

References
----------
N. Brown and T. Sandholm: Strategy-based warm starting for regret minimization in games. AAAI (2016).
"""

from collections.abc import Callable

import numpy as np

from plurispiel.abstraction.holdem.betting_layout import CONTRIB
from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.machine.sums import product
from plurispiel.agents.resolve import vector_cfr_kernels as kernels
from plurispiel.agents.resolve.street import SolverStreet
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["KnownRows", "response_values", "warm_start"]

KnownRows = Callable[[int, BettingDecision], np.ndarray | None]
"""Maps the number of a street in the subgame and a decision there to the decision's strategy, or to None if unknown.

The strategy is float[n, num_actions], with a row for each combo on the first street and a row for each bucket on later
streets. A row of zeros means that the strategy of this combo or bucket is unknown.
"""


def warm_start(solver: VectorSolver, known: KnownRows, weight: float) -> None:
    """Set the regrets of a solver so that it begins with given strategies.

    Parameters
    ----------
    solver : VectorSolver
        A solver that has done no iteration, with buckets on all streets after the first.
    known : callable
        The strategies, as `KnownRows`.
    weight : float
        The regret of an action with probability 1, in pots at the decision. It is multiplied by the mean reach of the
        opponent and by the weight of the compatible hands, since the solver's regrets are counterfactual.

    Raises
    ------
    ValueError
        If the solver has done an iteration, or a street after the first has no buckets.
    """
    if solver.iteration:
        raise ValueError(f"a warm start comes before all iterations, and there were {solver.iteration:,}")
    dead_chips = solver.subgame.dead_chips
    above = np.ones((2, 1))
    for number, street in enumerate(solver.streets):
        if number and not street.buckets:
            raise ValueError("a warm start needs buckets on streets after the first one")
        masses = [_masses(solver, street, seat) for seat in range(2)]
        nodes = street.betting.nodes
        # A counterfactual regret contains the opponent's reach. The mean reach of all hands is near enough for a start.
        reach = np.zeros((2, len(nodes.kind)))
        reach[:, nodes.parent < 0] = above
        for decision in street.betting.decisions:
            seat, children = decision.seat, list(decision.children.values())
            reach[:, children] = reach[:, [decision.node]]
            rows = known(number, decision)
            mass = masses[seat]
            shares = np.full(len(children), 1.0 / len(children)) if rows is None else _mean_row(rows, mass)
            reach[seat, children] *= shares
            if rows is None or street.layout.locked[decision.node] == 1:
                continue
            state = decision.state
            pot = sum(state[CONTRIB : CONTRIB + 2]) + dead_chips
            size = weight * pot * float(reach[1 - seat, decision.node])
            # The regrets of an iteration are sums over the opponent's hands, whose total weight is `mass`.
            street.write(street.regrets, decision, size * mass[:, None] * rows)
        above = reach[:, nodes.end_nodes]
    solver.restore_locks()


def response_values(solver: VectorSolver, known: KnownRows, seat: int) -> np.ndarray:
    """Return the best-response value of each combo of a seat against given strategies, in chips: float64[num_combos].

    Unknown strategies are uniform, and locks hold. The solver must have done no iteration, and must have buckets on all
    streets after the first. The solver is left unchanged: its strategy sums hold the strategies during the measurement,
    and are set to 0 afterwards.
    """
    written = []
    for number, street in enumerate(solver.streets):
        for decision in street.betting.decisions:
            if street.layout.locked[decision.node] == 1:
                continue
            rows = known(number, decision)
            num_rows = street.width or solver.ranges.shape[1]
            street.write(street.sums, decision, np.ones((num_rows, len(decision.children))) if rows is None else rows)
            written.append((street, decision, num_rows))
    solver.restore_locks()
    facing = solver.facing[seat]
    # A hand that faces no compatible hand has value 0, whatever the divisor.
    values = solver.combo_values(seat)[kernels.BEST] / np.where(facing > 0.0, facing, 1.0)
    for street, decision, num_rows in written:
        street.write(street.sums, decision, np.zeros((num_rows, len(decision.children))))
    solver.restore_locks()
    return values


def _masses(solver: VectorSolver, street: SolverStreet, seat: int) -> np.ndarray:
    """Return the weight of the opponent's compatible hands, for each combo or for all hands of each bucket: float64[n].

    In a bucket, each hand counts with its own weight and with the number of deals of its board.
    """
    hands = street.deals.arrays.seats[seat]
    if not street.buckets:
        return solver.facing[seat]
    boards = np.repeat(street.deals.arrays.multiplicity.astype(np.float64), np.diff(hands.first))
    facing = solver.facing[seat, hands.combos] * street.buckets.weights[seat] * boards
    return np.bincount(street.buckets.numbers[seat], facing, street.width)


def _mean_row(rows: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Return the mean of the rows weighted by `mass`; uniform if no row is known."""
    return normalised(product(mass[None], rows)[0], 1.0 / rows.shape[1])
