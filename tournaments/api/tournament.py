"""Tournaments from Python: `run_tournament`, and `forecast_tournament`, which predicts intervals and duration."""

import contextlib
import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.tournaments.api.agent_spec import agent_specs
from plurispiel.tournaments.api.notes import Notes
from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.run.config import TournamentConfig, read_config
from plurispiel.tournaments.run.default_tournament import with_default_tournament
from plurispiel.tournaments.run.tournament_result import TournamentResult
from plurispiel.tournaments.run.tournament_run import RunOptions, TournamentRun, forecast

__all__ = ["forecast_tournament", "gather_settings", "run_tournament"]

_SETTINGS = [field.name for field in dataclasses.fields(TournamentConfig)]
_PROCESS_OPTIONS = ("isolate", "processes", "sandbox", "agent_network")


def run_tournament(
    agents: str | Iterable[str | type] | None = None,
    *,
    settings: str | Path | Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    fresh: bool = False,
    progress: bool = False,
    workers: int = 0,
    hands: str = "sample",
    labour: Labour | None = None,
    **options: Any,
) -> TournamentResult:
    """Return the results of a duplicate tournament after playing the hands that its run folder does not hold yet.

    Settings and results are those of ``plurispiel tournament`` with the same options. Worker processes import neither
    the calling script nor the current folder: a script needs no ``if __name__ == "__main__"``.

    Parameters
    ----------
    agents : str or iterable of str or type, optional
        Agent specs (``"tag,equity"`` or ``["tag", "my_bot.py:MyBot"]``); classes from modules stand for their specs.
        An instance, or a class of a notebook or the running script, is refused: each seat and process builds its own
        agent. If neither agents nor any of ``game``, ``seats``, ``format``, ``copies`` and ``lineups`` is given, the
        bundled blueprint plays each of five baselines (`default_tournament`).
    settings : path or mapping, optional
        A TOML file, or the same settings as a mapping; keyword arguments override them.
    out : path, optional
        Run folder; by default a folder in the user's data, named by a hash of the settings. Calling again with the same
        settings resumes the run.
    fresh : bool
        Delete the run that the folder holds, and start over.
    progress : bool
        Print notes and a progress bar on standard error.
    workers : int
        Worker processes; 0 for one per processor, 1 to play in this process.
    hands : {"sample", "all", "none"}
        Hands to store and write to ``hands.phhs``. A sample holds the first 20 decks of every line-up, and every group
        with a fault.
    labour : Labour, optional
        Plays the hands in place of worker processes: a `Cluster`, or another library's executor as a `Borrowed`.
    **options
        Settings of the tournament, by the names of `TournamentConfig`: ``game``, ``seats``, ``format``, ``copies``,
        ``lineups``, ``decks``, ``seed``, ``deals``, ``believe``, ``referee``, ``on_fault``, ``score``, ``values``,
        ``stop_when``, ``max_faults``, ``time_limit``, ``memory_limit``. The defaults are those of `TournamentConfig`,
        with two exceptions. With an agent from outside, ``deals`` is ``once`` if there is no sandbox or if
        ``agent_network`` is true. The default tournament has its own ``decks`` and ``values``.

        Further, the options of agents in their own processes:

        - ``isolate``: the agents that run in their own processes, ``foreign`` for those from outside the package (the
          default), or ``all``;
        - ``processes``: the processes of an agent from outside: ``rotation``, one process for each rotation, or
          ``one``, a single process (by default ``rotation``, but ``one`` with ``deals="once"``);
        - ``sandbox``: ``bwrap``, ``none`` or ``auto`` (the default), which uses bubblewrap where it works, and warns
          otherwise;
        - ``agent_network``: whether agents in the sandbox may use the network (default: False).

    Raises
    ------
    TypeError
        If `options` holds an unknown name.
    ValueError
        For settings or agents that ``plurispiel tournament`` would refuse, with the same message.
    WorkerFailed, RefereeDisagrees, RunAborted
        Errors that end the run; the blocks stored before stay.
    KeyboardInterrupt
        The blocks stored before stay: the same call resumes the run.

    Notes
    -----
    This process knows all cards. If an agent runs in its own process, the calling process therefore closes its memory
    to other processes of the same user. Then core dumps of the caller and debuggers that attach to it fail as well.

    >>> result = run_tournament("call,raise", decks=8, seed=1, score="duplicate", workers=1)
    >>> result["call"].hands, result["call"].faults
    (16, 0)
    """
    processes = _take_process_options(options)
    chosen = gather_settings(agents, settings, options)
    notes = Notes(progress)
    how = RunOptions(
        workers=workers,
        hands=hands,
        out=Path(out) if out else None,
        fresh=fresh,
        settings_file=_file_of(settings),
        **processes,
    )
    with contextlib.closing(TournamentRun(chosen, how, notes.say, notes.warn)) as run:
        run.play(progress=progress, labour=labour)
        return dataclasses.replace(run.finish(), notes=tuple(notes.lines))


def forecast_tournament(
    agents: str | Iterable[str | type] | None = None,
    *,
    settings: str | Path | Mapping[str, Any] | None = None,
    progress: bool = False,
    workers: int = 0,
    **options: Any,
) -> dict[str, Any]:
    """Return the expected intervals, hands and duration of a tournament, from a short pilot on other decks.

    The parameters are those of `run_tournament` without ``out``, ``fresh``, ``hands`` and ``labour``. The errors are
    the same. No run is stored. The result is the record that ``plurispiel tournament --dry-run --json`` prints
    (`dry_run.expect`).
    """
    notes = Notes(progress)
    how = RunOptions(
        workers=workers,
        settings_file=_file_of(settings),
        keeps_run=False,
        **_take_process_options(options),
    )
    return forecast(gather_settings(agents, settings, options), how, notes.say, notes.warn)


def gather_settings(
    agents: str | Iterable[str | type] | None,
    settings: str | Path | Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Return arguments of `TournamentConfig`: the settings of a file or mapping, overridden by `agents` and `options`.

    `with_default_tournament` completes them.

    Raises
    ------
    TypeError
        If an option is no setting of a tournament.
    ValueError
        If the settings file cannot be read, or an agent is neither a spec nor an importable class.
    """
    for name in options:
        if name not in _SETTINGS:
            raise TypeError(f"a tournament has no setting {name!r}{suggestion(name, [*_SETTINGS, *_PROCESS_OPTIONS])}")
    if isinstance(settings, Mapping):
        chosen = dict(settings)
    else:
        if settings is not None and not str(settings).endswith(".toml"):
            raise ValueError(f"settings are a .toml file, got {str(settings)!r}; give agents by the option agents")
        chosen = read_config(Path(settings)) if settings is not None else {}
    chosen |= options
    if agents is not None:
        chosen["agents"] = agents
    for name in ("agents", "believe"):
        if name in chosen:
            chosen[name] = tuple(agent_specs(chosen[name], name))
    return with_default_tournament(chosen)


def _file_of(settings: str | Path | Mapping[str, Any] | None) -> Path | None:
    return None if settings is None or isinstance(settings, Mapping) else Path(settings)


def _take_process_options(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of agents in their own processes from `options`, and return them."""
    return {name: options.pop(name) for name in _PROCESS_OPTIONS if name in options}
