"""`plurispiel tournament`: play the `TournamentRun` that the options describe, and print a table or JSON."""

import argparse
import contextlib
import dataclasses
import shlex
import sys
from pathlib import Path
from typing import Any

from plurispiel.agents.specs import split_specs
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.tournaments.api.tournament import gather_settings
from plurispiel.tournaments.commands.connection import cluster_words, labour_of
from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.labour.work import Labour, WorkerFailed
from plurispiel.tournaments.run.block_player import RunAborted
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.dry_run import dry_run_text
from plurispiel.tournaments.run.results import printable, results_text, table_text
from plurispiel.tournaments.run.store import RunRefused
from plurispiel.tournaments.run.tournament_run import RunOptions, TournamentRun, forecast


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    as_json = options.json
    with contextlib.redirect_stdout(sys.stderr):  # an agent that prints must not write into the results
        settings, how = _settings(options), _run_options(options)
        if options.dry_run:
            if options.cluster:
                raise ValueError("a dry run plays on this machine; leave out --cluster")
            expected = forecast(settings, how, say, say)
        else:
            with labour_of(options) as labour:
                code, results, folder = _play(settings, how, labour, cluster_words(options) + " --json" * as_json)
    if options.dry_run:
        print(results_text(expected) if as_json else dry_run_text(expected))
        return 0
    if results is not None:
        print(results_text(results) if as_json else table_text(results))
        if not as_json:
            print(f"\nplurispiel report {shlex.quote(str(folder))}")
    return code


def _play(
    settings: dict[str, Any], how: RunOptions, labour: Labour | None, suffix: str
) -> tuple[int, dict[str, Any] | None, Path]:
    """Play the missing hands; return the exit code, the results (None if the run did not end) and the run folder.

    Parameters
    ----------
    labour : Labour or None
        Plays the hands; None for worker processes of this machine.
    suffix : str
        Appended to the command that resumes an interrupted run.
    """
    with contextlib.closing(TournamentRun(settings, how, say, say)) as run:
        folder = run.store.folder
        try:
            run.play(progress=True, labour=labour)
        except KeyboardInterrupt:
            say(f"interrupted; what was played is stored. To continue:\n  {_resume_command(folder, how)}{suffix}")
            return INTERRUPTED, None, folder
        except (WorkerFailed, RefereeDisagrees, RunAborted, RunRefused) as error:
            say(printable(f"plurispiel tournament: {error}"))
            return FAILED, None, folder
        result = run.finish()
    return (FAULT_LIMIT if any(agent.retired for agent in result.agents) else 0), result.record, folder


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the file, if one is given, overridden by the options and completed (`gather_settings`)."""
    given = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(TournamentConfig)
        if hasattr(options, field.name)
    }
    for name in ("agents", "believe"):
        if name in given:
            given[name] = [spec for text in given[name] for spec in split_specs(text)]
    return gather_settings(None, options.config or None, given)


def _run_options(options: argparse.Namespace) -> RunOptions:
    return RunOptions(
        workers=options.workers,
        hands=options.hands,
        isolate=options.isolate,
        processes=options.processes,
        sandbox=options.sandbox,
        agent_network=options.agent_network,
        out=Path(options.out) if options.out else None,
        fresh=options.fresh,
        settings_file=Path(options.config) if options.config else None,
        keeps_run=not options.dry_run,
    )


def _resume_command(folder: Path, how: RunOptions) -> str:
    """Return the command that resumes a run; all its paths are absolute."""
    path = shlex.quote(str(folder.absolute()))
    settings = shlex.quote(str(folder.absolute() / "config.toml"))
    defaults = RunOptions()
    others = "".join(
        f" --{name} {getattr(how, name)}"
        for name in ("workers", "isolate", "sandbox", "hands", "processes")
        if getattr(how, name) != getattr(defaults, name)
    )
    return f"plurispiel tournament {settings} --out {path}{others}" + " --agent-network" * how.agent_network
