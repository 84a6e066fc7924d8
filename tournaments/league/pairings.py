"""The pairings of a league: the results of two entries against each other.

A pairing is played in *parts*. A part is a run folder that was played by one version of this package's code. The run of
the latest part of entries 3 and 7 is in ``pairings/3-7``. When another version of the code continues the pairing, this
folder is set aside as ``pairings/3-7.1`` (the next one as ``3-7.2``, and so on), and its groups keep counting. Both
agents are still the same (`entries.change_of`), and only dealing, refereeing and scoring may have changed. A later
version of this package may be unable to read the run itself. Therefore ``groups.json`` has the part's results as plain
values, written after each batch.
"""

import contextlib
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.settings import is_deep, make_record
from plurispiel.tournaments.league.config import LeagueConfig
from plurispiel.tournaments.league.entries import Entry
from plurispiel.tournaments.run.config import TournamentConfig, package_digest
from plurispiel.tournaments.run.scores import RunScores
from plurispiel.tournaments.run.store import OtherVersion, RunStore

Pair = tuple[int, int]
"""The numbers of two entries, the smaller number first."""

RESULTS = "results.json"
"""The file in a run folder that is written when a run has ended, and deleted before the run is continued."""

_GROUPS = "groups.json"
_MAX_BYTES = 1 << 28


@dataclass(frozen=True)
class PairingPart:
    """The groups that one version of this package's code has played, as plain values.

    Attributes
    ----------
    entries : list of str
        The content of each of the two entries (`Entry.content`) as one text.
    code : str
        `package_digest` of the code that played.
    decks : int
        The number of decks that were to be played.
    rates_mbb : list of float
        The rate of the first entry in each group, in mbb/hand: half the difference of both entries' scores. Where the
        scores sum to 0, this is the first entry's score.
    seconds : float
        Playing time.
    faults : list of int
        The faults of each entry.
    retired : list of bool
        Whether each entry had so many faults that its seat only folded.
    digest : str
        Hash of all stored scores.

    Raises
    ------
    ValueError
        If a field has another type, or a number is not finite.
    """

    entries: list[str]
    code: str
    decks: int
    rates_mbb: list[float]
    seconds: float
    faults: list[int]
    retired: list[bool]
    digest: str

    def __post_init__(self):
        rates = self.rates_mbb
        if not isinstance(rates, list) or not all(type(rate) is float and math.isfinite(rate) for rate in rates):
            raise ValueError("rates_mbb must be finite numbers")
        if type(self.decks) is not int or self.decks < len(rates) or type(self.seconds) is not float:
            raise ValueError("decks and seconds must be numbers, with at least as many decks as rates_mbb")
        if not math.isfinite(self.seconds) or not all(isinstance(text, str) for text in (self.code, self.digest)):
            raise ValueError("seconds must be finite, code and digest must be texts")
        for values, kind in ((self.entries, str), (self.faults, int), (self.retired, bool)):
            if not isinstance(values, list) or [type(value) for value in values] != [kind, kind]:
                raise ValueError("entries, faults and retired need a value for each of two entries")


@dataclass(frozen=True)
class Pairing:
    """All groups that two entries have played, over all parts, in the order of play.

    Attributes
    ----------
    rates_mbb : float64[num_groups]
        As in `PairingPart`.
    decks : int
        The number of decks that the pairing was to play when it was last played.
    is_finished : bool
        Whether all these decks were played, and ``results.json`` of the latest part was written. That file may be
        missing if another version of the code played the latest part.
    seconds : float
        Playing time.
    faults : (int, int)
        The faults of each entry.
    retired : (bool, bool)
        Whether each entry had so many faults in a part that its seat only folded.
    digest : str
        Hash of all stored scores.
    older_groups : int
        The number of groups that were not played by the present code of this package.
    aside_groups : int
        The number of groups in parts that were set aside.
    """

    rates_mbb: np.ndarray
    decks: int
    is_finished: bool
    seconds: float
    faults: tuple[int, int]
    retired: tuple[bool, bool]
    digest: str
    older_groups: int = 0
    aside_groups: int = 0

    @property
    def groups(self) -> int:
        """The number of groups, each of two hands."""
        return len(self.rates_mbb)


