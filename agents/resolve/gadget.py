"""The re-solving gadget: before a subgame one seat may terminate with any of its hands, for a value fixed in advance.

The solving seat must hold every hand of its opponent to at most the hand's fixed value. Let the fixed values be those
of best responses to the solving seat's earlier strategy. Then wrong beliefs about the opponent's range cannot cost the
solving seat anything, up to convergence, unless hands are forced to continue. CFR-D (Burch, Johanson and Bowling, 2014)
introduced the gadget. The updates here are those of RANGEGADGET in DeepStack's Algorithm S1 (lines 46 to 53), with the
solver's discounts.

References
----------
N. Burch, M. Johanson and M. Bowling: Solving imperfect information games using decomposition. AAAI (2014).
M. Moravcik et al.: DeepStack: expert-level artificial intelligence in heads-up no-limit poker. Science (2017),
supplementary materials, Algorithm S1.
"""

import numpy as np

from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.agents.resolve import _gadget_kernels as kernels
from plurispiel.agents.resolve.vector_cfr_kernels import GAIN, LOSS

__all__ = ["Gadget"]


class Gadget:
    """A seat's choice, with each combo, to continue into a subgame or to terminate.

    Parameters
    ----------
    seat : int
        The seat that chooses.
    bounds : float64[num_combos]
        The value of terminating with each combo, in chips.
    facing : float64[num_combos]
        For each combo, the total weight of the other seat's compatible hands.
    forced : float64[num_combos], optional
        The weight with which each combo continues without a choice, added to the weight that continues by choice; by
        default 0. If the bounds are so high that every hand terminates, then without forced weights the other seat
        would face no hands to learn from. The attribute `forced` may be changed between iterations.

    Attributes
    ----------
    accepted : float64[num_combos]
        The probability with which each combo continues; 0.5 to begin with and where neither choice has positive regret.

    Raises
    ------
    ValueError
        If the shapes of `bounds` and `facing` differ, or a bound is not finite.
    """

    def __init__(self, seat: int, bounds: np.ndarray, facing: np.ndarray, forced: np.ndarray | float = 0.0):
        if bounds.shape != facing.shape or not np.isfinite(bounds).all():
            raise ValueError(
                f"a gadget has a finite bound for each of {len(facing)} combos, got {int(np.isfinite(bounds).sum())} "
                f"in an array of shape {bounds.shape}"
            )
        self.seat = seat
        # The solver's values are weighted by the other seat's compatible hands; bounds in chips must be, too.
        self._terminating = bounds * facing
        self.forced = forced
        self._regrets = np.zeros((2, len(facing)))
        self.accepted = np.full(len(facing), 0.5)

    def continuing(self, weights: np.ndarray) -> np.ndarray:
        """Return the weight with which each combo enters the subgame: float64[num_combos].

        `weights` are the weights of the combos before the choice, in the seat's range.
        """
        # Line 48 of Algorithm S1, plus the forced weights.
        return self.accepted * weights + self.forced

    def rows(self, weights: np.ndarray, added: np.ndarray) -> np.ndarray:
        """Return the gadget's numbers as `_gadget_kernels` takes them: float64[7, num_combos].

        Parameters
        ----------
        weights : float64[num_combos]
            The weights of the combos before the choice, in the seat's range.
        added : float64[num_combos]
            The number to add to each value of continuing that the kernel finds.
        """
        forced = np.broadcast_to(np.asarray(self.forced, np.float64), weights.shape)
        return np.stack([weights, forced, self._terminating, added, self.accepted, *self._regrets])

    def take_rows(self, rows: np.ndarray) -> None:
        """Take over the choice that a kernel has learnt, in the form of `rows`."""
        self.accepted, self._regrets = rows[kernels.ACCEPTED], rows[kernels.CONTINUE_REGRET :]

    def learn(self, values: np.ndarray, step: np.ndarray) -> None:
        """Update the choice by regret matching.

        Parameters
        ----------
        values : float64[num_combos]
            The solver's counterfactual values of continuing, in this iteration.
        step : float[3]
            The solver's factors, as in `vector_cfr_kernels.learn`.
        """
        # Lines 49 to 51. As printed, they mix values of iterations t - 1 and t; here all are of this iteration.
        choices = np.stack([values, self._terminating])
        value = self.accepted * choices[0] + (1.0 - self.accepted) * choices[1]
        regrets = self._regrets + choices - value
        self._regrets = regrets * np.where(regrets > 0.0, step[GAIN], step[LOSS])
        # Line 47: regret matching, for the next iteration.
        self.accepted = normalised(np.maximum(self._regrets, 0.0).T, 0.5)[:, 0]
