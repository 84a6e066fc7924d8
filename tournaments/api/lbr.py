"""Local best response from Python: `run_lbr`."""

import contextlib
import dataclasses
import functools
import numbers
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.abstraction.machine.versions import MAX_WORKERS
from plurispiel.agents.factory import make_agent, try_stored
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.hand import AgentFault
from plurispiel.evaluation.local_best_response import MENUS, Prober
from plurispiel.tournaments.api.agent_spec import agent_spec
from plurispiel.tournaments.api.notes import Notes
from plurispiel.tournaments.contestants.isolation import Isolation, isolate
from plurispiel.tournaments.contestants.outside_options import OutsideOptions, Say
from plurispiel.tournaments.contestants.trial import try_to_tell
from plurispiel.tournaments.labour.work import Labour
from plurispiel.tournaments.run.compilation import play_compiled_beside
from plurispiel.tournaments.run.folder_lock import locked
from plurispiel.tournaments.run.kernels import LOADING, PLAY, warmup, warmup_play
from plurispiel.tournaments.run.lbr_config import LbrConduct, LbrConfig
from plurispiel.tournaments.run.lbr_run import LbrRun
from plurispiel.tournaments.run.processes import count_notes
from plurispiel.tournaments.run.results import number_text

__all__ = ["LbrOutsideOptions", "LbrResult", "admit_agent", "check_amounts", "measure_lbr", "run_lbr"]

_SHOWN_EVERY_S = 2.0
"""Least seconds between two updates of the result on the progress bar: with many hands, computing it takes a while."""


@dataclass(frozen=True)
class LbrOutsideOptions(OutsideOptions):
    """How an agent from outside plays against local best response, with the defaults of the command line.

    Attributes
    ----------
    deals : {"shared", "once"}, optional
        Whether the four hands of a group share one deck, or each hand has its own. By default ``shared``, but ``once``
        with an agent from outside that has no sandbox, or may use the network.
    processes : {"rotation", "one"}, optional
        ``rotation``: in each worker, an agent from outside plays the four hands of a group in four processes. ``one``:
        one process plays all hands of a worker. By default ``rotation``, but ``one`` with ``deals="once"``.
    """

    deals: str | None = None
    processes: str | None = None


@dataclass(frozen=True)
class LbrResult:
    """The win rate of local best response against an agent: a lower bound on what the agent can lose.

    Rates are in mbb/hand, each with the half-width of its 95 % confidence interval (``ci95``). A half-width is None
    with a single group of hands.

    Attributes
    ----------
    agent : str
        The agent's name: its spec without a folder.
    menu : str
        The actions of local best response: a name of `MENUS`.
    hands : int
        Hands played, four in each group.
    mbb_per_hand, ci95 : float or None
        The rate with each showdown averaged over the agent's range (`GroupScore.expectation`).
    sd : float or None
        Standard deviation of `mbb_per_hand` in a single group of four hands; None if only one group was played.
    paid_mbb_per_hand, paid_ci95 : float or None
        The rate computed from the chips won at the table.
    aivat_mbb_per_hand, aivat_ci95 : float or None
        The rate computed by AIVAT; None without AIVAT.
    aivat_zero_sum_mbb_per_hand, aivat_zero_sum_ci95 : float or None
        The rate computed by AIVAT with the zero-sum correction (`evaluation.zero_sum`), in which a report by an agent
        from outside does not count; None without AIVAT.
    game : str
        A preset's name, or an OpenSpiel game string.
    seed : int or None
        Seed of all cards and random choices; None if they come from a secret key.
    keys : list or None
        The keys in place of a seed, as in a tournament's results; None with a seed, and before the run has ended.
    deals : str
        ``shared`` or ``once``, as in `LbrConfig`.
    from_outside : bool
        Whether the agent is from outside this package. The rates `mbb_per_hand` and `aivat_mbb_per_hand` then believe
        the strategy that the agent reports; `paid_mbb_per_hand` and `aivat_zero_sum_mbb_per_hand` do not count the
        report.
    digest : str
        A hash of the settings and the code.
    seconds : float
        Playing time of this call, without the time in which kernels are loaded.
    hands_per_second : float or None
        Hands played by this call, divided by `seconds`; None if earlier calls had played all hands.
    folder : Path
        The run folder.
    """

    agent: str
    menu: str
    hands: int
    mbb_per_hand: float | None
    ci95: float | None
    sd: float | None
    paid_mbb_per_hand: float | None
    paid_ci95: float | None
    aivat_mbb_per_hand: float | None
    aivat_ci95: float | None
    aivat_zero_sum_mbb_per_hand: float | None
    aivat_zero_sum_ci95: float | None
    game: str
    seed: int | None
    keys: list[dict[str, int | str]] | None
    deals: str
    from_outside: bool
    digest: str
    seconds: float
    hands_per_second: float | None
    folder: Path

    def to_dict(self) -> dict[str, Any]:
        """Return the record that ``plurispiel lbr --json`` prints."""
        record = dataclasses.asdict(self)
        del record["folder"]
        return record


