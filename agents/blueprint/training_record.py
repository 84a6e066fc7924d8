"""The record of a training: its marks, its core-hours, and the gain of its last doubling."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CI95 = 1.96
"""Standard errors in the half-width of a 95 % interval."""


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
        Resident memory of the process.
    met : float
        Share of all rows (infosets) met so far.
    regret : float
        Positive regret by visits, over all infosets, in milli-big-blinds.
    drift : float
        Mean total variation of the strategy since the last mark, over decisions met in self-play: 0 to 1, NaN at the
        first mark.
    seat_values, seat_deviations : tuple of float
        Value of each seat in self-play, and its standard error, in mbb per hand.
    missing : float
        Share of decisions of self-play without a learnt row.
    against_last, against_last_deviation : float
        Winnings in mbb per hand against the last mark's blueprint in a duplicate match, and their standard error.
    against_final, against_final_deviation : float
        The same against the finished blueprint; NaN before the end.
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
    """Return the mark of `Mark.as_dict`.

    Raises
    ------
    ValueError
        If it is damaged.
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

    ``core_hours`` are hours times threads. ``last_doubling_from`` is the iteration of the last mark in the first half
    of the run; the gain is of more than a doubling if that mark lies well before the middle. ``last_doubling_mbb`` is
    the finished blueprint's winnings per hand against that mark's in a duplicate match, and ``last_doubling_ci95`` the
    half-width of its 95 % interval. All three are None without such a mark.
    """
    record = dict(training)
    record.update(core_hours=None, last_doubling_mbb=None, last_doubling_ci95=None, last_doubling_from=None)
    if "seconds" in training and "threads" in training:
        record["core_hours"] = training["seconds"] * training["threads"] / 3600.0
    for mark in map(mark_from_dict, training.get("marks", ())):
        if 2 * mark.iteration <= training["iterations"] + 1 and not math.isnan(mark.against_final):
            record["last_doubling_mbb"] = -mark.against_final
            record["last_doubling_ci95"] = CI95 * mark.against_final_deviation
            record["last_doubling_from"] = mark.iteration
    return record


def work_done(training: Mapping[str, Any]) -> tuple[int, float]:
    """Return the iterations and core-hours of a training, including those of the blueprint it started from."""
    start = training.get("start") or {"iterations": 0, "core_hours": 0.0}
    core_hours = summarised(training)["core_hours"] or 0.0
    return training["iterations"] + start["iterations"], core_hours + start["core_hours"]
