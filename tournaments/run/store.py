"""The folder of a run, with the settings and, in SQLite, the scores of every group.

All results are computed from ``run.sqlite``. A block is stored as one array (`block_rows`), without its groups after an
agent's retirement. Blocks that arrive together are stored in one transaction. A run killed at any moment is resumed
with the groups that are missing. Every row of the database ends with a checksum of its other columns, so that
`RunStore.check` notices a bit flipped on the disk before results use the row.
"""

import contextlib
import itertools
import json
import os
import socket
import sqlite3
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel import __version__
from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.versions import machine_text
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.calibration import Calibration
from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.play_statistics import new_counts
from plurispiel.evaluation.streams import Keyed, Seeded, Source, Streams
from plurispiel.evaluation.value_functions import ValueFunction
from plurispiel.tournaments.run import run_key
from plurispiel.tournaments.run.block_rows import Played, Remark, row_type, unpack_rows
from plurispiel.tournaments.run.config import PACKAGE_CODE, TournamentConfig, read_config
from plurispiel.tournaments.run.folder_lock import lock_folder, unlock_folder
from plurispiel.tournaments.run.run_key import RunKey, draw_key, read_key, write_key
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, Position
from plurispiel.tournaments.run.schema import COLUMNS, FORMAT_VERSION, READABLE, SCHEMA, SCORES, checksum_of

_BLOCKS_AT_ONCE = 512  # blocks read at a time: some megabytes

_OTHER_FACTS = ("player", "values", "code", "events")  # rows of the table `run` that `RunStore.facts` leaves out
_TEXTS = ("results.json", "hands.phhs", "config.toml")
_FILES = (*_TEXTS, "run.sqlite", "run.sqlite-wal", "run.sqlite-shm", run_key.NAME)


class AnswerTimes(NamedTuple):
    """The number of an agent's answers, the total time of all answers and the time of the slowest, in seconds."""

    answers: int
    seconds: float
    slowest: float


class RunRefused(ValueError):
    """The run folder cannot be used, for example because it belongs to another tournament or is damaged."""


class OtherVersion(RunRefused):
    """The run was written by another version of this package, or in another format."""


