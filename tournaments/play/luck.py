"""The person's score of a hand with most of the luck removed, and the running result.

A person reports no strategy, so AIVAT by itself removes from the person's payoff the luck of chance alone. But payoffs
of a hand sum to 0, and so do the expectations of the AIVAT estimates of all seats. The sum Z of the estimates is
therefore noise, and an equal part of Z is taken off the estimate of each *silent* seat, one whose strategy is unknown
or not trusted. With agents of this package in all other seats, the person's score is minus the sum of their estimates.

Which seats are silent depends on the agents alone, not on the hand, so the score is unbiased.
"""

from collections.abc import Collection, Sequence

import numpy as np

from plurispiel.evaluation.aivat import Score
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.play.table_view import chips_words


def luckless_chips(scores: Sequence[Score], seat: int, silent: Collection[int]) -> float:
    """Return a silent seat's AIVAT estimate of a hand less its part of Z, in chips.

    Parameters
    ----------
    scores : sequence of Score
        The AIVAT score of every seat.
    seat : int
        A seat in `silent`.
    silent : collection of int
        The seats whose strategies are unknown or not trusted. They are scored without a strategy.
    """
    total = 0.0
    for other, score in enumerate(scores):
        estimate = None if other in silent else score.estimate
        total += score.reduced if estimate is None else estimate
    return scores[seat].reduced - total / len(silent)


class RunningResult:
    """The person's result over all hands so far.

    Parameters
    ----------
    big_blind : int
        Chips of the big blind.
    """

    def __init__(self, big_blind: int):
        self._per_chip = 1000.0 / big_blind
        self._chips: list[float] = []
        self._estimates: list[float] = []

    def add(self, chips: float, estimate: float) -> None:
        """Add a hand: the person's net chips, and the estimate with the luck removed (`luckless_chips`)."""
        self._chips.append(chips)
        self._estimates.append(estimate)

    def words(self) -> list[str]:
        """Return the result as short texts: the hands and chips, and the rates in mbb/hand with 95 % intervals."""
        count = len(self._chips)
        texts = [f"{count:,} hand{'s' * (count != 1)}, {chips_words(round(sum(self._chips), 6))} chips"]
        if count:
            texts += [f"won {self._rate(self._chips)} mbb/hand", f"by AIVAT {self._rate(self._estimates)} mbb/hand"]
        return texts

    def _rate(self, chips: Sequence[float]) -> str:
        estimate = estimate_mean(np.array(chips) * self._per_chip)
        interval = "" if estimate.ci95 is None else f" ± {estimate.ci95:,.0f}"
        return f"{estimate.mean:+,.0f}{interval}"
