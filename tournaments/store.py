"""A run's folder: its settings and, in SQLite, the result of every group.

``run.sqlite`` is the truth. A block of groups is written in one transaction, so that a run killed at any
point holds whole blocks only, and goes on from there.
"""

import contextlib
import dataclasses
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel import __version__
from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.play_statistics import new_counts
from plurispiel.tournaments.config import TournamentConfig
from plurispiel.tournaments.schedule import Block

FORMAT_VERSION = 1

_SCORE_TYPES = {
    "lineup": "i8",
    "deck": "i8",
    "agent": "i8",
    "hands": "i8",
    "chips": "f8",
    "chips_squared": "f8",
    "faults": "i8",
}
SCORES = np.dtype(list(_SCORE_TYPES.items()))

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups (
    lineup INTEGER NOT NULL,
    deck INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    hands INTEGER NOT NULL,
    chips REAL NOT NULL,
    chips_squared REAL NOT NULL,
    faults INTEGER NOT NULL,
    play BLOB NOT NULL,
    first_fault TEXT NOT NULL,
    seconds REAL NOT NULL,
    imaginary_hands REAL,
    chance REAL,
    own_actions REAL,
    PRIMARY KEY (lineup, deck, agent)
) WITHOUT ROWID;
"""
# `play` is the agent's table of counts, one byte each (play_statistics.COUNTERS for each seat);
# imaginary_hands, chance and own_actions hold the correction terms of AIVAT, NULL until it scores a run.


class RunRefused(ValueError):
    """A run folder that cannot be used: it belongs to another tournament, or is damaged."""


class RunStore:
    """The folder of one tournament run.

    Parameters
    ----------
    folder : Path
        Created if missing.
    config : TournamentConfig
    fresh : bool
        Delete what a run has left there before.

    Raises
    ------
    RunRefused
        If the folder holds another tournament, is not writable, or its database is damaged or newer.
    """

    def __init__(self, folder: Path, config: TournamentConfig, *, fresh: bool = False):
        self.folder = folder
        self._config = config
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if fresh:
                for name in ("run.sqlite", "run.sqlite-wal", "run.sqlite-shm", "results.json"):
                    (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise RunRefused(f"cannot use the folder {folder}: {error.strerror}; give another --out") from None
        with self._refusing():
            self._database = sqlite3.connect(folder / "run.sqlite", isolation_level=None, timeout=10.0)
        try:
            with self._refusing():
                self._open_run()
            self.write("config.toml", config.to_toml())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def done(self) -> list[tuple[int, int]]:
        """Return every stored group as (lineup, deck)."""
        return list(self._rows("SELECT DISTINCT lineup, deck FROM groups"))

    def add_block(self, block: Block, groups: Iterable[Mapping[int, AgentScore]], seconds: float) -> None:
        """Store the groups of a block, and the time since the last call.

        Raises
        ------
        RunRefused
            If the database cannot be written, or another process plays the same run.
        """
        rows = [
            (block.lineup, deck, agent, *dataclasses.astuple(score), seconds / block.num_decks / len(group))
            for deck, group in enumerate(groups, start=block.first)
            for agent, score in group.items()
        ]
        columns = ["lineup", "deck", "agent", *(field.name for field in dataclasses.fields(AgentScore)), "seconds"]
        with self._refusing(), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(
                f"INSERT INTO groups ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows
            )

    def seconds(self) -> float:
        """Return the seconds that the stored groups took."""
        ((total,),) = self._rows("SELECT TOTAL(seconds) FROM groups WHERE deck < ?", self._config.decks)
        return total

    def scores(self) -> np.ndarray:
        """Return all stored groups in order, one record a group and agent, fields as in the database."""
        rows = self._rows(
            f"SELECT {', '.join(_SCORE_TYPES)} FROM groups WHERE deck < ? ORDER BY lineup, deck, agent",
            self._config.decks,
        )
        return np.fromiter(rows, dtype=SCORES)

    def play_counts(self) -> dict[int, np.ndarray]:
        """Return each agent's table of counts over the whole run."""
        tables = {agent: new_counts(self._config.seats) for agent in range(len(self._config.agents))}
        for agent, blob in self._rows("SELECT agent, play FROM groups WHERE deck < ?", self._config.decks):
            tables[agent] += np.frombuffer(blob, dtype=np.uint8).reshape(self._config.seats, -1)
        return tables

    def first_faults(self) -> dict[int, str]:
        """Return what each agent with faults did wrong first."""
        rows = self._rows(
            "SELECT agent, first_fault FROM groups WHERE deck < ? AND first_fault != ''"
            " ORDER BY deck DESC, lineup DESC",
            self._config.decks,
        )
        return dict(rows)

    def write(self, name: str, text: str) -> Path:
        """Write a file of the folder, whole or not at all."""
        return write_atomically(self.folder / name, text)

    def _rows(self, query: str, *values: object) -> Iterator[Any]:
        with self._refusing():
            yield from self._database.execute(query, values)

    def _value(self, key: str) -> Any:
        values = [value for (value,) in self._rows("SELECT value FROM run WHERE key = ?", key)]
        return values[0] if values else None

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn errors of the database into a refusal that says what to do."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise RunRefused(f"another process plays the run in {self.folder}; wait for it, or end it") from None
        except sqlite3.Error as error:
            raise RunRefused(f"cannot use {self.folder / 'run.sqlite'}: {error}; give another --out") from None

    def _open_run(self) -> None:
        digest = self._config.digest
        path = self.folder / "run.sqlite"
        if not list(self._rows("SELECT 1 FROM sqlite_master")):
            if path.stat().st_size:  # SQLite takes a file of a few bytes for an empty one
                raise RunRefused(f"{path} is no tournament's; give another --out")
            facts = {"format": FORMAT_VERSION, "version": __version__, "digest": digest}
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self._database.execute(statement)
                self._database.executemany("INSERT OR IGNORE INTO run VALUES (?, ?)", facts.items())
        if self._value("format") != FORMAT_VERSION or self._value("version") != __version__:
            raise RunRefused(
                f"{self.folder} was written by another version of plurispiel "
                f"({self._value('version')}, this is {__version__}); give another --out"
            )
        if self._value("digest") != digest:
            raise RunRefused(
                f"{self.folder} holds another tournament (see its config.toml), or one of other code; "
                "repeat it as it was to go on with it, give another --out, or start over with --fresh"
            )
        ((page_size,),) = self._rows("PRAGMA page_size")
        if list(self._rows("PRAGMA quick_check(1)")) != [("ok",)] or path.stat().st_size % page_size:
            raise RunRefused(f"cannot use {path}: it is damaged; give another --out")
        # Only now, so that what was refused is left as it was.
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")


def write_atomically(path: Path, text: str) -> Path:
    """Write a text file so that readers see the old or the new content, never a part."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path
