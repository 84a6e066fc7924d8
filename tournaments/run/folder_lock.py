"""The lock of a run folder: only one process plays a run, while other processes may read the folder."""

import os
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: a second process that plays the run is noticed when it stores the same groups
    fcntl = None


def lock_folder(folder: Path) -> int | None:
    """Return a handle of the folder, which stays locked until the handle is closed; None where locks do not exist.

    The system releases the lock when this process ends in any way, so that a killed run never blocks its successor.

    Raises
    ------
    BlockingIOError
        If another process holds the lock.
    """
    if fcntl is None:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:  # a file system without locks
        os.close(handle)
        return None
    return handle


def is_locked(folder: Path) -> bool:
    """Return whether a process plays the run in a folder; False where locks do not exist."""
    if fcntl is None:
        return False
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(handle)
    return False
