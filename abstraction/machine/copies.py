"""Whether further processes may start as copies of this one, with its modules and its kernels loaded."""

import sys
import threading

__all__ = ["can_fork"]


def can_fork() -> bool:
    """Return whether processes may start as copies of this process.

    A copy is ready at once; a new process takes a second of computing. A copy has this thread only, and locks that
    other threads held would stay locked in the copy. Outside Linux, libraries of the system do not survive a copy.
    PyTorch does not survive a copy either: it has threads that `threading` does not count.
    """
    return sys.platform == "linux" and threading.active_count() == 1 and "torch" not in sys.modules
