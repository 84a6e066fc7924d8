"""The hands that a person has played in the browser, in ``play.sqlite``: each is kept before the next one is dealt.

A *session* is a table from sitting down to leaving; it may be continued. A hand that was dealt and not kept is void.
"""

import contextlib
import io
import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.hand import Hand
from plurispiel.tournaments.formats.acpc import write_acpc
from plurispiel.tournaments.formats.game_definition import built_in_name
from plurispiel.tournaments.formats.phh import check_phh_game, write_phh
from plurispiel.tournaments.play.dealing import Seating
from plurispiel.tournaments.play.history import Kept, history_of
from plurispiel.tournaments.play.luck import TableScore
from plurispiel.tournaments.web.play_setting import Sit, rules_of

FILE = "play.sqlite"
"""The name of the file; by default its folder is the user's data folder."""

_VERSION = 1
_SCHEMA = """
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY, begun REAL NOT NULL, sit TEXT NOT NULL, digests TEXT NOT NULL,
  dealt INTEGER NOT NULL, result TEXT NOT NULL
);
CREATE TABLE hands (
  session INTEGER NOT NULL, number INTEGER NOT NULL, seat INTEGER NOT NULL, chips REAL NOT NULL, own REAL NOT NULL,
  total REAL NOT NULL, assisted INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, number)
);
"""


class SessionHand(NamedTuple):
    """A kept hand: its result, and whether the person had help."""

    kept: Kept
    is_assisted: bool


class PlayStore:
    """The file of all sessions. Several processes may use it together.

    Parameters
    ----------
    path : Path
        The file; it is created if it does not exist.

    Raises
    ------
    ValueError
        If the file is damaged, or was written by another version of this package.
    """

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, isolation_level=None, timeout=10.0)
        try:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._prepare(path)
        except sqlite3.DatabaseError as error:
            self.close()
            raise ValueError(f"{path} cannot be used: {error}; move the file away to begin anew") from None
        except ValueError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def begin(self, sit: Sit, digests: dict[str, str]) -> int:
        """Begin a session and return its number.

        Parameters
        ----------
        digests : dict
            The hash of each agent (`agent_files.agent_digest`).
        """
        row = (time.time(), json.dumps(asdict(sit)), json.dumps(digests, sort_keys=True), "{}")
        with self._write():
            cursor = self._database.execute(
                "INSERT INTO sessions (begun, sit, digests, dealt, result) VALUES (?, ?, ?, 0, ?)", row
            )
        return int(cursor.lastrowid or 0)

    def sit_of(self, session: int) -> tuple[Sit, dict[str, str]]:
        """Return the choices of a session, and the hashes of its agents.

        Raises
        ------
        ValueError
            If there is no such session.
        """
        row = self._database.execute("SELECT sit, digests FROM sessions WHERE id = ?", (session,)).fetchone()
        if row is None:
            raise ValueError(f"there is no session {session}")
        found = json.loads(row[0])
        return Sit(**(found | {"agents": tuple(found["agents"])})), json.loads(row[1])

    def note_dealt(self, session: int, number: int) -> None:
        """Record that a hand is dealt; the hand is void unless it is kept."""
        with self._write():
            self._database.execute("UPDATE sessions SET dealt = max(dealt, ?) WHERE id = ?", (number, session))

    def keep(self, session: int, hand: Hand, seating: Seating, score: TableScore, *, is_assisted: bool) -> SessionHand:
        """Write a hand through to the disk, and return its result."""
        kept = Kept(seating.number, hand.payoffs[seating.seat], score)
        text = _hand_text(hand, seating)
        row = (session, kept.number, seating.seat, kept.chips, score.own, score.total, int(is_assisted), text)
        with self._write():
            self._database.execute("INSERT INTO hands VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return SessionHand(kept, is_assisted)

    def note_result(self, session: int, result: dict[str, Any]) -> None:
        """Record the running result of a session, for the list of sessions."""
        with self._write():
            self._database.execute("UPDATE sessions SET result = ? WHERE id = ?", (json.dumps(result), session))

    def hands(self, session: int) -> list[SessionHand]:
        """Return the kept hands of a session in order."""
        rows = self._database.execute(
            "SELECT number, chips, own, total, assisted FROM hands WHERE session = ? ORDER BY number", (session,)
        )
        return [
            SessionHand(Kept(n, chips, TableScore(own, total)), bool(helped)) for n, chips, own, total, helped in rows
        ]

    def next_number(self, session: int) -> int:
        """Return the number of a session's next hand. Numbers of void hands are not used again."""
        row = self._database.execute("SELECT dealt FROM sessions WHERE id = ?", (session,)).fetchone()
        return row[0] + 1

    def sessions(self) -> list[dict[str, Any]]:
        """Return the latest hundred sessions in which a hand was dealt, the latest first.

        Returns
        -------
        list of dict
            ``session`` (its number), ``begun`` (seconds of `time.time`), ``sit``, ``hands`` (number of kept hands),
            ``void`` (number of hands that were dealt and not kept, including one that is still being played),
            ``assisted`` (number of kept hands with help) and ``result``.
        """
        rows = self._database.execute(
            "SELECT id, begun, sit, dealt, result, count(number), coalesce(sum(assisted), 0) FROM sessions "
            "LEFT JOIN hands ON session = id WHERE dealt > 0 GROUP BY id ORDER BY id DESC LIMIT 100"
        )
        return [
            {
                "session": number,
                "begun": begun,
                "sit": json.loads(sit),
                "hands": hands,
                "void": dealt - hands,
                "assisted": assisted,
                "result": json.loads(result),
            }
            for number, begun, sit, dealt, result, hands, assisted in rows
        ]

    def export(self, session: int) -> tuple[str, str]:
        """Return a name of a file and its text: the session's hands in PHH, or as a log of the ACPC's dealer.

        Raises
        ------
        ValueError
            If there is no such session.
        """
        rules = rules_of(self.sit_of(session)[0])
        texts = [text for (text,) in self._database.execute("SELECT text FROM hands WHERE session = ?", (session,))]
        if _is_phh(rules):
            return f"session-{session}.phhs", "".join(texts)
        return f"session-{session}.log", f"# name/game/hands/seed play {built_in_name(rules)} 0 0\n" + "".join(texts)

    def _prepare(self, path: Path) -> None:
        with self._write():
            (version,) = self._database.execute("PRAGMA user_version").fetchone()
            if not version:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self._database.execute(statement)
                self._database.execute(f"PRAGMA user_version = {_VERSION}")
            elif version != _VERSION:
                raise ValueError(f"{path} was written by another version of plurispiel; move the file away")

    @contextlib.contextmanager
    def _write(self) -> Iterator[None]:
        """Make all statements of a block one transaction."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _hand_text(hand: Hand, seating: Seating) -> str:
    stream = io.StringIO()
    history = history_of(hand, seating.names, str(seating.number))
    if _is_phh(hand.rules):
        write_phh(stream, [history], first=seating.number)
    else:
        write_acpc(stream, [history])
    return stream.getvalue()


def _is_phh(rules: HoldemRules) -> bool:
    try:
        check_phh_game(rules)
    except ValueError:
        return False
    return True
