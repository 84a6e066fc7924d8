"""`plurispiel solve`: solve a small game, and keep the solution and its curve of exploitability."""

import argparse
import contextlib
import functools
import json
import math
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from plurispiel.abstraction.machine.artefact import holds_artefact
from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.abstraction.machine.interrupts import interrupts_held, undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.trees.game_tree import GameTree, flatten
from plurispiel.agents.tabular.deep_cfr import DeepCfr, require_networks
from plurispiel.agents.tabular.solution import FOLDER, load_solution, resume_solver, save_solution
from plurispiel.agents.tabular.solver import Solver
from plurispiel.agents.tabular.solvers import ExternalSampling, FullWidth, make_solver, parse_algorithm
from plurispiel.evaluation import best_response
from plurispiel.evaluation.best_response import Exploitability
from plurispiel.evaluation.convergence import Point, converge
from plurispiel.evaluation.decision_values import decision_values
from plurispiel.evaluation.solver_comparison import TimedRun, compare_solvers, split_algorithms
from plurispiel.tournaments.api.exploitability import open_game
from plurispiel.tournaments.commands.exit_codes import FAILED, INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.figures.comparison import (
    comparison_record,
    comparison_text,
    draw_comparison,
    write_comparison,
)
from plurispiel.tournaments.figures.curve import draw_curve, write_curve
from plurispiel.tournaments.figures.decision_table import csv_text, decision_names, decision_rows, table_text
from plurispiel.tournaments.figures.game_record import amount_text, game_record, record_text, unit_of
from plurispiel.tournaments.figures.picture import MatplotlibMissing

DEFAULT_ITERATIONS, DEFAULT_SAMPLES = 1_000, 100_000
MAX_ITERATIONS, MAX_SAMPLES = 1_000_000, 1_000_000_000
_SAVE_EVERY_S = 30.0


