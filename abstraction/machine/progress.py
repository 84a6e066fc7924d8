"""How far something is, on standard error: a bar on a terminal, a plain line now and then in a file or a pipe."""

import sys
from collections.abc import Iterable
from typing import Any, TextIO

from tqdm import tqdm

__all__ = ["LINE_SECONDS", "progress_bar"]

LINE_SECONDS = 30.0
"""How long it is quiet between two lines where nobody watches."""


def progress_bar(steps: Iterable | None = None, **options: Any) -> tqdm:
    """Return what shows progress.

    Parameters
    ----------
    steps : iterable, optional
        What is gone through; without, whoever works calls `update`.
    **options
        Those of tqdm. What says how often or how wide it is drawn holds on a terminal only.
    """
    stream = sys.stderr
    if stream is None:  # closed before we began
        return tqdm(steps, **options | {"disable": True})
    if stream.isatty():
        return tqdm(steps, **{"dynamic_ncols": True} | options)
    often = {"mininterval": LINE_SECONDS, "delay": LINE_SECONDS, "miniters": 1, "ncols": 0}
    return tqdm(steps, **options | often, file=_Lines(stream))


class _Lines:
    """Makes lines of what tqdm draws over and over."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> None:
        """Write a line, unless there is nothing to read in it."""
        if line := text.strip():
            self._stream.write(f"{line}\n")

    def flush(self) -> None:
        """Let others see it."""
        self._stream.flush()
