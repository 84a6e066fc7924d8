"""Comparison of our functions with programs of the user: peers that no package index has.

A *job* is work for a program: ``hands`` evaluates hands (for example by OMPEval), ``spot`` solves a spot
(postflop-solver), ``training`` trains by external sampling (slumbot2019). A program is started for each turn as
``PROGRAM JOB ARGUMENTS``. It must use one thread, print one JSON object and exit with 0. ``seconds`` of the object is
the processor time of the work alone, without start-up, reading and writing. PROTOCOL.md has the arguments.
"""

import json
import math
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.hand_ranks import hand_rank
from plurispiel.abstraction.trees.game_tree import GameTree, checked_strategy, flatten
from plurispiel.agents.resolve import VectorSolver
from plurispiel.agents.spots.spot_file import EXAMPLES, read_spot
from plurispiel.agents.spots.spot_solution import SpotSolution, solve_spot
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.bench.peer_comparison import (
    Comparison,
    PeerError,
    left_out,
    require_equal,
    require_same_order,
    timed,
)
from plurispiel.tournaments.bench.peer_hands import random_hands
from plurispiel.tournaments.bench.peer_solvers import GAME, require_like_our_sampling

LIMIT_S = 600.0
MAX_OUTPUT_BYTES = 1 << 20
_NUM_HANDS = 1 << 17
_REPEATS = 20
_TARGET_PCT = 0.5
_SPOTS = ("river", "turn")
_ITERATIONS = 200_000

_ROWS = {
    "hands": "7-card hands, a batch: OMPEval",
    "spot": f"spots to {_TARGET_PCT:g} % of the pot: postflop-solver",
    "training": "Leduc, external sampling: slumbot2019",
}
"""For each job the name of its row where no program is given."""

JOBS = tuple(_ROWS)
"""The jobs, see the description of this module."""


