"""Files that keep the figures of a measurement, so that a measurement that was stopped goes on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.artefact import ArtefactRefused, read_json
from plurispiel.abstraction.machine.files import write_atomically

_HUGE = 1e18
"""No figure is as large, and the square of a figure must be finite."""


def read_kept(
    kept: Path | None, settings: dict[str, Any], name: str, is_sound: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Return the figures that a file keeps; no figures if there is no file.

    Parameters
    ----------
    kept : Path or None
        The file.
    settings : dict
        Entries of the file that stand for the settings of the measurement.
    name : str
        The entry of the figures.
    is_sound : callable
        Whether a record from the file has the form of figures. Values in the record are of any type, but finite.

    Raises
    ------
    ArtefactRefused
        If the file is damaged.
    ValueError
        If the file has figures of other settings.
    """
    if kept is None or not kept.exists():
        return {}
    try:
        record = read_json(kept.read_bytes())
    except (ValueError, RecursionError):
        record = None
    if isinstance(record, dict) and {key: record.get(key) for key in settings} != settings:
        raise ValueError(f"{kept} has figures of other settings; give another file, or remove it")
    figures = record.get(name) if isinstance(record, dict) else None
    if not (isinstance(figures, dict) and is_sound(figures)):
        raise ArtefactRefused(f"{kept} has no figures: it is damaged; give another file, or remove it")
    return figures


def write_kept(kept: Path | None, settings: dict[str, Any], name: str, figures: dict[str, Any]) -> None:
    """Write figures to the file, if there is one, in the form that `read_kept` reads."""
    if kept is not None:
        write_atomically(kept, json.dumps(settings | {name: figures}))


def are_numbers(values: Any, count: int) -> bool:
    """Return whether a value from a file is a list of `count` numbers that fit a float."""
    return (
        isinstance(values, list)
        and len(values) == count
        and all(isinstance(value, int | float) and abs(value) < _HUGE for value in values)
    )
