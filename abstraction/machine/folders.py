"""Where users' files are kept when no folder is named."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


def user_data_folder() -> Path:
    """Return the folder for what users keep: PLURISPIEL_HOME, else the platform's folder for user data."""
    if chosen := os.environ.get("PLURISPIEL_HOME"):
        return Path(chosen)
    if os.name == "nt":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "plurispiel"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "plurispiel"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "plurispiel"


def tables_folder() -> Path:
    """Return the folder of the user's bucket tables, each in a folder with its name."""
    return user_data_folder() / "abstractions"


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Make a folder and wait until no other process is in here with it; without a wait where there are no locks.

    The system lets the next one in when a process ends in any way.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
