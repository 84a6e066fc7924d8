"""Progress on standard error: a bar on a terminal, a plain line every half minute in a file or a pipe."""

import sys
from collections.abc import Iterable
from typing import Any, TextIO

from tqdm import tqdm

__all__ = ["LINE_SECONDS", "progress_bar"]

LINE_SECONDS = 30.0
"""Seconds between two lines where standard error is not a terminal."""


def progress_bar(steps: Iterable | None = None, **options: Any) -> tqdm:
    """Return a progress bar, which shows nothing if standard error is closed.

    Parameters
    ----------
    steps : iterable, optional
        The steps over which the bar iterates; if omitted, the caller advances the bar by calling its `update`.
    **options
        Options of tqdm; ``mininterval``, ``delay``, ``miniters`` and ``ncols`` are used on a terminal only.
    """
    stream = sys.stderr
    if stream is None:  # closed by the caller of the program
        return _Bar(steps, **options | {"disable": True})
    if stream.isatty():
        return _Bar(steps, **{"dynamic_ncols": True, "miniters": 1} | options)
    often = {"mininterval": LINE_SECONDS, "delay": LINE_SECONDS, "miniters": 1, "ncols": 0}
    return _Bar(steps, **options | often, file=_Lines(stream))


class _Bar(tqdm):
    """A bar without tqdm's thread: a process with several threads cannot be copied for workers.

    That thread redraws a bar whose steps have become slower. Here every step may redraw the bar (``miniters=1``).
    """

    monitor_interval = 0


class _Lines:
    """Turns the redrawn bars of tqdm into lines."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> None:
        """Write a line, unless it is empty."""
        if line := text.strip():
            self._stream.write(f"{line}\n")

    def flush(self) -> None:
        """Let written lines appear at once: tqdm calls this method after every write."""
        self._stream.flush()
