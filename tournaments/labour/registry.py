"""The scheduler of a cluster, which gives jobs to workers and keeps the files and facts that the workers need."""

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from distributed.security import Security

from plurispiel.abstraction.machine.interrupts import SIGNALS
from plurispiel.tournaments.contestants.process import close_to_others
from plurispiel.tournaments.labour.cluster_file import ClusterFile
from plurispiel.tournaments.labour.dask_parts import QuietScheduler, security_of, settle
from plurispiel.tournaments.labour.parcels import MAX_BYTES, PIECE

__all__ = ["serve_cluster"]

_HEX_DIGITS = frozenset("0123456789abcdef")

_DEATHS = 10  # number of workers that may die at the same jobs before dask blames the jobs and gives them up


def serve_cluster(
    path: Path,
    facts: Mapping[str, str],
    say: Callable[[str], object],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    secure: bool = True,
    patience: float = 60.0,
    mixed: bool = False,
) -> None:
    """Run a scheduler until a signal ends this process; the cluster's file is deleted at the end.

    Parameters
    ----------
    path : Path
        The file that clients and workers need (`ClusterFile`).
    facts : mapping
        Facts that must be equal on workers and on this machine, by name.
    say : callable
        Called with lines for the user when the scheduler is ready, and whenever the number of slots changes.
    host : str
        The address to listen at.
    port : int
        The port; 0 for a free port.
    secure : bool
        Whether all connections use TLS.
    patience : float
        Seconds without a sign of life after which a worker's jobs are done elsewhere.
    mixed : bool
        Whether clients are told that the machines may differ in the last digits of results. The caller
        then leaves the digest of the arithmetic out of `facts`.

    Raises
    ------
    OSError
        If the address or the port cannot be used, or the file cannot be written.
    """
    close_to_others()  # this process has the key, and runs what the key's owners send
    settle()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plurispiel-parcels-") as folder:
        registry = _Registry(Path(folder), facts, mixed)
        asyncio.run(_serve(path, registry, say, host, port, secure, patience))


class _Registry:
    """The scheduler's answers to requests that are not dask's own.

    Parameters
    ----------
    folder : Path
        The folder of the parcels' files, each named by its SHA-256.
    facts, mixed
        As in `serve_cluster`.
    """

    def __init__(self, folder: Path, facts: Mapping[str, str], mixed: bool):
        self._folder = folder
        self._mixed = mixed
        self._facts = dict(facts)
        self._slowest: dict[str, float] = {}

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """Return the function that answers each request, by the request's name."""
        return {
            "plurispiel_facts": self._tell_facts,
            "plurispiel_mixed": self._tell_mixed,
            "plurispiel_missing": self._missing,
            "plurispiel_store": self._store,
            "plurispiel_piece": self._piece,
            "plurispiel_slowest": self._slowest_of,
        }

    async def _tell_facts(self) -> dict[str, str]:
        return self._facts

    async def _tell_mixed(self) -> bool:
        return self._mixed

    async def _missing(self, digests: Sequence[str]) -> list[str]:
        return [digest for digest in digests if not self._path(digest).exists()]

    async def _store(self, digest: str, upload: str, offset: int, piece: bytes, is_last: bool) -> None:
        """Write a piece of a file; `upload` is the name of the transfer, as several clients can send the same file.

        Raises
        ------
        ValueError
            If the name or the piece is malformed, or the whole file has another digest.
        """
        if len(upload) != 32 or not set(upload) <= _HEX_DIGITS:
            raise ValueError(f"not a valid name of an upload: {upload[:80]!r}")
        part = self._path(digest).with_suffix(f".{upload}")
        if not 0 <= offset <= MAX_BYTES or len(piece) > PIECE:
            raise ValueError("a piece is too large, or lies outside the largest file allowed")
        with open(part, "r+b" if offset else "wb") as stream:
            stream.seek(offset)
            stream.write(piece)
        if is_last:
            if await asyncio.to_thread(_sha256, part) != digest:
                part.unlink()
                raise ValueError("a file changed while it was sent to the cluster; run the same command again")
            os.replace(part, self._path(digest))

    async def _piece(self, digest: str, offset: int) -> bytes:
        with open(self._path(digest), "rb") as stream:
            stream.seek(offset)
            return stream.read(PIECE)

    async def _slowest_of(self, digest: str, seconds: float) -> float:
        """Return the time of the slowest job of a work so far, after a worker has told the time of its slowest job."""
        self._slowest[digest] = max(seconds, self._slowest.get(digest, 0.0))
        return self._slowest[digest]

    def _path(self, digest: str) -> Path:
        if len(digest) != 64 or not set(digest) <= _HEX_DIGITS:
            raise ValueError(f"not a SHA-256 digest: {digest[:80]!r}")
        return self._folder / digest


def _sha256(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


async def _serve(
    path: Path,
    registry: _Registry,
    say: Callable[[str], object],
    host: str,
    port: int,
    secure: bool,
    patience: float,
) -> None:
    loop, ends = asyncio.get_running_loop(), asyncio.Event()
    for number in SIGNALS:
        loop.add_signal_handler(number, ends.set)
    keys = _new_keys() if secure else ClusterFile("", "", "")
    scheduler = QuietScheduler(
        host=host,
        port=port,
        protocol="tls" if secure else "tcp",
        security=security_of(keys),
        dashboard=False,
        allowed_failures=_DEATHS,
        worker_ttl=patience,
    )
    scheduler.handlers.update(registry.handlers())
    async with scheduler:
        file = keys._replace(address=scheduler.address)
        file.write(path)
        say(f"the scheduler listens at {file.address}" + ("" if secure else ", WITHOUT encryption and keys"))
        say(f"workers: plurispiel worker {path}; Ctrl-C ends the cluster")
        known = 0
        while not ends.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ends.wait(), 0.5)
            slots = sum(worker.nthreads for worker in scheduler.workers.values())
            if slots != known:
                say(f"workers: {len(scheduler.workers)}, slots in all: {slots}")
                known = slots
        with contextlib.suppress(OSError):
            path.unlink()  # tells workers that the scheduler did not crash


def _new_keys() -> ClusterFile:
    """Return a new key with its certificate."""
    security = Security.temporary()
    return ClusterFile("", security.tls_ca_file, security.tls_worker_key)
