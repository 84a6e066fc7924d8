"""Frames between a run and a contestant: what goes in comes out, and garbage is refused."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
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


@given(st.binary(max_size=200))
def test_garbage_is_refused(data):
    try:
        size = wire.frame_size(data)
        if size and size <= len(data):
            wire.decode(data[:size])
    except wire.BadFrame:
        pass


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
        wire.decode(struct.pack("<II", len(text), len(text)) + text)


def test_nothing_longer_than_allowed_is_waited_for():
    with pytest.raises(wire.BadFrame):
        wire.frame_size(struct.pack("<II", wire.MAX_FRAME + 1, 10))
    with pytest.raises(wire.BadFrame):
        wire.frame_size(struct.pack("<II", 10, 11))
    with pytest.raises(wire.BadFrame):  # arrays may be long, texts not
        wire.frame_size(struct.pack("<II", wire.MAX_FRAME, wire.MAX_FRAME))
    deep = b"[" * 100_000
    with pytest.raises(wire.BadFrame):
        wire.decode(struct.pack("<II", len(deep), len(deep)) + deep)


@pytest.mark.parametrize("event", [Deal((51, 0)), Action(3, 250, 1), Board((1, 2, 3), 1)])
def test_events_come_through(event):
    assert wire.read_event(json.loads(json.dumps(wire.event_message(event)))) == event


@pytest.mark.parametrize("name", PRESETS)
def test_rules_come_through(name):
    assert wire.read_rules(wire.rules_message(PRESETS[name])) == PRESETS[name]
