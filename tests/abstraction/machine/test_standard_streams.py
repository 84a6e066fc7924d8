"""Texts for the terminal."""

import contextlib
import io
import sys

from plurispiel.abstraction.machine.standard_streams import printable, standard_streams


def test_styles_pass_where_they_are_asked_for_and_no_other_command():
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), standard_streams():
        sys.stdout.write_styled("\x1b[1mbold\x1b[0m \x1b[2Jclear\x07\n")
        print("\x1b[1mbold\x1b[0m")
    assert stream.getvalue() == "\x1b[1mbold\x1b[0m  [2Jclear \n [1mbold [0m\n"


def test_printable_is_one_line():
    assert printable("a\x1b[2J\nb\tc\u2028d é±") == "a [2J b c d é±"
