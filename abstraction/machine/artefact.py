"""Artefacts: folders of arrays, each with a manifest that records the origin of the arrays and reveals damage.

An artefact is a folder of ``.npy`` files and a ``manifest.json``. The manifest holds the artefact's kind,
configuration and seed, the version of the kind's format, and package versions. The entry ``source`` is usually the
digest of the artefact from which the arrays were made. For every array file the manifest holds size, dtype, shape and
SHA-256. The manifest's entry ``digest`` is the SHA-256 of all its other entries.

A folder from a stranger is safe to load: nothing in it is executed, and files that differ from the manifest are
refused. A manifest only proves that the arrays were not changed since the manifest was written. The caller must
therefore check that the numbers are valid, for example before kernels use them as indices.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import re
import shutil
import stat
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from plurispiel.abstraction.machine.jit import user_cache_folder
from plurispiel.abstraction.machine.settings import is_deep
from plurispiel.abstraction.machine.versions import package_versions

MANIFEST = "manifest.json"

_MANIFEST_BYTES = 1 << 20
_MAX_DIMENSIONS = 8
_MAX_NUMBERS = 1 << 56
_CHECKS = 1
"""Version of the checks given to `check_once`. When a check becomes stricter, increase the version: then all artefacts
are checked again."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_DTYPES = {np.dtype(code).newbyteorder("<").str for code in "?bBhHiIqQefd"}
_KEYS = {"kind", "format", "config", "seed", "source", "versions", "files", "digest"}
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class ArtefactRefused(ValueError):
    """The folder holds no artefact, a damaged one, one of another kind or format, or a file not in its manifest."""


@dataclass(frozen=True, eq=False)
class Artefact:
    """A loaded artefact.

    Attributes
    ----------
    folder : Path
        The folder from which the artefact was loaded, with symbolic links resolved.
    config : dict
        The settings with which the arrays were made.
    seed : int or None
        The seed of the random numbers; None if no seed was given.
    source : str
        The digest of the artefact from which the arrays were made, or another text that identifies their origin, such
        as the package's version (`cards.stages`); empty if no source was given.
    digest : str
        SHA-256 of the rest of the manifest, which holds the hash of every file: it identifies the whole artefact.
    arrays : dict
        Arrays by name, mapped into memory and read-only: only the pages that are read take memory.
    """

    folder: Path
    config: dict[str, Any]
    seed: int | None
    source: str
    digest: str
    arrays: dict[str, np.ndarray]


def write_artefact(
    folder: Path,
    kind: str,
    format_version: int,
    arrays: Mapping[str, np.ndarray],
    config: Mapping[str, Any],
    *,
    seed: int | None = None,
    source: str = "",
) -> str:
    """Write an artefact and return its digest.

    The files are written to a temporary folder beside `folder`, which is then renamed to `folder`. An older artefact of
    the same kind is replaced. If the process is killed on the way, `load_artefact` finds the new artefact or the older
    one, if there was one.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    kind : str
        The kind of artefact, in words, such as ``blueprint``.
    format_version : int
        The version of the kind's format; `load_artefact` refuses the artefact when called with another version.
    arrays : dict
        Arrays of booleans, integers or floats by name; `is_array_name` defines the names that are allowed.
    config : dict
        The settings with which the arrays were made, as JSON can represent them.
    seed, source
        As in `Artefact`.

    Raises
    ------
    ArtefactRefused
        If the folder is not empty and holds anything but an artefact of this kind.
    ValueError
        If an array's name or dtype is not allowed, or the configuration holds NaN or infinite numbers.
    TypeError
        If JSON cannot represent the configuration.
    OSError
        If a file cannot be written.
    """
    folder = Path(os.path.realpath(folder))
    for name, values in arrays.items():
        if not is_array_name(name) or values.dtype.newbyteorder("<").str not in _DTYPES:
            raise ValueError(
                f"the array {name!r} of {values.dtype} cannot be saved: arrays are booleans, integers or floats "
                "of up to 8 bytes, with names like bucket_sizes (1 to 64 lower-case letters, digits and _, a letter "
                "first)"
            )
    folder.parent.mkdir(parents=True, exist_ok=True)
    _finish_replacement(folder)
    require_replaceable(folder, kind)
    building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        manifest: dict[str, Any] = {
            "kind": kind,
            "format": format_version,
            "config": json.loads(json.dumps(config, allow_nan=False)),
            "seed": seed,
            "source": source,
            "versions": package_versions(),
            "files": {f"{name}.npy": _write_array(building / f"{name}.npy", arrays[name]) for name in sorted(arrays)},
        }
        manifest["digest"] = _digest(manifest)
        with _synced(building / MANIFEST) as file:
            file.write(json.dumps(manifest, indent=1).encode())
        os.chmod(building, 0o755)
        _sync_folder(building)
        if folder.exists():
            os.rename(folder, _replaced(folder))
        os.rename(building, folder)
        _sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    finally:
        _finish_replacement(folder)
    return manifest["digest"]


