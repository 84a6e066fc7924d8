"""The user's runs: the folders and the progress of all runs, and the run that was played last.

Run folders lie in `runs_folder` unless ``--out`` names another place. A file in `runs_folder` lists the paths of those
other run folders.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.tournaments.run.folder_lock import is_locked
from plurispiel.tournaments.run.schedule import make_lineups
from plurispiel.tournaments.run.stop_watch import StopWatch
from plurispiel.tournaments.run.store import RunStore

__all__ = ["LAST", "KnownRun", "find_run", "known_runs", "look_at_run", "note_run", "runs_folder"]

LAST = "last"
"""The name, on the command line, of the run that was played last."""

_ELSEWHERE = "elsewhere.txt"


class KnownRun(NamedTuple):
    """Summary of a run, as `plurispiel ls runs` shows it.

    Attributes
    ----------
    folder : Path
        The run folder.
    date : float
        Time of the last write, in seconds of `time.time`.
    state : str
        ``finished``, ``unfinished``, ``being played``, or the error that prevents reading.
    game, format : str
        The name of the game and the tournament's format; empty if the run cannot be read.
    agents : tuple of str
        The agents' names.
    hands : int
        Number of hands stored.
    hands_wanted : int
        Number of hands of the whole tournament; equal to `hands` if the stop rule has ended the run.
    """

    folder: Path
    date: float
    state: str
    game: str = ""
    format: str = ""
    agents: tuple[str, ...] = ()
    hands: int = 0
    hands_wanted: int = 0

    @property
    def name(self) -> str:
        """The name of the run on the command line: its folder's name or path."""
        return self.folder.name if self.folder.parent == runs_folder() else str(self.folder)

    @property
    def date_text(self) -> str:
        """The time of the last write as text, in local time."""
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.date))


def runs_folder() -> Path:
    """Return the folder in which runs without ``--out`` have their folders."""
    return user_data_folder() / "runs"


def note_run(folder: Path) -> None:
    """Note the path of a run folder outside `runs_folder`, so that `known_runs` finds it."""
    path, elsewhere = folder.absolute(), runs_folder() / _ELSEWHERE
    if path.parent == runs_folder().absolute() or str(path) in _noted():
        return
    with contextlib.suppress(OSError):  # an unwritable data folder must not prevent the run
        elsewhere.parent.mkdir(parents=True, exist_ok=True)
        with open(elsewhere, "a", encoding="utf-8") as stream:
            stream.write(f"{path}\n")


def known_runs() -> list[KnownRun]:
    """Return the user's runs, the most recently written first."""
    return [look_at_run(folder, date) for date, folder in _dated()]


def find_run(text: str) -> Path:
    """Return the run folder that a text names: a path, a name in `runs_folder`, or `LAST`; else the text as a path.

    Raises
    ------
    ValueError
        If the text is `LAST`, and the user has no run.
    """
    path = Path(text)
    if path.exists():
        return path
    if text == LAST:
        if not (dated := _dated()):
            raise ValueError("there is no last run; plurispiel tournament plays one")
        return dated[0][1]
    named = runs_folder() / text
    return named if path.name == text and named.is_dir() else path


def look_at_run(folder: Path, date: float) -> KnownRun:
    """Return the summary of the run in a folder; `date` is the time of its last write."""
    try:
        with contextlib.closing(RunStore.reading(folder)) as store:
            config = store.config
            done = sum(deck < config.decks for _, deck in store.done())
            is_over = StopWatch(config, store).is_over()
    except ValueError as error:
        return KnownRun(folder, date, f"cannot be read: {error}")
    wanted = len(make_lineups(config)) * config.decks
    state = "finished" if is_over or done >= wanted else "unfinished"
    hands = done * config.seats
    return KnownRun(
        folder,
        date,
        "being played" if is_locked(folder) else state,
        game_name(config.rules),
        config.format,
        config.names,
        hands,
        hands if is_over else wanted * config.seats,
    )


def _dated() -> list[tuple[float, Path]]:
    """Return the time of the last write and the folder of each run, the latest first."""
    return sorted(((date, folder) for folder in _folders() if (date := _date(folder)) is not None), reverse=True)


def _folders() -> Iterator[Path]:
    folder = runs_folder()
    if folder.is_dir():
        yield from (path for path in folder.iterdir() if path.is_dir())
    yield from map(Path, _noted())


def _noted() -> list[str]:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return list(dict.fromkeys((runs_folder() / _ELSEWHERE).read_text(encoding="utf-8").splitlines()))
    return []


def _date(folder: Path) -> float | None:
    """Return the time of a run's last write; None if the folder holds no run."""
    dates = []
    for name in ("run.sqlite", "run.sqlite-wal"):
        with contextlib.suppress(OSError):
            dates.append((folder / name).stat().st_mtime)
    return max(dates, default=None)
