"""The play of a league: batches of decks, each of one pairing, until the limits are reached.

Blocks that were stored before the process was killed stay. Before the first hand of a batch, the pairing's run folder
stores the number of decks to reach, and an unfinished batch is finished first. The choice of the next pairing depends
on finished batches alone. Therefore a league that was killed plays the same groups as one that was not, unless a time
limit cuts batches.
"""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.league.allocation import batch_decks, choose_pairing
from plurispiel.tournaments.league.crosstable import Crosstable
from plurispiel.tournaments.league.entries import CHANGES, Entry, change_of
from plurispiel.tournaments.league.folder import League, pairs_of
from plurispiel.tournaments.league.pairings import RESULTS, Pair, Pairing
from plurispiel.tournaments.run.schedule import BLOCK_DECKS
from plurispiel.tournaments.run.tournament_run import Say, TournamentRun

HANDS_PER_GROUP = 2

_REMEDY = "; its results stay; league FOLDER add without an agent adds it as it is now, as a new entry"


class PlayLimits(NamedTuple):
    """The limits of `LeaguePlayer.play`. Without any limit, play stops after the first decks of all pairs.

    Attributes
    ----------
    hands : int or None
        The number of hands of all pairings of active, unchanged entries together. Hands played before count.
    seconds : float or None
        Playing time of this call. A batch that would last longer is cut to the blocks that fit, at least one. A batch
        of a pairing with unknown speed is cut to one block.
    """

    hands: int | None = None
    seconds: float | None = None


class Batch(NamedTuple):
    """A pairing that plays next; `decks` is the number of decks of the whole pairing at which the batch ends."""

    first: Entry
    second: Entry
    decks: int


@dataclass
class LeaguePlayer:
    """Plays a league.

    Attributes
    ----------
    league : League
        The league, locked by the caller (`League.playing`).
    limits : PlayLimits
        When to stop.
    workers : int
        The number of worker processes, as in `RunOptions`.
    say, warn : callable
        Called with each line for the user.
    clock : callable
        Returns the time in seconds.
    labour : Labour or None
        The executor that plays the hands; None for worker processes of this machine.
    """

    league: League
    limits: PlayLimits
    workers: int
    say: Say
    warn: Say
    clock: Callable[[], float] = time.monotonic
    labour: Labour | None = None
    _pairings: dict[Pair, Pairing | None] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def play(self, *, progress: bool) -> None:
        """Play batches until a limit is reached.

        Raises
        ------
        ValueError
            If the entries or a pairing's folder are damaged, an agent does not load, or the sandbox does not work.
        WorkerFailed, RefereeDisagrees, RunAborted
            Errors that end a run; the blocks stored before stay.
        """
        deadline = None if self.limits.seconds is None else self.clock() + self.limits.seconds
        num_batches = 0
        while batch := self._next(deadline):
            self._play(batch, progress)
            num_batches += 1
        if not num_batches:
            self.say("nothing left to play; give a larger --hands, or --hours, to separate neighbours further")

    def _next(self, deadline: float | None) -> Batch | None:
        """Return the next batch; None if a limit is reached or there is nothing to play."""
        players = self._players()
        pairs = pairs_of(players)
        for first, second in pairs:
            if (first.number, second.number) not in self._pairings:
                self._pairings[first.number, second.number] = self.league.pairing(first, second)
        batch = self._wanted(players, pairs)
        if batch is None:
            return None
        played = self._pairings[batch.first.number, batch.second.number]
        groups = played.groups if played else 0
        if batch.decks == groups:  # killed after the last hand: only the results are missing
            return batch
        room = batch.decks - groups
        if self.limits.hands is not None:
            room = min(room, (self.limits.hands - self._hands(pairs)) // HANDS_PER_GROUP)
        if deadline is not None:
            left = deadline - self.clock()
            room = min(room, _decks_in(left, played)) if left > 0.0 else 0
        return batch._replace(decks=groups + room) if room > 0 else None

    def _wanted(self, players: list[Entry], pairs: list[tuple[Entry, Entry]]) -> Batch | None:
        """Return the batch that is next by the rules of the league, not yet cut to the limits; None if there is none.

        Without any limit there are no batches after the first decks of all pairs.
        """
        for first, second in pairs:
            pairing = self._pairings[first.number, second.number]
            if pairing and not pairing.is_finished:
                return Batch(first, second, pairing.decks)
        for first, second in pairs:
            pairing = self._pairings[first.number, second.number]
            if not pairing or pairing.groups < self.league.config.placement:
                return Batch(first, second, self.league.config.placement)
        if not pairs or self.limits == PlayLimits():
            return None
        known = {pair: pairing for pair, pairing in self._pairings.items() if pairing}
        first, second = (players[index] for index in choose_pairing(Crosstable([p.number for p in players], known)))
        groups = known[first.number, second.number].groups
        return Batch(first, second, groups + batch_decks(groups))

    def _players(self) -> list[Entry]:
        """Return the active entries whose agents are still those that were added."""
        players = []
        for entry in self.league.active:
            change = change_of(entry)
            if change:
                self._tell(f"{entry.name} plays no more: {CHANGES[change]} since it was added{_REMEDY}")
            else:
                players.append(entry)
        return players

    def _hands(self, pairs: list[tuple[Entry, Entry]]) -> int:
        pairings = (self._pairings[first.number, second.number] for first, second in pairs)
        return HANDS_PER_GROUP * sum(pairing.groups for pairing in pairings if pairing)

    def _play(self, batch: Batch, progress: bool) -> None:
        league, entries = self.league, (batch.first, batch.second)
        pair = batch.first.number, batch.second.number
        folder = league.pairing_folder(*entries)
        pairing = self._pairings[pair]
        if not folder.is_resumable():
            before = pairing.aside_groups if pairing else 0
            path = folder.set_aside()
            pairing = folder.read()
            kept = pairing.aside_groups - before if pairing else 0
            self.say(
                f"{batch.first.name} against {batch.second.name}: {kept:,} decks that other code of this package "
                f"played are set aside in {path.name}; they count, as both agents are unchanged, and other decks follow"
            )
        groups, aside = (pairing.groups, pairing.aside_groups) if pairing else (0, 0)
        if batch.decks > groups:
            self.say(f"{batch.first.name} against {batch.second.name}: decks {groups + 1:,} to {batch.decks:,}")
        if batch.decks > aside:
            out = folder.folder
            options = league.config.options(workers=self.workers, out=out, hidden=(league.folder,), is_listed=False)
            (out / RESULTS).unlink(missing_ok=True)
            settings = folder.settings(batch.decks - aside)
            with contextlib.closing(TournamentRun(settings, options, _drop, self._warn)) as run:
                run.play(progress=progress, labour=self.labour)
                run.finish()
            folder.keep()
        played = self._pairings[pair] = folder.read()
        for entry, faults, before in zip(
            entries, played.faults if played else (), pairing.faults if pairing else (0, 0), strict=False
        ):
            if faults > before:
                self.say(f"{entry.name} committed {faults:,} faults; plurispiel report {folder.folder} tells more")

    def _warn(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.warn(text)

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self.say(text)


def _decks_in(seconds: float, played: Pairing | None) -> int:
    """Return the decks that a pairing plays in some seconds, at least a block; one block if its speed is unknown."""
    if played is None or played.groups == 0 or played.seconds <= 0.0:
        return BLOCK_DECKS
    blocks = seconds / played.seconds * played.groups / BLOCK_DECKS
    return BLOCK_DECKS * max(1, int(min(blocks, 1e9)))


def _drop(note: str) -> None:
    """Drop a note of a run: the user got the notes on the settings when the agents were added."""
