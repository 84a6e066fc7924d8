"""Measurements at the marks of a training run, which tell whether it is trained yet."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.machine.memory import resident_bytes
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.match import meet_rows, play_match
from plurispiel.agents.blueprint.trainer import Trainer

MATCH_DECKS = 300_000
CI95 = 1.96
"""Standard errors in the half-width of a 95 % interval."""

_WATCHED = 50_000


@dataclass(frozen=True)
class Mark:
    """A training run at one moment.

    Attributes
    ----------
    iteration, nodes : int
        Done so far.
    seconds : float
    resident_mb : float
        Memory of the process.
    met : float
        Share of all rows (infosets) met so far.
    regret : float
        Positive regret by visits, over all infosets, in milli-big-blinds.
    drift : float
        How far the strategy moved since the last mark: mean total variation over decisions met in self-play, 0 to 1;
        not a number at the first.
    seat_values, seat_deviations : tuple of float
        Value of each seat in self-play, and its standard error, in mbb per hand.
    missing : float
        Share of decisions of self-play where nothing was learnt.
    against_last, against_last_deviation : float
        Winnings per hand against the last mark's blueprint in a duplicate match, and their standard error.
    against_final, against_final_deviation : float
        The same against the finished one; not a number before the end.
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
        If it is none.
    """
    try:
        found: dict[str, Any] = {name: math.nan if value is None else value for name, value in record.items()}
        for name in ("seat_values", "seat_deviations"):
            found[name] = tuple(found[name])
        numbers = [value for value in found.values() if not isinstance(value, tuple)]
        if not all(
            isinstance(value, (int, float)) for value in (*numbers, *found["seat_values"], *found["seat_deviations"])
        ):
            raise TypeError
        return Mark(**found)
    except (TypeError, KeyError, AttributeError):
        raise ValueError("a mark of the training is damaged") from None


def summarised(training: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of a training with its core-hours and the gain of its last doubling.

    ``core_hours`` are hours times threads; ``last_doubling_mbb`` is what the finished blueprint won a hand in the
    duplicate match against that of the last mark up to half of the iterations, ``last_doubling_from``, and
    ``last_doubling_ci95`` the half-width of its 95 % interval: None where there is no such mark. If that lies
    before the half, more than a doubling won it.
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
    own = summarised(training)["core_hours"] or 0.0
    return training["iterations"] + start["iterations"], own + start["core_hours"]


class Watched:
    """Decisions of self-play whose strategies are compared from mark to mark.

    Parameters
    ----------
    nodes, cells : int64[n]
    rows : float32[sum of their actions]
        Their probabilities at the last mark.
    """

    def __init__(self, nodes: np.ndarray, cells: np.ndarray, rows: np.ndarray):
        self.nodes = nodes
        self.cells = cells
        self.rows = rows

    def require(self, tree: BettingTree, num_cells: int) -> None:
        """Raise ValueError unless these are decisions of a tree, with cells and probabilities of its rows."""
        nodes, cells, rows = self.nodes, self.cells, self.rows
        fits = (nodes.dtype, cells.dtype, rows.dtype) == (np.int64, np.int64, np.float32) and nodes.shape == cells.shape
        if not fits or nodes.ndim != 1 or ((nodes < 0) | (nodes >= len(tree.actor))).any():
            raise ValueError("the decisions that are watched are none")
        counts = tree.num_actions[nodes]
        if ((cells < 0) | (cells + counts > num_cells)).any() or rows.shape != (counts.sum(),):
            raise ValueError("the rows that are watched are none")

    @classmethod
    def none(cls) -> "Watched":
        """Return the decisions before the first mark: none."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))

    def update(self, blueprint: Blueprint, seed: int) -> float:
        """Watch the decisions that a blueprint meets, and return how far those of the last one moved."""
        counts = blueprint.tree.num_actions[self.nodes].astype(np.int64)
        moved = np.nan
        if len(counts):
            change = np.abs(_probabilities(blueprint, self.cells, counts) - self.rows)
            moved = 0.5 * float(change.sum()) / len(counts)
        self.nodes, self.cells = meet_rows(blueprint, _WATCHED, _WATCHED, seed=seed)
        counts = blueprint.tree.num_actions[self.nodes].astype(np.int64)
        self.rows = _probabilities(blueprint, self.cells, counts)
        return moved


def take_mark(
    trainer: Trainer, blueprint: Blueprint, watched: Watched, last: Blueprint | None, *, seconds: float, threads: int
) -> Mark:
    """Measure a run.

    Parameters
    ----------
    blueprint : Blueprint
        The trainer's, now.
    watched : Watched
        Modified in place.
    last : Blueprint or None
        That of the mark before.
    """
    regret, met = trainer.regret_per_visit()
    drift = watched.update(blueprint, trainer.iteration)
    alone = play_match(blueprint, blueprint, MATCH_DECKS, seed=1, threads=threads)
    mark = Mark(
        iteration=trainer.iteration,
        nodes=trainer.num_nodes,
        seconds=seconds,
        resident_mb=resident_bytes() / 2**20,
        met=sum(met) / trainer.num_rows,
        regret=1000.0 * regret / trainer.rules.big_blind,
        drift=drift,
        seat_values=alone.seat_means,
        seat_deviations=alone.seat_deviations,
        missing=alone.missing,
    )
    if last is None:
        return mark
    found = play_match(blueprint, last, MATCH_DECKS, seed=2, threads=threads)
    return dataclasses.replace(mark, against_last=found.mean, against_last_deviation=found.deviation)


def _probabilities(blueprint: Blueprint, cells: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the rows of some cells, one after the other: float32[sum of counts]."""
    if not len(cells):
        return np.empty(0, np.float32)
    starts = np.cumsum(counts) - counts
    numbers = np.repeat(cells - starts, counts) + np.arange(int(counts.sum()))
    rows = blueprint.rows[numbers].astype(np.float64)
    totals = np.repeat(np.maximum(np.add.reduceat(rows, starts), 1e-9), counts)
    return (rows / totals).astype(np.float32)
