"""The pairings of a league: the results of two entries against each other, read from the pairing's run folder."""

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.evaluation.statistics import estimate_mean, sequential_half_width
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.scores import RunScores
from plurispiel.tournaments.run.store import RunStore

Pair = tuple[int, int]
"""The numbers of two entries, the smaller number first."""


RESULTS = "results.json"
"""The file in a run folder that is written when a run has ended, and deleted before the run is continued."""


@dataclass(frozen=True)
class Pairing:
    """The groups that two entries have played.

    Attributes
    ----------
    rates_mbb : float64[num_groups]
        The rate of the first entry in each group, in mbb/hand: half the difference of both entries' scores. Where the
        scores sum to 0, this is the first entry's score.
    decks : int
        The number of decks that the pairing was to play when it was last played.
    is_finished : bool
        Whether all these decks were played, and the results were written after them.
    seconds : float
        Playing time.
    faults : (int, int)
        The faults of each entry.
    max_faults : int
        The number of faults after which an entry's seat only folds.
    digest : str
        Hash of all stored scores.
    """

    rates_mbb: np.ndarray
    decks: int
    is_finished: bool
    seconds: float
    faults: tuple[int, int]
    max_faults: int
    digest: str

    @property
    def groups(self) -> int:
        """The number of groups, each of two hands."""
        return len(self.rates_mbb)


def read_pairing(folder: Path, settings: Mapping[str, Any]) -> Pairing | None:
    """Return the pairing in a run folder; None if nothing was played there.

    Parameters
    ----------
    settings : mapping
        The settings of the pairing (`LeagueConfig.pairing`), for any number of decks.

    Raises
    ------
    ValueError
        If the folder holds another tournament, or is damaged.
    """
    if not (folder / "run.sqlite").exists() or not (folder / "config.toml").exists():
        return None
    with contextlib.closing(RunStore.reading(folder)) as store:
        store.check()
        begun = store.config
        deals = settings["deals"] or begun.deals  # if not set, they were chosen by the run: `once` without a sandbox
        if differences := TournamentConfig(**{**settings, "deals": deals}).differences(begun):
            raise ValueError(f"{folder} is no pairing of this league: {differences[0]:.200}")
        rows = store.scores()
        scores = RunScores(begun, store, rows)
        ours, theirs = (scores.group_rates(number) for number in (0, 1))
        if len(ours) != len(theirs) or len(rows) != 2 * len(ours) or not np.isfinite([ours, theirs]).all():
            raise ValueError(f"{folder} is damaged: its groups do not have two agents each")
        faults = tuple(int(rows["faults"][rows["agent"] == number].sum()) for number in (0, 1))
        return Pairing(
            (ours - theirs) / 2.0,
            begun.decks,
            len(ours) >= begun.decks and (folder / RESULTS).exists(),
            store.seconds(),
            (faults[0], faults[1]),
            begun.max_faults,
            hashlib.sha256(rows.tobytes()).hexdigest(),
        )


def is_resumable(folder: Path) -> bool:
    """Return whether a pairing may be continued: its agents and the code of this package have not changed."""
    with contextlib.closing(RunStore.reading(folder)) as store:
        return store.config.digest == store.facts["digest"]


class Crosstable:
    """The rates of all pairs of entries.

    Parameters
    ----------
    numbers : sequence of int
        The numbers of the entries, ascending. All pairs of them must have met in two groups or more.
    pairings : mapping of Pair to Pairing
        The pairings of all pairs.

    Attributes
    ----------
    rates : float64[num_entries, num_entries]
        Mean rate of the row's entry against the column's in mbb/hand, antisymmetric.
    errors : float64[num_entries, num_entries]
        The standard errors of `rates`.
    ci95, always : float64[num_entries, num_entries]
        The half-widths of the 95 % t intervals, and of the anytime-valid intervals (infinite with few groups).
    groups : int64[num_entries, num_entries]
        Numbers of groups.
    """

    def __init__(self, numbers: Sequence[int], pairings: Mapping[Pair, Pairing]):
        size = len(numbers)
        self.numbers = list(numbers)
        self.rates, self.errors, self.ci95, self.always = np.zeros((4, size, size))
        self.groups = np.zeros((size, size), dtype=np.int64)
        for row, own in enumerate(numbers):
            for column in range(row + 1, size):
                rates = pairings[own, numbers[column]].rates_mbb
                estimate, sd = estimate_mean(rates), float(rates.std(ddof=1))
                self.rates[row, column], self.rates[column, row] = estimate.mean, 0.0 - estimate.mean
                self.errors[row, column] = self.errors[column, row] = sd / len(rates) ** 0.5
                self.ci95[row, column] = self.ci95[column, row] = estimate.ci95
                self.always[row, column] = self.always[column, row] = sequential_half_width(sd, len(rates))
                self.groups[row, column] = self.groups[column, row] = len(rates)

    @property
    def means(self) -> np.ndarray:
        """The mean of each entry's rates over its opponents, whatever the numbers of hands: float64[num_entries]."""
        return field_means(self.rates)

    @property
    def ranking(self) -> list[int]:
        """The indices of the entries, the highest mean first; equal means in the order of the numbers."""
        return np.argsort(-self.means, kind="stable").tolist()

    def gap(self, upper: int, lower: int) -> tuple[float, np.ndarray]:
        """Return the difference of two entries' means, and the weight of each pair's rate in it.

        Returns
        -------
        (float, float64[num_entries, num_entries])
            The difference in mbb/hand; the absolute weights, symmetric and with zeros elsewhere.
        """
        size = len(self.numbers)
        weights = np.zeros((size, size))
        for index in (upper, lower):  # the rate between the two counts in both means
            weights[index, :] += 1.0
            weights[:, index] += 1.0
        np.fill_diagonal(weights, 0.0)
        means = self.means
        return float(means[upper] - means[lower]), weights / (size - 1)

    def is_separated(self, upper: int, lower: int) -> bool:
        """Return whether the anytime-valid interval of the difference of two means excludes 0.

        The half-widths of the pairs' intervals, which are independent, are added in quadrature.
        """
        difference, weights = self.gap(upper, lower)
        return abs(difference) > self.spread(weights, self.always)

    def spread(self, weights: np.ndarray, half_widths: np.ndarray) -> float:
        """Return the half-width of a weighted sum of all pairs' rates: weighted half-widths, added in quadrature."""
        counted = np.triu(weights > 0.0)
        return float(((weights[counted] * half_widths[counted]) ** 2).sum() ** 0.5)


def field_means(rates: np.ndarray) -> np.ndarray:
    """Return the mean of each row without its diagonal.

    Parameters
    ----------
    rates : float64[..., num_entries, num_entries]
        The rates of the rows' entries, with zeros in the diagonal; two entries or more.

    Returns
    -------
    float64[..., num_entries]
        The means.
    """
    return rates.sum(axis=-1) / (rates.shape[-1] - 1)
