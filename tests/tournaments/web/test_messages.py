"""The reader of what the page sends; most of it is tried over the gate, in test_gate.py."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from plurispiel.tournaments.web.messages import Chosen, parse_message


def test_a_message_is_read():
    assert parse_message(Chosen, '{"run": "Zürich/2"}'.encode()) == Chosen("Zürich/2")


@pytest.mark.parametrize(
    "data, words",
    [
        (b"[]", "must be an object with the keys run"),
        (b"{}", "must be an object with the keys run"),
        (b'{"run": null}', "run must be a text"),
        (b'{"run": ["x"]}', "run must be a text"),
        (b'{"run": "' + b"x" * 1025 + b'"}', "at most 1,024 characters"),
        (b'{"run": "x"} {}', "no valid JSON"),
        (b'{"run": "x", "run": "x"}', "given twice"),
        (b'{"run": Infinity}', "Infinity is no number"),
        (b" " * 2001, "at most 2,000 bytes"),
        (b"[" * 1999, "no valid JSON|nested too deeply"),
    ],
)
def test_others_are_refused(data, words):
    with pytest.raises(ValueError, match=words):
        parse_message(Chosen, data, 2000)


@dataclass(frozen=True)
class Every:
    """A message with a field of each type."""

    name: str = field(metadata={"most": 3})
    count: int = field(metadata={"least": 1, "most": 9})
    weight: float = field(metadata={"most": 1})
    sure: bool
    table: Mapping[str, Any]
    weights: tuple[float, ...] = field(default=(), metadata={"most": 1, "length": 2})


EVERY = {"name": "abc", "count": 9, "weight": 0.5, "sure": True, "table": {"x": [1]}, "weights": [0, 1]}


def test_fields_of_every_type():
    assert parse_message(Every, json.dumps(EVERY).encode()) == Every("abc", 9, 0.5, True, {"x": [1]}, (0.0, 1.0))
    assert parse_message(Every, json.dumps({k: v for k, v in EVERY.items() if k != "weights"}).encode()).weights == ()


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("name", "abcd", "at most 3 characters"),
        ("count", 0, "whole number from 1 to 9"),
        ("count", 2.0, "whole number"),
        ("count", True, "whole number"),
        ("weight", "1", "number from 0 to 1"),
        ("weight", 1.5, "number from 0 to 1"),
        ("sure", 1, "true or false"),
        ("table", [], "must be an object"),
        ("table", {"a": {"b": {}}}, None),
        ("weights", [0, 0, 0], "at most 2 entries"),
        ("weights", ["x"], "weights must be a number"),
        ("weights", 1, "must be a list"),
    ],
)
def test_wrong_types_and_bounds_are_refused(name, value, words):
    data = json.dumps(EVERY | {name: value}).encode()
    if words is None:
        assert getattr(parse_message(Every, data), name) == value
    else:
        with pytest.raises(ValueError, match=words):
            parse_message(Every, data)


def test_numbers_beyond_all_bounds_are_refused():
    with pytest.raises(ValueError, match="number from 0 to 1"):
        parse_message(Every, json.dumps(EVERY).encode().replace(b"0.5", b"1e999"))
    deep = json.dumps(EVERY).encode().replace(b'{"x": [1]}', b'{"x":' * 20 + b"1" + b"}" * 20)
    with pytest.raises(ValueError, match="nested deeply"):
        parse_message(Every, deep)
