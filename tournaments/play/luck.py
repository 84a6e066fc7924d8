"""The person's score of a hand with most of the luck removed, and the running result.

A person reports no strategy, so AIVAT by itself removes from the person's payoff the luck of chance alone. But payoffs
of a hand sum to 0, and so do the expectations of all seats' AIVAT scores. The sum Z of the scores is therefore noise,
and a part of Z is taken off the person's score: all of it if the person is the only *silent* seat, one whose strategy
is unknown or not trusted; otherwise the silent seats share Z equally. The score is then minus the sum of the others'
scores, in the first case.

Which seats are silent depends on the agents alone, not on the hand, so the result is unbiased.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.evaluation.aivat import Score
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.play.table_view import chips_words


class TableScore(NamedTuple):
    """The AIVAT scores of a hand, in chips: that of the person, and the sum Z of all seats' scores."""

    own: float
    total: float


def table_score(scores: Sequence[Score], seat: int, silent: Collection[int]) -> TableScore:
    """Return the person's score of a hand, and the sum of the table.

    Parameters
    ----------
    scores : sequence of Score
        The AIVAT score of every seat.
    seat : int
        The person's seat, which is in `silent`.
    silent : collection of int
        The seats whose strategies are unknown or not trusted. They are scored without a strategy.
    """
    total = 0.0
    for other, score in enumerate(scores):
        estimate = None if other in silent else score.estimate
        total += score.reduced if estimate is None else estimate
    return TableScore(scores[seat].reduced, total)


class RunningResult:
    """The person's result over all hands so far.

    Parameters
    ----------
    big_blind : int
        Chips of the big blind.
    num_silent : int
        The number of silent seats, the person's included.
    """

    def __init__(self, big_blind: int, num_silent: int):
        self._per_chip = 1000.0 / big_blind
        self._share = 1.0 / num_silent
        self._chips: list[float] = []
        self._estimates: list[float] = []

    def add(self, chips: float, score: TableScore) -> float:
        """Add a hand with the person's net chips, and return the estimate with the luck removed, in chips."""
        estimate = score.own - self._share * score.total
        self._chips.append(chips)
        self._estimates.append(estimate)
        return estimate

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
