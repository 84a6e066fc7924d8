"""Messages between a run and the process of an isolated agent: frames of JSON, followed by the raw bytes of arrays.

A frame consists of two lengths (uint32, little-endian), a JSON object, and the bytes of the arrays that the object
names. The first length counts all bytes after the lengths, the second the bytes of the JSON. Nothing is unpickled or
evaluated, and the run reads no frame longer than `MAX_FRAME`.

In the JSON, cards are text (``AsKd``), and all other values are words and decimal numbers. Messages to an agent hold no
arrays. Therefore a test can search these messages for cards that the agent's process must not know.
"""

import dataclasses
import functools
import json
import struct
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Board, Deal, Event, PublicState, Strategy

MAX_FRAME = 1 << 24
"""Largest number of bytes in a frame, not counting the two lengths."""

_MAX_TEXT = 1 << 20  # bytes of JSON; to parse 16 MiB of empty lists would take seconds and 400 MiB of memory
_MAX_ARRAYS, _MAX_DIMENSIONS = 3, 2  # a `Strategy` has two or three arrays of one or two dimensions

_LENGTHS = struct.Struct("<II")

Message = dict[str, Any]


class BadFrame(ValueError):
    """The bytes are not a frame, or the frame is beyond the limits of this module."""


def encode(message: Message, arrays: tuple[np.ndarray, ...] = ()) -> bytes:
    """Return a message and arrays as a frame. The entry ``arrays`` of its JSON states each array's dtype and shape."""
    if arrays:
        message = message | {"arrays": [[array.dtype.str, list(array.shape)] for array in arrays]}
    text = json.dumps(message).encode()
    data = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    return _LENGTHS.pack(len(text) + len(data), len(text)) + text + data


def frame_size(data: bytes | bytearray) -> int:
    """Return the size in bytes of the frame at the start of `data`, lengths included; 0 if the lengths are incomplete.

    Raises
    ------
    BadFrame
        If the first length is above `MAX_FRAME`, or the second above the first or 1 MiB.
    """
    if len(data) < _LENGTHS.size:
        return 0
    total, text = _LENGTHS.unpack_from(data)
    if total > MAX_FRAME or text > min(total, _MAX_TEXT):
        raise BadFrame(
            f"a frame has at most {MAX_FRAME:,} bytes, and its JSON at most {_MAX_TEXT:,}; "
            f"got a frame of {total:,} bytes with {text:,} of JSON"
        )
    return _LENGTHS.size + total


def decode(frame: bytes) -> tuple[Message, list[np.ndarray]]:
    """Return the message and the arrays of a complete frame.

    Raises
    ------
    BadFrame
        If the JSON is malformed, or the arrays are too many, neither int64 nor float64, or not of the sizes that the
        JSON states.
    """
    _, length = _LENGTHS.unpack_from(frame)
    start = _LENGTHS.size + length
    try:
        message = json.loads(frame[_LENGTHS.size : start])
        arrays = []
        named = message.get("arrays", ())
        if len(named) > _MAX_ARRAYS or any(len(shape) > _MAX_DIMENSIONS for _, shape in named):
            raise BadFrame(
                f"a frame has at most {_MAX_ARRAYS} arrays of at most {_MAX_DIMENSIONS} dimensions, got {named!r}"
            )
        for dtype, shape in named:
            if dtype not in ("<i8", "<f8") or not all(type(size) is int and 0 <= size <= MAX_FRAME for size in shape):
                raise BadFrame(f"arrays are '<i8' or '<f8' with sizes 0..{MAX_FRAME:,}, got {dtype!r} with {shape!r}")
            end = start + 8 * int(np.prod(shape, dtype=object))  # Python integers, as int64 could overflow
            arrays.append(np.frombuffer(frame[start:end], dtype=dtype).reshape(shape))
            start = end
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadFrame(str(error)) from None
    return message, arrays


@functools.lru_cache(maxsize=16)
def rules_message(rules: HoldemRules) -> str:
    """Return rules as JSON text. Results are cached, because every hand begins with this text."""
    return json.dumps(dataclasses.asdict(rules))


@functools.lru_cache(maxsize=16)
def read_rules(text: str) -> HoldemRules:
    """Return the rules in a text of `rules_message`. Results are cached, because every hand begins with such a text."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(text).items()
    }
    return HoldemRules(**fields)


def event_message(event: Event) -> list:
    """Return an event as a list that JSON can hold: ``deal``, ``action`` or ``board``, then the event's values."""
    if isinstance(event, Action):
        return ["action", *event]
    if isinstance(event, Board):
        return ["board", cards_text(event.cards), event.street]
    return ["deal", cards_text(event.hole_cards)]


def read_event(values: list) -> Event:
    """Return the event in a list of `event_message`."""
    if values[0] == "action":
        return Action(*values[1:])
    if values[0] == "board":
        return Board(parse_cards(values[1]), values[2])
    return Deal(parse_cards(values[1]))


def public_message(public: PublicState) -> Message:
    """Return a public state as values that JSON can hold."""
    return {
        "state": public.betting().array.tolist(),
        "board": cards_text(public.board),
        "actions": [list(action) for action in public.actions],
    }


def read_public(rules: HoldemRules, message: Message) -> PublicState:
    """Return the public state in a message of `public_message`."""
    actions = tuple(Action(*values) for values in message["actions"])
    return PublicState(rules, message["state"], parse_cards(message["board"]), actions)


def strategy_arrays(strategy: Strategy) -> tuple[np.ndarray, ...]:
    """Return the arrays of a strategy: int64 actions, float64 probabilities and, if set, int64 highest.

    Raises
    ------
    TypeError
        If the agent returned an object that is not a `Strategy`.
    """
    if not isinstance(strategy, Strategy):
        raise TypeError(f"range_strategy returned {type(strategy).__name__}, not a plurispiel.agents.Strategy")
    arrays = [np.asarray(strategy.actions, dtype=np.int64), np.asarray(strategy.probabilities, dtype=np.float64)]
    if strategy.highest is not None:
        arrays.append(np.asarray(strategy.highest, dtype=np.int64))
    return tuple(arrays)
