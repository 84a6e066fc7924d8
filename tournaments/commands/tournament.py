"""`plurispiel tournament`: settings, run folder, progress and results."""

import argparse
import contextlib
import dataclasses
import functools
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.files import writing_atomically
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.agents.specs import agent_digest, game_note, make_agent, parse_spec, split_specs, try_stored
from plurispiel.evaluation.hand import AgentFault
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.evaluation.value_choice import eligible_values, make_value_function, values_note
from plurispiel.evaluation.value_choice import warmup as warmup_values
from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, INTERRUPTED
from plurispiel.tournaments.commands.messages import say, say_all
from plurispiel.tournaments.contestants.process import close_to_others
from plurispiel.tournaments.contestants.sandbox import Sandbox, unprotected, working_sandbox
from plurispiel.tournaments.contestants.trial import try_to_load
from plurispiel.tournaments.formats.phh import write_phh
from plurispiel.tournaments.run.block_player import Conduct, Groups, RunAborted, make_contestant
from plurispiel.tournaments.run.config import TournamentConfig, read_config
from plurispiel.tournaments.run.default_tournament import with_default_tournament
from plurispiel.tournaments.run.dry_run import dry_run_text, expect, pilot_of
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.kernels import LOADING, warmup_play
from plurispiel.tournaments.run.known_runs import note_run, runs_folder
from plurispiel.tournaments.run.processes import process_notes
from plurispiel.tournaments.run.results import Tally, make_results, printable, results_text, table_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, Block, make_lineups
from plurispiel.tournaments.run.stop_watch import StopWatch
from plurispiel.tournaments.run.store import RunRefused, RunStore
from plurispiel.tournaments.run.workers import WorkerFailed


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    with contextlib.redirect_stdout(sys.stderr):  # an agent that prints must not write into the results
        code, results, folder = _run(options)
    if results is not None:
        table = dry_run_text if options.dry_run else table_text
        print(results_text(results) if options.json else table(results))
    if folder is not None and not options.json:
        print(f"\nplurispiel report {shlex.quote(str(folder))}")
    return code


def _run(options: argparse.Namespace) -> tuple[int, dict[str, Any] | None, Path | None]:
    """Play what is missing; return the exit code, and results and folder of a run that came to its end."""
    close_to_others()  # we know what is dealt
    settings = settings_of(options)
    config = TournamentConfig(**settings)
    if not 0 <= options.workers <= MAX_WORKERS:
        raise ValueError(f"workers must not be negative nor above {MAX_WORKERS:,}, got {options.workers}")
    sandbox = _sandbox(config, options)
    notes = _check_agents(config, Conduct(isolate=options.isolate, sandbox=sandbox))
    if config.outsiders and not settings.get("deals") and (sandbox is None or sandbox.network):
        config = dataclasses.replace(config, deals="once")
        notes.append(
            "each rotation has a deck of its own, as agents from outside could tell each other what they saw "
            f"{'over the network' if sandbox else 'without a sandbox'} (--decks shared deals all rotations one deck)"
        )
    if config.outsiders and config.deals == "shared":
        notes.append(
            "all rotations of a group are dealt one deck, of which processes of one agent could tell each other by "
            "signals that no sandbox stops: against agents that may mean harm, --decks once leaves nothing to tell"
        )
    if config.uses_aivat and not settings.get("values"):
        notes += filter(None, [values_note(config.values)])
        config = _with_values_of_the_run(config, options)
    if config.uses_aivat:
        make_value_function(config.values, config.rules)
    if config.outsiders and not config.draws_key:
        notes.append(
            f"seed {config.seed}: an agent from outside that knows or guesses it can deal the decks and match its own "
            "cards; without --seed the run draws a key"
        )
    if options.dry_run:
        say_all(notes)
        return 0, _dry_run(config, options, sandbox), None
    with contextlib.closing(RunStore(_folder(config, options), config, fresh=options.fresh)) as store:
        note_run(store.folder)
        say_all(notes)
        code = _finish(config, store, options, sandbox)
        if code:
            return code, None, None
        store.tell_key()
        results = make_results(config, store)
        store.write("results.json", results_text(results))
        if options.hands != "none":
            _write_hands(store.folder)
        if (store.folder / "logs").is_dir():
            say(f"what agents printed is in {store.folder / 'logs'}")
        for number, message in sorted(store.first_faults().items()):
            say(printable(_fault_report(config, results["agents"][number], message)))
        return (FAULT_LIMIT if any(agent["retired"] for agent in results["agents"]) else 0), results, store.folder


