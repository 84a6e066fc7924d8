"""The re-solving gadget: a seat may turn a subgame down, hand by hand, for what the hand was worth before.

The other seat then has to leave it no more than that with any hand, and so cannot lose by what it believes of it.

References
----------
N. Burch, M. Johanson and M. Bowling: Solving imperfect information games using decomposition. AAAI (2014).
"""

import numpy as np

from plurispiel.agents.resolve._vector_cfr_kernels import GAIN, LOSS

__all__ = ["Gadget"]


class Gadget:
    """A seat's choice before a subgame.

    Parameters
    ----------
    seat : int
    bounds : float64[num_combos]
        Chips for turning the subgame down with each combo.
    facing : float64[num_combos]
        The weight of the other seat's hands that each combo can meet.
    forced : float64[num_combos], optional
        Weights of hands that go on besides, without a choice. Where bounds are generous every hand is turned down, and
        without these the other seat would learn nothing.

    Attributes
    ----------
    accepted : float64[num_combos]
        The probability with which each combo goes on.
    """

    def __init__(self, seat: int, bounds: np.ndarray, facing: np.ndarray, forced: np.ndarray | float = 0.0):
        if bounds.shape != facing.shape or not np.isfinite(bounds).all():
            raise ValueError(f"a gadget has a finite bound for each of {len(facing)} combos, got {bounds.shape}")
        self.seat = seat
        self._turned_down = bounds * facing
        self._forced = forced
        self._regrets = np.zeros((2, len(facing)))
        self.accepted = np.full(len(facing), 0.5)

    def going_on(self, weights: np.ndarray) -> np.ndarray:
        """Return the weight with which each combo goes on, of so much that comes here: float64[num_combos]."""
        return self.accepted * weights + self._forced

    def learn(self, values: np.ndarray, step: np.ndarray) -> None:
        """Learn from what going on is worth.

        Parameters
        ----------
        values : float64[num_combos]
            Counterfactual, as the solver's.
        step : float[3]
            The solver's.
        """
        choices = np.stack([values, self._turned_down])
        value = self.accepted * choices[0] + (1.0 - self.accepted) * choices[1]
        regrets = self._regrets + choices - value
        self._regrets = regrets * np.where(regrets > 0.0, step[GAIN], step[LOSS])
        positive = np.maximum(self._regrets, 0.0)
        totals = positive.sum(axis=0)
        self.accepted = np.where(totals > 0.0, positive[0] / np.where(totals > 0.0, totals, 1.0), 0.5)
