"""The lock of a folder: only one process plays a run or writes a folder, while other processes may read it."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: a second process that plays the run is noticed when it stores the same groups
    fcntl = None

_LOOK_S = 0.2  # seconds for which a lock may be a look of `is_locked`, which takes the lock for a moment
_PAUSE_S = 0.01

_held: set[int] = set()
"""The handles of the folders that this process has locked."""


def lock_folder(folder: Path) -> int | None:
    """Return a handle of the folder, which stays locked until `unlock_folder`; None where locks do not exist.

    The system releases the lock when this process ends in any way, so that a killed run never blocks its successor.

    Raises
    ------
    BlockingIOError
        If the folder is locked already, by another process or by this process.
    """
    if fcntl is None:
        return None
    handle = os.open(folder, os.O_RDONLY)
    limit = time.monotonic() + _LOOK_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < limit:
                time.sleep(_PAUSE_S)
                continue
            os.close(handle)
            raise
        except OSError:  # a file system without locks
            os.close(handle)
            return None
        _held.add(handle)
        return handle


def unlock_folder(handle: int | None) -> None:
    """Close a handle of `lock_folder`, which unlocks its folder; None is no handle."""
    if handle is not None:
        _held.discard(handle)
        os.close(handle)


def make_folder(folder: Path, shown: Path | None = None, remedy: str = "give another folder (--out)") -> None:
    """Create a folder and those above it, unless it exists.

    Parameters
    ----------
    folder : Path
    shown : Path, optional
        What the error message names, if not the folder.
    remedy : str
        The end of the error message, which tells what to do.

    Raises
    ------
    ValueError
        If it cannot be created, as where a file has its name.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        place = shown or folder
        raise ValueError(f"cannot use the folder {place}: {error.strerror}; {remedy}") from None


@contextlib.contextmanager
def locked(folder: Path, shown: Path | None = None) -> Iterator[None]:
    """Create a folder, keep it locked in the context, and remove it at the end if it is empty.

    Parameters
    ----------
    folder : Path
    shown : Path, optional
        What error messages name, if not the folder.

    Raises
    ------
    ValueError
        If the folder is locked already, or cannot be created (`make_folder`).
    """
    while True:
        make_folder(folder, shown)
        try:
            lock = lock_folder(folder)
        except BlockingIOError:
            raise ValueError(f"another process writes {shown or folder}; wait for it, or end it") from None
        except FileNotFoundError:  # the process before has just removed it
            continue
        if lock is None or _is_at(lock, folder):
            break
        unlock_folder(lock)  # of a folder that the process before has removed
    try:
        yield
    finally:
        # If the context has removed the folder, another process may have made it anew and locked it.
        if lock is None or _is_at(lock, folder):
            with contextlib.suppress(OSError):  # it is not empty, as a rule
                folder.rmdir()
        unlock_folder(lock)


def _is_at(handle: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(folder))
    except FileNotFoundError:
        return False


def _close_copies() -> None:
    """Close the handles in a forked copy of this process: a copy that outlives it must not keep a folder locked."""
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_copies)


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