class PeerProgram:
    """A program of the user for one job.

    Attributes
    ----------
    name : str
        The file's name without its suffix, which names the peer.
    """

    def __init__(self, job: str, path: Path):
        self.name = re.sub(r"[^\w.+-]", "?", path.stem)
        self._command = [str(path.resolve()), job]

    def run(self, *arguments: object) -> dict[str, Any]:
        """Run the program and return the JSON object that it printed.

        Raises
        ------
        PeerError
            If the program fails, takes more than `LIMIT_S`, prints anything but one JSON object, or prints seconds that
            are not between 0 and the time that it ran.
        """
        begin = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            try:
                done = subprocess.run(
                    [*self._command, *map(str, arguments)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    timeout=LIMIT_S,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise PeerError(f"{self._command[0]}: {error}") from error
            elapsed_s = time.perf_counter() - begin
            if done.returncode:
                raise PeerError(f"the program ended with code {done.returncode}")
            output.seek(0)
            found = _json_object(output.read(MAX_OUTPUT_BYTES + 1), "the output")
        if not 0.0 < number(found, "seconds") <= elapsed_s:
            raise PeerError(f"the program says {found['seconds']:g} seconds, but ran for {elapsed_s:.3g}")
        return found


def parse_programs(texts: Sequence[str]) -> dict[str, Path]:
    """Return the programs of texts ``JOB=PATH``, by job.

    Raises
    ------
    ValueError
        If a text has another form, names no job or a job for the second time, or the path is no executable file.
    """
    programs: dict[str, Path] = {}
    for text in texts:
        job, _, path = text.partition("=")
        if job not in JOBS or not path:
            raise ValueError(f"--program takes JOB=PATH, where JOB is one of {', '.join(JOBS)}, got {text!r}")
        if job in programs:
            raise ValueError(f"--program: the job {job} has two programs")
        if not Path(path).is_file() or not os.access(path, os.X_OK):
            raise ValueError(f"--program: {path!r} is no executable file")
        programs[job] = Path(path)
    return programs


def number(found: Mapping[str, Any], name: str) -> float:
    """Return a finite number of a program's object.

    Raises
    ------
    PeerError
        If the object has no such number.
    """
    value = found.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
        raise PeerError(f"the object needs a number {name!r}, got {value!r}")
    return float(value)


def program_comparisons(programs: Mapping[str, Path]) -> Iterator[Comparison | Measurement]:
    """Yield the comparisons of all jobs that have a program, and a row without a value for each other job."""
    for job, make in _COMPARISONS.items():
        if job in programs:
            yield from make(PeerProgram(job, programs[job]))
        else:
            yield left_out(_ROWS[job], f"no program is given, see --program {job}=PATH")


def _hands(program: PeerProgram) -> Iterator[Comparison]:
    hands = random_hands(_NUM_HANDS)
    out = np.empty(_NUM_HANDS, np.uint16)

    def run() -> tuple[float, np.ndarray]:
        with tempfile.TemporaryDirectory() as folder:
            given, written = Path(folder) / "hands", Path(folder) / "ranks"
            hands.tofile(given)
            seconds = number(program.run(given, written, _REPEATS), "seconds")
            ranks = _read(written, 4 * _NUM_HANDS)
        if len(ranks) != 4 * _NUM_HANDS:
            raise PeerError(f"the file of ranks has {len(ranks):,} bytes, not 4 for each of {_NUM_HANDS:,} hands")
        return seconds / (_NUM_HANDS * _REPEATS), np.frombuffer(ranks, "<u4")

    def check() -> str:
        require_same_order(hand_rank(hands), run()[1])
        return f"the order of {_NUM_HANDS:,} hands"

    def work() -> None:
        for _ in range(_REPEATS):
            hand_rank(hands, out=out)

    ours = timed(work, _NUM_HANDS * _REPEATS)
    yield Comparison(f"7-card hands, a batch: {program.name}", program.name, "hands", ours, lambda: run()[0], check)


def _spots(program: PeerProgram) -> Iterator[Comparison]:
    for name in _SPOTS:
        path = EXAMPLES / f"{name}.toml"
        spot, _ = read_spot(path)

        def solve(spot=spot) -> SpotSolution:
            return solve_spot(spot, target_pct=_TARGET_PCT, threads=1)

        def run(path: Path = path) -> dict[str, Any]:
            return program.run(path, _TARGET_PCT)

        def check(solve: Callable[[], SpotSolution] = solve, run: Callable[[], dict[str, Any]] = run) -> str:
            return check_solution(solve(), run())

        yield Comparison(
            f"{name} to {_TARGET_PCT:g} % of the pot: {program.name}",
            program.name,
            "solutions",
            timed(solve, 1),
            lambda run=run: number(run(), "seconds"),  # type: ignore[misc]
            check,
        )


def check_solution(ours: SpotSolution, theirs: Mapping[str, Any]) -> str:
    """Refuse a solution of another game, one whose exploitability is above the target, or one with another value.

    The trees have to have equally many decisions, and the peer's exploitability has to be within the target. In a
    zero-sum game a player's value differs from the equilibrium's by no more than the sum of both players' gains, which
    is twice the exploitability. So the values of both solutions may differ by twice the sum of their exploitabilities.

    Raises
    ------
    PeerError
        If the solution is refused, or a number is missing.
    """
    assert isinstance(ours.solver, VectorSolver)
    decisions = sum(int((s.betting.nodes.kind < 2).sum()) * len(s.deals.boards) for s in ours.solver.streets)
    require_equal("the number of decisions", decisions, number(theirs, "decisions"), 0.0)
    reached = number(theirs, "exploitability_pct")
    if not 0.0 <= reached <= _TARGET_PCT:
        raise PeerError(f"the exploitability is {reached:g} % of the pot, not from 0 to {_TARGET_PCT:g}")
    bound = 2.0 * (reached + ours.exploitability_pct) / 100.0 * ours.spot.pot
    require_equal("the value of the player out of position", ours.ev[0], number(theirs, "ev_oop"), bound)
    return f"{decisions:,} decisions, and the value within {bound:.3g} chips"


def _training(program: PeerProgram) -> Iterator[Comparison]:
    tree = flatten(GAME)
    solver = make_solver(tree, "mccfr")

    def run(num_iterations: int, seed: int) -> tuple[float, np.ndarray]:
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "strategy.json"
            seconds = number(program.run(num_iterations, seed, written), "seconds")
            found = _json_object(_read(written, MAX_OUTPUT_BYTES), "the strategy")
        return seconds / num_iterations, _strategy(tree, found)

    yield Comparison(
        f"Leduc, external sampling: {program.name}",
        program.name,
        "iterations",
        timed(lambda: solver.run(_ITERATIONS), _ITERATIONS),
        lambda: run(_ITERATIONS, 1)[0],
        lambda: require_like_our_sampling(tree, lambda num_iterations, seed: run(num_iterations, seed)[1]),
    )


_COMPARISONS: dict[str, Callable[[PeerProgram], Iterator[Comparison]]] = {
    "hands": _hands,
    "spot": _spots,
    "training": _training,
}


def _strategy(tree: GameTree, found: Mapping[str, Any]) -> np.ndarray:
    """Return the strategy of an object with a list of probabilities for each information state: float64[A]."""
    rows = []
    for key, width in zip(tree.infoset_keys, np.diff(tree.infoset_first).tolist(), strict=True):
        row = found.get(key)
        if not isinstance(row, list) or len(row) != width or not all(type(each) in (int, float) for each in row):
            raise PeerError(f"the strategy needs {width} probabilities for {key!r}")
        rows += row
    try:
        return checked_strategy(tree, np.array(rows, dtype=np.float64))
    except (ValueError, OverflowError) as error:
        raise PeerError(str(error)) from error


def _read(path: Path, limit: int) -> bytes:
    """Return the first `limit` + 1 bytes of a file that the program wrote; the caller refuses more than `limit`."""
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        raise PeerError(f"the program did not write its file: {error}") from error


def _json_object(text: bytes, what: str) -> dict[str, Any]:
    try:
        found = json.loads(text) if len(text) <= MAX_OUTPUT_BYTES else None
    except (ValueError, RecursionError):  # ValueError: no JSON or no UTF-8
        found = None
    if not isinstance(found, dict):
        raise PeerError(f"{what} is no JSON object of at most {MAX_OUTPUT_BYTES:,} bytes")
    return found
