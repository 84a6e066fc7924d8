"""Texts for the terminal."""

from plurispiel.abstraction.machine.standard_streams import printable


def test_printable_is_one_line():
    assert printable("a\x1b[2J\nb\tc\u2028d é±") == "a [2J b c d é±"
