"""Settings that users write: TOML files, and the dataclasses made from them."""

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

_Record = TypeVar("_Record")


MAX_BYTES = 1 << 20
"""Greatest size of a file of settings, in bytes."""
MAX_NAME = 100
"""Greatest length of a name, in characters."""
MAX_DEPTH = 16
"""Greatest depth of nested tables and lists; limited because recursive functions check and print settings."""


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a TOML file.

    Raises
    ------
    ValueError
        If the file cannot be read, is not TOML, or is too large or too deeply nested.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise ValueError(f"{path} is too large: a file of settings has at most {MAX_BYTES:,} bytes")
    try:
        settings = tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError(f"{path} is not valid TOML: nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    if is_deep(settings):
        raise ValueError(f"{path} is not valid: tables and lists are nested more than {MAX_DEPTH} deep")
    return settings


def is_deep(record: Any) -> bool:
    """Return whether tables and lists, counting the outermost, are nested more than `MAX_DEPTH` deep."""
    level = [record]
    for _ in range(MAX_DEPTH):
        level = [
            each
            for values in level
            for each in (values.values() if isinstance(values, dict) else values)
            if isinstance(each, (dict, list))
        ]
    return bool(level)


def read_config(path: Path, make: Callable[[dict[str, Any]], _Record]) -> _Record:
    """Return ``make(settings)`` for the settings of a TOML file.

    If the file lacks the setting ``name``, the name is that of the file without its ending.

    Raises
    ------
    ValueError
        If `read_settings` refuses the file, or `make` the settings; the message names the path.
    """
    settings = {"name": path.stem} | read_settings(path)
    try:
        return make(settings)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def make_record(kind: type[_Record], settings: Mapping[str, Any], where: str) -> _Record:
    """Return a dataclass of type `kind` made from settings; `where` names the settings in error messages.

    Raises
    ------
    ValueError
        If a setting is missing or unknown, or the dataclass refuses a value.
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
        raise ValueError(f"{where} needs the setting {missing[0]}")
    return kind(**settings)


def require_name(name: object) -> None:
    """Raise ValueError unless a name can name a folder: printable, not too long, without slashes or a leading dot."""
    if not isinstance(name, str) or not 0 < len(name) <= MAX_NAME or not name.isprintable() or set(name) & set("/\\"):
        raise ValueError(f"a name is a text of 1 to {MAX_NAME} printable characters without / or \\, got {name!r:.80}")
    if name.startswith("."):
        raise ValueError(f"a name does not begin with a dot, got {name!r}")
