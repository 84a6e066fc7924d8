"""The reader of what the page sends; most of it is tried over the gate, in test_gate.py."""

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
