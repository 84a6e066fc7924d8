"""Packing of a blueprint into one small file, and unpacking.

The file is a zip archive of a manifest and the blueprint's arrays. Rows after the first street are rounded to few
levels (`num_levels`), and to fewer where play is rare (`_STEPS`). The numbers of one action in all buckets lie side by
side, since similar neighbours compress well. A row that is hardly ever reached in play is stored as zeros, which makes
it a missing row. The archive's comment, the last 64 bytes of the file, is the SHA-256 of all bytes before it, in
hexadecimal digits. The first process that needs the file unpacks it to an artefact in the user's cache.
"""

import contextlib
import dataclasses
import hashlib
import io
import json
import lzma
import math
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.machine.artefact import (
    ArtefactRefused,
    array_header,
    is_array_name,
    load_artefact,
    read_json,
    write_artefact,
)
from plurispiel.abstraction.machine.files import writing_bytes_atomically
from plurispiel.abstraction.machine.folders import alone_in
from plurispiel.abstraction.machine.jit import user_cache_folder
from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.agents.blueprint.blueprint import FORMAT_VERSION, HIGHEST, KIND, Blueprint, load_blueprint
from plurispiel.agents.blueprint.match import MAX_REACHED, reach_rows
from plurispiel.agents.blueprint.training_record import summarised

__all__ = [
    "PACK_BEGIN",
    "SUFFIX",
    "PackedFacts",
    "pack_blueprint",
    "packed_facts",
    "unpack_blueprint",
    "unpacked_folder",
]

SUFFIX = ".blueprint"
PACK_BEGIN = b"PK"
"""How a packed file begins."""

LEVELS = 51
"""The number that stands for probability 1 in packed rows after the first street; a divisor of `blueprint.HIGHEST`."""

_STEPS = ((MAX_REACHED, 17), (4, 3))
"""Visits and steps: of rows with fewer visits, after the first street, probabilities are multiples of 1 / steps.

Visits fall, and each number of steps divides `LEVELS`. `headsup-refined` takes 14.0 MB in place of 29.5, and wins 3.8 ±
1.1 mbb/hand from itself unrounded. Errors of rounding are not carried over to the next bucket: with them, a best
response wins more.
"""

_MANIFEST, _ROWS = "manifest.json", "rows"
_PACKED, _PACKED_FORMAT = "packed blueprint", 4
_LEVELS_OF_FORMAT_3 = 15  # with so few, every probability above 29/30 became 1
_DIGEST_BYTES = 64
_MAX_BYTES = 1 << 32
_MAX_MANIFEST_BYTES = 1 << 20
_BROKEN = (EOFError, LookupError, OverflowError, struct.error, zipfile.BadZipFile, lzma.LZMAError, zlib.error)
_DATE = (1980, 1, 1, 0, 0, 0)


def pack_blueprint(
    folder: Path, path: Path, *, num_decks: int = 2_000_000, least: int = 1, threads: int = 1
) -> dict[str, Any]:
    """Write a blueprint into a small file.

    Parameters
    ----------
    folder : Path
        Folder of the blueprint's artefact. Unless `num_decks` is 0, the blueprint's bucket table, if it has one, must
        be in the user's tables folder.
    path : Path
        The file to write.
    num_decks : int
        Number of decks that are played to count how often each row is reached (`reach_rows`). Rows that are reached
        seldom are rounded coarsely, to `_STEPS`. With 0, all rows are kept, with all levels.
    least : int
        Rows that are reached fewer than `least` times are dropped; 0 keeps all rows. Counts end at `MAX_REACHED`, 255.
    threads : int
        Number of threads that count visits; it does not change the file.

    Returns
    -------
    dict
        ``bytes``, the size of the file; ``rows``, a list with the number of rows on each street; ``rows_kept``, a list
        with the number of rows on each street that are not zeros.

    Raises
    ------
    ValueError
        If the rows are float32, `least` is not from 0 to 255, or the bucket table is needed and missing.
    ArtefactRefused
        If the folder holds no complete, undamaged blueprint.
    """
    if not 0 <= least <= MAX_REACHED:
        raise ValueError(f"the least number of visits is 0 to {MAX_REACHED}, where counts end, got {least}")
    blueprint = load_blueprint(folder)
    artefact = load_artefact(folder, KIND, FORMAT_VERSION)
    if artefact.arrays["rows"].dtype != np.uint8:
        raise ValueError("only blueprints with rows of 8 bits are packed; this one was trained with exact = true")
    rows = np.array(artefact.arrays["rows"])
    reached = reach_rows(blueprint, num_decks, threads=threads) if num_decks else None
    _coarsen(blueprint, rows, reached, least)
    game = blueprint.game
    arrays = {name: np.array(values) for name, values in artefact.arrays.items() if name != "rows"}
    for street, buckets in enumerate(blueprint.cards.num_buckets):
        table = rows[game.base[street] : game.base[street + 1]].reshape(buckets, -1)
        arrays[f"{_ROWS}_{street}"] = np.ascontiguousarray(table.T)
    counts = dataclasses.replace(blueprint, rows=rows).num_rows()
    training = summarised(artefact.config["training"])
    config = artefact.config | {"training": training, "rows_learnt": [number for _, number in counts]}
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = _pack(arrays, {"config": config, "seed": artefact.seed, "source": artefact.source})
    with writing_bytes_atomically(path) as stream:
        stream.write(packed)
    return {"bytes": len(packed), "rows": config["rows"], "rows_kept": config["rows_learnt"]}


