"""Frames between a run and a contestant: their bytes, what is read from them, and what is refused."""

import json
import struct

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from plurispiel.abstraction.holdem.rules import PRESETS
from plurispiel.agents.base import Action, Board, Deal
from plurispiel.tournaments.contestants import wire


@given(st.dictionaries(st.text(), st.integers() | st.floats(allow_nan=False) | st.text() | st.none()))
def test_messages_come_through(message):
    message.pop("arrays", None)
    frame = wire.encode(message)
    assert wire.frame_size(frame) == len(frame)
    assert wire.frame_size(frame + b"more") == len(frame)
    assert wire.decode(frame) == (message, [])


def test_arrays_come_through():
    arrays = (np.arange(6).reshape(2, 3), np.linspace(0, 1, 5), np.zeros((0, 4)))
    message, read = wire.decode(wire.encode({"a": 1}, arrays))
    assert message["a"] == 1
    for array, again in zip(arrays, read, strict=True):
        assert array.dtype == again.dtype and np.array_equal(array, again)


def frame_of(text):
    return struct.pack("<II", len(text), len(text)) + text


def is_json_object(text):
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


@given(st.binary(max_size=200) | st.sampled_from([b"", b"5", b"null", b"[1]", b'"arrays"', b"{", b'{"a": 1} more']))
def test_a_frame_without_a_json_object_is_refused(text):
    assume(not is_json_object(text))
    with pytest.raises(wire.BadFrame):
        wire.decode(frame_of(text))


@given(st.integers(1, 48))
def test_a_frame_whose_arrays_are_cut_is_refused(missing):
    frame = wire.encode({}, (np.arange(6).reshape(2, 3),))
    with pytest.raises(wire.BadFrame):
        wire.decode(frame[:-missing])


@pytest.mark.parametrize(
    "arrays",
    [
        [["O", [1]]],
        [["<f8", [1 << 60]]],
        [["<f8", [-1]]],
        [["<f8", [5]]],
        [["<f8", ["x"]]],
        [["<f8"]],
        [["<f8", [True]]],
        [["<f8", [1, 1, 1]]],
        [["<f8", [wire.MAX_FRAME] * 50_000]],  # whose product takes seconds
        [["<f8", [0]]] * 4,
        7,
    ],
)
def test_arrays_that_are_none_are_refused(arrays):
    text = json.dumps({"arrays": arrays}).encode()
    with pytest.raises(wire.BadFrame):
        wire.decode(frame_of(text))


def test_nothing_longer_than_allowed_is_waited_for():
    with pytest.raises(wire.BadFrame):
        wire.frame_size(struct.pack("<II", wire.MAX_FRAME + 1, 10))
    with pytest.raises(wire.BadFrame):
        wire.frame_size(struct.pack("<II", 10, 11))
    with pytest.raises(wire.BadFrame):  # arrays may be long, texts not
        wire.frame_size(struct.pack("<II", wire.MAX_FRAME, wire.MAX_FRAME))
    deep = b"[" * 100_000
    with pytest.raises(wire.BadFrame):
        wire.decode(frame_of(deep))


def test_a_frame_is_two_lengths_json_and_arrays():
    assert wire.encode({"a": 1}) == b"\x08\0\0\0\x08\0\0\0" + b'{"a": 1}'
    text = b'{"arrays": [["<i8", [2]]]}'
    assert wire.encode({}, (np.array([7, -1]),)) == struct.pack("<II", 42, 26) + text + struct.pack("<qq", 7, -1)


@pytest.mark.parametrize(
    ("event", "values"),
    [
        (Deal((51, 0)), ["deal", "As2c"]),
        (Action(3, 250, 1), ["action", 3, 250, 1]),
        (Board((1, 2, 3), 1), ["board", "2d2h2s", 1]),
    ],
)
def test_events_are_words_cards_and_numbers(event, values):
    assert wire.event_message(event) == values
    assert wire.read_event(values) == event


@pytest.mark.parametrize("name", PRESETS)
def test_rules_come_through(name):
    rules = PRESETS[name]
    text = wire.rules_message(rules)
    assert json.loads(text)["blinds"] == list(rules.blinds)
    assert wire.read_rules(text) == rules
