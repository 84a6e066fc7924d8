"""A tournament from settings to results: the steps that check the agents, open the run folder and play the hands."""

import contextlib
import dataclasses
import functools
import hashlib
import numbers
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.machine.files import writing_atomically
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.agents.agent_files import agent_digest, agent_files
from plurispiel.agents.factory import game_note, make_agent, try_stored
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.hand import AgentFault
from plurispiel.evaluation.value_choice import eligible_values, make_value_function, values_note
from plurispiel.evaluation.value_choice import warmup as warmup_values
from plurispiel.tournaments.contestants.outside_options import open_sandbox
from plurispiel.tournaments.contestants.sandbox import CHOICES, Sandbox
from plurispiel.tournaments.contestants.trial import try_to_load
from plurispiel.tournaments.formats.phh import write_phh
from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.run.block_player import Conduct, make_contestant
from plurispiel.tournaments.run.compilation import play_compiled_beside
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.dry_run import expect, pilot_of
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.kernels import LOADING, warmup_play
from plurispiel.tournaments.run.known_runs import note_run, runs_folder
from plurispiel.tournaments.run.processes import process_notes
from plurispiel.tournaments.run.results import Tally, event_notes, make_results, printable, results_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, Block, make_lineups
from plurispiel.tournaments.run.stop_watch import StopWatch
from plurispiel.tournaments.run.store import RunStore
from plurispiel.tournaments.run.tournament_result import TournamentResult

__all__ = ["RunOptions", "Say", "TournamentRun", "forecast", "prepare"]

Say = Callable[[str], object]
"""A function that shows the user one line of text."""


_TYPES = (
    ("workers", numbers.Integral, "a whole number"),
    ("fresh", bool, "true or false"),
    ("agent_network", bool, "true or false"),
)
"""Options whose type is checked, with the type and its words."""


