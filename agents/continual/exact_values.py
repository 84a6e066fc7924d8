"""Values at a street's end from a solve of each next board to the end of the hand.

The values are exact but for the error of a limited number of iterations.

No strategy of the next street leaves this module, so a lookahead with these values knows no more of the next
street than with a network.
"""

import numpy as np

from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks
from plurispiel.agents.continual import _exact_values_kernels as kernels
from plurispiel.agents.continual.leaf_values import Boundary
from plurispiel.agents.resolve.deals import deal_streets
from plurispiel.agents.resolve.discounting import parse_discounting
from plurispiel.agents.resolve.street import ReachAbove, SolverStreet
from plurispiel.agents.resolve.vector_cfr_kernels import BEST
from plurispiel.agents.resolve.visits import Visits

__all__ = ["ExactLeaves"]


class ExactLeaves:
    """Values of best responses to the average strategies of a solver of the last street.

    The solver starts from zero at each call of `values`.

    Bounds need the values of best responses. With the values of the average strategies against each other, re-solving
    does not converge.

    Parameters
    ----------
    boundary : Boundary
        The end of the second to last street.
    inner : int
        Iterations of CFR+ at each call of `values`.
    """

    def __init__(self, boundary: Boundary, inner: int):
        rules = boundary.rules
        ranges = np.ones((2, rules.num_combos))
        different = np.arange(rules.num_combos, dtype=np.float64)[None]  # no board may stand for a class of boards
        deals = deal_streets(rules, boundary.street, boundary.board, ranges, different, np.float64)[1]
        self.boards = deals.boards
        self.num_solves = self.num_iterations = 0
        self._street = SolverStreet(boundary.betting, deals, np.dtype(np.float64), True, ranges)
        self._street.allocate()
        self._work = self._street.workspace()
        self._visits = Visits(np.arange(len(self.boards)), np.ones(len(self.boards)))
        self._steps = parse_discounting("cfr+").steps(0, inner)
        self._num_hands = len(boundary.hands.combos)
        self._num_ends = boundary.betting.num_roots
        width, groups = blocks_for(self._num_hands) * LANES, blocks_for(self._num_ends)
        reach = empty_blocks(groups * width, np.dtype(np.float64)), empty_blocks(groups * width, np.dtype(np.float64))
        self._above = ReachAbove(reach, np.full(2, blocks_for(self._num_hands)))
        # For each seat and board, the values of best responses and of the averages, as `leave_board` adds them up.
        self._totals = np.zeros((2, len(self.boards), 2 * groups * width, LANES))

    def values(self, reach: np.ndarray) -> np.ndarray:
        """Return the values of all hands; see `Leaves`."""
        groups = blocks_for(self._num_ends)
        for seat, blocks in enumerate(self._above.reach):
            lanes = blocks.reshape(groups, -1, LANES)
            for end in range(self._num_ends):
                lanes[end // LANES, : self._num_hands, end % LANES] = reach[seat, end]
        street = self._street
        for tables in (*street.regrets, *street.sums):
            tables[:] = 0.0
        self._totals[:] = 0.0
        kernels.solve_boards(
            street.arrays,
            self._visits,
            street.regrets,
            street.sums,
            self._steps,
            self._above,
            self._work,
            self._totals,
        )
        self.num_solves += len(self.boards) * self._num_ends
        self.num_iterations += len(self.boards) * self._num_ends * len(self._steps)
        found = self._totals.reshape(2, len(self.boards), 2, groups, -1, LANES)[:, :, BEST, :, : self._num_hands]
        return np.ascontiguousarray(
            found.transpose(0, 2, 4, 1, 3).reshape(2, groups * LANES, len(self.boards), -1)[:, : self._num_ends]
        )
