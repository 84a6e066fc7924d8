"""The folder of a league: its settings, its entries, and a run folder for each pairing.

``league.toml`` is written once, ``entries.toml`` when an agent is added or removed. The run of entries 3 and 7 is in
``pairings/3-7``. The folder of the league is locked while an agent is added or removed, and the folder of the pairings
while a process plays. Agents may therefore be added to a league that is being played.
"""

import contextlib
import dataclasses
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.specs import relocate_spec
from plurispiel.tournaments.api.tournament_run import Say, prepare
from plurispiel.tournaments.league.config import LeagueConfig, read_league_config
from plurispiel.tournaments.league.entries import Entry, content_digest, entry_name, read_entries, write_entries
from plurispiel.tournaments.league.pairings import Pair, Pairing, read_pairing
from plurispiel.tournaments.run.folder_lock import lock_folder

_SETTINGS = "league.toml"


class League:
    """A league in a folder.

    Parameters
    ----------
    folder : Path
        The folder of the league.

    Attributes
    ----------
    config : LeagueConfig
        The settings.

    Raises
    ------
    ValueError
        If the folder holds no league, or the settings are damaged.
    """

    def __init__(self, folder: Path):
        if not (folder / _SETTINGS).is_file():
            raise ValueError(f"{folder} is no league; plurispiel league {folder} add AGENT begins one")
        self.folder = folder
        self.config = read_league_config(folder / _SETTINGS)

    @property
    def entries(self) -> list[Entry]:
        """The entries by number, as they are in the folder now."""
        return read_entries(self.folder)

    @property
    def active(self) -> list[Entry]:
        """The entries that play and are ranked."""
        return [entry for entry in self.entries if entry.active]

    def add(self, spec: str, say: Say, warn: Say) -> tuple[Entry, bool]:
        """Add an agent; return its entry, and whether the entry was not active before.

        The agent is first built in the league's game, as a check. An active entry of the same spec with another content
        becomes inactive, because its agent does not exist any more.

        Parameters
        ----------
        spec : str
            The agent's spec; its paths are relative to the current folder.
        say, warn : callable
            As in `TournamentRun`.

        Raises
        ------
        ValueError
            If the agent does not load or does not play the league's game, or another process changes the entries.
        """
        spec = relocate_spec(spec, Path.cwd())
        digest = content_digest(spec)
        with self._locked(self.folder, "is being changed"):
            entries = self.entries
            known = next((entry for entry in entries if entry.digest == digest), None)
            if known and known.active:
                return known, False
            settings = self.config.pairing((spec, "call"), (digest, ""), 1)
            _, _, notes = prepare(settings, self.config.options(hidden=(self.folder,), keeps_run=False), say, warn)
            for note in notes:
                say(note)
            if known:
                entry = dataclasses.replace(known, spec=spec, active=True)
            else:
                entry = Entry(len(entries) + 1, entry_name(spec, entries), spec, digest)
            kept = [dataclasses.replace(old, active=False) if old.spec == spec else old for old in entries]
            write_entries(self.folder, sorted([*(old for old in kept if old != known), entry], key=_number))
            return entry, True

    def remove(self, name: str) -> Entry:
        """Make an entry inactive, by name or number, and return it; its results count again if it is added again.

        Raises
        ------
        ValueError
            If no active entry has the name or number, or another process changes the entries.
        """
        with self._locked(self.folder, "is being changed"):
            entries = self.entries
            names = [entry.name for entry in entries if entry.active]
            found = next((entry for entry in entries if entry.active and name in (entry.name, str(entry.number))), None)
            if found is None:
                raise ValueError(
                    f"no agent {name!r} in the league{suggestion(name, names)} (its agents are {', '.join(names)})"
                )
            entry = dataclasses.replace(found, active=False)
            write_entries(self.folder, [entry if old == found else old for old in entries])
            return entry

    def playing(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which no other process plays the league.

        Raises
        ------
        ValueError
            On entering, if another process plays the league.
        """
        (self.folder / "pairings").mkdir(exist_ok=True)
        return self._locked(self.folder / "pairings", "is being played")

    def pairing_folder(self, pair: Pair) -> Path:
        """Return the run folder of a pairing."""
        return self.folder / "pairings" / f"{pair[0]}-{pair[1]}"

    def pairing(self, first: Entry, second: Entry) -> Pairing | None:
        """Return the pairing of two entries, of which `first` has the smaller number; None if they have not met.

        Raises
        ------
        ValueError
            If the run folder of the pairing is damaged, or holds another tournament.
        """
        settings = self.config.pairing((first.spec, second.spec), (first.digest, second.digest), 1)
        return read_pairing(self.pairing_folder((first.number, second.number)), settings)

    def forget_pairings(self) -> None:
        """Delete the run folders of all pairings; the caller holds `playing`."""
        for path in (self.folder / "pairings").iterdir():
            if re.fullmatch(r"[0-9]+-[0-9]+", path.name) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)

    @contextlib.contextmanager
    def _locked(self, folder: Path, what: str) -> Iterator[None]:
        try:
            lock = lock_folder(folder)
        except BlockingIOError:
            raise ValueError(f"{self.folder} {what} by another process; wait for it, or end it") from None
        try:
            yield
        finally:
            if lock is not None:
                os.close(lock)


def create_league(folder: Path, config: LeagueConfig) -> League:
    """Begin a league in a folder that is empty or does not exist, and return it.

    Raises
    ------
    ValueError
        If the folder is not empty.
    """
    if (folder / _SETTINGS).exists():
        raise ValueError(f"{folder} is a league already, and its settings are fixed; give another folder")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} holds other files; give a new or empty folder for the league")
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / _SETTINGS, config.to_toml())
    return League(folder)


def holds_league(folder: Path) -> bool:
    """Return whether a folder holds a league."""
    return (folder / _SETTINGS).exists()


def has_changed(entry: Entry) -> bool:
    """Return whether the content of an entry's agent has changed since it was added, or cannot be read any more."""
    try:
        return content_digest(entry.spec) != entry.digest
    except ValueError:
        return True


def pairs_of(entries: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Return all pairs of entries, given by number, in the order in which a new entry plays: 1-2, 1-3, 2-3, 1-4, ..."""
    return [(first, second) for k, second in enumerate(entries) for first in entries[:k]]


def _number(entry: Entry) -> int:
    return entry.number