@dataclass(frozen=True)
class _Task:
    """The checked options; with --resume, the run in the folder supplies a missing game, algorithm or seed.

    Attributes
    ----------
    game : str
        A name of the ladder or an OpenSpiel game string.
    algorithm : str
        Name of the algorithm, written as in the help of --algorithm.
    seed : int
        Seed of the samples of MCCFR and Deep CFR; other algorithms use no random numbers.
    iterations : int or None
        The number given by --iterations; None for the default in `max_iterations`.
    until : float or None
        Exploitability (or NashConv) at which to stop, in the game's unit; None to run all iterations.
    folder : Path or None
        Folder of the solution; None to keep the solution only if the run is interrupted.
    max_histories : int
        Games with more histories are refused.
    as_json : bool
        Whether to print the record as JSON.
    shows : bool
        Whether to print the strategy.
    node : str or None
        The node to show; None for all.
    csv : Path or None
        File for the strategy shown.
    """

    game: str
    algorithm: str
    seed: int
    iterations: int | None
    until: float | None
    folder: Path | None
    max_histories: int
    as_json: bool
    shows: bool
    node: str | None
    csv: Path | None

    def __post_init__(self):
        if self.until is not None and not 0.0 < self.until < math.inf:
            raise ValueError(f"until must be a positive number and finite, got {self.until}")
        if self.seed < 0:
            raise ValueError(f"seed must not be negative, got {self.seed}")
        if self.iterations is not None and self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, got {self.iterations}")
        if self.iterations is not None and self.deep is not None:
            raise ValueError(f"the number of iterations stands in the name {self.algorithm}: leave --iterations out")
        for name, value in (("node", self.node), ("csv", self.csv)):
            if value is not None and not self.shows:
                raise ValueError(f"--{name} belongs to a strategy that is shown: add --show")
        if self.csv is not None and (self.csv.is_dir() or not self.csv.absolute().parent.is_dir()):
            raise ValueError(f"csv must be a file in an existing folder, got {self.csv}")

    @property
    def is_sampled(self) -> bool:
        """Whether the algorithm is a form of MCCFR: its iterations are short, and its results depend on the seed."""
        return isinstance(parse_algorithm(self.algorithm), ExternalSampling)

    @property
    def deep(self) -> DeepCfr | None:
        """The settings of Deep CFR if that is the algorithm, otherwise None."""
        algorithm = parse_algorithm(self.algorithm)
        return algorithm if isinstance(algorithm, DeepCfr) else None

    @property
    def max_iterations(self) -> int:
        """The iteration at which the run ends at the latest."""
        if self.deep is not None:
            return self.deep.iterations
        if self.iterations is not None:
            return self.iterations
        if self.until is not None:
            return MAX_SAMPLES if self.is_sampled else MAX_ITERATIONS
        return DEFAULT_SAMPLES if self.is_sampled else DEFAULT_ITERATIONS


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    begin = time.perf_counter()
    if options.compare is not None:
        return _compare(options)
    for name in ("seconds", "seeds"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} belongs to a comparison: add --compare LIST")
    task = _task(options)
    max_iterations = task.max_iterations
    if task.deep is not None:
        require_networks()
    tree = open_game(task.game, task.max_histories, say)
    names = decision_names(tree) if task.shows else None
    shown = names.chosen(task.node) if names else []
    if task.deep is None:
        undisturbed(lambda: make_solver(flatten("kuhn_poker"), task.algorithm).run(1))  # compiles the kernels
    undisturbed(best_response.warmup)
    solver = make_solver(tree, task.algorithm, seed=task.seed)
    run = _Run(solver, task, _resume(task.folder / FOLDER, solver) if task.folder else [])
    goal = (
        f", {max_iterations:,} iterations" if task.until is None else f" until {task.until:g} {unit_of(tree.game)[0]}"
    )
    say(f"{tree.game}: {solver.algorithm.name}{goal}" + (f", seed {solver.seed}" if solver.seed is not None else ""))
    setup_seconds = time.perf_counter() - begin
    try:
        found = run.play(max_iterations)
    except KeyboardInterrupt:
        folder = task.folder or _spare_folder(tree, solver)
        run.keep(folder)
        done = f"interrupted after {solver.iteration:,} iterations"
        if solver.keeps_last_average:
            say(f"{done}, counted up to the last measurement; {folder} has that solution. Deep CFR cannot be continued")
        else:
            say(f"{done}. To continue:\n  {run.command()}")
        return INTERRUPTED
    record = game_record(
        tree,
        found,
        seconds=run.curve[-1].seconds,
        setup_seconds=setup_seconds,
        algorithm=solver.algorithm.name,
        iterations=solver.iteration,
        curve=run.curve,
    )
    if names is not None:
        strategy = solver.average_strategy()
        record["decisions"] = decision_rows(tree, names, strategy, decision_values(tree, strategy), shown)
        if task.csv:
            write_atomically(task.csv, csv_text(record["decisions"]))
    if task.folder:
        run.keep(task.folder, record)
    print(json.dumps(record) if task.as_json else _text(record))
    if task.until is not None and task.iterations is None and run.curve[-1].distance > task.until:
        limit = f"{task.until:g} was not reached in {max_iterations:,} iterations"
        say(f"plurispiel solve: {limit}, give more {'iterations' if task.deep else '--iterations'}")
        return FAILED
    return 0