class PairingFolder:
    """The folders of a pairing's parts.

    Parameters
    ----------
    folder : Path
        The run folder of the latest part.
    config : LeagueConfig
        The settings of the league.
    entries : (Entry, Entry)
        The two entries, the older one first.
    """

    def __init__(self, folder: Path, config: LeagueConfig, entries: tuple[Entry, Entry]):
        self.folder = folder
        self._config = config
        self._entries = entries

    def settings(self, decks: int) -> dict[str, Any]:
        """Return the settings of the latest part with a number of decks (`LeagueConfig.pairing`)."""
        return self._config.pairing(self._entries, decks, part=len(self._aside()) + 1)

    def read(self) -> Pairing | None:
        """Return the groups of all parts together; None if there is no part that this code can read.

        Raises
        ------
        ValueError
            If a folder holds another tournament, or is damaged.
        """
        aside = [part for path in self._aside() if (part := self._kept(path)) is not None]
        latest = self._latest()
        parts = [*aside, *([latest] if latest else [])]
        if not parts:
            return None
        older = sum(len(part.rates_mbb) for part in parts if part.code != package_digest())
        played = [len(part.rates_mbb) for part in parts]
        is_finished = latest is None or (
            len(latest.rates_mbb) >= latest.decks
            and ((self.folder / RESULTS).exists() or latest.code != package_digest())
        )
        digests = [part.digest for part in parts]
        return Pairing(
            np.array([rate for part in parts for rate in part.rates_mbb]),
            sum(played[: len(aside)]) + (latest.decks if latest else 0),
            is_finished,
            sum(part.seconds for part in parts),
            (sum(part.faults[0] for part in parts), sum(part.faults[1] for part in parts)),
            (any(part.retired[0] for part in parts), any(part.retired[1] for part in parts)),
            digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest(),
            older,
            sum(played[: len(aside)]),
        )

    def keep(self) -> None:
        """Write the groups of the latest part as plain values, which later versions of this package can read.

        Raises
        ------
        ValueError
            If the folder holds another tournament, or is damaged.
        """
        if (part := self._latest()) is not None:
            write_atomically(self.folder / _GROUPS, json.dumps(asdict(part), allow_nan=False) + "\n")

    def is_resumable(self) -> bool:
        """Return whether the latest part may go on: agents, values and code have not changed since the part began.

        A part that does not exist may begin.
        """
        if not self.folder.exists():
            return True
        try:
            with contextlib.closing(RunStore.reading(self.folder)) as store:
                settings = self._settings_of(store.config)
                return TournamentConfig(**settings).digest == store.facts["digest"]
        except OtherVersion:
            return False
        except ValueError:  # no hand was played, or the run is kept as plain values alone
            return not (self.folder / _GROUPS).exists()

    def set_aside(self) -> Path:
        """Keep the groups of the latest part, rename the part's folder and return the new path; another part may begin.

        If only another version of this package can read the part's run, and the part has no ``groups.json``, the part's
        groups no longer count.

        Raises
        ------
        ValueError
            If the folder holds another tournament, or is damaged.
        """
        self.keep()
        return self.folder.rename(self.folder.with_name(f"{self.folder.name}.{len(self._aside()) + 1}"))

    def _aside(self) -> list[Path]:
        """Return the folders that were set aside, in order."""
        found: list[Path] = []
        while (path := self.folder.with_name(f"{self.folder.name}.{len(found) + 1}")).is_dir():
            found.append(path)
        return found

    def _latest(self) -> PairingPart | None:
        """Return the latest part: from its run, or, if only other code can read the run, from its plain values."""
        if not (self.folder / "run.sqlite").exists() or not (self.folder / "config.toml").exists():
            return None
        try:
            return self._read_run()
        except ValueError as error:
            kept = self._kept(self.folder)
            if kept is not None and kept.code != package_digest():
                return kept
            if isinstance(error, OtherVersion):
                return None
            raise

    def _read_run(self) -> PairingPart:
        with contextlib.closing(RunStore.reading(self.folder)) as store:
            store.check()
            begun = store.config
            if differences := TournamentConfig(**self._settings_of(begun)).differences(begun):
                raise ValueError(f"{self.folder} is no pairing of this league: {differences[0]:.200}")
            rows = store.scores()
            scores = RunScores(begun, store, rows)
            ours, theirs = (scores.group_rates(number) for number in (0, 1))
            if len(ours) != len(theirs) or len(rows) != 2 * len(ours) or not np.isfinite([ours, theirs]).all():
                raise ValueError(f"{self.folder} is damaged: its groups do not have two agents each")
            faults = [int(rows["faults"][rows["agent"] == number].sum()) for number in (0, 1)]
            return PairingPart(
                self._contents(),
                store.package_digest,
                begun.decks,
                ((ours - theirs) / 2.0).tolist(),
                store.seconds(),
                faults,
                [count >= begun.max_faults for count in faults],
                hashlib.sha256(rows.tobytes()).hexdigest(),
            )

    def _settings_of(self, begun: TournamentConfig) -> Mapping[str, Any]:
        """Return the settings of the latest part with the decks and deals of its run.

        If the league's settings leave the deals open, the run chose them: ``once`` where agents from outside could tell
        each other cards.
        """
        settings = self.settings(begun.decks)
        return {**settings, "deals": settings["deals"] or begun.deals}

    def _kept(self, folder: Path) -> PairingPart | None:
        """Return the part that was kept in a folder as plain values; None if none was.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to other entries.
        """
        path = folder / _GROUPS
        try:
            with path.open("rb") as file:
                content = file.read(_MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ValueError(f"cannot read {path}: {error.strerror}") from None
        try:
            record = json.loads(content) if len(content) <= _MAX_BYTES else None
            if not isinstance(record, dict) or is_deep(record):
                raise ValueError("it holds no groups")
            part = make_record(PairingPart, record, "it")
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is damaged: {error!s:.200}") from None
        if part.entries != self._contents():
            raise ValueError(f"{path} is of other agents than {' and '.join(entry.name for entry in self._entries)}")
        return part

    def _contents(self) -> list[str]:
        return [" ".join(map(str, entry.content)) for entry in self._entries]
