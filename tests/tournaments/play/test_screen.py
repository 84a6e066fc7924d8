import errno
import io
import os

import pytest

from plurispiel.abstraction.machine.standard_streams import OutputLost
from plurispiel.tournaments.play.screen import Left, Screen


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def usual(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return monkeypatch


def test_no_line_is_wider_than_the_screen():
    for width in (20, 33, 80):
        out = io.StringIO()
        screen = Screen(out, io.StringIO(), width)
        screen.line("one two three four " * 9, "bold", indent=4)
        screen.items(["fold", "call 100", "raise to 300", "half pot: raise to 500"] * 3)
        assert max(map(len, out.getvalue().splitlines())) <= width
        assert "\x1b" not in out.getvalue()


def test_items_stay_whole():
    out = io.StringIO()
    Screen(out, io.StringIO(), 30).items(["f fold", "c call 100", "r200 raise to 200"])
    assert out.getvalue() == "f fold   c call 100\nr200 raise to 200\n"


def test_a_terminal_has_styles_unless_it_is_told_otherwise(usual):
    def shown(width=0):
        out = Terminal()
        Screen(out, io.StringIO(), width).line("won", "good")
        return out.getvalue()

    assert shown() == "\x1b[32mwon\x1b[0m\n"
    usual.setenv("NO_COLOR", "1")
    assert shown() == "won\n"
    usual.setenv("NO_COLOR", "")
    assert "\x1b" in shown()
    usual.setenv("TERM", "dumb")
    assert shown() == "won\n"


def test_the_width_is_that_of_the_terminal(usual):
    usual.setenv("COLUMNS", "47")
    assert Screen(Terminal(), io.StringIO()).width == 47
    assert Screen(io.StringIO(), io.StringIO()).width == 80
    usual.setenv("COLUMNS", "3")
    assert Screen(Terminal(), io.StringIO()).width == 20


def test_lines_are_read_and_repeated_where_the_input_is_no_terminal():
    out = io.StringIO()
    screen = Screen(out, io.StringIO("  r300 \n\x1b[31mf\n" + "9" * 5_000 + "\nc\n\n"))
    assert [screen.ask(">") for _ in range(6)] == ["r300", "[31mf", "9" * 1_000, "c", "", None]
    assert out.getvalue().startswith("> r300\n> [31mf\n")


def test_lines_of_a_terminal_are_not_repeated():
    silent = io.StringIO()
    assert Screen(silent, Terminal("f\n")).ask(">") == "f" and silent.getvalue() == "> "


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals on this system")
@pytest.mark.parametrize("by_line", [True, False])
def test_a_terminal_gives_lines_one_by_one_or_many_at_once(by_line):
    termios = pytest.importorskip("termios")
    ours, theirs = os.openpty()
    with open(ours, "wb", buffering=0) as keys, open(theirs, encoding="utf-8") as terminal:
        if not by_line:
            mode = termios.tcgetattr(theirs)
            mode[3] &= ~termios.ICANON
            termios.tcsetattr(theirs, termios.TCSANOW, mode)
        keys.write(b"f\nc\n" + b"\x04" * by_line)
        screen = Screen(io.StringIO(), terminal)
        assert [screen.ask(">") for _ in range(2 + by_line)] == ["f", "c", None][: 2 + by_line]


def test_bytes_that_are_no_text_and_a_closed_input_do_no_harm():
    source = io.TextIOWrapper(io.BytesIO(b"\xff\xfec\nf\n"), encoding="utf-8")
    screen = Screen(io.StringIO(), source)
    assert screen.ask(">").endswith("c") and screen.ask(">") == "f"
    source.close()
    assert screen.ask(">") is None


def test_lost_output_is_no_fault_of_an_agent():
    class Lost(io.StringIO):
        def write(self, text):
            raise OutputLost(errno.EPIPE, "gone")

    with pytest.raises(Left) as left:
        Screen(Lost(), io.StringIO()).line("x")
    assert isinstance(left.value.__cause__, OutputLost) and not isinstance(left.value, Exception)