def run_lbr(
    agent: str | type,
    *,
    menu: str = "fcpa",
    hands: int = 4000,
    game: str = "HUNL",
    seed: int | None = None,
    aivat: bool = False,
    workers: int = 0,
    out: str | Path | None = None,
    fresh: bool = False,
    progress: bool = False,
    **outside: Any,
) -> LbrResult:
    """Return the win rate of local best response against an agent, heads-up; plays the hands not yet in the run folder.

    Parameters
    ----------
    agent : str or type
        A spec, or a class as in `run_tournament`. The agent must report its strategy for all combos (`range_strategy`).
    menu : {"fc", "fcpa", "56bets", "flop56"}
        The actions of local best response, see `MENUS`.
    hands : int
        Hands of the whole run, rounded up to a multiple of four: a group has four hands.
    game : str
        A preset or an OpenSpiel game string of two seats.
    seed : int, optional
        Seed of all cards and random choices; by default 1 for an agent of this package. An agent from outside could
        compute the cards from a seed. With such an agent the cards come by default from a secret key, which the result
        publishes.
    aivat : bool
        Also compute the rate by AIVAT.
    workers : int
        Processes; 0 for one per processor, 1 to play in this process.
    out : path, optional
        Run folder; by default a folder in the user's data, named by a hash of the settings. The same call resumes the
        run.
    fresh : bool
        Discard the run that the folder holds, and start over.
    progress : bool
        Print notes and a progress bar on standard error.
    **outside
        How an agent from outside runs, by the names and with the defaults of `LbrOutsideOptions`: ``time_limit``,
        ``memory_limit``, ``sandbox``, ``agent_network``, ``deals``, ``processes``.

    Raises
    ------
    TypeError
        If `outside` holds an unknown name.
    ValueError
        For settings or an agent that ``plurispiel lbr`` would refuse, with the same message; also if the agent commits
        a fault.
    OSError
        If a worker process dies; finished blocks of hands are stored.
    KeyboardInterrupt
        Finished blocks of hands are stored: the same call resumes the run.

    Notes
    -----
    An agent from outside has processes of its own, also if it is given as a class. `evaluation.Prober` measures an
    agent object in the calling process.
    """
    config = LbrConfig(agent_spec(agent), menu, game, seed, aivat)
    check_amounts(hands, workers)
    notes, folder = Notes(progress), Path(out) if out else None
    config, conduct = admit_agent(config, LbrOutsideOptions(**outside), workers, folder, notes.say, notes.warn)
    return measure_lbr(config, hands, conduct, out=folder, fresh=fresh, progress=progress)


def check_amounts(hands: int, workers: int) -> None:
    """Raise ValueError if `hands` or `workers` is out of range."""
    for name, value in (("hands", hands), ("workers", workers)):
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            raise ValueError(f"{name} must be a whole number, got {value!r}")
    if hands < 1:
        raise ValueError(f"hands must be at least 1, got {hands}")
    if not 0 <= workers <= MAX_WORKERS:
        raise ValueError(f"workers must be 0..{MAX_WORKERS:,}, got {workers}")


def admit_agent(
    config: LbrConfig, outside: LbrOutsideOptions, workers: int, out: Path | None, say: Say, warn: Say
) -> tuple[LbrConfig, LbrConduct]:
    """Return the settings with all defaults filled in, and how to play.

    An agent of this package must load, and a stored one (`AgentSpec.is_stored`) must also play the game. An agent from
    outside must load and report its strategy. This is checked before kernels are compiled, and once more after their
    compilation if an agent from outside exceeds its time limit.

    Parameters
    ----------
    workers : int
        Worker processes; 0 for one per processor.
    out : Path or None
        The run folder, if it is known; the sandbox hides this folder from the agent.
    say : callable
        Called with each note for the user.
    warn : callable
        Called with the warning that the agent runs without a sandbox.

    Raises
    ------
    ValueError
        If the agent does not load, or its stored strategy is missing or damaged or does not play the game. Also if an
        agent from outside fails or reports no strategy, the sandbox does not work, or an option is not allowed.
    """
    isolation = outside.isolation([config.agent], warn, [out] if out else [])
    sandbox = isolation.sandbox
    is_exposed = config.is_outside and (sandbox is None or sandbox.network)
    config = dataclasses.replace(config, deals=outside.deals or ("once" if is_exposed else "shared"))
    processes = outside.processes or ("one" if config.deals == "once" else "rotation")
    conduct = LbrConduct(workers or num_processors(), isolation, processes)
    if config.is_outside:
        _try(config, isolation)
        if is_exposed and outside.deals is None:
            say(
                f"each hand has its own deck, because {'over the network' if sandbox else 'without a sandbox'} the "
                "agent's processes could tell each other which cards they saw (deals=shared deals one deck to four "
                "hands)"
            )
        if config.deals == "shared":
            say(
                "four hands are dealt the same deck, and processes of an agent could tell each other the cards by "
                "signals that no sandbox stops; against an agent that may cheat, deals=once (--deals once) deals each "
                "hand its own deck"
            )
        if config.seed is not None:
            say(
                f"seed {config.seed}: an agent from outside that knows or guesses the seed can compute all cards; "
                "without a seed the run draws a secret key"
            )
        for text in count_notes({parse_spec(config.agent).title: conduct.num_processes}, "--deals once"):
            say(text)
    else:
        with play_compiled_beside(say):
            if parse_spec(config.agent).is_stored:
                undisturbed(functools.partial(try_stored, config.agent, config.rules))
            else:
                make_agent(config.agent)
    if note := config.note:
        say(f"{config.agent}: {note}")
    return config, conduct


