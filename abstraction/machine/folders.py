"""The default folders of users' files."""

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
    """Return the folder of runs, blueprints and tables: PLURISPIEL_HOME, else ``plurispiel`` in the user's data."""
    if chosen := os.environ.get("PLURISPIEL_HOME"):
        return Path(chosen)
    if os.name == "nt":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "plurispiel"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "plurispiel"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "plurispiel"


def tables_folder() -> Path:
    """Return the folder of the user's bucket tables; each table is a subfolder with the table's name."""
    return user_data_folder() / "abstractions"


def blueprints_folder() -> Path:
    """Return the folder of the user's training runs; each run has a subfolder with its name."""
    return user_data_folder() / "blueprints"


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Create a folder if necessary, and lock the folder, so that only one process at a time runs the block.

    Where the system or the file system has no locks, the block runs unlocked. The system releases a lock when the
    process ends, even if the process is killed.
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
