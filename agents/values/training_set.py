"""Encoded situations to train a network with: inputs of the network, and targets of its outputs."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.agents.values.data_set import Situations
from plurispiel.agents.values.encoding import Bins, bins_of, board_features, gate, inputs, num_inputs
from plurispiel.agents.values.levels import Level
from plurispiel.agents.values.ordered_hands import OrderedHands, ordered_hands

__all__ = ["BoardSituations", "TrainingData", "TrainingSet", "by_board", "encode", "training_set"]


class TrainingSet(NamedTuple):
    """Encoded situations: n of them, with K bins for each seat.

    Attributes
    ----------
    inputs : float32[n, num_inputs]
    gates : float32[n]
        The `gate` of each situation.
    targets : float32[n, 2, K]
        The mean, over the hands of each bin, of the value minus the value of checking down, in pots. The mean of a
        network's outputs, weighted by `weights`, is subtracted from each output. The difference times the gate is
        compared with the target.
    hands : float32[n, 2, K]
        The number of hands of each bin that are compatible with at least one hand of the other seat's range. It is the
        bin's weight in the error.
    weights : float32[n, 2, K]
        The weight of each output in the sum of both seats' expected winnings. It is proportional to the sum, over the
        hands of the bin, of a hand's weight times the weight of the other seat's compatible hands. The weights of a
        situation sum to 1.
    """

    inputs: np.ndarray
    gates: np.ndarray
    targets: np.ndarray
    hands: np.ndarray
    weights: np.ndarray

    @property
    def num_inputs(self) -> int:
        """Number of inputs."""
        return self.inputs.shape[1]

    @property
    def num_bins(self) -> int:
        """Number of bins of each seat."""
        return self.targets.shape[2]

    def of_epoch(self, number: int) -> "TrainingSet":
        """Return the situations of an epoch, which are the same in all epochs."""
        return self


class TrainingData(Protocol):
    """Situations for the epochs of a training run."""

    @property
    def num_inputs(self) -> int:
        """Number of inputs of a network."""

    @property
    def num_bins(self) -> int:
        """Number of bins of each seat."""

    def of_epoch(self, number: int) -> TrainingSet:
        """Return the situations of an epoch, counted from 1. All epochs have equally many situations."""


class BoardSituations(NamedTuple):
    """Situations that share a board.

    Attributes
    ----------
    rows : int64[m]
        The index of each of the board's situations among all situations.
    ordered : OrderedHands
    features : float64[...]
        The `board_features`.
    """

    rows: np.ndarray
    ordered: OrderedHands
    features: np.ndarray


def by_board(level: Level, situations: Situations) -> Iterator[BoardSituations]:
    """Yield situations board by board, so that situations with one board are computed together."""
    boards, places = np.unique(situations.boards, axis=0, return_inverse=True)
    order = np.argsort(places.ravel(), kind="stable")
    starts = np.searchsorted(places.ravel()[order], np.arange(len(boards) + 1))
    for number, cards in enumerate(boards.tolist()):
        board = tuple(cards)
        yield BoardSituations(
            order[starts[number] : starts[number + 1]],
            ordered_hands(level.rules, board),
            board_features(level.rules, board),
        )


def training_set(level: Level, situations: Situations, num_bins: int) -> TrainingSet:
    """Return situations encoded for a number of bins."""
    count, spr = len(situations.pots), situations.spr
    encoded = TrainingSet(
        np.empty((count, num_inputs(level.rules, num_bins)), np.float32),
        gate(spr).astype(np.float32),
        *(np.empty((count, 2, num_bins), np.float32) for _ in range(3)),
    )
    for some in by_board(level, situations):
        bins, ranges = bins_of(some.ordered.hands, num_bins), situations.ranges(some.rows)
        masses, checked_down = some.ordered.checkdown(ranges)
        residuals = situations.evs[some.rows].astype(np.float64).transpose(1, 0, 2) - checked_down
        here = encode(bins, some.features, ranges, masses, residuals, spr[some.rows])
        for whole, part in zip(encoded, here, strict=True):
            whole[some.rows] = part
    return encoded


def encode(
    bins: Bins, features: np.ndarray, ranges: np.ndarray, masses: np.ndarray, residuals: np.ndarray, spr: np.ndarray
) -> TrainingSet:
    """Return situations on one board, encoded.

    Parameters
    ----------
    bins : Bins
    features : float64[...]
        The `board_features`.
    ranges : float64[2, n, num_hands]
        Rows sum to 1.
    masses : float64[2, n, num_hands]
        For each hand, the weight of the other seat's compatible hands.
    residuals : float64[2, n, num_hands]
        Values minus the values of checking down, in pots.
    spr : float64[n]
        Chips behind, in pots.
    """
    possible = (masses > 0.0).astype(np.float64)
    hands, sums, weights = bins.summed(possible), bins.summed(residuals * possible), bins.summed(ranges * masses)
    targets = np.divide(sums, hands, out=np.zeros_like(sums), where=hands > 0.0)
    columns = (each.transpose(1, 0, 2).astype(np.float32) for each in (targets, hands, weights / _total(weights)))
    return TrainingSet(inputs(bins, ranges, spr, features), gate(spr).astype(np.float32), *columns)


def _total(weights: np.ndarray) -> np.ndarray:
    """Return the sum over both seats and all bins, above 0: float64[n, 1]."""
    return np.maximum(weights.sum(axis=(0, 2)), 1e-300)[:, None]
