"""The terminal, pipe or file through which a person plays: lines are wrapped, styled and read."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TextIO

from plurispiel.abstraction.machine.interrupts import await_input
from plurispiel.abstraction.machine.standard_streams import OutputLost

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

_STYLES = {"bold": "1", "faint": "2", "good": "32", "bad": "31"}
_MIN_WIDTH, _MAX_WIDTH, _USUAL_WIDTH = 20, 120, 80
_MAX_LINE = 1000  # characters read of a line; the rest of a longer line is dropped
_MAX_REFUSED = 1000  # after so many refused keys in succession a pipe or file, which may be endless, is read no more


class Left(BaseException):
    """The person is gone: the input has ended within a hand, holds too many lines that are no keys, or output is lost.

    Not an `Exception`, because `play_hand` takes an agent's exceptions for faults and plays on.
    """


class Screen:
    """Writes lines for a person and reads the person's lines.

    All methods that write raise `Left` if the output is lost (`OutputLost`).

    Parameters
    ----------
    output, source : TextIO, optional
        Where lines are written and read; by default standard output and input.
    width : int, optional
        Characters in a line; by default the terminal's, or 80 if the output is no terminal.

    Attributes
    ----------
    width : int
        Characters in a line, 20 to 120.
    """

    def __init__(self, output: TextIO | None = None, source: TextIO | None = None, width: int = 0):
        self._output = output or sys.stdout
        self._source = source or sys.stdin
        is_terminal = self._output.isatty()
        # An empty NO_COLOR does not count, as its convention says (https://no-color.org).
        self._has_styles = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self._echoes = not self._source.isatty()  # a terminal shows what is typed
        self._num_refused = 0  # number of keys refused in succession
        self._has_refused = False  # whether the last key was refused
        if not width:
            width = shutil.get_terminal_size((_USUAL_WIDTH, 0)).columns if is_terminal else _USUAL_WIDTH
        self.width = min(max(width, _MIN_WIDTH), _MAX_WIDTH)
        reconfigure = getattr(self._source, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # bytes that are no text become an unknown key, and raise no exception

    def line(self, text: str = "", style: str = "", indent: int = 0) -> None:
        """Write a text, wrapped to the width.

        Parameters
        ----------
        style : str
            ``bold``, ``faint``, ``good`` or ``bad``; empty for none. Only a terminal shows styles.
        indent : int
            Blanks before all lines but the first.
        """
        lines = textwrap.wrap(text, self.width, subsequent_indent=" " * indent) or [""]
        self._write("\n".join(self._styled(each, style) for each in lines) + "\n")

    def items(self, items: Iterable[str], style: str = "") -> None:
        """Write short texts side by side, three blanks apart; only a text that is longer than a line is broken."""
        lines: list[str] = []
        for item in items:
            if lines and len(lines[-1]) + 3 + len(item) <= self.width:
                lines[-1] += f"   {item}"
            else:
                lines.append(item)
        for each in lines:
            self.line(each, style, indent=2)

    def block(self, lines: Sequence[str], style: str = "") -> None:
        """Write lines that are already laid out."""
        self._write("".join(self._styled(each, style) + "\n" for each in lines))

    def ask(self, prompt: str) -> str | None:
        """Return the line that the person types at a prompt, without outer blanks; None at the input's end.

        Input from a pipe or a file is repeated on the output.
        """
        self._num_refused *= self._has_refused
        self._has_refused = False
        self._write(self._styled(prompt, "bold") + " ")
        try:
            if (descriptor := _line_terminal(self._source)) is not None:
                await_input(descriptor)
            text = self._source.readline(_MAX_LINE)
            rest = text
            while len(rest) == _MAX_LINE and not rest.endswith("\n"):
                rest = self._source.readline(_MAX_LINE)
        except (OSError, ValueError):  # the terminal has gone, or the input is closed
            text = ""
        if not text:
            self._write("\n")
            return None
        text = "".join(letter for letter in text if letter.isprintable()).strip()
        if self._echoes:
            self._write(f"{text}\n")
        return text

    def refuse(self, text: str, indent: int = 0) -> None:
        """Write why a key was not taken.

        Raises
        ------
        Left
            If a pipe or a file has had too many keys refused in succession.
        """
        self.line(text, "bad", indent)
        self._num_refused += 1
        self._has_refused = True
        if self._echoes and self._num_refused >= _MAX_REFUSED:
            self.line(f"{_MAX_REFUSED:,} lines in succession were no keys: the rest is not read", "bad")
            raise Left

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and text and self._has_styles else text

    def _write(self, text: str) -> None:
        try:
            write = getattr(self._output, "write_styled", None) if self._has_styles else None
            (write or self._output.write)(text)
            self._output.flush()
        except OutputLost as error:
            raise Left from error


def _line_terminal(source: TextIO) -> int | None:
    """Return the file descriptor of a terminal that gives one line a read; None for all other input.

    From other input, a read may take several lines, of which Python keeps all but the first. These could not be waited
    for.
    """
    if termios is None or not source.isatty():
        return None
    try:
        descriptor = source.fileno()
        return descriptor if termios.tcgetattr(descriptor)[3] & termios.ICANON else None
    except (OSError, ValueError, termios.error):
        return None