def _try(config: LbrConfig, isolation: Isolation) -> None:
    """Check that an agent from outside loads and reports its strategy."""
    contestant = isolate(config.agent, isolation.limits, isolation.log, isolation.sandbox)
    with contextlib.closing(contestant):
        try:
            try_to_tell(contestant, config.rules)
        except ValueError as error:
            if not (isinstance(error.__cause__, AgentFault) and error.__cause__.kind == "timeout"):
                raise
            warmup(PLAY)  # a sandboxed agent reads compiled kernels from the cache, but cannot write them there
            try_to_tell(contestant, config.rules)


def measure_lbr(
    config: LbrConfig,
    hands: int,
    conduct: LbrConduct,
    *,
    out: Path | None,
    fresh: bool,
    progress: bool,
    labour: Labour | None = None,
) -> LbrResult:
    """Return the result of a run after playing the hands that its folder does not hold yet.

    `config` and `conduct` are the results of `admit_agent`. The other arguments are those of `run_lbr`, checked before.

    Parameters
    ----------
    out : Path or None
        Run folder; None for a folder in the user's data, named by the digest of `config`.
    labour : Labour, optional
        The executor that plays the hands, instead of worker processes.

    Raises
    ------
    ValueError
        If the folder holds another run, is damaged, or is in use by another process. Also if the agent commits a fault
        or does not report its strategy.
    OSError
        If a worker process dies.
    """
    folder = out or user_data_folder() / "lbr" / config.digest
    with locked(folder):
        return _measure(LbrRun(folder, config, fresh=fresh), hands, conduct, progress, labour)


def _measure(run: LbrRun, hands: int, conduct: LbrConduct, progress: bool, labour: Labour | None) -> LbrResult:
    """Return the result of a run after playing its missing hands; parameters as in `measure_lbr`."""
    folder, config = run.folder, run.config
    num_groups = -(-hands // Prober.hands_per_group)
    played = run.num_played(num_groups)
    done, total = played * Prober.hands_per_group, num_groups * Prober.hands_per_group
    if progress:
        _say(
            f"{config.agent} against local best response ({config.menu}: {MENUS[config.menu].text}), "
            + ("a secret key" if config.seed is None else f"seed {config.seed}")
        )
        _say(f"run folder {folder}" + (f", {done:,} hands already there" if played else ""))
    begin = time.perf_counter()
    if played < num_groups:
        if progress:
            _say(LOADING)
        warmup_play([config.agent], config.rules)
        with progress_bar(total=total, initial=done, unit="hand", unit_scale=True, disable=not progress) as bar:
            shown = begin

            def show(count: int) -> None:
                nonlocal shown
                if progress and time.perf_counter() - shown > _SHOWN_EVERY_S:
                    bar.set_postfix_str(_rate_text(run.results(num_groups), config.aivat), refresh=False)
                    shown = time.perf_counter()
                bar.update(count * Prober.hands_per_group)

            begin = time.perf_counter()  # loading the kernels does not count as playing time
            run.play(num_groups, _inside(folder, conduct), show, labour)
    run.publish_key(num_groups)
    record = run.results(num_groups)
    seconds = time.perf_counter() - begin
    rate = (total - done) / seconds if total > done else None
    return LbrResult(**record, seconds=seconds, hands_per_second=rate, folder=folder)


def _inside(folder: Path, conduct: LbrConduct) -> LbrConduct:
    """Return the conduct of a run in a folder, which holds the agent's log and is hidden from the agent."""
    isolation, sandbox = conduct.isolation, conduct.isolation.sandbox
    hiding, log = sandbox and sandbox.hiding(folder), folder / "logs" / "agent.log"
    return dataclasses.replace(conduct, isolation=dataclasses.replace(isolation, sandbox=hiding, log=log))


def _rate_text(record: dict[str, Any], aivat: bool) -> str:
    by = "aivat_zero_sum_" * aivat
    return f"{record[f'{by}mbb_per_hand']:+,.0f} ± {number_text(record[f'{by}ci95'], ',.0f')} mbb/hand"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
