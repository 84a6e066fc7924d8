"""Values of a situation at the start of a street, from a solution that ends with the street."""

import numpy as np

from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.continual.end_net_leaves import end_net_leaves
from plurispiel.agents.continual.lookahead import Lookahead
from plurispiel.agents.values.drawn_situation import DrawnSituation
from plurispiel.agents.values.levels import Level, pot_of
from plurispiel.agents.values.net_file import StoredNet
from plurispiel.agents.values.solved_situation import Solved

__all__ = ["ITERATIONS", "solve_to_street_end"]

ITERATIONS = 160
"""Iterations of each solution; the first half is not averaged."""


def solve_to_street_end(
    level: Level, situation: DrawnSituation, stored: StoredNet, iterations: int = ITERATIONS
) -> Solved:
    """Return the values of a situation, solved to the end of its street with the values of a network there.

    Raises
    ------
    ArtefactRefused
        If the network is for another game or street.
    """
    rules, board, pot = level.rules, situation.board, pot_of(situation.state)
    lookahead = Lookahead(situation.state, board, (), end_net_leaves(stored), level.raises)
    ranges = situation.ranges / situation.ranges.sum(axis=1, keepdims=True)
    solved = lookahead.solve(ranges, iterations, iterations // 2, bounds="best")
    best = solved.means.values[:, 0]
    hands = rank_hands(rules, board)
    facing = np.zeros_like(best)
    facing[:, hands.combos] = fold_mass(hands, ranges[::-1, hands.combos])
    pairs = (ranges[0] * facing[0]).sum()
    # The values of the average strategies sum to 0, so those of best responses sum to the gains of both seats.
    slack = (ranges * best).sum() / 2.0 / pairs / pot
    evs = np.divide(best, facing, out=np.zeros_like(best), where=facing > 0.0)
    return Solved(evs / pot, float(slack), iterations)
