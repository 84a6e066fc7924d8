"""Leagues from Python: `create_league`, `add_to_league`, `remove_from_league`, `play_league`, `league_standings`."""

import contextlib
import dataclasses
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.tournaments.api.agent_spec import agent_specs
from plurispiel.tournaments.api.league_result import LeagueResult
from plurispiel.tournaments.api.notes import Notes
from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.league.config import LeagueConfig
from plurispiel.tournaments.league.entries import Entry
from plurispiel.tournaments.league.folder import League, holds_league
from plurispiel.tournaments.league.folder import create_league as create_folder
from plurispiel.tournaments.league.player import LeaguePlayer, PlayLimits
from plurispiel.tournaments.league.standings import make_standings

__all__ = ["Addition", "add_to_league", "create_league", "league_standings", "play_league", "remove_from_league"]

_SETTINGS = [field.name for field in dataclasses.fields(LeagueConfig)]


class Addition(NamedTuple):
    """The entry of an agent; `is_new` is False if the entry was active already."""

    entry: Entry
    is_new: bool


def create_league(folder: str | Path, **settings: Any) -> None:
    """Begin a league in a folder that is empty or does not exist.

    Parameters
    ----------
    folder : path
        The folder of the league.
    **settings
        The settings, which are fixed from then on, by the names and with the defaults of `LeagueConfig`: ``game``,
        ``seed``, ``placement``, ``deals``, ``referee``, ``on_fault``, ``score``, ``values``, ``max_faults``,
        ``time_limit``, ``memory_limit``, ``isolate``, ``processes``, ``sandbox``, ``agent_network``.

    Raises
    ------
    TypeError
        If a setting is unknown.
    ValueError
        If a setting is not allowed, or the folder is not empty.
    """
    for name in settings:
        if name not in _SETTINGS:
            raise TypeError(f"a league has no setting {name!r}{suggestion(name, _SETTINGS)}")
    create_folder(Path(folder), LeagueConfig(**settings))


def add_to_league(
    folder: str | Path,
    agents: str | Iterable[str | type] | None = None,
    *,
    believe: bool = False,
    progress: bool = False,
) -> list[Addition]:
    """Add agents to a league; without `agents`, make a new entry for every agent that has changed since it was added.

    With `agents`, a league with the default settings begins if the folder holds none. Without `agents`, a changed agent
    that cannot be added anew keeps its old entry; with `progress`, a note gives the reason.

    Parameters
    ----------
    folder : path
        The folder of the league.
    agents : str or iterable of str or type, optional
        The agents, as for `run_tournament`. If an agent's file, program or stored strategy has changed since it was
        added, the agent gets a new entry in place of its old one. The same holds if the package code that the agent
        uses has changed.
    believe : bool
        Let the reported strategies of these agents, which must be from outside this package, correct their scores
        ``aivat`` and ``aivat_duplicate``, as a tournament's setting ``believe`` does. Ignored without `agents`.
    progress : bool
        Print notes on standard error.

    Raises
    ------
    ValueError
        If the folder is damaged or, without `agents`, holds no league. With `agents`, also if the folder holds other
        files, or another process changes the entries. An agent is refused that does not load or does not play the
        league's game, and so is `believe` for an agent of this package. The agents before the refused one stay added. A
        league that would have begun with the refused one is not kept.
    """
    notes = Notes(progress)
    if agents is None:
        return [Addition(entry, True) for entry in League(Path(folder)).refresh(notes.say, notes.warn)]
    specs, added = agent_specs(agents, "agents"), []
    is_made, is_new = not Path(folder).exists(), not holds_league(Path(folder))
    if is_new:
        create_folder(Path(folder), LeagueConfig())
    league = League(Path(folder))
    try:
        for spec in specs:
            added.append(Addition(*league.add(spec, notes.say, notes.warn, believe=believe)))
            if is_new and len(added) == 1:
                notes.say(f"began a league of {league.config.game} in {folder}")
    except BaseException:
        if is_new and not added:  # the user may want other settings when the league begins
            league.discard()
        if is_made:
            with contextlib.suppress(OSError):  # it is not empty
                Path(folder).rmdir()
        raise
    return added


def remove_from_league(folder: str | Path, agent: str) -> Entry:
    """Take an agent out of play and standings, by name or number, and return its entry; its results are kept.

    Raises
    ------
    ValueError
        If the folder holds no league or is damaged, no agent in the league has the name or number, or another process
        changes the entries.
    """
    return League(Path(folder)).remove(agent)


def play_league(
    folder: str | Path,
    *,
    hands: int | None = None,
    hours: float | None = None,
    workers: int = 0,
    fresh: bool = False,
    progress: bool = False,
    labour: Labour | None = None,
) -> LeagueResult:
    """Play a league: first new agents against all others, then pairings whose hands best separate ranking neighbours.

    Without `hands` and `hours` only the first part is played. The same call goes on after an interruption.

    Parameters
    ----------
    folder : path
        The folder of the league.
    hands : int, optional
        Play stops when all pairings together have this number of hands. Hands of earlier calls count. Pairings of
        agents that were removed, or have changed, do not count.
    hours : float, optional
        Approximate limit on the time of this call.
    workers : int
        Worker processes; 0 for one per processor, 1 to play in this process.
    fresh : bool
        Delete the hands of all pairings first.
    progress : bool
        Print notes and a progress bar on standard error.
    labour : Labour, optional
        Plays the hands, as for `run_tournament`.

    Raises
    ------
    ValueError
        If `hands` or `hours` is not positive, `workers` is out of range, or the folder holds no league or is damaged.
        Also if the league has fewer than two agents, an agent does not load, another process plays the league, or no
        Nash average is found.
    WorkerFailed, RefereeDisagrees, RunAborted
        Errors that end a run; the blocks stored before stay, as after a KeyboardInterrupt.
    """
    if hands is not None and hands < 1:
        raise ValueError(f"hands must be at least 1, got {hands}")
    if hours is not None and not 0.0 < hours < math.inf:
        raise ValueError(f"hours must be above 0 and finite, got {hours:g}")
    league = League(Path(folder))
    if len(league.active) < 2:
        raise ValueError(f"a league needs two agents or more; plurispiel league {folder} add AGENT adds one")
    notes = Notes(progress)
    limits = PlayLimits(hands, None if hours is None else 3600.0 * hours)
    with league.playing():
        if fresh:
            league.forget_pairings()
        LeaguePlayer(league, limits, workers, notes.say, notes.warn, labour=labour).play(progress=progress)
        return LeagueResult(make_standings(league), league.folder, tuple(notes.lines))


def league_standings(folder: str | Path) -> LeagueResult:
    """Return the standings of a league from the hands that it holds.

    Raises
    ------
    ValueError
        If the folder holds no league, or is damaged, or no Nash average is found.
    """
    league = League(Path(folder))
    return LeagueResult(make_standings(league), league.folder)
