"""Measurements at the marks of a training run, which show whether the blueprint needs more training."""

import dataclasses

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.machine.memory import resident_bytes
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.match import meet_rows, play_match
from plurispiel.agents.blueprint.public_trainer import PublicTrainer
from plurispiel.agents.blueprint.trainer import Trainer
from plurispiel.agents.blueprint.training_record import Mark

MATCH_DECKS = 300_000
_WATCHED = 50_000


class Watched:
    """Decisions of self-play whose strategies are compared from mark to mark.

    Parameters
    ----------
    nodes, cells : int64[n]
        The tree's node of each decision, and the index of the first cell of the row that is watched there.
    rows : float32[sum of the decisions' numbers of actions]
        The probabilities of these rows at the previous mark, row after row.
    """

    def __init__(self, nodes: np.ndarray, cells: np.ndarray, rows: np.ndarray):
        self.nodes = nodes
        self.cells = cells
        self.rows = rows

    def require(self, tree: BettingTree, num_cells: int) -> None:
        """Raise ValueError unless the three arrays have dtypes, shapes and indices that fit a tree.

        `num_cells` is the number of cells of a blueprint of this tree.
        """
        nodes, cells, rows = self.nodes, self.cells, self.rows
        fits = (nodes.dtype, cells.dtype, rows.dtype) == (np.int64, np.int64, np.float32) and nodes.shape == cells.shape
        if not fits or nodes.ndim != 1 or ((nodes < 0) | (nodes >= len(tree.actor))).any():
            raise ValueError("the watched decisions are not of this tree")
        counts = tree.num_actions[nodes]
        if ((cells < 0) | (cells + counts > num_cells)).any() or rows.shape != (counts.sum(),):
            raise ValueError("the watched rows are not of these decisions")

    @classmethod
    def none(cls) -> "Watched":
        """Return an empty set of decisions, as before the first mark."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float32))

    def update(self, blueprint: Blueprint, seed: int) -> float:
        """Return how much the watched rows have changed since the previous mark, and watch new rows from now on.

        The change is the total variation distance, 0 to 1, averaged over the watched rows; NaN if no row was watched.
        The new rows are the first rows that self-play of the blueprint reaches, at most 50,000, without missing rows. A
        row appears each time that it is reached, so frequent rows weigh more. `seed` draws the decks and the actions.
        """
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
    trainer: Trainer | PublicTrainer,
    blueprint: Blueprint,
    watched: Watched,
    last: Blueprint | None,
    *,
    seconds: float,
    threads: int,
) -> Mark:
    """Return the measurements of a run at this moment, and choose the rows to watch until the next mark.

    Parameters
    ----------
    trainer : Trainer or PublicTrainer
    blueprint : Blueprint
        The trainer's current blueprint.
    watched : Watched
        Modified in place.
    last : Blueprint or None
        The blueprint of the previous mark; None at the first mark, or if that blueprint cannot be read.
    seconds : float
        Training time so far.
    threads : int
        Number of threads for the matches.
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
    match = play_match(blueprint, last, MATCH_DECKS, seed=2, threads=threads)
    return dataclasses.replace(mark, against_last=match.mean, against_last_deviation=match.deviation)


def _probabilities(blueprint: Blueprint, cells: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the probabilities of some rows, concatenated: float32[sum of counts].

    `cells` holds the first cell of each row and `counts` its number of actions, both int64[n].
    """
    if not len(cells):
        return np.empty(0, np.float32)
    starts = np.cumsum(counts) - counts
    numbers = np.repeat(cells - starts, counts) + np.arange(int(counts.sum()))
    rows = blueprint.rows[numbers].astype(np.float64)
    totals = np.repeat(np.maximum(np.add.reduceat(rows, starts), 1e-9), counts)
    return (rows / totals).astype(np.float32)
