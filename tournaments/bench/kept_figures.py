"""Files that keep the figures of a measurement, so that a measurement that was stopped goes on."""

import json
from pathlib import Path
from typing import Any


def read_kept(kept: Path | None) -> dict[str, Any]:
    """Return the record in a file; an empty one if there is no file.

    Raises
    ------
    ValueError
        If the file is damaged, or holds something else than a record.
    """
    if kept is None or not kept.is_file():
        return {}
    try:
        record = json.loads(kept.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{kept} has no figures: it is damaged ({error}); give another file") from None
    if not isinstance(record, dict):
        raise ValueError(f"{kept} has no figures: it holds no record; give another file")
    return record
