"""A card abstraction without its table: centroids and thresholds, from which any hand's bucket is computed.

With the settings of the preset ``pluribus``, a model takes about a megabyte of memory, its table two hundred megabytes.
The classification of a flop then takes about 20 ms, of a turn 2 ms, of a river 0.2 ms.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.cards.classifier import BOARD_CARDS, FeatureReader, NextRows, StreetClassifier, StreetModel
from plurispiel.abstraction.cards.config import BUCKETED_STREETS, AbstractionConfig
from plurispiel.abstraction.cards.preflop import NUM_CLASSES, preflop_classes
from plurispiel.abstraction.cards.river import RiverTable
from plurispiel.abstraction.cards.soundness import require_model

STREET_OF_CARDS = {cards: street for street, cards in BOARD_CARDS.items()}


def bucket_dtype(num_buckets: int) -> np.dtype:
    """Return the dtype of a street's bucket numbers: uint8 for up to 255 buckets, else uint16.

    The dtype's highest number marks combos that share a card with the board.
    """
    return np.dtype(np.uint8 if num_buckets <= 255 else np.uint16)


class CardModel:
    """Finds hands' buckets by computing the hands' features; each thread needs its own object.

    Parameters
    ----------
    config : AbstractionConfig
        The settings with which the model was fitted.
    clusters : uint8[1326]
        The cluster of each combo as an opponent's hand, for equities against clusters (OCHS).
    streets : dict
        The `StreetModel` of each of flop, turn and river.
    """

    def __init__(self, config: AbstractionConfig, clusters: np.ndarray, streets: Mapping[str, StreetModel]):
        self.config = config
        self.clusters = clusters
        self.streets = dict(streets)
        self._classifiers: dict[str, StreetClassifier] = {}

    @property
    def num_buckets(self) -> dict[str, int]:
        """Number of buckets of each street, preflop first."""
        return {"preflop": NUM_CLASSES} | {street: self.streets[street].num_buckets for street in BUCKETED_STREETS}

    def dtype(self, street: str) -> np.dtype:
        """Return the dtype of a street's bucket numbers, see `bucket_dtype`."""
        return bucket_dtype(self.num_buckets[street])

    def classify(self, board: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Return the bucket of each combo on a board.

        Parameters
        ----------
        board : array-like of int, [0..5]
            Different cards in any order; none before the flop.
        out : uint8 or uint16[1326], optional
            Where to write the buckets; an array of the street's dtype (`dtype`).

        Returns
        -------
        uint8[1326] or uint16[1326]
            The bucket of each combo; combos that share a card with the board have the dtype's highest number.

        Raises
        ------
        ValueError
            If the board does not have 0, 3, 4 or 5 different cards.
        """
        cards, street = self.check_board(board)
        dtype = self.dtype(street)
        if street == "preflop":
            row = preflop_classes()
        else:
            row = self._classifier(street).rows(cards[None], np.iinfo(dtype).max)[0]
        if out is None:
            return row.astype(dtype)
        out[:] = row
        return out

    def check_board(self, board: npt.ArrayLike) -> tuple[np.ndarray, str]:
        """Return a board as uint8 cards, and its street.

        Raises
        ------
        ValueError
            If the board does not have 0, 3, 4 or 5 different cards.
        """
        given = np.asarray(board)
        cards = np.array(given, dtype=np.uint8) if given.size else np.empty(0, np.uint8)
        if (
            given.ndim != 1
            or len(given) not in STREET_OF_CARDS
            or (given != cards).any()
            or (cards >= 52).any()
            or len(set(cards.tolist())) != len(cards)
        ):
            raise ValueError(f"a board has 0, 3, 4 or 5 different cards 0..51, got {given.tolist()}")
        return cards, STREET_OF_CARDS[len(given)]

    def classifier(self, street: str, *, rivers: RiverTable | None = None, next_rows: NextRows | None = None):
        """Return a new classifier of a street; each thread needs its own.

        Parameters
        ----------
        rivers : RiverTable, optional
            A table in which river equities are looked up for flops and turns. Without a table they are computed, which
            gives equal buckets but takes longer.
        next_rows : callable, optional
            A `NextRows`, which finds buckets on boards of the next street for the features ``potential``. By default
            these buckets are computed by this model.
        """
        model = self.streets[street]
        num_next = 0
        if model.config.features == "potential":
            following = BUCKETED_STREETS[BUCKETED_STREETS.index(street) + 1]
            num_next = self.streets[following].num_buckets
            if next_rows is None:
                below = self.classifier(following, rivers=rivers)

                def next_rows(boards: np.ndarray) -> np.ndarray:
                    return below.rows(boards, 0)  # any marker will do, as only free combos are read

        reader = FeatureReader(
            street,
            model.config.features,
            self.clusters,
            rivers=rivers,
            next_rows=next_rows,
            num_next_buckets=num_next,
        )
        return StreetClassifier(model, reader)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that `model_from_arrays` reads."""
        found = {"clusters": self.clusters}
        for street, model in self.streets.items():
            for name in ("thresholds", "centroids", "ground"):
                found[f"{street}_{name}"] = getattr(model, name)
        return found

    def _classifier(self, street: str) -> StreetClassifier:
        if street not in self._classifiers:
            self._classifiers[street] = self.classifier(street)
        return self._classifiers[street]


def model_from_arrays(config: AbstractionConfig, arrays: Mapping[str, Any]) -> CardModel:
    """Return a model from `CardModel.arrays`; KeyError if an array is missing, ValueError if one is invalid."""
    clusters = np.array(arrays["clusters"])
    streets: dict[str, StreetModel] = {}
    num_next = 0
    for street in reversed(BUCKETED_STREETS):
        thresholds, centroids, ground = (
            np.array(arrays[f"{street}_{name}"]) for name in ("thresholds", "centroids", "ground")
        )
        streets[street] = StreetModel(street, config.street(street), clusters, thresholds, centroids, ground)
        require_model(streets[street], num_next)
        num_next = streets[street].num_buckets
    return CardModel(config, clusters, {street: streets[street] for street in BUCKETED_STREETS})
