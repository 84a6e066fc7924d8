"""`plurispiel spot`: solve one post-flop situation, and show the strategy at one of its decisions."""

import argparse
import json
import math
import sys
from pathlib import Path

from plurispiel.abstraction.machine.artefact import ArtefactRefused, holds_artefact, require_replaceable
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.resolve import vector_cfr
from plurispiel.agents.spots import three_way
from plurispiel.agents.spots.spot import Spot, spot_record
from plurispiel.agents.spots.spot_file import (
    EXAMPLES,
    KIND,
    SolveSettings,
    load_spot_solution,
    read_spot,
    save_spot_solution,
    stored_spot,
)
from plurispiel.agents.spots.spot_solution import SpotSolution, default_algorithm, solve_spot
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.figures.picture import MatplotlibMissing
from plurispiel.tournaments.figures.spot_text import draw_node, node_text, summary_text


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    path = find_spot(options.file)
    if path.is_dir():
        solution = _load(path, options.threads)
    else:
        spot, settings = read_spot(path)
        if options.out:  # else the folder might be refused after a long solve
            _require_place(Path(options.out), spot)
        solution = _solve(path, spot, settings, options)
    if options.out and not path.is_dir():
        save_spot_solution(Path(options.out), solution)
        say(f"kept in {options.out} (plurispiel spot {options.out} --node ... shows it)")
    shown = solution.strategy(options.node)
    if options.json:
        print(json.dumps(solution.record(options.node)))
    else:
        print(summary_text(solution) + "\n\n" + node_text(shown))
    if options.plot:
        picture = Path(f"{path.stem}{'-' if shown.node else ''}{shown.node.replace(' ', '-').replace('%', '')}.png")
        sys.stdout.flush()
        try:
            draw_node(picture, shown)
            say(f"drawn in {picture}")
        except MatplotlibMissing as error:
            say(f"no picture: {error}")
    return 0


def find_spot(text: str) -> Path:
    """Return the path of a file or folder, or of the bundled example of that name.

    An example takes precedence over a folder of the same name that holds no solved spot.

    Raises
    ------
    ValueError
        If there is neither such a file or folder nor such an example.
    """
    path, example = Path(text), EXAMPLES / f"{text}.toml"
    if path.is_file() or (path.is_dir() and holds_artefact(path)) or not example.is_file():
        if not path.exists():
            names = ", ".join(sorted(each.stem for each in EXAMPLES.glob("*.toml")))
            meant = suggestion(text, names.split(", "))
            raise ValueError(f"there is no file {text}{meant}; give a spot's TOML file, or one of the examples {names}")
        return path
    return example


def _load(path: Path, threads: int) -> SpotSolution:
    undisturbed(vector_cfr.prepare)
    return load_spot_solution(path, threads=threads)


def _require_place(folder: Path, spot: Spot) -> None:
    """Raise ArtefactRefused unless the solution of a spot may be kept in a folder."""
    require_replaceable(folder, KIND)
    if not holds_artefact(folder):
        return
    remedy = "give another folder (--out), or remove this one"
    try:
        kept, new = spot_record(stored_spot(folder)), spot_record(spot)
    except ArtefactRefused:
        raise ArtefactRefused(f"{folder} holds a solution whose spot cannot be read; {remedy}") from None
    if differing := [name for name in new if kept.get(name) != new[name]]:
        raise ArtefactRefused(f"{folder} holds the solution of a spot with other {', '.join(differing)}; {remedy}")


def _solve(path: Path, spot: Spot, settings: SolveSettings, options: argparse.Namespace) -> SpotSolution:
    undisturbed(vector_cfr.prepare if spot.middle is None else three_way.prepare)
    if spot.has_buckets:
        undisturbed(lambda: vector_cfr.prepare(by_buckets=True))
    algorithm = settings.algorithm or default_algorithm(spot)
    by_bucket = " by best responses in the buckets" if spot.has_buckets else ""
    limit = "" if settings.max_seconds == math.inf else f", for at most {settings.max_seconds:g} s"
    with progress_bar(unit=" it", leave=False, delay=0.5) as bar:

        def show(iterations: int, seconds: float, pct: float) -> None:
            bar.set_postfix_str(f"exploitability {pct:.3g} % of the pot", refresh=False)
            bar.update(iterations - bar.n)

        def say_memory(num_bytes: int) -> None:
            goal = f"the exploitability{by_bucket} is at most {settings.target_pct:g} % of the pot"
            say(f"{path.name}: {algorithm} until {goal}{limit}; {num_bytes / 1e6:,.0f} MB of memory")

        return solve_spot(
            spot,
            algorithm=algorithm,
            target_pct=settings.target_pct,
            max_seconds=settings.max_seconds,
            threads=options.threads,
            node=options.node,
            on_memory=say_memory,
            on_progress=show,
        )
