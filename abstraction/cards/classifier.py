"""From boards to buckets: the features of one street, and the centroids or thresholds that classify them.

`StreetClassifier` finds the buckets of a card abstraction: a table's builder applies it to all boards, and a
`CardModel` to single boards. All features are whole numbers, so both find the same buckets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards import _buckets_kernels as kernels
from plurispiel.abstraction.cards.config import StreetConfig
from plurispiel.abstraction.cards.distances import L1, SQUARED_L2, Distance, GreedyEarthMover
from plurispiel.abstraction.cards.river import NUM_CLUSTERS, NUM_COMBOS, RiverReader, RiverTable
from plurispiel.abstraction.cards.run_outs import HISTOGRAM_DIMS, NUM_LIVE, RunOutReader, RunOuts, empty_run_outs

BOARD_CARDS = {"preflop": 0, "flop": 3, "turn": 4, "river": 5}
POTENTIAL_MASS = 5
"""Weight of one next card in a histogram over the next street's buckets.

The weight is above 1, so that means of histograms lose little when they are rounded to whole numbers.
"""

NextRows = Callable[[np.ndarray], np.ndarray]
"""A function of boards of the next street, uint8[n, 4..5], that returns the combos' buckets by board, uint16[n, 1326].
"""


@dataclass(frozen=True, eq=False)
class StreetModel:
    """The parameters that map one street's features to buckets.

    Attributes
    ----------
    street : {"flop", "turn", "river"}
    config : StreetConfig
    clusters : uint8[1326]
        The cluster of each combo as an opponent's hand, for the features ``ochs``.
    thresholds : int64[num_buckets - 1]
        For the distance ``percentile``, the lowest value of each bucket but the first; otherwise empty.
    centroids : uint8[num_buckets, dims]
        For the other distances, the centroids, ordered by the mean equity of their members; for ``percentile``, empty.
    ground : float32[k, k]
        For the features ``potential``, the distances between the k buckets of the next street; otherwise empty.
    """

    street: str
    config: StreetConfig
    clusters: np.ndarray
    thresholds: np.ndarray
    centroids: np.ndarray
    ground: np.ndarray

    @property
    def num_buckets(self) -> int:
        """Number of buckets; fewer than configured if there are fewer different features."""
        return len(self.thresholds) + 1 if self.config.distance == "percentile" else len(self.centroids)

    @property
    def distance(self) -> Distance:
        """The distance between features and centroids; meaningless for the distance ``percentile``."""
        if self.config.distance == "greedy-emd":
            return GreedyEarthMover(self.ground)
        return L1 if self.config.distance == "emd" else SQUARED_L2


class Features(NamedTuple):
    """Features of the free combos of n boards, ordered by board, then by combo id.

    Attributes
    ----------
    points : uint8[n * num_live, dims]
        Vectors to compare with centroids; `dims` is 0 for features that are a single number.
    values : int64[n * num_live]
        Numbers to compare with thresholds: for ``ehs2`` the sums of squared equities over all run-outs, else `sums`.
    sums : int64[n * num_live]
        Sums of river equities over all run-outs, in 1/1980.
    """

    points: np.ndarray
    values: np.ndarray
    sums: np.ndarray


class FeatureReader:
    """Computes the features of one street's boards; each thread needs its own reader.

    Parameters
    ----------
    street : {"flop", "turn", "river"}
    features : str
        As in `StreetConfig`.
    clusters : uint8[1326]
        The cluster of each combo as an opponent's hand, for the features ``ochs``.
    rivers : RiverTable, optional
        A table in which river equities are looked up for flops and turns. Without a table they are computed, which
        gives equal features but takes longer.
    next_rows : callable, optional
        A `NextRows`, which finds buckets on boards of the next street; needed for the features ``potential`` only.
    num_next_buckets : int
        The number of buckets of the next street; 0 if `next_rows` is not given.
    """

    def __init__(
        self,
        street: str,
        features: str,
        clusters: np.ndarray,
        *,
        rivers: RiverTable | None = None,
        next_rows: NextRows | None = None,
        num_next_buckets: int = 0,
    ):
        self._num_cards = BOARD_CARDS[street]
        self._features = features
        self._next_rows = next_rows
        self._run_outs = RunOutReader(self._num_cards, rivers) if street != "river" else None
        self._river = RiverReader(clusters)
        self._dims = {"histogram": HISTOGRAM_DIMS, "ochs": NUM_CLUSTERS, "potential": num_next_buckets}.get(features, 0)
        self._memory: tuple[RunOuts, np.ndarray] = self._allocate(0)

    def read(self, boards: np.ndarray) -> Features:
        """Return the features of boards, uint8[n, 3..5]; the next call overwrites the returned arrays."""
        if len(boards) > len(self._memory[0].sums):
            self._memory = self._allocate(len(boards))
        found = RunOuts(*(array[: len(boards)] for array in self._memory[0]))
        points = self._memory[1][: len(boards)]
        if self._run_outs is not None:
            self._run_outs.fill(boards, found)
            if self._features == "potential":
                for board, rows in zip(boards, points, strict=True):
                    self._fill_potential(board, rows)
        elif self._features == "ochs":
            self._river.fill_clusters(boards, points, found.sums)
        else:
            self._river.fill(boards, found.sums)
        if self._features == "histogram":
            points = found.histograms
        sums = found.sums.reshape(-1)
        values = found.squares.reshape(-1) if self._features == "ehs2" else sums
        return Features(points.reshape(len(sums), self._dims), values, sums)

    def _allocate(self, num_boards: int) -> tuple[RunOuts, np.ndarray]:
        """Return memory for the features of `num_boards` boards, reused because allocation takes long."""
        own_points = 0 if self._features == "histogram" else self._dims
        points = np.empty((num_boards, NUM_LIVE[self._num_cards], own_points), np.uint8)
        return empty_run_outs(num_boards, self._num_cards), points

    def _fill_potential(self, board: np.ndarray, out: np.ndarray) -> None:
        """Write each free combo's histogram over the next street's buckets: uint8[num_live, num_next_buckets]."""
        assert self._next_rows is not None
        cards = np.setdiff1d(np.arange(52, dtype=np.uint8), board)
        boards = np.concatenate([np.tile(board, (len(cards), 1)), cards[:, None]], axis=1)
        out[:] = 0
        kernels.count_next_buckets(board, self._next_rows(boards), cards, POTENTIAL_MASS, out)


class StreetClassifier:
    """Finds the buckets of all combos on boards of one street; each thread needs its own classifier.

    Parameters
    ----------
    model : StreetModel
    reader : FeatureReader
    """

    def __init__(self, model: StreetModel, reader: FeatureReader):
        self.model = model
        self._reader = reader
        self._nearest = None if model.config.distance == "percentile" else model.distance.to(model.centroids)
        self._labels, self._distances = np.empty(0, np.int32), np.empty(0, np.float32)

    def classify(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return labels, distances and sums of equity of the free combos on boards.

        The next call overwrites the returned arrays.

        Returns
        -------
        labels : int32[n, num_live]
            The bucket of each free combo.
        distances : float32[n, num_live]
            Distance of each free combo from its bucket's centroid; zeros for percentiles.
        sums : int64[n, num_live]
            As in `Features`.
        """
        features = self._reader.read(boards)
        num_points, shape = len(features.sums), (len(boards), -1)
        if len(self._labels) < num_points:
            self._labels, self._distances = np.empty(num_points, np.int32), np.zeros(num_points, np.float32)
        labels, distances = self._labels[:num_points], self._distances[:num_points]
        if self._nearest is None:
            labels[:] = np.searchsorted(self.model.thresholds, features.values, side="right")
        else:
            self._nearest.fill(features.points, labels, distances)
        return labels.reshape(shape), distances.reshape(shape), features.sums.reshape(shape)

    def rows(self, boards: np.ndarray, marker: int) -> np.ndarray:
        """Return the bucket of every combo on each board, uint16[n, 1326]; combos that are not free have the marker."""
        out = np.empty((len(boards), NUM_COMBOS), np.uint16)
        kernels.spread_labels(boards, self.classify(boards)[0], marker, out)
        return out