def load_artefact(folder: Path, kind: str, format_version: int) -> Artefact:
    """Return a verified artefact.

    Raises
    ------
    ArtefactRefused
        If the folder does not hold a complete, undamaged artefact of this kind and format.
    """
    folder = _present(folder)
    manifest = _read_manifest(folder, kind)
    if manifest["format"] != format_version:
        raise ArtefactRefused(
            f"{folder} has format {manifest['format']} of a {kind}, this plurispiel reads format {format_version}; "
            f"make the {kind} again, or use plurispiel {_text(manifest['versions'].get('plurispiel'))}"
        )
    arrays = {name.removesuffix(".npy"): _load_array(folder / name, facts) for name, facts in manifest["files"].items()}
    return Artefact(folder, manifest["config"], manifest["seed"], manifest["source"], manifest["digest"], arrays)


def stored_config(folder: Path, kind: str) -> dict[str, Any]:
    """Return the settings of an artefact, without opening the files of its arrays.

    Raises
    ------
    ArtefactRefused
        If the folder holds no artefact of this kind with an undamaged manifest.
    """
    return _read_manifest(_present(folder), kind)["config"]


def _present(folder: Path) -> Path:
    """Return the folder of an artefact, or the one moved aside: `write_artefact` was killed halfway or is running."""
    folder = Path(os.path.realpath(folder))
    return _replaced(folder) if not folder.exists() and _replaced(folder).exists() else folder


def check_once(artefact: Artefact, check: Callable[[], None]) -> None:
    """Run a check of an artefact's content, unless the artefact has passed an earlier check by this user.

    The check raises an exception on a fault, and the exception is passed on. The digest covers every byte, so one check
    for each digest is enough: worker processes need not check the large tables again.
    """
    with contextlib.suppress(OSError, RuntimeError):  # RuntimeError: the user has no home folder
        if _passed(artefact).exists():
            return
    check()
    with contextlib.suppress(OSError, RuntimeError):  # a cache that cannot be written only costs time
        _passed(artefact).parent.mkdir(parents=True, exist_ok=True)
        _passed(artefact).touch()


def _passed(artefact: Artefact) -> Path:
    return user_cache_folder() / "checked" / f"{artefact.digest}-{_CHECKS}"


def is_array_name(name: str) -> bool:
    """Return whether a name is allowed for an array: 1 to 64 lower-case letters, digits and ``_``, a letter first.

    Such a name cannot be a path.
    """
    return _NAME.fullmatch(name) is not None


def holds_artefact(folder: Path) -> bool:
    """Return whether a folder holds an artefact of any kind, damaged or not."""
    folder = Path(os.path.realpath(folder))
    return (folder / MANIFEST).exists() or (_replaced(folder) / MANIFEST).exists()


def _refusal(path: Path, what: str) -> ArtefactRefused:
    return ArtefactRefused(f"{path} {what}; make the artefact again, or use another copy of it")


def _read_manifest(folder: Path, kind: str) -> dict[str, Any]:
    """Return the checked manifest of an artefact of this kind."""
    path = folder / MANIFEST
    if not folder.is_dir():
        found = f"{folder} is no folder" if folder.exists() else f"there is no folder {folder}"
        raise ArtefactRefused(f"{found}; give the folder of a {kind}")
    if not path.exists():
        raise ArtefactRefused(f"{folder} holds no {kind} (it has no {MANIFEST}); give another folder")
    with _open(path) as file:
        text = file.read(_MANIFEST_BYTES + 1)
    try:
        if len(text) > _MANIFEST_BYTES:
            raise ValueError
        manifest = read_json(text)
        well_formed = _is_manifest(manifest) and manifest["digest"] == _digest(manifest)
    except (ValueError, RecursionError):
        well_formed = False
    if not well_formed:
        raise _refusal(path, "is damaged")
    if manifest["kind"] != kind:
        raise ArtefactRefused(f"{folder} holds a {_text(manifest['kind'])}, not a {kind}; give another folder")
    return manifest


