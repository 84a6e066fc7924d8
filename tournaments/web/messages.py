"""The messages that the page may send, and the function that turns their JSON into frozen records."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from plurispiel.abstraction.machine.settings import is_deep

MAX_BODY = 256 * 1024
"""Largest number of bytes in a request's body."""

MAX_FRAME = 16 * 1024
"""Largest number of bytes in a frame of a WebSocket."""

_MAX_TEXT = 1024
_MAX_NUMBER = 1_000_000_000
_MAX_LENGTH = 2048


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


@dataclass(frozen=True)
class ChosenHand:
    """Hands of a run: the run's name in the list, and a hand's name as in a permalink; empty if no hand is wanted."""

    run: str
    hand: str


@dataclass(frozen=True)
class Question:
    """A question to an adviser about decisions of a hand; it replaces the page's earlier question to this adviser.

    Attributes
    ----------
    adviser : str
        The adviser's name.
    seconds : float
        The time for an answer.
    hand : str
        The page's name for the hand, which comes back with the answers.
    game : str
        The game as an ACPC game definition.
    actions : tuple of int
        The actions: 0 fold, 1 check or call, N raise to N chips over the whole hand.
    cards : tuple of str
        The hole cards of each seat; empty where they are not known.
    board : str
        The board cards.
    decisions : tuple of int
        The decisions in the order in which they are to be answered; 0 is the first action.
    """

    adviser: str
    seconds: float = field(metadata={"least": 0.5, "most": 120.0})
    hand: str
    game: str = field(metadata={"most": 4096})
    actions: tuple[int, ...] = field(metadata={"length": 500})
    cards: tuple[str, ...] = field(metadata={"length": 10})
    board: str
    decisions: tuple[int, ...] = field(metadata={"length": 500})


Kind = TypeVar("Kind")


def parse_message(kind: type[Kind], data: bytes, limit: int = MAX_BODY) -> Kind:
    """Return the record that a JSON text holds.

    Parameters
    ----------
    kind : type
        The record, a dataclass. A field is a ``str``, ``bool``, ``int``, ``float``, a ``tuple[..., ...]`` of one of
        these, or a ``Mapping`` (an object whose content the caller checks). The field's metadata may hold ``least`` and
        ``most`` for numbers (by default 0 and 10^9), and ``most`` for the number of characters of a text (1,024). It
        may also hold ``length`` for the number of entries of a tuple (2,048).
    data : bytes
        The JSON text in UTF-8.
    limit : int
        Largest number of bytes.

    Raises
    ------
    ValueError
        If the text is too long, or is not a JSON object. If it lacks a field without a default, or has a key that is
        not a field. If a field has another type or is out of bounds.

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
    known: dict[str, Field] = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    wanted = [name for name, each in known.items() if each.default is MISSING and each.default_factory is MISSING]
    if not isinstance(found, dict) or set(found) - set(known) or set(wanted) - set(found):
        raise ValueError(f"the message must be an object with the keys {', '.join(known)}, and no others")
    types = get_type_hints(kind)
    return kind(**{name: _value(name, value, types[name], known[name].metadata) for name, value in found.items()})


def _value(name: str, value: Any, wanted: Any, bounds: Mapping[str, Any]) -> Any:
    """Return a value of a message, checked against the type and bounds of its field."""
    if get_origin(wanted) is tuple:
        length = bounds.get("length", _MAX_LENGTH)
        if not isinstance(value, list) or len(value) > length:
            raise ValueError(f"{name} must be a list of at most {length:,} entries")
        return tuple(_value(name, each, get_args(wanted)[0], bounds) for each in value)
    if wanted is str:
        most = bounds.get("most", _MAX_TEXT)
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"{name} must be a text of at most {most:,} characters")
    elif wanted is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false")
    elif wanted is int or wanted is float:
        least, most = bounds.get("least", 0), bounds.get("most", _MAX_NUMBER)
        is_number = isinstance(value, (int, float) if wanted is float else int) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:
            raise ValueError(f"{name} must be a {'whole ' * (wanted is int)}number from {least:,} to {most:,}")
        return wanted(value)
    elif not isinstance(value, dict) or is_deep(value):
        raise ValueError(f"{name} must be an object that is not nested deeply")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")
