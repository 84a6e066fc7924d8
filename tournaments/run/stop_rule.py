"""The stop rule, `--stop-when`: when a run may stop before its last deck."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plurispiel.evaluation.statistics import always_valid_half_width


@dataclass(frozen=True)
class StopRule:
    """A rule on the agents' win rates that may be checked any number of times.

    The intervals are anytime-valid (`statistics.always_valid_half_width`).

    Attributes
    ----------
    limit_mbb : float or None
        The rule holds when the half-width of every interval is at most this limit, in mbb/hand. With None the rule
        holds when no interval contains 0.
    """

    limit_mbb: float | None

    def holds(self, samples: Iterable[np.ndarray]) -> bool:
        """Return whether the rule holds for all agents.

        Parameters
        ----------
        samples : iterable of float64[num_groups]
            For each agent the rate of every group, in mbb/hand. The rule does not hold while an agent has fewer than
            `statistics.MIN_SEQUENTIAL_SAMPLES` groups.
        """
        return all(self._holds(rates) for rates in samples)

    def _holds(self, rates: np.ndarray) -> bool:
        if len(rates) < 2:
            return False
        half_width = float(always_valid_half_width(rates))
        if self.limit_mbb is None:
            return abs(float(rates.mean())) > half_width
        return half_width <= self.limit_mbb


def parse_stop_rule(text: str) -> StopRule:
    """Return the rule written in a text.

    Raises
    ------
    ValueError
        If the text is not a rule.

    >>> parse_stop_rule("ci<=20"), parse_stop_rule("significant")
    (StopRule(limit_mbb=20.0), StopRule(limit_mbb=None))
    """
    if text == "significant":
        return StopRule(None)
    found = re.fullmatch(r"ci\s*<=\s*([0-9.]+(?:e[0-9]+)?)", text)
    with_limit = found and found[1].count(".") <= 1 and found[1] != "."
    limit = float(found[1]) if found and with_limit else 0.0
    if not 0.0 < limit < math.inf:
        raise ValueError(f"stop_when is 'ci<=X' with X mbb/hand above 0, or 'significant', got {text!r}")
    return StopRule(limit)