def _compare(options: argparse.Namespace) -> int:
    """Run several algorithms for equal time."""
    for name in ("algorithm", "iterations", "until", "seed", "resume", "show", "node", "csv"):
        if getattr(options, name) not in (None, False):
            raise ValueError(f"--{name} does not go with --compare, which takes --seconds, --seeds and --out")
    if options.game is None:
        raise ValueError("which game? plurispiel solve GAME --compare LIST")
    algorithms = split_algorithms(options.compare)
    seconds = 10.0 if options.seconds is None else options.seconds
    seeds = 3 if options.seeds is None else options.seeds
    if not 0.0 < seconds < math.inf:
        raise ValueError(f"seconds must be above 0 and finite, got {seconds}")
    if not 1 <= seeds <= 100:
        raise ValueError(f"seeds must be 1 to 100, got {seeds}")
    tree = open_game(options.game, options.max_histories, say)
    name = "".join(each if each.isalnum() or each in "-_" else "-" for each in options.game)[:60]
    folder = Path(options.out or f"compare-{name}")
    folder.mkdir(parents=True, exist_ok=True)
    for algorithm in algorithms:  # compiles the kernels
        undisturbed(functools.partial(make_solver(flatten("kuhn_poker"), algorithm).run, 1))
    undisturbed(best_response.warmup)
    sampled = sum(not isinstance(parse_algorithm(each), FullWidth) for each in algorithms)
    total = seconds * (len(algorithms) - sampled + sampled * seeds)
    say(f"{tree.game}: {len(algorithms)} algorithms, {seconds:g} s a run, {total:g} s in all")
    runs: list[TimedRun] = []
    interrupt = None
    with progress_bar(total=math.ceil(total), unit="s") as progress:
        spent, shown = 0.0, 0

        def advance(step: float) -> None:
            nonlocal spent, shown
            spent += step
            progress.update(int(spent) - shown)
            shown = int(spent)

        try:
            for run in compare_solvers(tree, algorithms, seconds, seeds, advance):
                runs.append(run)
        except KeyboardInterrupt as error:
            if not runs:
                raise
            interrupt = error
    unit, measure = unit_of(tree.game)[0], _measure(tree)
    entries = comparison_record(runs)
    write_comparison(folder / "comparison.csv", runs, measure)
    written = [str(folder / "comparison.csv")]
    try:
        title = f"{tree.game[:80]}, {seconds:g} s a run"
        draw_comparison(folder / "comparison.png", runs, title, f"{measure} ({unit})")
        written.append(str(folder / "comparison.png"))
    except MatplotlibMissing as error:
        say(f"no picture: {error}")
    if options.json:
        record = {"game": tree.game, "seconds": seconds, "measure": measure, "unit": unit, "files": written}
        print(json.dumps(record | {"algorithms": entries}))
    else:
        print(comparison_text(entries, measure, unit))
    say(f"written: {', '.join(written)}")
    if interrupt is not None:
        say(f"only {len(runs)} runs were finished")
        raise interrupt
    return 0


class _Run:
    """Runs the solver, and shows and saves its progress."""

    def __init__(self, solver: Solver, task: _Task, curve: list[Point]):
        self.curve = curve
        self._solver = solver
        self._task = task
        self._folder = task.folder
        self._saved_at = time.monotonic()

    def play(self, max_iterations: int) -> Exploitability:
        """Return the exploitability after `max_iterations` iterations, or at the first measurement within --until."""
        with progress_bar(
            total=max_iterations if self._task.until is None else None,
            initial=self._solver.iteration,
            unit="it",
            unit_scale=True,
            mininterval=0.5,
            delay=0.5,
        ) as progress:

            def advance(iteration: int) -> None:
                progress.update(iteration - progress.n)

            found, self.curve = converge(
                self._solver,
                iterations=max_iterations,
                until=self._task.until or 0.0,
                curve=self.curve,
                step=contextlib.nullcontext if self._solver.keeps_last_average else interrupts_held,
                on_step=advance,
                on_point=lambda points: self.show(points, progress),
            )
        return found

    def show(self, curve: list[Point], progress: tqdm) -> None:
        """Show the last measurement of the curve; with --out, save the run at most every `_SAVE_EVERY_S` seconds."""
        self.curve = list(curve)
        progress.set_postfix_str(f"{_measure(self._solver.tree)} {curve[-1].distance:.3g}", refresh=False)
        if self._folder and time.monotonic() > self._saved_at + _SAVE_EVERY_S:
            self.keep(self._folder)
            self._saved_at = time.monotonic()

    def keep(self, folder: Path, record: dict[str, Any] | None = None) -> None:
        """Write the solution and its curve; for a finished run also its record and, with matplotlib, a picture."""
        self._folder = folder
        with interrupts_held():
            save_solution(folder / FOLDER, self._solver, np.array(self.curve, dtype=np.float64).reshape(-1, 3))
            write_curve(folder / "curve.csv", self.curve, _measure(self._solver.tree))
            if record is None:
                return
            write_atomically(folder / "results.json", json.dumps(record) + "\n")
            title = f"{self._solver.algorithm.name} on {self._solver.tree.game[:80]}"
            label = f"{_measure(self._solver.tree)} ({record['unit']})"
            note = ""
            try:
                draw_curve(folder / "curve.png", self.curve, title, label)
            except MatplotlibMissing as error:
                note = f" ({error})"
        say(f"kept in {folder}{note}")

    def command(self) -> str:
        """Return the command that resumes the run."""
        words = ["plurispiel", "solve", "--resume", "--out", str(self._folder and self._folder.absolute())]
        for name, value in (("iterations", self._task.iterations), ("until", self._task.until)):
            if value is not None:
                words += [f"--{name}", str(value)]
        words += ["--max-histories", str(self._task.max_histories)] + ["--json"] * self._task.as_json
        words += ["--show"] * self._task.shows
        for name, text in (("node", self._task.node), ("csv", self._task.csv)):
            words += [f"--{name}", str(text)] if text is not None else []
        return shlex.join(words)


