"""Files that are written whole or not at all."""

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO


def require_writable(path: Path, remedy: str = "give another file", begins: Sequence[bytes] = ()) -> None:
    """Check before long work that its file can be written: create a hidden file beside it, and remove it again.

    Parameters
    ----------
    path : Path
        The file to be written; it may exist.
    remedy : str
        The end of the message, which tells what to do.
    begins : sequence of bytes
        Beginnings of files that may be replaced. An empty file always may be, and without beginnings any file may be.

    Raises
    ------
    ValueError
        If the path is that of a folder, of a device or of a file that may not be replaced. Also if its folder is
        missing or read-only.
    """
    try:
        if path.exists() and not path.is_file():
            raise ValueError(f"cannot write {path}: it is no plain file; {remedy}")
        if begins and path.exists():
            with path.open("rb") as stream:
                content = stream.read(max(map(len, begins)))
            if content and not content.startswith(tuple(begins)):
                raise ValueError(f"cannot write {path}: the file is of another kind, and would be lost; {remedy}")
        handle, temporary = _temporary(path)
        os.close(handle)
        os.unlink(temporary)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}; {remedy}") from None


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
    with writing_bytes_atomically(path, mode=mode) as binary:
        stream = io.TextIOWrapper(binary, encoding="utf-8")
        yield stream
        stream.detach()  # flushes, and leaves the file open


@contextlib.contextmanager
def writing_bytes_atomically(path: Path, *, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Yield a binary stream whose bytes replace the file; see `writing_atomically`."""
    handle, temporary = _temporary(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _temporary(path: Path) -> tuple[int, str]:
    """Create a hidden file beside `path`; return its handle and its path."""
    return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
