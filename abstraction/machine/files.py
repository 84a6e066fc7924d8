"""Files that are written whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO


def write_atomically(path: Path, text: str, *, mode: int = 0o644) -> Path:
    """Write a text file so that readers see the old or the new content, never a part; return its path."""
    with writing_atomically(path, mode=mode) as stream:
        stream.write(text)
    return path


@contextlib.contextmanager
def writing_atomically(path: Path, *, mode: int = 0o644) -> Iterator[TextIO]:
    """Yield a stream whose text replaces the file when the block ends; after an error the file is unchanged.

    Parameters
    ----------
    path : Path
        The file, which need not exist; its folder must.
    mode : int
        The file's permissions, as `os.chmod` takes them.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