def _sandbox(config: TournamentConfig, options: argparse.Namespace) -> Sandbox | None:
    """Return what agents with processes of their own see; None if none has, or they see all, which a line says."""
    conduct = Conduct(isolate=options.isolate)
    if not any(map(conduct.is_isolated, config.agents)):
        return None
    sandbox = working_sandbox(options.sandbox, network=options.agent_network)
    if sandbox is None:
        say(printable(unprotected(options.sandbox)))
        return None
    return sandbox.hiding(*(Path(path) for path in (options.config, options.out) if path))


def _dry_run(config: TournamentConfig, options: argparse.Namespace, sandbox: Sandbox | None) -> dict[str, Any]:
    """Play other decks of the same tournament and return what to expect of it."""
    pilot = pilot_of(config)
    say(f"dry run: {pilot.decks} other decks of each line-up")
    _load_kernels(config)
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(RunStore(Path(folder), pilot)) as store:
        workers, hiding = options.workers or num_processors(), sandbox.hiding(store.folder) if sandbox else None
        conduct = Conduct(workers, options.isolate, processes=_processes(config, options), sandbox=hiding)
        play_run(pilot, store, conduct)
        return expect(config, pilot, store)


def _write_hands(folder: Path) -> None:
    try:
        with writing_atomically(folder / "hands.phhs") as stream:
            write_phh(stream, stored_hands(folder, check=False))
    except ValueError as error:
        say(f"no hands.phhs: {error} (plurispiel export --format acpc writes the hands that were kept)")


def _fault_report(config: TournamentConfig, agent: dict[str, Any], message: str) -> str:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in agent["faults_by_kind"].items())
    price = {"repair": "each answer replaced by the nearest legal one"}.get(
        config.on_fault, "checking or folding to the end of those hands"
    )
    end = f"; its seat only folded after that ({config.max_faults} are the limit)" if agent["retired"] else ""
    return (
        f"{agent['name']} committed {agent['faults']:,} faults ({kinds}), {price}{end}; the first: {printable(message)}"
    )


