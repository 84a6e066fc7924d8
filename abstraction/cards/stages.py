"""Finished streets of an unfinished bucket table, each kept as an artefact until the whole table is saved."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from plurispiel import __version__
from plurispiel.abstraction.cards.buckets import NUM_BOARDS, QUALITY, StreetReport
from plurispiel.abstraction.cards.classifier import BOARD_CARDS, StreetModel
from plurispiel.abstraction.cards.config import AbstractionConfig
from plurispiel.abstraction.cards.model import bucket_dtype
from plurispiel.abstraction.cards.river import NUM_COMBOS
from plurispiel.abstraction.cards.soundness import require_buckets, require_model, require_report
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact, write_artefact

_STAGE, _STAGE_FORMAT = "bucket table stage", 1


class StreetBuckets(NamedTuple):
    """The finished part of a table for one street.

    Attributes
    ----------
    model : StreetModel
    rows : uint8 or uint16[num_classes, 1326]
        The bucket of each combo on the representative of each class of boards.
    report : StreetReport
    """

    model: StreetModel
    rows: np.ndarray
    report: StreetReport


def stage_folder(folder: Path) -> Path:
    """Return the folder in which an unfinished build keeps its finished streets."""
    return folder.with_name(f".{folder.name}.stages")


def save_stage(folder: Path, config: AbstractionConfig, part: StreetBuckets) -> None:
    """Write a finished street to a folder, from which `load_stage` reads it."""
    model, report = part.model, part.report
    arrays = {"rows": part.rows, "clusters": model.clusters, "thresholds": model.thresholds}
    arrays |= {"centroids": model.centroids, "ground": model.ground, "sizes": report.sizes, "equity": report.equity}
    arrays |= {"equity_sd": report.equity_sd, "examples": report.examples}
    arrays["quality"] = np.array([report.quality[name] for name in QUALITY])
    write_artefact(folder, _STAGE, _STAGE_FORMAT, arrays, config.as_dict(), seed=config.seed, source=__version__)


def load_stage(folder: Path, config: AbstractionConfig, street: str) -> StreetBuckets | None:
    """Return a street that an earlier build finished, or None if the folder does not hold it undamaged.

    The earlier build must have had the same configuration and the same version of plurispiel.
    """
    try:
        artefact = load_artefact(folder, _STAGE, _STAGE_FORMAT)
        if artefact.config != config.as_dict() or artefact.source != __version__:
            return None
        kept = {name: np.array(values) for name, values in artefact.arrays.items()}
        model = StreetModel(
            street,
            config.street(street),
            *(kept[name] for name in ("clusters", "thresholds", "centroids", "ground")),
        )
        require_model(model, len(model.ground))  # `ground` has a row for each bucket of the next street, or no row
        require_report(street, kept, model.num_buckets, NUM_BOARDS[street])
        if (kept["rows"].shape, kept["rows"].dtype) != (
            (NUM_BOARDS[street], NUM_COMBOS),
            bucket_dtype(model.num_buckets),
        ):
            return None
        require_buckets(street, kept["rows"], np.array(board_classes(BOARD_CARDS[street]).boards), model.num_buckets)
        quality = dict(zip(QUALITY, kept["quality"].tolist(), strict=True))
        report = StreetReport(kept["sizes"], kept["equity"], kept["equity_sd"], kept["examples"], quality)
        return StreetBuckets(model, kept["rows"], report)
    except (ArtefactRefused, KeyError, ValueError, TypeError):
        return None
