"""What a command reports beside its results: on standard error, so that results can be piped."""

import sys
from collections.abc import Iterable

from plurispiel.abstraction.machine.standard_streams import printable


def say(text: str) -> None:
    """Print a line at once."""
    print(text, file=sys.stderr, flush=True)


def say_all(notes: Iterable[str]) -> None:
    """Print notes that may hold agents' names and messages, without their control characters."""
    for note in notes:
        say(printable(note))