class RunStore:
    """The folder of one tournament run.

    Parameters
    ----------
    folder : Path
        The run folder; created if missing.
    config : TournamentConfig
        The settings of the run.
    fresh : bool
        Delete an earlier run in the folder first.

    Attributes
    ----------
    decks : int
        Results count only the first `decks` decks of each line-up. At first the number in the settings; `StopWatch`
        lowers it when the stop rule holds.

    Raises
    ------
    RunRefused
        If the folder holds another tournament, is not writable or is being played by another process. Also if it
        holds no run but a file of a run's names, or if its database is damaged or was written by another version.
    ValueError
        If an agent's path cannot be written into the settings (`relocate_spec`).
    """

    def __init__(self, folder: Path, config: TournamentConfig, *, fresh: bool = False):
        settings = config.to_toml()  # may be refused, so before the folder is made
        self.folder, self.decks, self._config = folder, config.decks, config
        self._row_type, self._columns = row_type(config), COLUMNS
        self._lock: int | None = None
        self._key: RunKey | None = None
        self._remedy = "; give another folder (--out)"
        texts = [name for name in _TEXTS if os.path.lexists(folder / name)]
        if texts and not (folder / "run.sqlite").exists():  # a user's own files, which the run would overwrite
            raise RunRefused(f"{folder} holds a file {texts[0]}, but no run{self._remedy}")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = lock_folder(folder)
            if fresh:
                for name in _FILES:
                    (folder / name).unlink(missing_ok=True)
                for log in (folder / "logs").glob("agent-*.log"):  # the folder may hold files of the user
                    log.unlink()
        except BlockingIOError:
            raise RunRefused(f"{folder} is being played by {_player(folder)}; wait for it, or end it") from None
        except OSError as error:
            self.close()
            raise RunRefused(f"cannot use the folder {folder}: {error.strerror}; give another folder (--out)") from None
        try:
            with self._refusing():
                self._database = sqlite3.connect(folder / "run.sqlite", isolation_level=None, timeout=10.0)
                self._open_run()
            self.write("config.toml", settings)
        except BaseException:
            self.close()
            raise

    @classmethod
    def reading(cls, folder: Path) -> "RunStore":
        """Return a run as it is stored now, also while another process plays on; only a new call sees later groups.

        Raises
        ------
        RunRefused
            If the folder holds no run, or one that this version cannot read.
        ValueError
            If the settings in ``config.toml`` cannot be read.
        """
        path = folder / "run.sqlite"
        if not path.is_file() or not (folder / "config.toml").is_file():
            raise RunRefused(f"{folder} is no run folder (the --out of plurispiel tournament)")
        store = cls.__new__(cls)
        store.folder = folder
        store._config = TournamentConfig(**read_config(folder / "config.toml"))
        store._row_type = row_type(store._config)
        store.decks = store._config.decks
        store._lock, store._remedy = None, ""
        store._key = store._read_key()
        # SQLite reads a database in WAL mode only in a writable folder, unless told that nobody writes to it.
        mode = "ro" if (folder / "run.sqlite-wal").exists() else "ro&immutable=1"
        with store._refusing():
            store._database = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
            store._database.execute("BEGIN")  # all reads see one moment: blocks may be stored between them
        try:
            store._check_format()
            store._columns = READABLE[store._value("format")]
        except BaseException:
            store.close()
            raise
        return store

    @property
    def config(self) -> TournamentConfig:
        """The settings of the run."""
        return self._config

    @property
    def facts(self) -> dict[str, Any]:
        """Facts of the run: ``format, version, digest``, the ``machine`` that played last, and the facts of `note`."""
        return {key: value for key, value in self._rows("SELECT key, value FROM run") if key not in _OTHER_FACTS}

    @property
    def package_digest(self) -> str:
        """The hash of this package's code that plays the run (`config.package_digest`); empty if it is not known."""
        code = json.loads(self._value("code") or "{}")
        return str(code.get(PACKAGE_CODE, "")) if isinstance(code, dict) else ""

    @property
    def published_key(self) -> RunKey | None:
        """The key of the decks once the run has ended and published the key; None before, and for runs with a seed."""
        return self._key if self._key is not None and self._key.is_published else None

    def publish_key(self) -> None:
        """Publish the key, as the run has ended.

        The key stays secret if some line-ups have played more decks than others, as after an interrupted extension: it
        still deals the missing decks.
        """
        query = "SELECT SUM(num_decks) AS decks FROM blocks GROUP BY lineup"
        ((is_even,),) = self._rows(f"SELECT MIN(decks) IS MAX(decks) FROM ({query})")
        if is_even and self._key is not None and not self._key.is_published:
            self._key = self._key.published()
            write_key(self.folder, self._key)

    def renew_key(self) -> None:
        """Draw another key for further decks if the present key was published."""
        ((deck,),) = self._rows("SELECT IFNULL(MAX(first + num_decks), 0) FROM blocks")
        if self._key is not None and self._key.is_published and deck < self._config.decks:
            self._key = self._key.extended_from(deck)
            write_key(self.folder, self._key)

    def streams(self) -> Streams:
        """Return the source of the run's decks and random numbers.

        Raises
        ------
        RunRefused
            If the run needs a key, and the key file is missing.
        """
        config = self._config
        source: Source
        if not config.outsiders:
            source = Seeded(config.public_seed)
        elif not config.draws_key:
            source = Keyed(((0, config.public_seed),))
        elif self._key is not None:
            source = Keyed(self._key.keys)
        else:
            raise RunRefused(f"{self.folder / run_key.NAME} is missing: without this key no hand can be dealt again")
        return Streams(config.seats, source, once=config.deals == "once")

    def note(self, fact: str, value: str) -> None:
        """Add a value to a fact about how the run is played, such as ``sandbox``; earlier values are kept."""
        values = sorted({value, *filter(None, (self._value(fact) or "").split(", "))})
        with self._refusing(), self._database:
            self._insert("run", [(fact, ", ".join(values))], "OR REPLACE")

    def close(self) -> None:
        """Close the database and release the lock."""
        if hasattr(self, "_database"):
            self._database.close()
        unlock_folder(self._lock)
        self._lock = None

    def keep_values(self, values: ValueFunction) -> None:
        """Store which value function scores the run.

        Raises
        ------
        RunRefused
            If the stored groups were scored with another value function.
        """
        record = {"num_samples": values.num_samples, "digest": values.digest}
        with self._refusing(), self._database:
            self._insert("run", [("values", json.dumps(record))], "OR IGNORE")
        kept = self.values()
        if (kept["num_samples"], kept["digest"]) != (values.num_samples, values.digest):
            raise RunRefused(
                f"the run in {self.folder} was scored with other {kept['name']} values (digest {kept['digest']}, now "
                f"{values.digest}); give another folder (--out), or start over (--fresh)"
            )

    def values(self) -> dict[str, Any]:
        """Return the value function that scored the groups: ``name, num_samples, digest``.

        ``num_samples`` and ``digest`` are None until the run has begun to play.
        """
        record = json.loads(self._value("values") or '{"num_samples": null, "digest": null}')
        return {"name": parse_spec(self._config.values).title, **record}

    def done(self) -> list[tuple[int, int]]:
        """Return every stored group as (lineup, deck)."""
        blocks = list(self._rows("SELECT lineup, first, num_decks FROM blocks"))
        if not all(type(value) is int for block in blocks for value in block) or any(
            n > BLOCK_DECKS for *_, n in blocks
        ):
            raise self._unfit()  # a huge block would be a list without end
        return [(lineup, deck) for lineup, first, num_decks in blocks for deck in range(first, first + num_decks)]

    def holds(self, lineup: int, deck: int) -> bool:
        """Return whether a group is stored."""
        return self._end_of_block(lineup, deck) > deck

    def _end_of_block(self, lineup: int, deck: int) -> int:
        """Return the last deck plus 1 of the last block that begins at or before `deck`; -1 without such a block."""
        query = "SELECT first + num_decks FROM blocks WHERE lineup = ? AND first <= ? ORDER BY first DESC LIMIT 1"
        return next((end for (end,) in self._rows(query, lineup, deck)), -1)

    def add_block(self, played: Played, seconds: float) -> None:
        """Store one block, see `add_blocks`."""
        self.add_blocks([(played, seconds)])

    def add_blocks(self, blocks: Iterable[tuple[Played, float]]) -> None:
        """Store all blocks or none, in one transaction: a transaction for each block would take longer.

        Parameters
        ----------
        blocks : iterable of (Played, float)
            The result of each block, with the block's share of the time of play, in seconds. Events are added to those
            of earlier blocks.

        Raises
        ------
        RunRefused
            If the database cannot be written, or another process plays the same run.
        """
        with self._refusing(), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            for played, seconds in blocks:
                self._add(played, seconds)

    def _add(self, played: Played, seconds: float) -> None:
        rows = played.rows
        lineup, first, last = int(rows["lineup"][0]), int(rows["deck"][0]), int(rows["deck"][-1])
        if self._end_of_block(lineup, last) > first:
            raise self._played_by_another()
        self._insert("blocks", [(lineup, first, last + 1 - first, seconds, played.machine, rows.tobytes())])
        if played.remarks:
            self._insert("remarks", played.remarks)
        for table, kept in (("hands", played.hands), ("stories", played.stories)):
            if kept:
                self._insert(table, [(lineup, deck, packed) for deck, packed in kept.items()])
        if played.events:
            total = self.events() + Counter(played.events)
            record = [[number, kind, count] for (number, kind), count in sorted(total.items())]
            self._insert("run", [("events", json.dumps(record))], "OR REPLACE")

    def forget_after(self, last: Position) -> None:
        """Delete the groups after a position in the schedule, with their remarks, hands and stories."""
        _, lineup, deck = last
        with self._refusing(), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            for table, first in {"blocks": "first", "remarks": "deck", "hands": "deck", "stories": "deck"}.items():
                self._database.execute(
                    f"DELETE FROM {table} WHERE ({first} / {BLOCK_DECKS}, lineup, {first}) > (?, ?, ?)", last
                )
            columns = "first, num_decks, seconds, machine, rows"
            query = f"SELECT {columns} FROM blocks WHERE lineup = ? AND first + num_decks > ?"
            for first, size, seconds, machine, packed in list(self._rows(query, lineup, deck + 1)):
                rows, kept = self._unpacked(packed), deck + 1 - first
                stays = rows[rows["deck"] <= deck].tobytes()
                self._insert("blocks", [(lineup, first, kept, seconds * kept / size, machine, stays)], "OR REPLACE")

    def seconds(self) -> float:
        """Return the playing time of the counted decks in seconds."""
        query = "SELECT TOTAL(seconds * MIN(num_decks, ? - first) / num_decks) FROM blocks WHERE first < ?"
        ((total,),) = self._rows(query, self.decks, self.decks)
        return total

    def agent_scores(self) -> Iterator[tuple[int, int, int, AgentScore]]:
        """Yield the line-up, deck and agent number of every counted row with its score, sorted by these numbers."""
        remarks = [Remark(*row) for row in self._rows(f"SELECT {', '.join(Remark._fields)} FROM remarks")]
        for rows in self._arrays():
            yield from unpack_rows(rows, remarks)

    def scores(self) -> np.ndarray:
        """Return the stored scores of the counted decks: SCORES[num_rows], sorted by line-up, deck and agent number.

        Each row is one agent in one group. The Control (package `run`) has the number after the last agent.
        """
        parts = [rows[list(SCORES.names or ())].astype(SCORES) for rows in self._arrays()]
        return np.concatenate([np.empty(0, SCORES), *parts])

    def machines(self) -> tuple[list[str], np.ndarray]:
        """Return the names of the machines, and the machine that played each row of `scores`: int64[num_rows].

        The machine of a row is its index in the list of names. The name is empty in a run of an earlier version.
        """
        name = "machine" if "machine" in self._columns["blocks"] else "''"
        blocks = list(self._rows(f"SELECT {name}, LENGTH(rows) FROM blocks ORDER BY lineup, first"))
        names = sorted({machine for machine, _ in blocks})
        counts = np.array([size // self._row_type.itemsize for _, size in blocks], np.int64)
        index = np.repeat(np.array([names.index(machine) for machine, _ in blocks], np.int64), counts)
        is_counted = [rows["deck"] < self.decks for rows in self._arrays(every=True)]
        return names, index[np.concatenate([np.empty(0, bool), *is_counted])]

    def calibrations(self) -> dict[int, Calibration]:
        """Return the calibration over the counted decks by agent number, the Control's included; {} without AIVAT."""
        if not self._config.uses_aivat:
            return {}
        sums = np.zeros((len(self._config.agents) + 1, *self._row_type["calibration"].shape))
        for rows in self._arrays():
            np.add.at(sums, rows["agent"], rows["calibration"])  # row by row: the sizes of blocks change no rounding
        return dict(enumerate(map(Calibration, sums)))

    def refusals(self) -> dict[int, str]:
        """Return, by agent number, the first reason on counted decks why a reported strategy could not be used."""
        return self._first_texts("refused")

    def first_faults(self) -> dict[int, str]:
        """Return the message of the first fault on counted decks, by the number of each agent with such faults."""
        return self._first_texts("first_fault")

    def _first_texts(self, column: str) -> dict[int, str]:
        """Return, by agent number, the first text on counted decks in a column of the remarks."""
        # In descending order, because `dict` keeps the last of an agent's texts, here that of the first deck.
        query = f"SELECT agent, {column} FROM remarks WHERE deck < ? AND {column} != '' ORDER BY deck DESC, lineup DESC"
        return dict(self._rows(query, self.decks))

    def play_counts(self) -> dict[int, np.ndarray]:
        """Return each agent's counts of play on the counted decks: int64[num_seats, len(play_statistics.COUNTERS)]."""
        tables = {agent: new_counts(self._config.seats) for agent in range(len(self._config.agents))}
        for rows in self._arrays():
            for agent, table in tables.items():  # the Control counts as no agent
                table += rows["play"][rows["agent"] == agent].sum(axis=0, dtype=np.int64)
        return tables

    def faults(self) -> list[tuple[int, int, int, int]]:
        """Return (lineup, deck, agent, faults) for every group and agent with faults, uncounted decks included."""
        key = ["lineup", "deck", "agent", "faults"]
        return [row for rows in self._arrays(every=True) for row in rows[rows["faults"] > 0][key].tolist()]

    def fault_kinds(self) -> dict[int, Counter[str]]:
        """Return the number of faults of each kind on counted decks, by the number of each agent with such faults."""
        kinds: dict[int, Counter[str]] = {}
        query = "SELECT agent, fault_kinds FROM remarks WHERE deck < ? AND fault_kinds != '' ORDER BY agent"
        for agent, text in self._rows(query, self.decks):
            kinds.setdefault(agent, Counter()).update(text.split())
        return kinds

    def events(self) -> Counter[tuple[int, str]]:
        """Return the numbers of events by agent and kind (`Played.events`), including those of forgotten groups."""
        record = json.loads(self._value("events") or "[]")
        return Counter({(number, kind): count for number, kind, count in record})

    def num_kept(self) -> int:
        """Return the number of groups of counted decks with kept hands."""
        ((count,),) = self._rows("SELECT COUNT(*) FROM hands WHERE deck < ?", self.decks)
        return count

    def hands_of(self, lineup: int, deck: int) -> bytes | None:
        """Return the packed hands of one group, or None if they were not kept."""
        found = list(self._rows("SELECT hands FROM hands WHERE lineup = ? AND deck = ?", lineup, deck))
        return found[0][0] if found else None

    def told(self) -> set[tuple[int, int]]:
        """Return the groups with stored stories (`hand_story`), as (lineup, deck)."""
        return set(self._rows("SELECT lineup, deck FROM stories"))

    def stories_of(self, lineup: int, deck: int) -> bytes | None:
        """Return the packed stories of one group, or None if they were not kept."""
        found = list(self._rows("SELECT stories FROM stories WHERE lineup = ? AND deck = ?", lineup, deck))
        return found[0][0] if found else None

    def hands(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield (lineup, deck, packed hands) of the counted groups with kept hands, sorted by line-up, then by deck."""
        query = "SELECT lineup, deck, hands FROM hands WHERE deck < ? ORDER BY lineup, deck"
        return self._rows(query, self.decks)

    def seat_sums(self) -> np.ndarray:
        """Return `AgentScore.seat_sums` of every agent in every counted group, in the order of `scores`.

        Returns
        -------
        float64[num_rows, num_seats, 1 or 3]
            For each seat the sum of net chips; with AIVAT also the sums of the full and of the reduced estimates.
        """
        none = np.empty(0, self._row_type)["seat_sums"]
        return np.concatenate([none, *(rows["seat_sums"] for rows in self._arrays())])

    def answer_times(self) -> dict[int, AnswerTimes]:
        """Return the answer times on counted decks, by the number of each agent."""
        found = dict.fromkeys(range(len(self._config.agents)), AnswerTimes(0, 0.0, 0.0))
        for rows in self._arrays():
            for agent, before in found.items():
                own = rows[rows["agent"] == agent]
                found[agent] = AnswerTimes(
                    before.answers + int(own["answers"].sum()),
                    before.seconds + float(own["answer_seconds"].sum()),
                    max(before.slowest, float(own["slowest_answer"].max(initial=0.0))),
                )
        return found

    def write(self, name: str, text: str) -> Path:
        """Write a file of the folder atomically, and return its path."""
        return write_atomically(self.folder / name, text)

    def _arrays(self, every: bool = False) -> Iterator[np.ndarray]:
        """Yield the rows of counted decks, or of `every` deck, sorted as in `scores`, many blocks at a time."""
        found = self._rows("SELECT rows FROM blocks ORDER BY lineup, first")
        while packed := [blob for (blob,) in itertools.islice(found, _BLOCKS_AT_ONCE)]:
            rows = self._unpacked(b"".join(packed))
            yield rows if every else rows[rows["deck"] < self.decks]

    def _unpacked(self, packed: bytes) -> np.ndarray:
        """Return the rows that were stored as bytes."""
        if len(packed) % self._row_type.itemsize == 0:
            rows = np.frombuffer(packed, self._row_type)
            if not len(rows) or 0 <= rows["agent"].min() <= rows["agent"].max() <= len(self._config.agents):
                return rows
        raise self._unfit()

    def _unfit(self) -> RunRefused:
        return RunRefused(f"{self.folder} is damaged: its config.toml does not fit its run.sqlite")

    def _rows(self, query: str, *values: object) -> Iterator[Any]:
        with self._refusing():
            yield from self._database.execute(query, values)

    def _value(self, key: str) -> Any:
        return next((value for (value,) in self._rows("SELECT value FROM run WHERE key = ?", key)), None)

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        """Turn errors of the database into `RunRefused` with a remedy."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise self._played_by_another() from None
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # SQLite quotes a damaged schema with its control characters.
            what = str(error).encode("unicode_escape").decode()
            raise RunRefused(f"cannot use {self.folder / 'run.sqlite'}: {what}{self._remedy}") from None

    def _played_by_another(self) -> RunRefused:
        return RunRefused(f"another process plays the run in {self.folder}; wait for it, or end it")

    def _read_key(self) -> RunKey | None:
        try:
            return read_key(self.folder) if self._config.draws_key else None
        except (OSError, ValueError) as error:
            raise RunRefused(f"cannot use {self.folder / run_key.NAME}: {error}{self._remedy}") from None

    def _own_key(self) -> RunKey | None:
        """Return the key in the folder; a new run draws a key and writes it into the folder."""
        key = self._read_key()
        if key is None and self._config.draws_key:
            if self.done():
                raise RunRefused(f"{self.folder / run_key.NAME} is missing{self._remedy}, or start over (--fresh)")
            key = draw_key()
            write_key(self.folder, key)
        return key

    def _open_run(self) -> None:
        digest = self._config.digest
        path = self.folder / "run.sqlite"
        if not list(self._rows("SELECT 1 FROM sqlite_master")):
            if path.stat().st_size:  # SQLite takes a file of a few bytes for an empty database
                raise RunRefused(f"{path} is not the database of a tournament; give another folder (--out)")
            facts = {"format": FORMAT_VERSION, "version": __version__, "digest": digest}
            facts["code"] = json.dumps(self._config.code)
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                for statement in filter(str.strip, SCHEMA.split(";")):
                    self._database.execute(statement)
                self._insert("run", facts.items(), "OR IGNORE")
        self._check_format([FORMAT_VERSION])
        self.check()
        if self._value("digest") != digest:
            raise RunRefused(
                f"{self.folder} holds another tournament{self._differences()}; "
                "repeat its settings to resume it, give another folder (--out), or start over (--fresh)"
            )
        self._key = self._own_key()
        # An earlier run's folder is not written to before this point, so that a refused folder is left unchanged.
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        player = f"process {os.getpid()} on {socket.gethostname()} since {time.strftime('%Y-%m-%d %H:%M:%S')}"
        self._insert("run", [("player", player), ("machine", machine_text())], "OR REPLACE")

    def _differences(self) -> str:
        """Return in words how the settings or the code of the stored run differ from the present ones; may be empty."""
        found: list[str] = []
        with contextlib.suppress(ValueError):
            found = self._config.differences(TournamentConfig(**read_config(self.folder / "config.toml")))
        if not found:
            code, now = json.loads(self._value("code") or "{}"), self._config.code
            found = [f"{what} has changed since" for what, digest in now.items() if code.get(what) != digest]
        return f": {', '.join(found)}" if found else ""

    def check(self) -> None:
        """Check the whole database: its pages, its indices and the checksum of each row.

        Raises
        ------
        RunRefused
            If the database is damaged.
        """
        path = self.folder / "run.sqlite"
        ((page_size,),) = self._rows("PRAGMA page_size")
        if list(self._rows("PRAGMA integrity_check(1)")) != [("ok",)] or path.stat().st_size % page_size:
            raise self._damaged("it")
        for table, columns in self._columns.items():
            for *row, checksum in self._rows(f"SELECT {', '.join(columns)}, checksum FROM {table}"):
                if checksum != checksum_of(row):
                    raise self._damaged(self._place(table, row))

    def _damaged(self, what: str) -> RunRefused:
        return RunRefused(
            f"cannot use {self.folder / 'run.sqlite'}: {what} is damaged; "
            "start over (plurispiel tournament --fresh), or give another folder (--out)"
        )

    def _place(self, table: str, row: Sequence[Any]) -> str:
        """Return the place of a row in words. Long values are clipped, because a damaged row may hold anything."""
        if table == "run":
            return f"the fact {row[0]!r:.40}"
        lineup, deck = row[:2]
        return f"the row of line-up {lineup!r:.20}, deck {deck!r:.20} in the table of {table}"

    def _insert(self, table: str, rows: Iterable[Sequence[Any]], otherwise: str = "") -> None:
        """Insert rows with their checksums; `otherwise` is SQLite's clause for existing keys, such as ``OR IGNORE``."""
        columns = (*COLUMNS[table], "checksum")
        self._database.executemany(
            f"INSERT {otherwise} INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
            ((*row, checksum_of(row)) for row in rows),
        )

    def _check_format(self, formats: Collection[int] = READABLE) -> None:
        if self._value("format") not in formats or self._value("version") != __version__:
            raise OtherVersion(
                f"{self.folder} was written by another version of plurispiel ({self._value('version')} with run format "
                f"{self._value('format')}, this is {__version__} with {FORMAT_VERSION}){self._remedy}"
            )


def _player(folder: Path) -> str:
    """Return in words which process plays a run, as that process noted in the database."""
    with contextlib.suppress(RunRefused, ValueError), contextlib.closing(RunStore.reading(folder)) as store:
        return store._value("player") or "another process"
    return "another process"
