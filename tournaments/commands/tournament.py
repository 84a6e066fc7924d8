"""`plurispiel tournament`: settings, run folder, progress and results."""

import argparse
import contextlib
import dataclasses
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from plurispiel.agents.specs import make_agent, parse_spec, split_specs
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.tournaments.config import TournamentConfig, read_config
from plurispiel.tournaments.results import Tally, make_results, results_text, table_text
from plurispiel.tournaments.runner import Groups, WorkerFailed, default_workers, run_tournament
from plurispiel.tournaments.schedule import BLOCK_DECKS, Block, make_lineups
from plurispiel.tournaments.store import RunRefused, RunStore
from plurispiel.tournaments.warmup import warmup


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    with contextlib.redirect_stdout(sys.stderr):  # an agent that prints must not write into the results
        code, results = _run(options)
    if results is not None:
        print(results_text(results) if options.json else table_text(results))
    return code


def _run(options: argparse.Namespace) -> tuple[int, dict[str, Any] | None]:
    """Play what is missing; return the exit code, and the results of a run that came to its end."""
    config = config_of(options)
    for spec in dict.fromkeys(config.agents):
        agent = make_agent(spec)
        if parse_spec(spec).name == "openspiel":  # whether it can play the game shows only when a hand begins
            agent.restart(config.rules, 0, np.random.default_rng(0))
    if options.workers < 0:
        raise ValueError(f"workers must not be negative, got {options.workers}")
    folder = Path(options.out) if options.out else user_data_folder() / "runs" / config.digest
    with contextlib.closing(RunStore(folder, config, fresh=options.fresh)) as store:
        code = _finish(config, store, options)
        if code:
            return code, None
        results = make_results(config, store)
        store.write("results.json", results_text(results))
        for number, message in sorted(store.first_faults().items()):
            agent = results["agents"][number]
            _say(
                f"{agent['name']} committed {agent['faults']:,} faults, checking or folding to the end of those hands; "
                f"the first: {message}"
            )
        return 0, results


def config_of(options: argparse.Namespace) -> TournamentConfig:
    """Return the settings of the file, if one was given, with the options over them."""
    if options.config and not options.config.endswith(".toml"):
        raise ValueError(f"settings are a .toml file, got {options.config!r}; agents are written --agents a,b,c")
    settings = read_config(Path(options.config)) if options.config else {}
    given = vars(options)
    for field in dataclasses.fields(TournamentConfig):
        if field.name in given and field.name != "agents":
            settings[field.name] = given[field.name]
    if "agents" in given:
        settings["agents"] = tuple(spec for text in given["agents"] for spec in split_specs(text))
    return TournamentConfig(**settings)


def user_data_folder() -> Path:
    """Return the folder for what users keep: PLURISPIEL_HOME, else the platform's folder for user data."""
    if chosen := os.environ.get("PLURISPIEL_HOME"):
        return Path(chosen)
    if os.name == "nt":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "plurispiel"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "plurispiel"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "plurispiel"


def _finish(config: TournamentConfig, store: RunStore, options: argparse.Namespace) -> int:
    """Play what the run folder does not hold yet and return the exit code."""
    lineups = make_lineups(config)
    total = len(lineups) * config.decks * config.seats
    done = sum(deck < config.decks for _, deck in store.done()) * config.seats
    num_blocks = -(-(total - done) // (BLOCK_DECKS * config.seats))
    workers = min(options.workers or default_workers(), max(1, num_blocks))
    _say(
        f"{config.format} of {len(config.agents)} agents, {config.seats} seats, {len(lineups)} line-up"
        f"{'s' * (len(lineups) > 1)} x {config.decks} decks x {config.seats} rotations = {total:,} hands; "
        f"seed {config.seed}, referee {config.referee}"
    )
    _say(f"run folder {store.folder}" + (f", {done:,} hands already there" if done else ""))
    if done == total:
        _say("nothing left to play: these are the results of that run (--fresh plays it again)")
        return 0
    try:
        _say("loading kernels (the first run on a machine compiles them) ...")
        _say(f"kernels ready after {warmup():.1f} s; playing with {workers} worker{'s' * (workers > 1)}")
        _play(config, store, workers, total, done)
    except KeyboardInterrupt:
        _say(f"interrupted; what was played is stored. To go on:\n  {_resume_command(store, options)}")
        return 130
    except (WorkerFailed, RefereeDisagrees, RunRefused) as error:
        _say(f"plurispiel tournament: {error}")
        return 1
    return 0


def _play(config: TournamentConfig, store: RunStore, workers: int, total: int, done: int) -> None:
    tallies = [Tally() for _ in config.agents]
    per_chip = 1000.0 / config.rules.big_blind
    with tqdm(total=total, initial=done, unit="hand", unit_scale=True, smoothing=0.1, dynamic_ncols=True) as progress:

        def show(block: Block, groups: Groups) -> None:
            for group in groups:
                for number, score in group.items():
                    tallies[number].add(score.chips / score.hands * per_chip)
            leader = max(
                (number for number, tally in enumerate(tallies) if tally.groups),
                key=lambda number: tallies[number].total / tallies[number].groups,
            )
            progress.set_postfix_str(f"{config.names[leader]} {tallies[leader].text()} mbb/hand", refresh=False)
            progress.update(block.num_decks * config.seats)

        run_tournament(config, store, workers, show)


def _resume_command(store: RunStore, options: argparse.Namespace) -> str:
    folder = shlex.quote(str(store.folder.absolute()))
    settings = shlex.quote(str(store.folder.absolute() / "config.toml"))
    workers = f" --workers {options.workers}" if options.workers else ""
    return f"plurispiel tournament {settings} --out {folder}{workers}" + (" --json" if options.json else "")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
