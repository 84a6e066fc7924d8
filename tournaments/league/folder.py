"""The folder of a league: its settings, its entries, and a run folder for each pairing.

``league.toml`` is written once, ``entries.toml`` when an agent is added or removed. The run of entries 3 and 7 is in
``pairings/3-7`` (module `pairings`). The folder of the league is locked while an agent is added or removed, and the
folder of the pairings while a process plays. Agents may therefore be added to a league that is being played.
"""

import contextlib
import dataclasses
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.specs import relocate_spec
from plurispiel.tournaments.league.config import LeagueConfig, read_league_config
from plurispiel.tournaments.league.entries import (
    Entry,
    change_of,
    new_entry,
    read_entries,
    write_entries,
)
from plurispiel.tournaments.league.pairings import Pairing, PairingFolder
from plurispiel.tournaments.run.folder_lock import lock_folder, unlock_folder
from plurispiel.tournaments.run.tournament_run import Say, prepare

_SETTINGS = "league.toml"
_BELIEVING = ("aivat", "aivat_duplicate")
"""The scores that are corrected by the strategies that believed agents report."""


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
        """The entries by number, as they are in the folder now.

        Raises
        ------
        ValueError
            If the file of the entries is damaged.
        """
        return read_entries(self.folder)

    @property
    def active(self) -> list[Entry]:
        """The entries that play and are ranked."""
        return [entry for entry in self.entries if entry.active]

    def add(self, spec: str, say: Say, warn: Say, *, believe: bool = False) -> tuple[Entry, bool]:
        """Add an agent; return its entry, and whether the entry was not active before.

        If the entry is not active yet, the agent is first built in the league's game, as a check. Other active entries
        with the same spec, or with the same digest, become inactive: one agent has one active entry.

        Parameters
        ----------
        spec : str
            The agent's spec; its paths are relative to the current folder.
        say, warn : callable
            As in `TournamentRun`.
        believe : bool
            See `Entry`.

        Raises
        ------
        ValueError
            If the agent does not load or does not play the league's game, the sandbox does not work, or an agent of
            this package is to be believed. Also if the file of the entries is damaged, or another process changes the
            entries.
        """
        spec = relocate_spec(spec, Path.cwd())
        with self._locked(self.folder, "is being changed"):
            entries = self.entries
            entry = new_entry(spec, entries, believe=believe)
            known = next((old for old in entries if old.content == entry.content), None)
            if known and known.active:
                return known, False
            settings = self.config.pairing((entry, _rival(entry)), 1)
            prepared = prepare(settings, self.config.options(hidden=(self.folder,), keeps_run=False), say, warn)
            for note in prepared.notes:
                say(note)
            if believe and self.config.score not in _BELIEVING:
                say(f"{entry.name}: its reports correct the scores {' and '.join(_BELIEVING)}, which this league lacks")
            if known:
                entry = dataclasses.replace(known, spec=spec, active=True)
            kept = [dataclasses.replace(old, active=old.active and not _is_replaced(old, entry)) for old in entries]
            write_entries(
                self.folder, sorted([*(old for old in kept if old.number != entry.number), entry], key=_number)
            )
            return entry, True

    def discard(self) -> None:
        """Remove the settings of a league without entries; nothing is done if another process changes the entries."""
        with contextlib.suppress(ValueError), self._locked(self.folder, "is being changed"):
            if not self.entries:
                (self.folder / _SETTINGS).unlink()

    def refresh(self, say: Say, warn: Say) -> list[Entry]:
        """Add again each agent that has changed, as it is now, and return the entries.

        Only agents of active entries count. If an agent cannot be added, `say` gets the reason, and the entry stays.
        The parameters are those of `add`.

        Raises
        ------
        ValueError
            If the file of the entries is damaged.
        """
        added = []
        for entry in self.active:
            if change_of(entry):
                try:
                    added.append(self.add(entry.spec, say, warn, believe=entry.believe)[0])
                except ValueError as error:
                    say(f"{entry.name}: {error}")
        return added

    def remove(self, name: str) -> Entry:
        """Make an entry inactive, by name or number, and return it; its results count again if it is added again.

        Raises
        ------
        ValueError
            If no active entry has the name or number, the file of the entries is damaged, or another process changes
            the entries.
        """
        with self._locked(self.folder, "is being changed"):
            entries = self.entries
            names = [entry.name for entry in entries if entry.active]
            found = next((entry for entry in entries if entry.active and name in (entry.name, str(entry.number))), None)
            if found is None:
                agents = ", ".join(names) or "none"
                raise ValueError(f"no agent {name!r} in the league{suggestion(name, names)} (its agents are {agents})")
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

    def pairing_folder(self, first: Entry, second: Entry) -> PairingFolder:
        """Return the folders of a pairing; `first` is the entry with the smaller number."""
        folder = self.folder / "pairings" / f"{first.number}-{second.number}"
        return PairingFolder(folder, self.config, (first, second))

    def pairing(self, first: Entry, second: Entry) -> Pairing | None:
        """Return the pairing of two entries, of which `first` has the smaller number; None if they have not met.

        Raises
        ------
        ValueError
            If a run folder of the pairing is damaged, or holds another tournament.
        """
        return self.pairing_folder(first, second).read()

    def forget_pairings(self) -> None:
        """Delete the run folders of all parts of all pairings; call this only inside the context of `playing`."""
        for path in (self.folder / "pairings").iterdir():
            if re.fullmatch(r"[0-9]+-[0-9]+(\.[0-9]+)?", path.name) and path.is_dir() and not path.is_symlink():
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
            unlock_folder(lock)


def create_league(folder: Path, config: LeagueConfig) -> League:
    """Begin a league in a folder that is empty or does not exist, and return it.

    Raises
    ------
    ValueError
        If the folder is not empty, or is a file.
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


def pairs_of(entries: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Return all pairs of entries, the pairs of later entries after those of earlier ones: 1-2, 1-3, 2-3, 1-4, ...

    The entries must be in the order of their numbers.
    """
    return [(first, second) for k, second in enumerate(entries) for first in entries[:k]]


def _is_replaced(old: Entry, new: Entry) -> bool:
    """Return whether an entry is an earlier version of a new entry, or the same agent in another place.

    The new entry's spec is relocated. Earlier versions of this package kept specs with ".." or a relative folder.
    """
    return old.digest == new.digest or new.spec in (old.spec, relocate_spec(old.spec, Path.cwd()))


def _rival(entry: Entry) -> Entry:
    """Return an opponent with which an agent can be tried."""
    return Entry(entry.number + 1, "call", "call", "0" * 12)


def _number(entry: Entry) -> int:
    return entry.number
