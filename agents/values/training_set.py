"""Situations as a network is trained on them: inputs, and targets for its answers."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.showdown import RankedHands, rank_hands
from plurispiel.agents.values.data_set import Situations
from plurispiel.agents.values.encoding import bins_of, board_features, checkdown, gate, inputs, num_inputs
from plurispiel.agents.values.levels import Level

__all__ = ["BoardSituations", "TrainingSet", "by_board", "num_hands", "training_set"]


class TrainingSet(NamedTuple):
    """Encoded situations: n of them, with K bins for each seat.

    Attributes
    ----------
    inputs : float32[n, num_inputs]
    gates : float32[n]
    targets : float32[n, 2, K]
        For the hands of each bin, the mean of their value minus that of checking down, in pots. An answer of the
        network is multiplied by the gate before it is compared.
    hands : float32[n, 2, K]
        The number of hands of each bin that have a matching hand: the bin's weight in the error.
    weights : float32[n, 2, K]
        The weight with which an output counts in the gain of both seats: sums of a hand's own weight times its matching
        mass. The weights of a situation sum to 1.
    """

    inputs: np.ndarray
    gates: np.ndarray
    targets: np.ndarray
    hands: np.ndarray
    weights: np.ndarray


class BoardSituations(NamedTuple):
    """Situations that share a board.

    Attributes
    ----------
    rows : int64[m]
        Their numbers among all situations.
    hands : RankedHands
    features : float64[...]
        The `board_features`.
    """

    rows: np.ndarray
    hands: RankedHands
    features: np.ndarray


def num_hands(level: Level) -> int:
    """Return the number of hands on a board of a level."""
    return len(rank_hands(level.rules, tuple(level.rules.cards[: level.board_size].tolist())).combos)


def by_board(level: Level, situations: Situations) -> Iterator[BoardSituations]:
    """Yield situations board by board, so that those with one board are computed together."""
    boards, places = np.unique(situations.boards, axis=0, return_inverse=True)
    order = np.argsort(places.ravel(), kind="stable")
    starts = np.searchsorted(places.ravel()[order], np.arange(len(boards) + 1))
    for number, cards in enumerate(boards.tolist()):
        board = tuple(cards)
        yield BoardSituations(
            order[starts[number] : starts[number + 1]],
            rank_hands(level.rules, board),
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
        bins, ranges = bins_of(some.hands, num_bins), situations.ranges(some.rows)
        masses, checked_down = checkdown(some.hands, ranges)
        encoded.inputs[some.rows] = inputs(bins, ranges, spr[some.rows], some.features)
        possible = (masses > 0.0).astype(np.float64)
        evs = situations.evs[some.rows].astype(np.float64).transpose(1, 0, 2)
        hands = bins.summed(possible)
        sums = bins.summed((evs - checked_down) * possible)
        weights = bins.summed(ranges * masses)
        targets = np.divide(sums, hands, out=np.zeros_like(sums), where=hands > 0.0)
        for name, values in (("targets", targets), ("hands", hands), ("weights", weights / _total(weights))):
            getattr(encoded, name)[some.rows] = values.transpose(1, 0, 2)
    return encoded


def _total(weights: np.ndarray) -> np.ndarray:
    """Return the sum over both seats and all bins, above 0: float64[n, 1]."""
    return np.maximum(weights.sum(axis=(0, 2)), 1e-300)[:, None]