def require_replaceable(folder: Path, kind: str) -> None:
    """Raise ArtefactRefused if `write_artefact` would not replace a folder by an artefact of this kind.

    The folder may be missing, be empty, or hold an artefact of this kind and nothing else.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    files = _read_manifest(folder, kind)["files"]
    if foreign := sorted(path.name for path in folder.iterdir() if path.name not in files and path.name != MANIFEST):
        raise ArtefactRefused(
            f"{folder} also holds {_text(foreign[0])}, which the manifest of the {kind} does not list; "
            "give another folder"
        )


def read_json(content: bytes) -> Any:
    """Return a JSON record from an untrusted source.

    Raises
    ------
    ValueError
        If the content is not JSON, is nested too deeply (`settings.is_deep`), repeats a key, or holds infinite numbers
        or NaN.
    RecursionError
        If the content is nested so deeply that Python cannot parse it.
    """
    record = json.loads(
        content.decode(), parse_constant=_finite, parse_float=_finite, object_pairs_hook=_without_repeats
    )
    if is_deep([record]):
        raise ValueError("it is nested too deeply")
    return record


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is not finite")
    return value


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _is_manifest(manifest: Any) -> bool:
    """Whether a manifest has the form that `write_artefact` gives it."""
    return (
        isinstance(manifest, dict)
        and set(manifest) == _KEYS
        and all(isinstance(manifest[key], str) for key in ("kind", "source", "digest"))
        and type(manifest["format"]) is int
        and (manifest["seed"] is None or type(manifest["seed"]) is int)
        and all(isinstance(manifest[key], dict) for key in ("config", "versions", "files"))
        and all(_is_file(name, facts) for name, facts in manifest["files"].items())
    )


def _is_file(name: str, facts: Any) -> bool:
    return (
        name.endswith(".npy")
        and is_array_name(name.removesuffix(".npy"))
        and isinstance(facts, dict)
        and set(facts) == {"bytes", "dtype", "shape", "sha256"}
        and type(facts["bytes"]) is int
        and isinstance(facts["dtype"], str)
        and facts["dtype"] in _DTYPES
        and isinstance(facts["shape"], list)
        and len(facts["shape"]) <= _MAX_DIMENSIONS
        and all(type(length) is int and length >= 0 for length in facts["shape"])
        and math.prod(max(length, 1) for length in facts["shape"]) <= _MAX_NUMBERS
        and isinstance(facts["sha256"], str)
    )


def _digest(manifest: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in manifest.items() if key != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _write_array(path: Path, values: np.ndarray) -> dict[str, Any]:
    """Write an array to a file and return the manifest's entry for the file."""
    values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<")).reshape(values.shape)
    try:
        with _synced(path) as file:
            np.lib.format.write_array(file, values, version=(1, 0), allow_pickle=False)
    except OSError as error:  # numpy's own message only counts the bytes that were written
        raise OSError(f"{path} cannot be written ({error.strerror or 'the disk is full'})") from None
    with open(path, "rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "bytes": path.stat().st_size,
        "dtype": values.dtype.newbyteorder("<").str,
        "shape": list(values.shape),
        "sha256": sha256,
    }


def _load_array(path: Path, facts: Mapping[str, Any]) -> np.ndarray:
    """Map a file into memory after comparing its size, hash and header with the manifest."""
    with _open(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size != facts["bytes"]:
            raise _refusal(path, f"has {size:,} bytes instead of {facts['bytes']:,}")
        if hashlib.file_digest(file, "sha256").hexdigest() != facts["sha256"]:
            raise _refusal(path, "is damaged: its SHA-256 differs from the manifest")
        file.seek(0)
        dtype, shape = np.dtype(facts["dtype"]), tuple(facts["shape"])
        header = array_header(file)
        if header != (dtype, shape) or file.tell() + math.prod(shape) * dtype.itemsize != size:
            raise _refusal(path, "is not an array of the dtype and shape in the manifest")
        if not math.prod(shape):
            return np.zeros(shape, dtype)
        # A plain array, because slicing a memmap takes ten times as long.
        return np.memmap(file, dtype, "r", file.tell(), shape).view(np.ndarray)


def array_header(file: BinaryIO) -> tuple[np.dtype, tuple[int, ...]] | None:
    """Return dtype and shape of the array in an ``.npy`` file, or None if the header is not of the form we write.

    The array itself is not read. After a valid header, the file is positioned at the array's first number.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of headers that Python 2 wrote
        try:
            if np.lib.format.read_magic(file) != (1, 0):
                return None
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
        except Exception:  # numpy parses headers as Python literals: a hostile one raises undocumented errors
            return None
    if is_fortran or dtype.str not in _DTYPES or any(length < 0 for length in shape):
        return None
    return dtype, shape


@contextlib.contextmanager
def _open(path: Path) -> Iterator[io.BufferedReader]:
    """Open a regular file of an artefact; refuse links, which could lead anywhere, and pipes, which might never end."""
    try:
        handle = os.open(path, os.O_RDONLY | _NO_LINK)
    except OSError as error:
        if path.is_symlink():
            raise _refusal(path, "is a link") from None
        raise _refusal(path, f"cannot be read ({error.strerror})") from None
    if path.is_symlink() or not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _refusal(path, "is not a plain file")
    with open(handle, "rb") as file:
        yield file


@contextlib.contextmanager
def _synced(path: Path) -> Iterator[BinaryIO]:
    """Open a new file and flush it to the disk at the end."""
    with open(path, "xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _replaced(folder: Path) -> Path:
    """Return where `write_artefact` moves an older artefact, a folder beside it; no artefact is in ``/``."""
    return folder.parent / f".{folder.name}.replaced"


def _finish_replacement(folder: Path) -> None:
    """Delete the old artefact that `write_artefact` moved aside, or restore it if the new one is not in place."""
    replaced = _replaced(folder)
    if not replaced.exists():
        return
    if folder.exists():
        shutil.rmtree(replaced, ignore_errors=True)
    else:
        os.rename(replaced, folder)


def _text(value: object) -> str:
    """Return a text from an untrusted source, escaped and short enough for a message."""
    return repr(value)[:80]