def _task(options: argparse.Namespace) -> _Task:
    """Return the task that the options describe (`_Task`)."""
    game, algorithm, seed = options.game, options.algorithm, options.seed
    if options.resume:
        if options.out is None:
            raise ValueError("--resume needs the folder to resume from: --out DIR")
        begun = load_solution(Path(options.out) / FOLDER)
        game, algorithm = game or begun.game, algorithm or begun.algorithm
        seed = begun.seed if seed is None else seed
    elif game is None:
        raise ValueError("which game? plurispiel solve GAME, or --resume --out DIR to resume a run")
    return _Task(
        game,
        algorithm or "cfr+",
        1 if seed is None else seed,
        options.iterations,
        options.until,
        Path(options.out) if options.out else None,
        options.max_histories,
        options.json,
        options.show,
        options.node,
        Path(options.csv) if options.csv else None,
    )


def _resume(folder: Path, solver: Solver) -> list[Point]:
    """Restore the solver from the folder, and return the curve that the folder holds; an empty curve for a new run."""
    if not holds_artefact(folder):
        return []
    curve = resume_solver(folder, solver)
    say(f"{folder} holds {solver.iteration:,} iterations, resuming after them")
    return [Point(int(iteration), seconds, away) for iteration, seconds, away in curve.tolist()]


def _spare_folder(tree: GameTree, solver: Solver) -> Path:
    """Return a new folder in the user's data, for an interrupted run without --out."""
    name = f"{tree.game.partition('(')[0]}-{solver.algorithm.name.translate(str.maketrans('(,:', '---', ')'))}"
    home = user_data_folder() / "solutions"
    numbers = (number for number in range(1, 10**9))
    return next(home / f"{name}-{k}" for k in numbers if not (home / f"{name}-{k}").exists())


def _measure(tree: GameTree) -> str:
    return "exploitability" if tree.num_players == 2 and tree.is_zero_sum else "nash_conv"


def _text(record: dict[str, Any]) -> str:
    """Return the curve and, below it, the record as text.

    The curve has two points for each factor of ten in iterations, and the end point.
    """
    measure = "exploitability" if record["exploitability"] is not None else "NashConv"
    lines = [f"{'iterations':>13}  {'seconds':>9}  {measure}"]
    points = record["curve"]
    half_decades = {round(10.0 ** (k / 2)) for k in range(40)}
    shown = [point for point in points[:-1] if point[0] in half_decades] + points[-1:]
    lines += [f"{n:13,}  {seconds:9.3f}  {amount_text(away, record)}" for n, seconds, away in shown]
    rate = record["iterations"] / record["seconds"] if record["seconds"] else 0.0
    lines.append(
        f"{record['algorithm']}, {record['iterations']:,} iterations in {record['seconds']:.3g} s"
        f" ({rate:,.0f} a second), after {record['setup_seconds']:.3g} s of preparation"
    )
    if "decisions" in record:
        lines += ["", table_text(record["decisions"], record["unit"])]
    return "\n".join([*lines, "", record_text(record)])
