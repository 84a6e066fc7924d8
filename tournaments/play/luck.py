"""The person's score of a hand with most of the luck removed, and the running result.

A person reports no strategy. So AIVAT by itself removes only the luck of the cards and, once two seats are left, the
luck in the choices of a trusted agent that reports its strategy. The zero-sum correction (`evaluation.zero_sum`) takes
off more: the sum of all seats' AIVAT scores is luck. For this correction, a hand is a group with two contestants, the
person and all others together. The sum, times a coefficient, is subtracted from the person's score.

The coefficient mixes a fit on earlier hands with a prior; the first hand uses the prior alone. The person's prior is
that of a *silent* seat, whose strategy is unknown or not trusted. Heads-up against an agent that reports its strategy,
the prior is 1. So if the AIVAT scores in the first hand are X for the person and Y for the agent, the person's
corrected score is X - (X + Y) = -Y.

Which seats are silent depends on the agents alone, not on the hand, so the result is unbiased.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from plurispiel.evaluation.aivat import Score
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.evaluation.zero_sum import prior_coefficients, zero_sum_scores
from plurispiel.tournaments.play.table_view import chips_words


class TableScore(NamedTuple):
    """The AIVAT scores of a hand, in chips: the person's score, and the sum of all seats' scores."""

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
    silent : sequence of bool
        Whether each player is silent. The first player is the person, who is silent.
    """

    def __init__(self, big_blind: int, silent: Sequence[bool]):
        self._per_chip = 1000.0 / big_blind
        own = prior_coefficients(np.ones(len(silent)), np.array(silent))[0]
        self._prior = np.array([own, 1.0 - own])
        self._chips: list[float] = []
        self._scores: list[tuple[float, float]] = []  # of the person, and of all others together

    def add(self, chips: float, score: TableScore) -> None:
        """Add a hand with the person's net chips and the scores of the table."""
        self._chips.append(chips)
        self._scores.append((score.own, score.total - score.own))

    def estimates(self) -> np.ndarray:
        """Return the person's chips in every hand with the luck removed: float64[num_hands].

        The coefficient of a hand is fitted on the hands before it, so later hands change no estimate.
        """
        scores = np.array(self._scores).reshape(-1, 2)
        return zero_sum_scores(scores, np.arange(len(scores)), self._prior)[:, 0]

    def record(self) -> dict[str, Any]:
        """Return the result as plain values, with rates in mbb/hand and half-widths of 95 % intervals.

        Returns
        -------
        dict
            ``hands, chips, mbb_per_hand, ci95, aivat_mbb_per_hand, aivat_ci95``. Rates are None without hands,
            half-widths also after one hand.
        """
        record: dict[str, Any] = {"hands": len(self._chips), "chips": round(sum(self._chips), 6)}
        for prefix, chips in (("", np.array(self._chips)), ("aivat_", self.estimates())):
            estimate = estimate_mean(chips * self._per_chip) if len(chips) else None
            record[f"{prefix}mbb_per_hand"] = estimate.mean if estimate else None
            record[f"{prefix}ci95"] = estimate.ci95 if estimate else None
        return record

    def words(self) -> list[str]:
        """Return the result as short texts: the hands and chips, and the rates in mbb/hand with 95 % intervals."""
        count = len(self._chips)
        texts = [f"{count:,} hand{'s' * (count != 1)}, {chips_words(round(sum(self._chips), 6))} chips"]
        if count:
            rates = self._rate(np.array(self._chips)), self._rate(self.estimates())
            texts += [f"won {rates[0]} mbb/hand", f"by AIVAT {rates[1]} mbb/hand"]
        return texts

    def _rate(self, chips: np.ndarray) -> str:
        estimate = estimate_mean(chips * self._per_chip)
        interval = "" if estimate.ci95 is None else f" ± {estimate.ci95:,.0f}"
        return f"{estimate.mean:+,.0f}{interval}"