def num_levels(street: int, levels: int = LEVELS) -> int:
    """Return the number that stands for probability 1 in packed rows: `HIGHEST` on the first street, else `levels`.

    The first street has few rows, which keep all their levels.
    """
    return levels if street else HIGHEST


class PackedFacts(NamedTuple):
    """The configuration of a packed blueprint, and the digest of its file.

    Attributes
    ----------
    record : dict
        The configuration of the blueprint's artefact, with the keys that `Blueprint.save` writes: ``config``,
        ``training``, ``rows`` and so on. ``rows_learnt`` counts the packed rows that are not zeros.
    digest : str
        SHA-256 of the file without its last 64 bytes, which hold this digest.
    """

    record: dict[str, Any]
    digest: str


def packed_facts(path: Path) -> PackedFacts:
    """Return the facts of a packed blueprint without unpacking its rows; the whole file's SHA-256 is verified.

    Raises
    ------
    ArtefactRefused
        If the file is damaged, or is not a packed blueprint.
    """
    with _refusing(path), _opened(path) as archive:
        return PackedFacts(dict(_manifest(archive)["config"]), archive.comment.decode())


def unpack_blueprint(path: Path, folder: Path) -> None:
    """Unpack the packed blueprint in the file `path` to an artefact in `folder`.

    Raises
    ------
    ArtefactRefused
        If the file is damaged or is not a packed blueprint, or the folder holds anything but a blueprint.
    """
    with _refusing(path):
        with _opened(path) as archive:
            manifest = _manifest(archive)
            levels = manifest["levels"] if manifest["format"] == _PACKED_FORMAT else _LEVELS_OF_FORMAT_3
            if type(levels) is not int or not 0 < levels <= HIGHEST or HIGHEST % levels:
                raise ValueError(f"the number of levels must divide {HIGHEST}, got {levels!r:.40}")
            arrays = _arrays(archive, manifest["sha256"])
        tables = [arrays.pop(f"{_ROWS}_{street}") for street in range(sum(name.startswith(_ROWS) for name in arrays))]
        rows = np.empty(sum(table.size for table in tables), np.uint8)
        first = 0
        for street in range(len(tables)):
            table = tables.pop(0).T
            most = num_levels(street, levels)
            if table.dtype != np.uint8 or table.ndim != 2 or table.max(initial=0) > most:
                raise ValueError(f"{_ROWS}_{street} is no table of numbers from 0 to {most}")
            part = rows[first : first + table.size].reshape(table.shape)
            np.multiply(table, np.uint8(HIGHEST // most), out=part)
            first += table.size
        config = dict(manifest["config"])
        seed, source = manifest["seed"], str(manifest["source"])
        if seed is not None and type(seed) is not int:
            raise ValueError(f"its seed must be a whole number or null, got {seed!r:.40}")
    write_artefact(folder, KIND, FORMAT_VERSION, arrays | {"rows": rows}, config, seed=seed, source=source)


def unpacked_folder(path: Path) -> Path:
    """Return the folder of a packed blueprint's artefact in the user's cache.

    The file is unpacked if the folder is missing or damaged. One process unpacks it while others wait.

    Raises
    ------
    ArtefactRefused
        If the file is damaged, or is not a packed blueprint.
    """
    folder = user_cache_folder() / "blueprints" / f"{path.stem}-{packed_facts(path).digest[:16]}"
    if not _is_sound(folder):
        with alone_in(folder.parent):
            if not _is_sound(folder):
                shutil.rmtree(folder, ignore_errors=True)
                unpack_blueprint(path, folder)
    return folder


def _is_sound(folder: Path) -> bool:
    """Return whether a folder holds a complete, undamaged blueprint."""
    try:
        load_artefact(folder, KIND, FORMAT_VERSION)
    except ArtefactRefused:
        return False
    return True


def _coarsen(blueprint: Blueprint, rows: np.ndarray, reached: np.ndarray | None, least: int) -> None:
    """Round rows to levels, and write zeros into those reached fewer than `least` times. Modified in place: `rows`."""
    game, tree = blueprint.game, blueprint.tree
    for street, buckets in enumerate(blueprint.cards.num_buckets):
        nodes = blueprint.decisions(street)
        starts, counts = tree.row[nodes].astype(np.int64), tree.num_actions[nodes].astype(np.int64)
        part = slice(int(game.base[street]), int(game.base[street + 1]))
        table, levels = rows[part].reshape(buckets, -1), num_levels(street)
        steps = np.full((buckets, len(nodes)), levels, np.uint8)
        if reached is not None:
            visits = reached[part].reshape(buckets, -1)[:, starts]
            table[np.repeat(visits < least, counts, axis=1)] = 0
            for most, few in _STEPS if street else ():
                steps[visits < most] = few
        _round(table, counts, steps, levels)


def _round(table: np.ndarray, counts: np.ndarray, steps: np.ndarray, levels: int) -> None:
    """Round one street's rows to few levels, so that each row that is not zeros sums to `levels`.

    Each number is rounded down to a multiple of levels / steps. The steps left over go to the numbers that lost most,
    and of equals to the first.

    Parameters
    ----------
    table : uint8[buckets, pairs]
        One line for each bucket, with the rows of all decisions side by side. Modified in place.
    counts : int64[decisions]
        Each decision's number of actions.
    steps : uint8[buckets, decisions]
        Divisors of `levels`: the number of steps from probability 0 to 1.
    """
    starts = np.cumsum(counts) - counts
    for count in np.unique(counts).tolist():
        decisions = np.flatnonzero(counts == count)
        for line, few in zip(table, steps[:, decisions], strict=True):
            kept = np.flatnonzero(line[starts[decisions, None] + np.arange(count)].any(axis=1))
            places = starts[decisions[kept], None] + np.arange(count)
            row, parts = line[places].astype(np.int32), few[kept, None].astype(np.int32)
            rounded, lost = np.divmod(row * parts, row.sum(axis=1, keepdims=True))
            order = np.argsort(np.argsort(-lost, axis=1, kind="stable"), axis=1)
            rounded += order < parts - rounded.sum(axis=1, keepdims=True)
            line[places] = rounded * (levels // parts)


def _pack(arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> bytes:
    """Return the bytes of an archive; equal content gives equal bytes."""
    entries = {}
    for name, values in arrays.items():
        stream = io.BytesIO()
        np.lib.format.write_array(stream, values, version=(1, 0), allow_pickle=False)
        entries[name] = stream.getvalue()
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in entries.items()}
    manifest = {"kind": _PACKED, "format": _PACKED_FORMAT, "levels": LEVELS, **facts, "sha256": digests}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr(zipfile.ZipInfo(_MANIFEST, _DATE), json.dumps(manifest, sort_keys=True))
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _DATE), content, zipfile.ZIP_LZMA)
        archive.comment = b"0" * _DIGEST_BYTES
    content = packed.getvalue()[:-_DIGEST_BYTES]
    return content + hashlib.sha256(content).hexdigest().encode()


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Raise ArtefactRefused in place of errors that a damaged or missing file causes."""
    try:
        yield
    except FileNotFoundError:
        raise ArtefactRefused(f"there is no file {path}; get another copy, or install the package again") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, *_BROKEN) as error:
        raise ArtefactRefused(
            f"{path} is damaged or not a packed blueprint ({error}); get another copy, or install the package again"
        ) from None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive once its digest is verified."""
    content = path.read_bytes()
    if hashlib.sha256(content[:-_DIGEST_BYTES]).hexdigest().encode() != content[-_DIGEST_BYTES:]:
        raise ValueError("the SHA-256 of its content differs from the one at its end")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > min(_MAX_BYTES, available_bytes() / 2):  # rows exist twice while they are reordered
            raise ValueError(
                f"it unpacks to {size / (1 << 30):.1f} GiB; the limit is 4 GiB, or half of the free memory if less"
            )
        yield archive


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    if archive.getinfo(_MANIFEST).file_size > _MAX_MANIFEST_BYTES:
        raise ValueError(f"its {_MANIFEST} has more than {_MAX_MANIFEST_BYTES:,} bytes")
    manifest = read_json(archive.read(_MANIFEST))
    if manifest["kind"] != _PACKED or manifest["format"] not in (3, _PACKED_FORMAT):
        raise ValueError(
            f"this plurispiel reads a {_PACKED} of format 3 or {_PACKED_FORMAT}, "
            f"got {manifest['kind']!r:.40} of format {manifest['format']!r:.40}"
        )
    return manifest


def _arrays(archive: zipfile.ZipFile, digests: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Return the arrays of an archive, verified by the hashes in its manifest."""
    arrays = {}
    for name, digest in digests.items():
        content = archive.read(f"{name}.npy")
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"the SHA-256 of {name} differs from the one in the manifest")
        arrays[name] = _array(name, content)
    return arrays


def _array(name: str, content: bytes) -> np.ndarray:
    """Return the array in the bytes of an ``.npy`` file; ValueError if the bytes are damaged or the name is invalid."""
    stream = io.BytesIO(content)
    header = array_header(stream)
    if header is None or not is_array_name(name):
        raise ValueError(f"{name[:40]!r} is not an array")
    dtype, shape = header
    if stream.tell() + math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"{name} claims the shape {list(shape)}, which its bytes do not fill")
    return np.frombuffer(content, dtype, math.prod(shape), stream.tell()).reshape(shape)
