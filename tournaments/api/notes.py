"""Notes for the user, which functions of the Python interface collect, and show on standard error if asked."""

import sys
import warnings

from plurispiel.abstraction.machine.standard_streams import printable


class Notes:
    """Lines for the user.

    Parameters
    ----------
    progress : bool
        Whether lines are also shown on standard error.

    Attributes
    ----------
    lines : list of str
        The lines so far, in order.
    """

    def __init__(self, progress: bool):
        self.lines: list[str] = []
        self._progress = progress

    def say(self, line: str) -> None:
        """Add a line."""
        line = printable(line)
        self.lines.append(line)
        if self._progress:
            print(line, file=sys.stderr, flush=True)

    def warn(self, line: str) -> None:
        """Show a line that must not be missed: by `say` with `progress`, otherwise by a Python warning alone."""
        if self._progress:
            self.say(line)
        else:
            warnings.warn(printable(line), stacklevel=2)
