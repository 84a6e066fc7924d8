"""The program that becomes the agent's program: it reports its process id, waits for a byte, and limits itself.

Only then does the agent's program replace the launcher (``exec``). The agent's program keeps the process id, the
session and the limits, and ends with the run (`process`). The run can therefore find and stop the process before any
code of the agent runs.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from plurispiel.tournaments.contestants.process import limit_memory

_CANNOT_START = 127  # as in shells
_OPEN_FILES = 4096


def main(memory: str, folder: str, *command: str) -> None:
    """Report the process id as a line, read one byte, and become the program.

    Parameters
    ----------
    memory : str
        MiB that the program may allocate, as text.
    folder : str
        Folder to start the program in. In a sandbox that does not show this folder, the program starts in the private
        folder.
    *command : str
        The absolute path of the program, and its arguments.
    """
    wait_to_go_on()
    become(int(memory), folder, command)


def wait_to_go_on() -> None:
    """Report the process id as a line on standard output, and wait for a byte on standard input."""
    os.write(1, b"%d\n" % os.getpid())
    os.read(0, 1)


def become(memory: int, folder: str, command: Sequence[str]) -> NoReturn:
    """Limit this process, and replace it by a program; the parameters are those of `main`."""
    with contextlib.suppress(OSError):
        os.chdir(folder)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores both, and a program would inherit the setting
        signal.signal(number, signal.SIG_DFL)
    _limit_files()
    limit_memory(memory)
    try:
        os.execv(command[0], list(command))
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(_CANNOT_START)


def _limit_files() -> None:
    """Forbid core dumps, and limit the number of open files."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _OPEN_FILES if highest == resource.RLIM_INFINITY else min(_OPEN_FILES, highest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
