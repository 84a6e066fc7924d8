"""Messages of commands on standard error; only results go to standard output, where they can be piped."""

import sys
from collections.abc import Iterable

from plurispiel.abstraction.machine.standard_streams import printable


def say(text: str) -> None:
    """Print a line on standard error, unbuffered."""
    print(text, file=sys.stderr, flush=True)


def say_all(notes: Iterable[str]) -> None:
    """Print each note as a line on standard error, without control characters, which names of agents may hold."""
    for note in notes:
        say(printable(note))
