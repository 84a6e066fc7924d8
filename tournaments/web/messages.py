"""What the page may send, and the only reader of it: strict JSON into frozen records."""

import json
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn, TypeVar

MAX_BODY = 256 * 1024
"""Bytes of a request's body."""

MAX_FRAME = 16 * 1024
"""Bytes of a frame of a WebSocket."""

_MAX_TEXT = 1024


@dataclass(frozen=True)
class Greeting:
    """The first frame of a WebSocket."""

    key: str


@dataclass(frozen=True)
class Enter:
    """The token of the address that the command has printed; it is exchanged for the key, once."""

    token: str


@dataclass(frozen=True)
class Chosen:
    """A run, by its name in the list of runs."""

    run: str


@dataclass(frozen=True)
class Pasted:
    """Hands as text, in a format that `plurispiel replay` reads."""

    hands: str = field(metadata={"most": MAX_BODY})


Kind = TypeVar("Kind", Greeting, Enter, Chosen, Pasted)


def parse_message(kind: type[Kind], data: bytes, limit: int = MAX_BODY) -> Kind:
    """Return the record that a JSON text holds.

    Parameters
    ----------
    kind : type
        The record, all fields of which are texts.
    data : bytes
        The JSON text in UTF-8.
    limit : int
        Largest number of bytes.

    Raises
    ------
    ValueError
        If the text is too long, no JSON, or no object with exactly the record's fields, or if a field is no text of at
        most 1,024 characters (hands may be as long as a body).

    >>> parse_message(Chosen, b'{"run": "first"}')
    Chosen(run='first')
    """
    if len(data) > limit:
        raise ValueError(f"a message has at most {limit:,} bytes, got {len(data):,}")
    try:
        found = json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the message is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the message is no valid JSON: {error}") from None
    most = {each.name: each.metadata.get("most", _MAX_TEXT) for each in fields(kind)}
    if not isinstance(found, dict) or sorted(found) != sorted(most):
        raise ValueError(f"the message must be an object with the keys {', '.join(most)}, and no others")
    for name, limit in most.items():
        if not isinstance(found[name], str) or len(found[name]) > limit:
            raise ValueError(f"{name} must be a text of at most {limit:,} characters")
    return kind(**found)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
