"""A solved subgame at the table."""

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.agents.base import PublicState, RangeAgent, Strategy
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["ResolvedAgent"]


class ResolvedAgent(RangeAgent):
    """Plays the average strategies of a subgame, from its root on.

    Combos that are not in the seat's range take all actions alike.

    Parameters
    ----------
    solver : VectorSolver
    num_actions_before : int
        Actions of the hand before the subgame.
    """

    name = "resolved"

    def __init__(self, solver: VectorSolver, num_actions_before: int = 0):
        self._solver = solver
        self._before = num_actions_before
        self._decisions: dict[tuple[tuple[int, int, int], ...], tuple[int, BettingDecision]] = {
            decision.actions: (number, decision)
            for number, street in enumerate(solver.streets)
            for decision in street.betting.decisions
        }

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the average strategy with one row for each of ``combo_ids``.

        Raises
        ------
        ValueError
            If the subgame does not contain the public state.
        """
        subgame = self._solver.subgame
        found = self._decisions.get(
            tuple((seat, action, street) for seat, action, street in public.actions[self._before :])
        )
        if found is None or public.board[: len(subgame.board)] != subgame.board:
            raise ValueError("the subgame does not contain this public state; solve one that does")
        number, decision = found
        first = subgame.state.street
        sizes = [public.rules.board_size(street) for street in range(first, first + number + 1)]
        dealt = [public.board[begin:end] for begin, end in zip(sizes, sizes[1:], strict=False)]
        board, image = self._solver.locate(dealt)
        probabilities = self._solver.strategy(number, decision, board)[image[combo_ids]]
        unheld = np.isnan(probabilities[:, 0])
        probabilities[unheld] = 1.0 / len(decision.children)
        return Strategy(np.array(list(decision.children)), probabilities)
