"""The bucket table: for every board up to a renaming of suits, the bucket of every combo.

Training and large evaluations use the table, because its method `row` only looks buckets up. On disk the table is an
artefact, whose arrays are mapped into memory.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.cards import _buckets_kernels as kernels
from plurispiel.abstraction.cards.classifier import BOARD_CARDS
from plurispiel.abstraction.cards.config import BUCKETED_STREETS, config_from_dict
from plurispiel.abstraction.cards.model import CardModel, model_from_arrays
from plurispiel.abstraction.cards.river import NUM_COMBOS, narrow_relabel
from plurispiel.abstraction.cards.soundness import require_buckets, require_report
from plurispiel.abstraction.holdem.boards import BoardClasses, board_classes
from plurispiel.abstraction.machine.artefact import ArtefactRefused, check_once, load_artefact, write_artefact

KIND = "bucket table"
FORMAT_VERSION = 1
NUM_BOARDS = {"flop": 1755, "turn": 16_432, "river": 134_459}
"""Number of boards of each street up to a renaming of suits."""

QUALITY = ("mean_distance", "explained", "ehs_mean_distance", "ehs_explained")
NUM_EXAMPLES = 3


@dataclass(frozen=True, eq=False)
class StreetReport:
    """Statistics of one street's buckets, measured when the table was built.

    Attributes
    ----------
    sizes : int64[num_buckets]
        Number of (hand, board) pairs in each bucket, over all boards of the street, not only one of each class.
    equity, equity_sd : float64[num_buckets]
        Mean and standard deviation of the members' E[HS] (mean river equity, 0 to 1).
    examples : int32[num_buckets, 3, 2]
        For each bucket, three of its members near the centroid (any three if percentiles make the buckets), each as
        board class and combo id; -1 where fewer were found.
    quality : dict
        Values by the names in `QUALITY`: the two measures of `quality.Partition` for the buckets, then for a partition
        into as many percentiles of E[HS]. All are measured on the hands to which the centroids were fitted.
    """

    sizes: np.ndarray
    equity: np.ndarray
    equity_sd: np.ndarray
    examples: np.ndarray
    quality: dict[str, float]


class TableArrays(NamedTuple):
    """Arrays from which kernels look up buckets on one street, see `_buckets_kernels.fill_row`.

    Attributes
    ----------
    classes : BoardClasses
    relabel : uint16[24, 1326]
        Each combo's id after each renaming of suits (`boards.relabel_combos`).
    rows : uint8 or uint16[num_classes, 1326]
        The bucket of each combo on the representative of each class.
    """

    classes: BoardClasses
    relabel: np.ndarray
    rows: np.ndarray


class BucketTable:
    """Buckets of all hands on all boards.

    Attributes
    ----------
    model : CardModel
        Computes the same buckets without the table.
    stored : dict
        For each of flop, turn and river, the rows of the classes of `boards.board_classes`: uint8 or
        uint16[num_classes, 1326], read-only.
    reports : dict
        The `StreetReport` of each of flop, turn and river.
    digest : str
        Hash of the whole table; empty for a table that was neither loaded nor saved.
    """

    def __init__(
        self,
        model: CardModel,
        rows: dict[str, np.ndarray],
        reports: dict[str, StreetReport],
        digest: str = "",
    ):
        self.model = model
        self.stored = {}
        for street in BUCKETED_STREETS:
            self.stored[street] = rows[street].view()
            self.stored[street].setflags(write=False)  # one type for kernels, whether mapped from disk or new
        self.reports = reports
        self.digest = digest
        self._arrays: dict[int, TableArrays] = {}

    @property
    def num_buckets(self) -> dict[str, int]:
        """Number of buckets of each street, preflop first."""
        return self.model.num_buckets

    def row(self, board: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Return the bucket of each combo on a board, as `CardModel.classify` does.

        A non-empty uint8 array is not checked, for speed: it must hold 3 to 5 different cards. Any other board is
        checked and may be empty.

        Raises
        ------
        ValueError
            If a board that is checked does not have 0, 3, 4 or 5 different cards.
        """
        if type(board) is not np.ndarray or board.dtype != np.uint8 or len(board) == 0:
            board, street = self.model.check_board(board)
            if street == "preflop":
                return self.model.classify(board, out)
        arrays = self._arrays.get(len(board)) or self.arrays(len(board))
        if out is None:
            out = np.empty(NUM_COMBOS, arrays.rows.dtype)
        kernels.fill_row(arrays.classes.entries, arrays.relabel, arrays.rows, board, out)
        return out

    def rows(self, boards: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the row of each board: uint8 or uint16[n, 1326]. Boards are uint8[n, 3..5], not checked."""
        arrays = self.arrays(boards.shape[1])
        if out is None:
            out = np.empty((len(boards), NUM_COMBOS), arrays.rows.dtype)
        kernels.fill_rows(arrays.classes, arrays.relabel, arrays.rows, boards, out)
        return out

    def arrays(self, num_board_cards: int) -> TableArrays:
        """Return the arrays from which kernels look up buckets on boards of 3, 4 or 5 cards."""
        if num_board_cards not in self._arrays:
            street = {cards: name for name, cards in BOARD_CARDS.items()}[num_board_cards]
            self._arrays[num_board_cards] = TableArrays(
                board_classes(num_board_cards), narrow_relabel(), self.stored[street]
            )
        return self._arrays[num_board_cards]

    def save(self, folder: Path) -> None:
        """Write the table to a folder, in place of an older table, and set `digest`.

        Raises
        ------
        ArtefactRefused
            If the folder is not empty and holds anything but a bucket table.
        """
        arrays = self.model.arrays()
        for street in BUCKETED_STREETS:
            arrays[street] = self.stored[street]
            report = self.reports[street]
            arrays |= {f"{street}_{name}": getattr(report, name) for name in _REPORT}
            arrays[f"{street}_quality"] = np.array([report.quality[name] for name in QUALITY])
        config = self.model.config
        self.digest = write_artefact(folder, KIND, FORMAT_VERSION, arrays, config.as_dict(), seed=config.seed)


_REPORT = ("sizes", "equity", "equity_sd", "examples")


def load_table(folder: Path) -> BucketTable:
    """Return a verified table, mapped into memory.

    Raises
    ------
    ArtefactRefused
        If the folder does not hold a complete, undamaged bucket table.
    """
    artefact = load_artefact(folder, KIND, FORMAT_VERSION)
    arrays = artefact.arrays
    try:
        model = model_from_arrays(config_from_dict(artefact.config), arrays)
        for street in BUCKETED_STREETS:
            if arrays[street].shape != (NUM_BOARDS[street], NUM_COMBOS) or arrays[street].dtype != model.dtype(street):
                raise ValueError(f"the rows of the {street} are {arrays[street].dtype}{list(arrays[street].shape)}")
            kept = {name: arrays[f"{street}_{name}"] for name in _REPORT}
            require_report(street, kept, model.num_buckets[street], NUM_BOARDS[street])
        check_once(artefact, lambda: _require_rows(arrays, model))
        reports = {
            street: StreetReport(
                **{name: arrays[f"{street}_{name}"] for name in _REPORT},
                quality=dict(zip(QUALITY, arrays[f"{street}_quality"].tolist(), strict=True)),
            )
            for street in BUCKETED_STREETS
        }
    except (KeyError, ValueError, TypeError) as error:
        raise ArtefactRefused(f"{artefact.folder} is not a bucket table ({error}); build the table again") from None
    return BucketTable(model, {street: arrays[street] for street in BUCKETED_STREETS}, reports, artefact.digest)


def _require_rows(arrays: Mapping[str, np.ndarray], model: CardModel) -> None:
    for street in BUCKETED_STREETS:
        boards = board_classes(BOARD_CARDS[street]).boards
        require_buckets(street, arrays[street], boards, model.num_buckets[street])


def warmup() -> None:
    """Compile every kernel of `_buckets_kernels`."""
    classes, boards = board_classes(3), np.array([[0, 1, 2]], np.uint8)
    wide, sums = np.empty((1, NUM_COMBOS), np.uint16), np.zeros((1, 1176), np.int64)
    kernels.spread_labels(boards, np.zeros((1, 1176), np.int32), 255, wide)
    kernels.add_statistics(np.zeros((1, 1176), np.int32), sums, np.ones(1, np.int64), 1, np.zeros((1, 4), np.int64))
    kernels.count_next_buckets(boards[0], wide, boards[0][:1], 1, np.zeros((1176, 256), np.uint8))
    rows = np.zeros((len(classes.boards), NUM_COMBOS), np.uint8)
    rows.setflags(write=False)
    out = np.empty((1, NUM_COMBOS), np.uint8)
    kernels.fill_row(classes.entries, narrow_relabel(), rows, boards[0], out[0])
    kernels.fill_rows(classes, narrow_relabel(), rows, boards, out)
