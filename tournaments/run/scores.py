"""The scores of an agent: with and without AIVAT, with hands or duplicate groups as the samples.

The samples of ``raw`` and ``aivat`` are hands. The samples of ``duplicate``, ``aivat_duplicate`` and
``aivat_zero_sum`` are groups. ``aivat_zero_sum`` has the zero-sum correction (`table_sums`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurispiel.evaluation.statistics import (
    always_valid_half_width,
    bootstrap_interval,
    estimate_mean,
    one_tailed_p,
)
from plurispiel.tournaments.run.config import SCORES, TournamentConfig
from plurispiel.tournaments.run.schema import FULL_CORRECTIONS, REDUCED_CORRECTIONS
from plurispiel.tournaments.run.store import RunStore
from plurispiel.tournaments.run.table_sums import ZERO_SUM, with_zero_sum

FULL, CHANCE_ONLY = "full", "chance only"
"""The forms of AIVAT: with all corrections, or with only those that need no report by the agent itself."""

_CORRECTIONS = {FULL: FULL_CORRECTIONS, CHANCE_ONLY: REDUCED_CORRECTIONS}

# Very small spreads are only rounding, perhaps of strategies in float32, and count as 0: a standard deviation up to
# this share of the standard deviation of `raw`, and a standard error up to this share of the largest absolute rate.
_NO_SPREAD = 1e-7


@dataclass(frozen=True)
class Sample:
    """A score in mbb/hand.

    Attributes
    ----------
    rates_mbb : float64[num_groups]
        The rate of every group; empty for scores by hand.
    mean_mbb : float or None
        The mean rate.
    ci95_mbb : float or None
        Half-width of the 95 % confidence interval; None with fewer than two samples.
    sd_mbb : float or None
        Standard deviation of one hand. For scores by group: the standard deviation of a group's rate, times the square
        root of the mean number of hands in a group, as if the hands were independent. None with fewer than two samples.
    """

    rates_mbb: np.ndarray
    mean_mbb: float | None
    ci95_mbb: float | None
    sd_mbb: float | None

    def record(self) -> dict[str, float | None]:
        """Return the score as plain values, its standard deviation in big blinds."""
        sd_bb = None if self.sd_mbb is None else self.sd_mbb / 1000.0
        return {"mbb_per_hand": self.mean_mbb, "ci95": self.ci95_mbb, "sd_bb": sd_bb}


class AgentScores:
    """All scores of one agent.

    Parameters
    ----------
    config : TournamentConfig
        The settings of the run.
    rows : structured array[num_groups]
        The agent's numbers (`table_sums.with_zero_sum`), one row for each group.
    control : structured array[num_groups] or None
        The numbers of the Control, a copy of the other agent that plays the same decks in this agent's seat. Scores by
        group are this agent's rates minus the Control's. None without a Control.
    complaint : str
        Why the agent's reported strategy cannot be trusted; empty if it can.

    Attributes
    ----------
    form : str or None
        `FULL` or `CHANCE_ONLY`, the corrections in ``aivat`` and ``aivat_duplicate``; None without AIVAT. `CHANCE_ONLY`
        corrects with the agent's true cards: for chance and, once two seats are left, for the actions of an opponent
        of this package.
    """

    def __init__(self, config: TournamentConfig, rows: np.ndarray, control: np.ndarray | None, complaint: str):
        self._config = config
        self._per_chip = 1000.0 / config.rules.big_blind
        self._rows = rows
        self._control = control
        self.form = None
        if len(rows) and not np.isnan(rows["true_chance"]).any():
            told = not np.isnan(rows["imaginary_hands"]).any()
            if control is not None:
                told = told and not np.isnan(control["imaginary_hands"]).any()
            self.form = FULL if told and not complaint else CHANCE_ONLY

    def score(self, name: str) -> Sample | None:
        """Return the score of a name in `config.SCORES`; None if the agent has no such score."""
        if not len(self._rows) or ("aivat" in name and self.form is None):
            return None
        return self._by_hand(name) if name in ("raw", "aivat") else self._by_group(self._columns(name))

    def first(self, num_groups: int) -> "AgentScores":
        """Return the scores over the first `num_groups` groups alone, in the `form` that all groups together have."""
        control = None if self._control is None else self._control[:num_groups]
        part = AgentScores(self._config, self._rows[:num_groups], control, "")
        part.form = self.form
        return part

    def corrections(self) -> dict[str, Sample]:
        """Return the score by group without corrections (``chips``), and with one more correction at a time.

        The key of each score is the name of its last correction, a column of `schema.SCORES` or `ZERO_SUM`.
        """
        columns = ["chips", *_CORRECTIONS.get(self.form or "", ())]
        if not len(self._rows):
            return {}
        found = {name: self._by_group(columns[: k + 1]) for k, name in enumerate(columns)}
        return found | ({ZERO_SUM: self._by_group([ZERO_SUM])} if self.form else {})

    def group_chips(self, name: str) -> np.ndarray:
        """Return the chips of every group under a score, with its corrections if any: float64[num_groups]."""
        return _sum(self._rows, self._columns(name))

    def _columns(self, name: str) -> list[str]:
        """Return the columns whose sum is a score in chips."""
        if name == "aivat_zero_sum":
            return [ZERO_SUM]
        if "aivat" not in name:
            return ["chips"]
        return ["chips", *_CORRECTIONS[self.form or CHANCE_ONLY]]

    def _by_group(self, columns: Sequence[str]) -> Sample:
        """Return the score with groups as samples: the mean of the rates of all groups."""
        rates = _sum(self._rows, columns) / self._rows["hands"] * self._per_chip
        if self._control is not None:
            rates = rates - _sum(self._control, columns) / self._control["hands"] * self._per_chip
        estimate = estimate_mean(rates)
        sd = float(rates.std(ddof=1) * self._rows["hands"].mean() ** 0.5) if len(rates) > 1 else None
        return Sample(rates, estimate.mean, estimate.ci95, sd)

    def _by_hand(self, name: str) -> Sample:
        """Return the score with hands as samples, from the stored sums of squares."""
        column = {"raw": "chips_squared"}.get(name, "aivat_squared" if self.form == FULL else "reduced_squared")
        hands = int(self._rows["hands"].sum())
        mean = float(self.group_chips(name).sum()) / hands
        if hands < 2:
            return Sample(np.empty(0), mean * self._per_chip, None, None)
        from scipy.special import stdtrit

        variance = max(0.0, float(self._rows[column].sum()) - hands * mean * mean) / (hands - 1)
        ci95 = float(stdtrit(hands - 1, 0.975)) * (variance / hands) ** 0.5
        return Sample(np.empty(0), mean * self._per_chip, ci95 * self._per_chip, variance**0.5 * self._per_chip)


def _sum(rows: np.ndarray, columns: Sequence[str]) -> np.ndarray:
    """Return the sum of the named columns in each row: float64[num_groups]."""
    total = rows[columns[0]]
    for name in columns[1:]:
        total = total + rows[name]
    return total


def best_estimates(rows: np.ndarray) -> np.ndarray:
    """Return the best known estimate of the chips in each row: full AIVAT, else its reduced form, else the net chips.

    Parameters
    ----------
    rows : structured array[num_rows]
        Rows with the fields of `schema.SCORES`.

    Returns
    -------
    float64[num_rows]
    """
    found = rows["chips"]
    for corrections in (REDUCED_CORRECTIONS, FULL_CORRECTIONS):
        corrected = _sum(rows, ["chips", *corrections])
        found = np.where(np.isnan(corrected), found, corrected)
    return found


class RunScores:
    """The scores of every agent of a run.

    Attributes
    ----------
    headline : str
        Name of the score that ranks the agents: the score in the settings, else ``aivat_zero_sum`` if an agent has
        that score, else ``duplicate``.
    agents : list of AgentScores
        The scores of each agent.
    complaints : list of str
        Why each agent's reported strategy cannot be trusted; empty if it can, or if it is not used.
    """

    def __init__(self, config: TournamentConfig, store: RunStore, rows: np.ndarray):
        refusals, calibrations = store.refusals(), store.calibrations()
        rows = with_zero_sum(config, rows)
        self.complaints = []
        self.agents = []
        controls = rows[rows["agent"] == len(config.agents)]
        for number in range(len(config.agents)):
            verdict = calibrations[number].verdict() if number in calibrations else ""
            is_used = number not in config.outsiders - config.believed
            self.complaints.append((refusals.get(number) or verdict) if is_used else "")
            control = controls if len(controls) and number == config.controlled else None
            self.agents.append(AgentScores(config, rows[rows["agent"] == number], control, self.complaints[-1]))
        holds_aivat = any(agent.form for agent in self.agents)
        self.headline = config.score or ("aivat_zero_sum" if holds_aivat else "duplicate")
        self._seed = config.public_seed

    def group_rates(self, number: int) -> np.ndarray:
        """Return an agent's rates by group for the headline score: float64[num_groups], in mbb/hand.

        If the headline is ``raw`` or ``aivat``, the rates are computed for ``duplicate`` or ``aivat_duplicate``.
        """
        sample = self.agents[number].score(self._by_groups)
        return np.empty(0) if sample is None else sample.rates_mbb

    @property
    def _by_groups(self) -> str:
        return {"raw": "duplicate", "aivat": "aivat_duplicate"}.get(self.headline, self.headline)

    def record(self, number: int) -> dict[str, Any]:
        """Return an agent's scores as they stand in the results, with the headline score first.

        ``variance_ratio`` is the variance of ``raw`` divided by that of the headline score.
        """
        agent = self.agents[number]
        samples = {name: agent.score(name) for name in SCORES}
        headline = samples[self.headline]
        groups = agent.score(self._by_groups)
        raw = samples["raw"]
        ratio = None
        if headline and raw and headline.sd_mbb and raw.sd_mbb and headline.sd_mbb > _NO_SPREAD * raw.sd_mbb:
            ratio = (raw.sd_mbb / headline.sd_mbb) ** 2
        return {
            "mbb_per_hand": headline.mean_mbb if headline else None,
            "ci95": headline.ci95_mbb if headline else None,
            "scores": {name: sample.record() if sample else None for name, sample in samples.items()},
            "variance_ratio": ratio,
            "p_value": _p_value(groups),
            "sequential_ci95": _sequential(groups),
            "bootstrap_ci95": _bootstrap(groups, np.random.default_rng((self._seed, number))),
            "aivat": agent.form,
            "aivat_complaint": self.complaints[number] or None,
        }


def _p_value(sample: Sample | None) -> float | None:
    """Return the one-tailed p-value of a score by group; None with fewer than two groups, or groups of equal rates.

    The p-value is the probability of a score at least this high if the true rate is 0.
    """
    if sample is None or len(sample.rates_mbb) < 2:
        return None
    error = float(sample.rates_mbb.std(ddof=1)) / len(sample.rates_mbb) ** 0.5
    if error <= _NO_SPREAD * abs(sample.rates_mbb).max():
        return None
    return one_tailed_p(float(sample.rates_mbb.mean()), error, len(sample.rates_mbb))


def _bootstrap(sample: Sample | None, rng: np.random.Generator) -> list[float] | None:
    """Return the ends of the bootstrap interval, which assumes no distribution; None with fewer than two groups."""
    interval = None if sample is None else bootstrap_interval(sample.rates_mbb, rng)
    return None if interval is None else list(interval)


def _sequential(sample: Sample | None) -> float | None:
    """Return the half-width of the anytime-valid interval; None while the groups are too few for a finite one."""
    if sample is None or len(sample.rates_mbb) < 2:
        return None
    width = float(always_valid_half_width(sample.rates_mbb))
    return width if np.isfinite(width) else None
