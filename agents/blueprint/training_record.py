"""The record of a training: its marks, its core-hours, and the gain of its last doubling."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CI95 = 1.96
"""The half-width of a 95 % interval, in standard errors."""


@dataclass(frozen=True)
class Mark:
    """The measurements of a training run at one moment.

    Attributes
    ----------
    iteration, nodes : int
        Number of iterations done, and of nodes met in their traversals.
    seconds : float
        Training time so far.
    resident_mb : float
        Resident memory of the process in MiB.
    met : float
        Share of all rows (infosets) visited so far.
    regret : float
        Positive regret per visit in thousandths of a big blind, see `Trainer.regret_per_visit`. By public chance
        sampling, positive regret per hand; see `PublicTrainer.regret_per_visit`.
    drift : float
        Total variation distance between the strategies at the previous mark and now, averaged over rows reached in
        self-play: 0 to 1, NaN at the first mark.
    seat_values, seat_deviations : tuple of float
        Value of each seat in self-play, and its standard error, in mbb per hand.
    missing : float
        Share of decisions of self-play with a missing row.
    against_last, against_last_deviation : float
        Winnings in mbb per hand against the previous mark's blueprint in a duplicate match, and their standard error;
        NaN at the first mark, or if that blueprint cannot be read.
    against_final, against_final_deviation : float
        Winnings in mbb per hand against the finished blueprint in a duplicate match, and their standard error. NaN
        while the run trains, if the mark is at the finished blueprint's iteration, or if the mark's blueprint cannot be
        read.
    """

    iteration: int
    nodes: int
    seconds: float
    resident_mb: float
    met: float
    regret: float
    drift: float
    seat_values: tuple[float, ...]
    seat_deviations: tuple[float, ...]
    missing: float
    against_last: float = math.nan
    against_last_deviation: float = math.nan
    against_final: float = math.nan
    against_final_deviation: float = math.nan

    def as_dict(self) -> dict[str, Any]:
        """Return the mark in JSON's types, with None for NaN."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in dataclasses.asdict(self).items()
        }


def mark_from_dict(record: Mapping[str, Any]) -> Mark:
    """Return the mark in a record that `Mark.as_dict` has made.

    Raises
    ------
    ValueError
        If the record is damaged.
    """
    try:
        values: dict[str, Any] = {name: math.nan if value is None else value for name, value in record.items()}
        for name in ("seat_values", "seat_deviations"):
            values[name] = tuple(values[name])
        numbers = [value for value in values.values() if not isinstance(value, tuple)]
        if not all(
            isinstance(value, (int, float)) for value in (*numbers, *values["seat_values"], *values["seat_deviations"])
        ):
            raise TypeError
        return Mark(**values)
    except (TypeError, KeyError, AttributeError):
        raise ValueError("a mark of the training is damaged") from None


def summarised(training: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a training, completed by its core-hours and the gain of its last doubling.

    ``core_hours`` are hours times threads; None if the record lacks either, or if a GPU has trained. Records of earlier
    versions lack ``core_seconds`` and have the ``threads`` of the last session alone.

    ``last_doubling_from`` is the iteration of the latest mark in the first half of the run whose blueprint has played
    the finished blueprint. If that mark lies well before the middle, the gain covers more than a doubling.
    ``last_doubling_mbb`` is the finished blueprint's winnings in mbb per hand against the blueprint of that mark, in a
    duplicate match. ``last_doubling_ci95`` is the half-width of the 95 % confidence interval of these winnings. The
    three entries of the last doubling are None if there is no such mark.

    Raises
    ------
    ValueError
        If a mark in the record is damaged.
    """
    record = dict(training)
    record.update(core_hours=None, last_doubling_mbb=None, last_doubling_ci95=None, last_doubling_from=None)
    if "seconds" in training and "threads" in training and training.get("device", "cpu") == "cpu":
        record["core_hours"] = training.get("core_seconds", training["seconds"] * training["threads"]) / 3600.0
    for mark in map(mark_from_dict, training.get("marks", ())):
        if 2 * mark.iteration <= training["iterations"] + 1 and not math.isnan(mark.against_final):
            record["last_doubling_mbb"] = -mark.against_final
            record["last_doubling_ci95"] = CI95 * mark.against_final_deviation
            record["last_doubling_from"] = mark.iteration
    return record


def work_done(training: Mapping[str, Any]) -> tuple[int, float]:
    """Return the iterations and core-hours of a training, including those of the blueprint it started from.

    Core-hours that are not known count as 0.

    Raises
    ------
    ValueError
        If a mark in the record is damaged.
    """
    start = training.get("start") or {"iterations": 0, "core_hours": 0.0}
    core_hours = summarised(training)["core_hours"] or 0.0
    return training["iterations"] + start["iterations"], core_hours + start["core_hours"]
