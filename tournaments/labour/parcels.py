"""Files and folders that are sent to other machines: named by their content, and unpacked whole or not at all."""

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

__all__ = ["MAX_BYTES", "PIECE", "Parcel", "make_parcel", "unpack"]

MAX_BYTES = 1 << 30
"""The size of the largest parcel: stored strategies can have hundreds of megabytes."""

PIECE = 4 << 20
"""The largest number of bytes in one message."""


class Parcel(NamedTuple):
    """The list of a parcel's files.

    Attributes
    ----------
    name : str
        The name of the file or folder.
    files : tuple of (str, int, str)
        The path of each file below `name` (empty if `name` is a file), its size in bytes and its SHA-256.
    """

    name: str
    files: tuple[tuple[str, int, str], ...]

    @property
    def digest(self) -> str:
        """The SHA-256 of the list."""
        return hashlib.sha256(repr(tuple(self)).encode(errors="surrogateescape")).hexdigest()

    @property
    def num_bytes(self) -> int:
        """The bytes of all files together."""
        return sum(size for _, size, _ in self.files)


def make_parcel(path: Path) -> Parcel:
    """Return the parcel of a file, or of all files below a folder.

    Hidden files and folders below the folder, and folders ``__pycache__``, are left out.

    Raises
    ------
    ValueError
        If a file cannot be read, or the parcel has more than `MAX_BYTES`.
    """
    try:
        files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if _travels(each, path))
        parcel = Parcel(
            path.name,
            tuple((each.relative_to(path).as_posix() if each != path else "", *_measured(each)) for each in files),
        )
    except OSError as error:
        raise ValueError(f"cannot send {path} to the cluster: {error.strerror or error}") from None
    if parcel.num_bytes > MAX_BYTES:
        raise ValueError(
            f"{path} has {parcel.num_bytes / 2**30:.1f} GiB, and a file or folder for a cluster has at most "
            f"{MAX_BYTES >> 30} GiB; give a smaller folder"
        )
    return parcel


def pieces(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in pieces."""
    with open(path, "rb") as stream:
        while piece := stream.read(PIECE):
            yield piece


@contextlib.contextmanager
def unpack(parcel: Parcel, folder: Path) -> Iterator[Path]:
    """Yield a folder to write the files into. When the context ends, the files are checked and moved to `folder`.

    Raises
    ------
    ValueError
        If a path leads out of the folder, or a file is missing or differs from the list.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name[:8]}-"))
    try:
        for name, _, _ in parcel.files:
            place = PurePosixPath(parcel.name, name)
            if place.is_absolute() or ".." in place.parts or len(PurePosixPath(parcel.name).parts) != 1:
                raise ValueError(f"a parcel holds the path {str(place)!r}, which leads out of its folder")
            (temporary / place).parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        for name, size, digest in parcel.files:
            path = temporary / parcel.name / name
            if not path.is_file() or _measured(path) != (size, digest):
                raise ValueError(f"{parcel.name}/{name} arrived damaged")
        with contextlib.suppress(OSError):  # another process was faster
            os.rename(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _travels(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts
    return path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts)


def _measured(path: Path) -> tuple[int, str]:
    digest, size = hashlib.sha256(), 0
    for piece in pieces(path):
        digest.update(piece)
        size += len(piece)
    return size, digest.hexdigest()
