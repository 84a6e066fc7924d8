"""Standard input, output and error as a command finds them: closed, full, or a terminal that does what it reads."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TextIO, cast

# What a terminal does rather than print: C0 but for tab and line ends, C1, and what turns the direction of writing.
_COMMANDS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class OutputLost(OSError):
    """Standard output takes nothing more: it is closed, full, or its reader left."""


def printable(text: str) -> str:
    """Return a text that does nothing to a terminal but print one line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Have standard output and error whatever the caller closed, and let no text in them command a terminal.

    What standard output does not take raises `OutputLost`; notes that standard error does not take are lost, and no
    run with them.
    """
    _open_closed()
    output, notes = _Stream(sys.stdout, _output_lost), _Stream(sys.stderr, lambda error: None)
    with contextlib.redirect_stdout(cast(TextIO, output)), contextlib.redirect_stderr(cast(TextIO, notes)):
        yield


class _Stream:
    """A stream of text from which commands to a terminal are taken out.

    Parameters
    ----------
    stream : TextIO
        Attributes other than those below are its own.
    on_loss : callable
        Called with the error whenever it takes nothing more. What is behind it then takes all, so that Python can end.
    """

    def __init__(self, stream: TextIO, on_loss: Callable[[OSError], None]):
        self._stream = stream
        self._on_loss = on_loss
        self._loss: OSError | None = None
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "±" is no reason to lose the table

    def __getattr__(self, name: str):
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        with self._watched():
            self._stream.write(_COMMANDS.sub(" ", text))
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        with self._watched():
            self._stream.flush()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError):
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, self._stream.fileno())
                os.close(nothing)
            self._loss = error
        if self._loss:
            self._on_loss(self._loss)


def _output_lost(error: OSError) -> None:
    raise OutputLost(error.errno, error.strerror)


def _open_closed() -> None:
    """Put something where standard streams are missing: the next files opened would take their places."""
    for descriptor, name, flags in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is not None:
            continue
        with contextlib.suppress(OSError):
            os.fstat(descriptor)
            continue
        nothing = os.open(os.devnull, flags)  # what is written to the output has to fail: it would be lost
        if nothing != descriptor:
            os.dup2(nothing, descriptor)
            os.close(nothing)
        os.set_inheritable(descriptor, True)
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))
