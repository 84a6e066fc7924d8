"""Checks that the numbers of a bucket table are valid indices, because kernels check nothing.

An artefact may come from a stranger, and a manifest proves only that the files were not changed after the manifest was
written.
"""

import functools
from collections.abc import Mapping

import numpy as np

from plurispiel.abstraction.cards.classifier import StreetModel
from plurispiel.abstraction.cards.river import NUM_CLUSTERS, NUM_COMBOS
from plurispiel.abstraction.cards.run_outs import HISTOGRAM_DIMS
from plurispiel.abstraction.holdem.cards import combo_cards

_CHUNK = 64  # rows checked at a time: they fit in the processor's cache, which makes the checks three times faster


def require_buckets(where: str, rows: np.ndarray, boards: np.ndarray, num_buckets: int) -> None:
    """Raise ValueError unless free combos have buckets below `num_buckets` and all other combos the marker.

    Parameters
    ----------
    where : str
        The name of the rows in the error message.
    rows : uint8 or uint16[n, 1326]
        The bucket of each combo on each board; the marker is the dtype's highest number.
    boards : uint8[n, 3..5]
    num_buckets : int
        Number of the street's buckets.
    """
    marker = np.iinfo(rows.dtype).max
    for first in range(0, len(rows), _CHUNK):
        part = rows[first : first + _CHUNK]
        dead = _dead_combos(boards[first : first + _CHUNK])
        # The first test alone would let a dead combo have a number between the buckets and the marker.
        if not np.array_equal(part >= num_buckets, dead) or not np.array_equal(part == marker, dead):
            raise ValueError(
                f"the {where} must have buckets 0 to {num_buckets - 1} for free combos and {marker} for all others"
            )


def require_model(model: StreetModel, num_next: int) -> None:
    """Raise ValueError if the arrays of a street's model do not fit its configuration.

    Parameters
    ----------
    num_next : int
        Number of buckets of the next street; 0 for the river.
    """
    config = model.config
    by_value = config.distance == "percentile"
    dims = {"histogram": HISTOGRAM_DIMS, "ochs": NUM_CLUSTERS, "potential": num_next}.get(config.features, 0)
    side = num_next if config.features == "potential" else 0
    _require(model.street, "clusters", model.clusters, np.uint8, (NUM_COMBOS,))
    _require(model.street, "thresholds", model.thresholds, np.int64, (len(model.thresholds) if by_value else 0,))
    _require(model.street, "centroids", model.centroids, np.uint8, (0, 0) if by_value else (model.num_buckets, dims))
    _require(model.street, "ground", model.ground, np.float32, (side, side))
    if not 1 <= model.num_buckets <= config.buckets:
        raise ValueError(f"the {model.street} has {model.num_buckets} buckets, not 1 to {config.buckets}")
    if (model.clusters >= NUM_CLUSTERS).any():
        raise ValueError(f"the {model.street} has clusters that are not 0 to {NUM_CLUSTERS - 1}")
    if (np.diff(model.thresholds) < 0).any():
        raise ValueError(f"the thresholds of the {model.street} are out of order")
    if not (np.isfinite(model.ground) & (model.ground >= 0)).all():
        raise ValueError(f"distances between buckets are finite and at least 0, those of the {model.street} are not")


def require_report(street: str, report: Mapping[str, np.ndarray], num_buckets: int, num_boards: int) -> None:
    """Raise ValueError if the arrays of a report do not have the form that `buckets.StreetReport` describes.

    A bucket may have any number of examples. The quality is not checked here.
    """
    _require(street, "sizes", report["sizes"], np.int64, (num_buckets,))
    for name in ("equity", "equity_sd"):
        _require(street, name, report[name], np.float64, (num_buckets,))
        if not (np.isfinite(report[name]) & (report[name] >= 0.0)).all():
            raise ValueError(f"{name} of buckets is finite and at least 0, that of the {street} is not")
    examples = report["examples"]
    _require(street, "examples", examples, np.int32, (num_buckets, *examples.shape[1:2], 2))
    if (examples < -1).any() or (examples >= [num_boards, NUM_COMBOS]).any() or (report["sizes"] < 0).any():
        raise ValueError(f"the {street} has examples whose board or combo does not exist, or negative sizes")


def _require(street: str, name: str, values: np.ndarray, dtype: type, shape: tuple[int, ...]) -> None:
    if values.dtype != dtype or values.shape != shape:
        raise ValueError(
            f"{name} of the {street} must be {np.dtype(dtype)}{list(shape)}, got {values.dtype}{list(values.shape)}"
        )


def _dead_combos(boards: np.ndarray) -> np.ndarray:
    """Return which combos share a card with each board: bool[n, 1326]."""
    dead = _touches()[boards[:, 0]]
    for k in range(1, boards.shape[1]):
        dead |= _touches()[boards[:, k]]
    return dead


@functools.cache
def _touches() -> np.ndarray:
    """Return which combos hold each card: bool[52, 1326]."""
    return (combo_cards()[None] == np.arange(52)[:, None, None]).any(axis=2)
