"""Calibration: an agent's reported probabilities tested against the actions it takes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import log

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD

_TESTS = ("folds", "calls", "raises", "surprise")
_IMPOSSIBLE = 1e-12
_LIMIT = 5.0
_SLACK = 16.0


@dataclass
class Calibration:
    """Sums over decisions whose probabilities are known.

    Attributes
    ----------
    sums : float64[10]
        Entry 0 is the number of decisions, entry 1 the number of decisions whose action had a reported probability
        below 1e-12. Four pairs of entries follow, for folds, calls, raises and surprise (minus the natural logarithm of
        the action's probability). The first entry of a pair sums the observed less the expected values, the second sums
        the variances. The pairs count decisions whose action had a probability of at least 1e-12 and below 1.
    """

    sums: np.ndarray = field(default_factory=lambda: np.zeros(2 + 2 * len(_TESTS)))

    def add(self, decisions: Iterable[tuple[int, tuple[int, ...], tuple[float, ...]]]) -> None:
        """Add decisions: each is the index of the action played, the possible actions, and their probabilities."""
        sums = self.sums
        for played, actions, probabilities in decisions:
            sums[0] += 1.0
            if probabilities[played] < _IMPOSSIBLE:
                sums[1] += 1.0
                continue
            if probabilities[played] == 1.0:
                continue
            kinds = [0.0, 0.0, 0.0]
            entropy = squares = 0.0
            for action, probability in zip(actions, probabilities, strict=True):
                kinds[0 if action == FOLD else 1 if action == CALL else 2] += probability
                if probability > 0.0:
                    entropy -= probability * log(probability)
                    squares += probability * log(probability) ** 2
            done = actions[played]
            for k, expected in enumerate(kinds):
                happened = k == (0 if done == FOLD else 1 if done == CALL else 2)
                sums[2 + 2 * k] += happened - expected
                sums[3 + 2 * k] += expected * (1.0 - expected)
            # Surprise has the entropy as its mean, and the variance E[log^2 p] - entropy^2.
            sums[8] += -log(probabilities[played]) - entropy
            sums[9] += squares - entropy * entropy

    def verdict(self) -> str:
        """Return the first deviation from the reported probabilities in words; empty if there is none.

        An honest agent is blamed fewer than three times in a million runs: a sum must deviate by more than five
        standard deviations plus 16. The 16 leave room for a few rare actions, whose variance is small.
        """
        if self.sums[1]:
            return f"it took {self.sums[1]:,.0f} actions that it announces as impossible"
        for k, name in enumerate(_TESTS):
            deviation, variance = self.sums[2 + 2 * k : 4 + 2 * k]
            if abs(deviation) > _LIMIT * max(variance, 0.0) ** 0.5 + _SLACK:
                more = "more" if deviation > 0 else "less" if name == "surprise" else "fewer"
                return (
                    f"over {self.sums[0]:,.0f} decisions there are {abs(deviation):,.0f} {more} {name} than announced"
                    if name != "surprise"
                    else f"over {self.sums[0]:,.0f} decisions its actions are {more} surprising than announced"
                )
        return ""
