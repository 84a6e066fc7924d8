"""Settings that users write: TOML files, and the records they become."""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

_Record = TypeVar("_Record")


def read_settings(path: Path) -> dict[str, Any]:
    """Return what a TOML file says.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read ({getattr(error, 'strerror', None) or 'it is no text'})") from None
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read_config(path: Path, make: Callable[[dict[str, Any]], _Record]) -> _Record:
    """Return what a function makes of the settings in a TOML file, named by the file where they have no name."""
    settings = {"name": path.stem} | read_settings(path)
    try:
        return make(settings)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def make_record(kind: type[_Record], settings: Mapping[str, Any], where: str) -> _Record:
    """Return a dataclass of settings.

    Raises
    ------
    ValueError
        If one is missing, or there is no such setting; the dataclass checks what they are.
    """
    fields = {each.name: each for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(set(settings) - set(fields)):
        raise ValueError(f"{where} has the settings {', '.join(fields)}, got {str(unknown[0])[:40]!r}")
    required = [
        name
        for name, each in fields.items()
        if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
    ]
    if missing := [name for name in required if name not in settings]:
        raise ValueError(f"{where} needs {missing[0]}")
    return kind(**settings)
