"""The values of a situation, exact up to a tolerance: the rest of the hand is solved by vector CFR."""

from typing import NamedTuple

import numpy as np

from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.resolve.vector_cfr_kernels import BEST, OWN
from plurispiel.agents.values.drawn_situation import DrawnSituation
from plurispiel.agents.values.levels import Level, chips_behind, pot_of

__all__ = ["Solved", "solve_exactly"]

_FIRST_CHECK, _MOST_ITERATIONS = 100, 25_600
_ALGORITHM = "dcfr"


class Solved(NamedTuple):
    """The values of a situation.

    Attributes
    ----------
    evs : float64[2, num_combos]
        The winnings of each combo by a best response to the other seat's average strategy, in pots. The half of the
        pot that a seat has put in counts as lost. 0 for combos that share a card with the board, or with every hand of
        the other seat's range. A best response is defined even for hands with little or no weight in the seat's range.
    slack : float
        Half of the sum of both seats' gains by best responses, in pots.
    iterations : int
    """

    evs: np.ndarray
    slack: float
    iterations: int


def solve_exactly(level: Level, situation: DrawnSituation) -> Solved:
    """Return the values of a situation.

    Iterations go on until the tolerance of the level is met, or 25,600 of them are done.
    """
    pot, behind = pot_of(situation.state), chips_behind(situation.state)
    allowed = level.tolerance * (pot + min(behind, 2 * pot))
    subgame = Subgame(situation.state, situation.board, situation.ranges, level.raises)
    solver = VectorSolver(subgame, _ALGORITHM, threads=1, dtype=np.float64 if level.num_bins == 0 else np.float32)
    iterations = _FIRST_CHECK
    while True:
        solver.run(iterations - solver.iteration)
        values = np.stack([solver.combo_values(seat) for seat in range(2)])
        gain = (solver.ranges * (values[:, BEST] - values[:, OWN])).sum() / solver.pairs / 2.0
        if gain <= allowed or iterations >= _MOST_ITERATIONS:
            break
        iterations *= 2
    facing = solver.facing
    evs = np.divide(values[:, BEST], facing, out=np.zeros_like(facing), where=facing > 0.0)
    return Solved(evs / pot, float(gain) / pot, solver.iteration)
