"""The hands that an agent has played at a service: one row a hand, in an SQLite database.

A row is written when a hand begins and completed at its end, before the next hand. If the program is killed, no
finished hand is lost, and the next start knows the unfinished one. Rows end with a checksum.
"""

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.tournaments.run.folder_lock import lock_folder, unlock_folder
from plurispiel.tournaments.run.schema import checksum_of

FORMAT_VERSION = 1

_NAME = "remote.sqlite"
_SCHEMA = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE hands (
    number INTEGER PRIMARY KEY,
    hand_id TEXT NOT NULL,
    status TEXT NOT NULL,
    opponent TEXT NOT NULL,
    seat INTEGER,
    state TEXT NOT NULL,
    payoff REAL,
    service_corrected REAL,
    aivat REAL,
    milliseconds REAL NOT NULL,
    trouble TEXT NOT NULL,
    faults TEXT NOT NULL,
    replies BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
"""
_OPEN, SCORED, BROKEN = "open", "scored", "broken"


class ServiceHand(NamedTuple):
    """A hand at a service, as the store keeps it.

    Attributes
    ----------
    number : int
        Number of the hand, from 1.
    hand_id : str
        The service's name for the hand; empty if there is none.
    status : {"open", "scored", "broken"}
        Open: begun, and perhaps to be continued. Scored: over, and it counts. Broken: given up, because it cannot be
        finished, or because the service's account of it contradicts our rules.
    opponent : str
        The opponent's name and version, as far as the service tells them.
    seat : int or None
        Our seat; None unless the hand is scored.
    state : str
        The hand as a MATCHSTATE line of the ACPC's protocol, with all cards that are known; empty if it is not scored.
    payoff : float or None
        Our net chips; None unless the hand is scored.
    service_corrected : float or None
        The service's own estimate of our net chips, with luck removed; None if the service gave none.
    aivat : float or None
        Our AIVAT estimate in chips; None if the opponent's cards were not shown, or if the hand is not scored.
    milliseconds : float
        Time from the beginning of the hand, or from its continuation by this process, to its end.
    trouble : str
        The reason why the hand is broken.
    faults : tuple of str
        The agent's faults in the hand.
    replies : tuple of str
        The bodies of the service's replies (`HttpClient.replies`).
    """

    number: int
    hand_id: str
    status: str
    opponent: str = ""
    seat: int | None = None
    state: str = ""
    payoff: float | None = None
    service_corrected: float | None = None
    aivat: float | None = None
    milliseconds: float = 0.0
    trouble: str = ""
    faults: tuple[str, ...] = ()
    replies: tuple[str, ...] = ()


class HandStore:
    """The folder with the hands of one agent at one service, which this process alone may use until `close`.

    Parameters
    ----------
    folder : Path
        The folder; it is created if it does not exist.
    settings : dict
        The settings that must be equal for results to be added up, as plain values.

    Raises
    ------
    ValueError
        If another process uses the folder, its hands were played with other settings, or its database is damaged or
        cannot be opened.
    OSError
        If the folder cannot be created or read.
    """

    def __init__(self, folder: Path, settings: dict[str, Any]):
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / _NAME
        try:
            self._lock = lock_folder(folder)
        except BlockingIOError:
            raise ValueError(f"another process uses {folder}; end it, or give another --out") from None
        try:
            self._database = sqlite3.connect(self.path, isolation_level=None)
        except sqlite3.Error as error:
            unlock_folder(self._lock)
            raise ValueError(f"cannot use {self.path}: {error}; give another --out") from None
        try:
            self._begin_use(settings)
        except BaseException as error:
            self.close()
            if isinstance(error, sqlite3.DatabaseError):
                raise ValueError(f"{self.path} is damaged: {error}; give another --out") from None
            raise

    def close(self) -> None:
        """Release the folder."""
        self._database.close()
        unlock_folder(self._lock)
        self._lock = None

    @property
    def next_number(self) -> int:
        """The number of the next new hand; the first is 1."""
        return 1 + (self._database.execute("SELECT max(number) FROM hands").fetchone()[0] or 0)

    def open_hands(self) -> list[ServiceHand]:
        """Return the hands whose status is still open."""
        return [hand for hand in self.hands() if hand.status == _OPEN]

    def begin(self, number: int, hand_id: str, opponent: str) -> None:
        """Record that a hand has begun, or is continued.

        Raises
        ------
        ValueError
            If the store has `hand_id` under another number, or the hand of this number is not open.
        """
        row = self._database.execute("SELECT number FROM hands WHERE hand_id = ? AND hand_id <> ''", (hand_id,))
        if any(other != number for (other,) in row):
            raise ValueError(f"hand {hand_id} is kept already under another number")
        self.keep(ServiceHand(number, hand_id, _OPEN, opponent))

    def keep(self, hand: ServiceHand) -> None:
        """Write a hand through to the disk; it replaces an open hand of the same number.

        Raises
        ------
        ValueError
            If a hand of this number is kept already and is not open.
        """
        replies = zlib.compress(json.dumps(hand.replies).encode())
        row = (*hand[:-2], json.dumps(hand.faults), replies)
        marks = ", ".join("?" * (len(row) + 1))
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            there = self._database.execute("SELECT status FROM hands WHERE number = ?", (hand.number,)).fetchone()
            if there not in (None, (_OPEN,)):
                raise ValueError(f"hand {hand.number} is kept already")
            self._database.execute(f"INSERT OR REPLACE INTO hands VALUES ({marks})", (*row, checksum_of(row)))

    def hands(self) -> Iterator[ServiceHand]:
        """Yield all hands in order.

        Raises
        ------
        ValueError
            If a row is damaged.
        """
        return _hands(self._database, self.path)

    def _begin_use(self, settings: dict[str, Any]) -> None:
        database = self._database
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        wanted = {key: json.dumps(value) for key, value in {"format": FORMAT_VERSION, **settings}.items()}
        if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            with database:
                database.execute("BEGIN IMMEDIATE")
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    database.execute(statement)
                database.executemany("INSERT INTO settings VALUES (?, ?)", wanted.items())
        there = dict(database.execute("SELECT key, value FROM settings"))
        if there != wanted:
            differing = sorted(key for key in {*there, *wanted} if there.get(key) != wanted.get(key))
            raise ValueError(f"{self.path} holds other hands: {', '.join(differing)} differ; give another --out")
        with contextlib.closing(database.execute("PRAGMA integrity_check(1)")) as check:
            if check.fetchone() != ("ok",):
                raise ValueError(f"{self.path} is damaged; give another --out")
        for _ in self.hands():  # checks every row
            pass


def holds_hands(folder: Path) -> bool:
    """Return whether a folder holds hands that were played at a service."""
    return (folder / _NAME).is_file()


def read_hands(folder: Path) -> tuple[dict[str, Any], list[ServiceHand]]:
    """Return the settings and the hands of a folder, also while another process plays and writes hands to it.

    Raises
    ------
    ValueError
        If the folder holds no hands, damaged hands, or hands of another `FORMAT_VERSION`.
    """
    path = folder / _NAME
    # SQLite reads a database in WAL mode only in a writable folder, unless told that nobody writes to it.
    mode = "ro" if path.with_name(f"{_NAME}-wal").exists() else "ro&immutable=1"
    try:
        with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)) as database:
            settings = {
                key: json.loads(value)
                for key, value in database.execute("SELECT key, value FROM settings ORDER BY key")
            }
            if settings.get("format") != FORMAT_VERSION:
                raise ValueError(f"{path} was written by another version of plurispiel")
            return settings, list(_hands(database, path))
    except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def _hands(database: sqlite3.Connection, path: Path) -> Iterator[ServiceHand]:
    for *row, checksum in database.execute("SELECT * FROM hands ORDER BY number"):
        if checksum_of(row) != checksum:
            raise ValueError(f"{path} is damaged: the row of hand {row[0]}; give another --out")
        faults, replies = json.loads(row[-2]), json.loads(zlib.decompress(row[-1]))
        yield ServiceHand._make([*row[:-2], tuple(faults), tuple(replies)])
