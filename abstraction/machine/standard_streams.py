"""Standard input, output and error, made safe: they may be closed or full, and a terminal obeys control characters."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import TextIO, cast

# Characters that a terminal obeys instead of printing: C0 except tab and line ends, DEL, C1, line and paragraph
# separators, and changes of text direction.
_COMMANDS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_STYLES_OR_COMMANDS = re.compile(r"(\x1b\[[\d;]{0,8}m)|" + _COMMANDS.pattern, re.ASCII)


class OutputLost(OSError):
    """Standard output cannot be written: it is closed, full, or its reader has ended."""


def printable(text: str) -> str:
    """Return a text as one line, with a blank for each character that `str.isprintable` denies, such as a line end."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else " " for letter in text)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Provide standard input, output and error even if the caller closed them.

    In output, a blank replaces each character that a terminal would obey; only `_Stream.write_styled` keeps styles. A
    failed write to standard output raises `OutputLost`. A failed write to standard error is dropped: a run must not end
    because its notes cannot be shown.
    """
    _open_closed()
    output, notes = _Stream(sys.stdout, _output_lost), _Stream(sys.stderr, lambda error: None)
    with contextlib.redirect_stdout(cast(TextIO, output)), contextlib.redirect_stderr(cast(TextIO, notes)):
        yield


class _Stream:
    """A stream of text that writes a blank for each character that a terminal would obey.

    Parameters
    ----------
    stream : TextIO
        The wrapped stream, which also provides all attributes not defined here.
    on_loss : callable
        Called with the error at the first write or flush that fails, and at every later write and flush. After the
        failure, the stream's descriptor leads to the null device, so that Python can flush the stream at its exit.
    """

    def __init__(self, stream: TextIO, on_loss: Callable[[OSError], None]):
        self._stream = stream
        self._on_loss = on_loss
        self._loss: OSError | None = None
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an encoding without "±" is no reason to lose the table

    def __getattr__(self, name: str):
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text and return its length in characters."""
        with self._watched():
            self._stream.write(_COMMANDS.sub(" ", text))
        return len(text)

    def write_styled(self, text: str) -> int:
        """Write a text as `write` does, but keep colours and other styles (``ESC[...m``); return its length."""
        with self._watched():
            self._stream.write(_STYLES_OR_COMMANDS.sub(lambda match: match[1] or " ", text))
        return len(text)

    def flush(self) -> None:
        """Flush the wrapped stream."""
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
    """Open closed standard descriptors; otherwise the next files to be opened would become standard streams."""
    for descriptor, name, flags in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is not None:
            continue
        with contextlib.suppress(OSError):
            os.fstat(descriptor)
            continue
        nothing = os.open(os.devnull, flags)  # standard output is read-only, so that a write fails instead of vanishing
        if nothing != descriptor:
            os.dup2(nothing, descriptor)
            os.close(nothing)
        os.set_inheritable(descriptor, True)
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))