def _check_agents(config: TournamentConfig, conduct: Conduct) -> list[str]:
    """Build every agent once, those from outside in their own processes; return what there is to say of them."""
    notes = []
    for number, spec in enumerate(config.agents):
        if spec in config.agents[:number]:
            continue
        if note := game_note(spec, config.rules):
            notes.append(f"{config.names[number]}: {note}")
        undisturbed(functools.partial(try_stored, spec, config.rules))
        if not conduct.is_isolated(spec):
            make_agent(spec)
            continue
        with contextlib.closing(make_contestant(config, conduct, number)) as contestant:
            try_to_load(contestant)
            if parse_spec(spec).name == "openspiel":  # whether it can play the game shows only when a hand begins
                try:
                    contestant.restart(config.rules, 0, np.random.default_rng(0))
                except AgentFault as fault:
                    raise ValueError(fault.message) from None
    return notes


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the file, if one was given, with the options over them."""
    if options.config and not options.config.endswith(".toml"):
        raise ValueError(f"settings are a .toml file, got {options.config!r}; agents are written --agents a,b,c")
    settings = read_config(Path(options.config)) if options.config else {}
    given = vars(options)
    for field in dataclasses.fields(TournamentConfig):
        if field.name in given:
            value = given[field.name]
            if field.name in ("agents", "believe"):
                value = tuple(spec for text in value for spec in split_specs(text))
            settings[field.name] = value
    return with_default_tournament(settings)


def _with_values_of_the_run(config: TournamentConfig, options: argparse.Namespace) -> TournamentConfig:
    """Return the settings with the values that the run was begun with, if it was and no others are asked for.

    Others may be chosen now: a bucket table was built since, or is gone.

    Raises
    ------
    ValueError
        If these values cannot be found any more.
    """
    if options.fresh or options.dry_run:
        return config
    begun = Path(options.out) if options.out else None
    for values in eligible_values(config.rules) if begun is None else filter(None, [_values_of(begun)]):
        try:
            agent_digest(values)
        except ValueError as error:
            title = parse_spec(values).title
            raise type(error)(
                f"the run in {begun} was begun with {title} values, which cannot be found now ({error}); give another "
                "--out, or start over with --fresh"
            ) from None
        found = dataclasses.replace(config, values=values)
        folder = _folder(found, options)
        with contextlib.suppress(ValueError), contextlib.closing(RunStore.reading(folder)) as store:
            if store.facts["digest"] == found.digest:
                if values != config.values:
                    say(f"goes on with the values that the run was begun with, {parse_spec(values).title}")
                return found
    return config


def _values_of(folder: Path) -> str:
    """Return the values that a run was begun with; empty if there is none, or it has none."""
    with contextlib.suppress(ValueError), contextlib.closing(RunStore.reading(folder)) as store:
        return store.config.values
    return ""


def _folder(config: TournamentConfig, options: argparse.Namespace) -> Path:
    """Return the run folder."""
    return Path(options.out) if options.out else runs_folder() / config.digest


def _finish(config: TournamentConfig, store: RunStore, options: argparse.Namespace, sandbox: Sandbox | None) -> int:
    """Play what the run folder does not hold yet and return the exit code."""
    lineups = make_lineups(config)
    total = len(lineups) * config.decks * config.seats
    done = sum(deck < config.decks for _, deck in store.done()) * config.seats
    num_blocks = -(-(total - done) // (BLOCK_DECKS * config.seats))
    workers = min(options.workers or num_processors(), max(1, num_blocks))
    source = "a key of its own" if config.draws_key else f"seed {config.seed}"
    say(
        f"{config.format} of {len(config.agents)} agents, {config.seats} seats, {len(lineups)} line-up"
        f"{'s' * (len(lineups) > 1)} x {config.decks} decks x {config.seats} rotations = {total:,} hands; "
        f"{source}, referee {config.referee}" + (f", AIVAT with {config.values} values" * config.uses_aivat)
    )
    say(f"run folder {store.folder}" + (f", {done:,} hands already there" if done else ""))
    is_over = StopWatch(config, store).is_over()
    if is_over or done == total:
        say("nothing left to play: these are the results of that run (--fresh plays it again)")
        return 0
    try:
        say(f"kernels ready after {_load_kernels(config):.1f} s; playing with {workers} worker{'s' * (workers > 1)}")
        conduct = Conduct(
            workers,
            options.isolate,
            options.hands,
            store.folder / "logs",
            _processes(config, options),
            sandbox.hiding(store.folder) if sandbox else None,
        )
        say_all(process_notes(config, conduct))
        _play(config, store, conduct, total, done)
    except KeyboardInterrupt:
        say(f"interrupted; what was played is stored. To go on:\n  {_resume_command(store, options)}")
        return INTERRUPTED
    except (WorkerFailed, RefereeDisagrees, RunAborted, RunRefused) as error:
        say(printable(f"plurispiel tournament: {error}"))
        return FAILED
    return 0


def _processes(config: TournamentConfig, options: argparse.Namespace) -> str:
    """Return how many processes an agent from outside has: one where there is nothing to remember."""
    return options.processes or ("one" if config.deals == "once" else "rotation")


def _load_kernels(config: TournamentConfig) -> float:
    """Compile what a tournament needs, once for all workers, and return the seconds it took."""
    say(LOADING)
    start = time.perf_counter()
    warmup_play(config.agents, config.rules)
    if config.uses_aivat:
        undisturbed(lambda: warmup_values(config.values, config.rules))
    return time.perf_counter() - start


def _play(config: TournamentConfig, store: RunStore, conduct: Conduct, total: int, done: int) -> None:
    tallies = [Tally() for _ in config.agents]
    per_chip = 1000.0 / config.rules.big_blind
    with progress_bar(total=total, initial=done, unit="hand", unit_scale=True, smoothing=0.1) as progress:

        def show(block: Block, groups: Groups) -> None:
            for group in groups:
                for number, score in group.items():
                    if number < len(tallies):  # not the Control
                        tallies[number].add(score.estimate / score.hands * per_chip)
            leader = max(
                (number for number, tally in enumerate(tallies) if tally.groups),
                key=lambda number: tallies[number].total / tallies[number].groups,
            )
            progress.set_postfix_str(f"{config.names[leader]} {tallies[leader].text()} mbb/hand", refresh=False)
            progress.update(len(groups) * config.seats)

        play_run(config, store, conduct, show)


def _resume_command(store: RunStore, options: argparse.Namespace) -> str:
    folder = shlex.quote(str(store.folder.absolute()))
    settings = shlex.quote(str(store.folder.absolute() / "config.toml"))
    workers = f" --workers {options.workers}" if options.workers else ""
    defaults = {"isolate": "foreign", "sandbox": "auto", "hands": "sample", "processes": None}
    others = "".join(
        f" --{name} {getattr(options, name)}" for name, value in defaults.items() if getattr(options, name) != value
    )
    others += " --agent-network" * options.agent_network
    return f"plurispiel tournament {settings} --out {folder}{workers}{others}" + (" --json" if options.json else "")
