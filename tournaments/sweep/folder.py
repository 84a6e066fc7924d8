"""The folder of a sweep: its settings, and a file for each flop that is solved.

Once a flop is solved, its file is written whole or not at all. So a sweep that was killed resumes with the flops that
have no file.
"""

import contextlib
import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.agents.spots.flop_row import FlopRow
from plurispiel.agents.spots.flops import WeightedFlop
from plurispiel.tournaments.run.folder_lock import lock_folder, unlock_folder
from plurispiel.tournaments.sweep.settings import SweepSettings

__all__ = ["CSV_FILE", "PAGE_FILE", "SweepFolder"]

CSV_FILE, PAGE_FILE = "flops.csv", "flops.html"

_SETTINGS_FILE, _ROWS = "sweep.json", "flops"
_MAX_BYTES = 1 << 20


class SweepFolder:
    """A folder of a sweep, open and locked until `close`.

    Parameters
    ----------
    path : Path
        Made if it does not exist.
    settings : SweepSettings

    Raises
    ------
    ValueError
        If the path is a file, or the folder holds other files but no sweep, a damaged sweep or one with other settings.
    OSError
        If another process works in the folder.
    """

    def __init__(self, path: Path, settings: SweepSettings):
        self.path = path
        record, self._lock = settings.record(), None
        if path.exists() and not path.is_dir():
            raise ValueError(f"{path} is no folder")
        path.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = lock_folder(path)
        except BlockingIOError:
            raise OSError(f"another process works on the sweep in {path}") from None
        try:
            _check(path, record)
            (path / _ROWS).mkdir(exist_ok=True)
            for left in (path / _ROWS).glob(".*"):  # unfinished files of a process that was killed
                left.unlink()
            write_atomically(path / _SETTINGS_FILE, json.dumps(record, indent=1) + "\n")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Unlock the folder."""
        unlock_folder(self._lock)
        self._lock = None

    @staticmethod
    def rows_in(path: Path, settings: SweepSettings, flops: Sequence[WeightedFlop]) -> dict[str, FlopRow]:
        """Return the rows of those flops that are solved, by flop. Their weights are those in `flops`.

        A row whose file is damaged counts as not solved.

        Raises
        ------
        ValueError
            If the folder holds anything but this sweep.
        """
        _check(path, settings.record())
        return {flop.text: row for flop in flops if (row := _read_row(path, flop)) is not None}

    def write(self, row: FlopRow) -> None:
        """Keep a row."""
        write_atomically(_file(self.path, row.flop), json.dumps(dataclasses.asdict(row), allow_nan=False) + "\n")


def _file(path: Path, flop: str) -> Path:
    return path / _ROWS / f"{flop}.json"


def _check(path: Path, record: dict[str, Any]) -> None:
    """Raise ValueError if a folder holds anything but the sweep of these settings."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    file = path / _SETTINGS_FILE
    if not file.is_file():
        raise ValueError(f"{path} holds other things and no sweep: give an empty or a new folder")
    try:
        known = json.loads(_read(file))
    except ValueError:
        raise ValueError(f"{file} is damaged: give another folder") from None
    if known != record:
        raise ValueError(
            f"{path} holds a sweep with another {_difference(known, record)}: give another folder, or delete this one"
        )


def _read_row(path: Path, flop: WeightedFlop) -> FlopRow | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        record = json.loads(_read(_file(path, flop.text)))
        if record["flop"] == flop.text:
            return dataclasses.replace(_row(record), weight=flop.weight)
    return None


def _read(path: Path) -> str:
    if path.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path} is too large")
    return path.read_text(encoding="utf-8")


def _difference(known: object, record: dict[str, Any]) -> str:
    """Return the name of the first setting that differs."""
    return next(_differences(known, record, "settings"), "version")


def _differences(known: object, record: dict[str, Any], where: str) -> Iterator[str]:
    if not isinstance(known, dict):
        yield where
        return
    for name in sorted({*known, *record}):
        ours = record.get(name)
        if isinstance(ours, dict):
            yield from _differences(known.get(name), ours, name)
        elif known.get(name) != ours:
            yield name


def _row(record: dict[str, Any]) -> FlopRow:
    """Return a row that was read; raise ValueError, TypeError or KeyError if it is not sound."""
    ev, equity = ((_number(first), _number(second)) for first, second in (record["ev"], record["equity"]))
    by_buckets, frequencies = record["bucket_exploitability_pct"], record["frequencies"]
    if type(record["iterations"]) is not int or not all(isinstance(name, str) for name in frequencies):
        raise ValueError("iterations or frequencies are not sound")
    return FlopRow(
        flop=record["flop"],
        weight=_number(record["weight"]),
        pairs=_number(record["pairs"]),
        ev=ev,
        equity=equity,
        exploitability_pct=_number(record["exploitability_pct"]),
        bucket_exploitability_pct=None if by_buckets is None else _number(by_buckets),
        iterations=record["iterations"],
        frequencies={name: None if share is None else _number(share) for name, share in frequencies.items()},
        seconds=_number(record["seconds"]),
    )


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"not a number: {value!r}")
    return float(value)