@dataclass(frozen=True)
class RunOptions:
    """How a tournament is played and where it is stored.

    No option changes the results of given settings, unless an agent remembers hands, or depends on time or files.
    Without a sandbox, or with `agent_network`, the setting ``deals`` of a run with outside agents is ``once`` by
    default.

    Attributes
    ----------
    workers, hands, isolate, processes, sandbox, agent_network, out, fresh
        See `run_tournament`.
    settings_file : Path, optional
        The file that the settings come from; the sandbox hides that file from agents.
    hidden : tuple of Path
        Further files and folders that the sandbox hides from agents.
    keeps_run : bool
        Whether the run is kept in a run folder; False for a forecast and for a mere check of agents.
    is_listed : bool
        Whether the run is listed among the user's runs (`known_runs`).

    Raises
    ------
    ValueError
        If an option is not allowed.
    """

    workers: int = 0
    hands: str = "sample"
    isolate: str = "foreign"
    processes: str | None = None
    sandbox: str = "auto"
    agent_network: bool = False
    out: Path | None = None
    fresh: bool = False
    settings_file: Path | None = None
    hidden: tuple[Path, ...] = ()
    keeps_run: bool = True
    is_listed: bool = True

    def __post_init__(self):
        for name, kind, words in _TYPES:
            value = getattr(self, name)
            if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
                raise ValueError(f"{name} must be {words}, got {getattr(self, name)!r}")
        if not 0 <= self.workers <= MAX_WORKERS:
            raise ValueError(f"workers must be 0..{MAX_WORKERS:,} (0: one for each processor), got {self.workers}")
        choices = {
            "hands": ("sample", "all", "none"),
            "isolate": ("foreign", "all"),
            "processes": (None, "rotation", "one"),
            "sandbox": CHOICES,
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                texts = ", ".join(filter(None, allowed))
                raise ValueError(f"{name} must be one of {texts}, got {getattr(self, name)!r}")


class TournamentRun:
    """A tournament with its agents checked and its run folder open.

    Parameters
    ----------
    settings : mapping
        Arguments of `TournamentConfig`.
    options : RunOptions
        How to play the tournament, and where to store it.
    say : callable
        Called with each line for the user.
    warn : callable
        Called with the warning that agents run without a sandbox.

    Attributes
    ----------
    config : TournamentConfig
        The settings with all defaults filled in.
    store : RunStore
        The run folder, open and locked until `close`.

    Raises
    ------
    ValueError
        If the settings contradict each other, the sandbox does not work, an agent does not load, or the folder cannot
        be used (`RunStore`).
    """

    def __init__(self, settings: Mapping[str, Any], options: RunOptions, say: Say, warn: Say):
        self._options = options
        self._say = say
        prepared = prepare(settings, options, say, warn)
        self.config, self._sandbox = prepared.config, prepared.sandbox
        self.store = RunStore(_folder(self.config, options), self.config, fresh=options.fresh)
        try:
            if options.is_listed:
                note_run(self.store.folder)
            for number in prepared.silent:
                self.store.note("silent", str(number))
            for note in prepared.notes:
                say(note)
        except BaseException:
            self.close()  # else the folder would stay locked by this process
            raise

    def close(self) -> None:
        """Close the run folder and release its lock."""
        self.store.close()

    def play(self, *, progress: bool, labour: Labour | None = None) -> None:
        """Play the hands that are not stored yet, until all are stored or the run's stop rule holds.

        Parameters
        ----------
        progress : bool
            Whether to show a progress bar.
        labour : Labour, optional
            The executor that plays the hands; None for worker processes of this machine, or with one worker this
            process.

        Raises
        ------
        WorkerFailed, RefereeDisagrees, RunAborted
            Errors that end the run; the blocks stored before stay.
        RunRefused
            If the run folder cannot be used any more, or its groups were scored with another value function.
        """
        config, store, say = self.config, self.store, self._say
        lineups = make_lineups(config)
        total = len(lineups) * config.decks * config.seats
        done = sum(deck < config.decks for _, deck in store.done()) * config.seats
        source = "a secret key" if config.draws_key else f"seed {config.seed}"
        say(
            f"{config.format} of {len(config.agents)} agents, {config.seats} seats, {len(lineups)} line-up"
            f"{'s' * (len(lineups) > 1)} x {config.decks} decks x {config.seats} rotations = {total:,} hands; "
            f"{source}, referee {config.referee}" + (f", AIVAT with {config.values} values" * config.uses_aivat)
        )
        say(f"run folder {store.folder}" + (f", {done:,} hands already there" if done else ""))
        if StopWatch(config, store).is_over() or done == total:
            say("nothing left to play: these are the results of that run (the option fresh plays it again)")
            return
        num_blocks = -(-(total - done) // (BLOCK_DECKS * config.seats))
        workers = labour.slots if labour else min(self._options.workers or num_processors(), max(1, num_blocks))
        seconds = _load_kernels(config, say)
        places = "slot" if labour else "worker"
        say(f"kernels ready after {seconds:.1f} s; playing with {workers} {places}{'s' * (workers > 1)}")
        conduct = Conduct(
            workers,
            self._options.isolate,
            self._options.hands,
            store.folder / "logs",
            _processes(config, self._options),
            self._sandbox.hiding(store.folder) if self._sandbox else None,
        )
        for note in process_notes(config, conduct):
            say(printable(note))
        _play(config, store, conduct, labour, total=total, done=done, progress=progress)

    def finish(self) -> TournamentResult:
        """Write the results into the run folder and return them."""
        config, store, say = self.config, self.store, self._say
        store.publish_key()
        results = make_results(config, store)
        store.write("results.json", results_text(results))
        if self._options.hands != "none":
            _write_hands(store.folder, say)
        if (store.folder / "logs").is_dir():
            say(f"the output of agents is in {store.folder / 'logs'}")
        for number, message in sorted(store.first_faults().items()):
            say(printable(_fault_report(config, results["agents"][number], message)))
        for agent in results["agents"]:
            for text in event_notes(agent):
                say(printable(f"{agent['name']}: {text}"))
        return TournamentResult(results, store.folder)


def forecast(settings: Mapping[str, Any], options: RunOptions, say: Say, warn: Say) -> dict[str, Any]:
    """Return the predictions for a tournament (`dry_run.expect`), from a pilot on decks that it does not deal.

    Raises
    ------
    ValueError
        As in `prepare`.
    WorkerFailed, RefereeDisagrees, RunAborted
        Errors that end the pilot.
    """
    config, sandbox, notes, _ = prepare(settings, options, say, warn)
    for note in notes:
        say(note)
    pilot = pilot_of(config)
    say(f"dry run: a pilot of {pilot.decks} decks of each line-up, which the tournament does not deal")
    _load_kernels(config, say)
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(RunStore(Path(folder), pilot)) as store:
        workers, hiding = options.workers or num_processors(), sandbox.hiding(store.folder) if sandbox else None
        conduct = Conduct(workers, options.isolate, processes=_processes(config, options), sandbox=hiding)
        play_run(pilot, store, conduct)
        return expect(config, pilot, store)


class Prepared(NamedTuple):
    """A tournament whose agents were built.

    Attributes
    ----------
    config : TournamentConfig
        The settings with all defaults filled in.
    sandbox : Sandbox or None
        The agents' sandbox; None without one.
    notes : list of str
        Notes for the user.
    silent : list of int
        The numbers of the agents in their own processes that report no strategy.
    """

    config: TournamentConfig
    sandbox: Sandbox | None
    notes: list[str]
    silent: list[int]


def prepare(settings: Mapping[str, Any], options: RunOptions, say: Say, warn: Say) -> Prepared:
    """Return the settings with all defaults filled in, the sandbox, and notes on the agents.

    Every agent is built once, so that an agent that does not load is refused here. The parameters are those of
    `TournamentRun`.

    Raises
    ------
    ValueError
        If the settings contradict each other, the sandbox does not work, or an agent does not load.
    """
    config = TournamentConfig(**settings)
    sandbox = None
    if any(map(Conduct(isolate=options.isolate).is_isolated, config.agents)):
        sandbox = _open_sandbox(options, warn)
    conduct = Conduct(options.workers or num_processors(), options.isolate, sandbox=sandbox)
    with play_compiled_beside(say):
        notes, silent = _check_agents(config, conduct)
    if config.outsiders and not settings.get("deals") and (sandbox is None or sandbox.network):
        config = dataclasses.replace(config, deals="once")
        notes.append(
            "each rotation has its own deck, as agents from outside could tell each other the cards that they saw "
            f"{'over the network' if sandbox else 'without a sandbox'} (deals=shared deals one deck to all rotations)"
        )
    if config.outsiders and config.deals == "shared":
        notes.append(
            "all rotations of a group are dealt the same deck, and processes of an agent could tell each other the "
            "cards by signals that no sandbox stops; against agents that may cheat, deals=once (--decks once) deals "
            "each rotation its own deck"
        )
    if config.uses_aivat and not settings.get("values"):
        notes += filter(None, [values_note(config.values)])
        config = _with_values_of_the_run(config, options, say)
    if config.uses_aivat:
        make_value_function(config.values, config.rules)  # refuses values of another game before anything is played
    if config.outsiders and not config.draws_key:
        notes.append(
            f"seed {config.seed}: an agent from outside that knows or guesses the seed can compute all cards; "
            "without a seed the run draws a secret key"
        )
    return Prepared(config, sandbox, list(map(printable, notes)), silent)


def _open_sandbox(options: RunOptions, warn: Say) -> Sandbox | None:
    """Return the sandbox of agents in their own processes; None, after a warning, if they run without one."""
    sandbox = open_sandbox(options.sandbox, network=options.agent_network, warn=warn)
    return sandbox and sandbox.hiding(*filter(None, (options.settings_file, options.out)), *options.hidden)


def _check_agents(config: TournamentConfig, conduct: Conduct) -> tuple[list[str], list[int]]:
    """Build every agent once, isolated agents (`Conduct.is_isolated`) in their own processes.

    Returns
    -------
    (list of str, list of int)
        Notes about the agents, and the numbers of those in their own processes that report no strategy.
    """
    notes: list[str] = []
    silent: set[str] = set()
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
            try_to_load(contestant, config.rules)
            if contestant.learns and conduct.workers > 1:
                raise ValueError(
                    f"{config.names[number]} says that it learns during a match, which several workers would split; "
                    "play with one worker (--workers 1)"
                )
            if not contestant.tells:
                silent.add(spec)
            if parse_spec(spec).name == "openspiel":  # a bot of OpenSpiel refuses a game only when a hand begins
                try:
                    contestant.restart(config.rules, 0, np.random.default_rng(0))
                except AgentFault as fault:
                    raise ValueError(fault.message) from None
    return notes, [number for number, spec in enumerate(config.agents) if spec in silent]


def _with_values_of_the_run(config: TournamentConfig, options: RunOptions, say: Say) -> TournamentConfig:
    """Return the settings with the AIVAT values of the run that the folder holds.

    The default values may have changed since the run began, because a bucket table was built or deleted. The settings
    stay as they are with `fresh`, without `keeps_run`, without a run in the folder, or if that run differs in more than
    its values.

    Raises
    ------
    ValueError
        If the values of the run cannot be found any more.
    """
    if options.fresh or not options.keeps_run:
        return config
    begun = options.out
    for values in eligible_values(config.rules) if begun is None else filter(None, [_values_of(begun)]):
        try:
            agent_digest(values)
        except ValueError as error:
            title = parse_spec(values).title
            raise type(error)(
                f"the run in {begun} was begun with {title} values, which cannot be found now ({error}); give another "
                "folder (--out), or start over (--fresh)"
            ) from None
        same = dataclasses.replace(config, values=values)
        with contextlib.suppress(ValueError), contextlib.closing(RunStore.reading(_folder(same, options))) as store:
            if store.facts["digest"] == same.digest:
                if values != config.values:
                    say(f"the run continues with the values that it was begun with, {parse_spec(values).title}")
                return same
    return config


def _values_of(folder: Path) -> str:
    """Return the AIVAT values of the run in a folder; an empty text without AIVAT, or if the folder holds no run."""
    with contextlib.suppress(ValueError), contextlib.closing(RunStore.reading(folder)) as store:
        return store.config.values
    return ""


def _folder(config: TournamentConfig, options: RunOptions) -> Path:
    """Return the run folder: by default a folder named by the settings and by the folders of the agents' files.

    The digest of the settings covers the content of an agent's file alone. Equal files in two folders may import
    different modules; therefore the name of the run folder also depends on the agents' folders.
    """
    if options.out:
        return options.out
    folders = sorted({str(file.resolve().parent) for spec in config.agents for file in agent_files(spec)})
    if not folders:
        return runs_folder() / config.digest
    suffix = hashlib.sha256("\0".join(folders).encode(errors="surrogateescape")).hexdigest()[:6]
    return runs_folder() / f"{config.digest}-{suffix}"


def _processes(config: TournamentConfig, options: RunOptions) -> str:
    """Return ``rotation`` or ``one`` (`Conduct.processes`); by default ``one`` if no deck is dealt twice."""
    return options.processes or ("one" if config.deals == "once" else "rotation")


def _load_kernels(config: TournamentConfig, say: Say) -> float:
    """Load the kernels, and return the seconds that this took. Workers then find the kernels in the cache."""
    say(LOADING)
    start = time.perf_counter()
    warmup_play(config.agents, config.rules)
    if config.uses_aivat:
        undisturbed(lambda: warmup_values(config.values, config.rules))
    return time.perf_counter() - start


def _play(
    config: TournamentConfig,
    store: RunStore,
    conduct: Conduct,
    labour: Labour | None,
    *,
    total: int,
    done: int,
    progress: bool,
) -> None:
    """Play the missing groups; the progress bar shows the leader's rate over the hands of this call.

    Parameters
    ----------
    total, done : int
        Hands of the whole run, and hands already stored.
    """
    tally = Tally(len(config.agents), config.rules.big_blind)
    with progress_bar(
        total=total, initial=done, unit="hand", unit_scale=True, smoothing=0.1, disable=not progress
    ) as bar:

        def show(block: Block, rows: np.ndarray) -> None:
            if bar.disable:
                return
            tally.add(rows)
            leader = tally.leader()
            bar.set_postfix_str(f"{config.names[leader]} {tally.text(leader)} mbb/hand", refresh=False)
            bar.update(len(np.unique(rows["deck"])) * config.seats)

        play_run(config, store, conduct, show, labour)


def _write_hands(folder: Path, say: Say) -> None:
    try:
        with writing_atomically(folder / "hands.phhs") as stream:
            write_phh(stream, stored_hands(folder, check=False))
    except ValueError as error:
        say(f"no hands.phhs: {error} (plurispiel export --format acpc writes the hands that were kept)")


def _fault_report(config: TournamentConfig, agent: dict[str, Any], message: str) -> str:
    """Return the line on an agent's faults: their kinds, their penalty, and the message of the first fault."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in agent["faults_by_kind"].items())
    price = "checking or folding to the end of those hands"
    if config.on_fault == "repair":
        price = f"illegal actions replaced by the nearest legal ones, exceptions by a check or fold, else {price}"
    end = f"; its seat only folded after that ({config.max_faults} are the limit)" if agent["retired"] else ""
    return (
        f"{agent['name']} committed {agent['faults']:,} faults ({kinds}), {price}{end}; the first: {printable(message)}"
    )
