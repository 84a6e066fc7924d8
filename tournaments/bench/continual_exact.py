"""Exact exploitability of continual re-solving: by iterations, by errors of values, by networks and by options.

A last table compares continual re-solving with search and with a blueprint, if the opponent may raise off the menu.

Theorem 1 of DeepStack bounds the exploitability by the sum of two terms. One is proportional to 1 / sqrt(T), where T is
the number of iterations. The other is linear in the error of the values where lookaheads end.
"""

import dataclasses
import functools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.trees.game_tree import GameTree, checked_strategy, flatten
from plurispiel.abstraction.trees.ladder import LADDER
from plurispiel.agents.base import PublicState, Strategy
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.continual.config import ContinualConfig
from plurispiel.agents.continual.small_games import continual_strategy
from plurispiel.agents.search.exact.search import GameTreeSearch, GameTreeSearcher
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.agents.values.net_file import load_net
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import exploitability
from plurispiel.tournaments.bench.measurement import Measurement, markdown_table
from plurispiel.tournaments.figures.resolving_curves import draw_resolving
from plurispiel.tournaments.figures.value_net_text import refused_without_errors

_GAMES = ("leduc", "leduc-9", "holdem-mini")
_ITERATIONS = (10, 30, 100, 300, 1_000)
_SLOPE_FROM = 30
_ERRORS: dict[tuple[str, int], dict[str, tuple[float, ...]]] = {
    ("leduc", 100): {kind: (0.01, 0.03, 0.1) for kind in ("fixed", "fresh", "ranges")},
    ("leduc", 300): {"fixed": (0.003, 0.01, 0.03, 0.1), "fresh": (0.03, 0.1), "ranges": (0.03, 0.1)},
    ("leduc-9", 100): {"fixed": (0.03, 0.1)},
    ("holdem-mini", 100): {"fixed": (0.03, 0.1)},
}
_NETWORKS_AT = (100, 1_000)
_SEEDS = {"leduc": 5}
_OTHER_SEEDS = 3
_OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "bounds=average": {"bounds": "average"},
    "bounds=best": {"bounds": "best"},
    "resolve=street": {"resolve": "street"},
    "estimate=0.9": {"estimate": 0.9},
    "purge=0.05": {"purge": 0.05},
    "values=checkdown": {"values": "checkdown"},
}
_OPTIONS_AT = (("leduc", 100), ("leduc", 300), ("leduc-9", 100), ("holdem-mini", 100))
_WHOLE = "no depth limit"
_MORE_INNER = 200
_OFF_MENU_AT = (30, 100, 300)
_TRAINING = 1_000_000
_SEARCHES = {
    "search, street 2": GameTreeSearch(from_street=2),
    "search, both streets, k = 4": GameTreeSearch(),
}
_MEAN_ERROR, _RMS = "mean error, %", "rms, %"
_BREAK = " | "

Rows = Iterator[Measurement]


def bench_continual_exact(seconds: float = 1.0, networks: Sequence[Path] = ()) -> list[Measurement]:
    """Return the figures of all tables.

    Parameters
    ----------
    seconds : float
        A factor for all numbers of iterations except those of inner solves.
    networks : sequence of Path
        Folders of value networks of Leduc poker, which get a table of their own.

    Raises
    ------
    ArtefactRefused
        If a folder holds no sound network of Leduc poker, or its manifest lacks its errors.
    """
    rows = []
    known = _known_networks(networks)
    with progress_bar(unit="figure") as progress:
        for part in (_by_iterations, _by_errors, functools.partial(_by_networks, known), _by_options, _off_menu):
            for row in part(seconds):
                rows.append(row)
                progress.set_description(row.name, refresh=False)
                progress.update()
    return rows


def continual_exact_text(rows: Sequence[Measurement]) -> str:
    """Return the figures as tables in Markdown, with two columns that are fitted to the figures.

    ``slope`` is the slope of the logarithm of exploitability over the logarithm of iterations. ``k1`` is the
    exploitability that errors of values add, divided by the size of the errors.
    """
    iterations, errors, networks = (_cells(rows, part) for part in ("iterations", "errors", "networks"))
    for cells in iterations.values():
        counts = {int(name): value for name, value in cells.items() if name.isdigit()}
        cells["slope"] = slope({count: value for count, value in counts.items() if count >= _SLOPE_FROM})
    for (game, count, _), cells in errors.items():
        exact = iterations[game,][count]
        cells["k1"] = coefficient({float(size): value - exact for size, value in cells.items()})
        cells["0"] = exact
    sizes = sorted({size for kinds in _ERRORS.values() for each in kinds.values() for size in each})
    tables = [
        _table("iterations", ["game"], iterations),
        _table("errors", ["game", "T", "kind"], errors, ["0", *map(str, sizes), "k1"]),
        *([_table("networks", ["network", "situations"], networks)] if networks else []),
        _table("options", ["game", "T"], _cells(rows, "options")),
        _table("answers off the menu", ["game"], _cells(rows, "off the menu")),
    ]
    total = sum(row.value for row in rows if row.unit == "core-s")
    return "\n\n".join([*tables, f"{total:,.0f} core-seconds"])


def draw_continual_exact(path: Path, rows: Sequence[Measurement]) -> None:
    """Draw the exploitability of Leduc poker by iterations and by the error of values, on logarithmic axes.

    A network is a point at the root mean square of its errors. The size of the other errors is a root mean square, too.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    cells, count = _cells(rows, "iterations")["leduc",], "300"
    errors = {
        kind: {float(size): value for size, value in found.items()}
        for (game, at, kind), found in _cells(rows, "errors").items()
        if (game, at) == ("leduc", count)
    }
    iterations = {int(name): value for name, value in cells.items() if name.isdigit()}
    title = f"Leduc poker; errors at {count} iterations"
    networks = {
        at: [(found[_RMS] / 100.0, found[str(at)]) for found in _cells(rows, "networks").values()]
        for at in _NETWORKS_AT
    }
    draw_resolving(path, iterations, errors, title, cells[count], networks)


def slope(points: dict[int, float]) -> float:
    """Return the slope of the least-squares line through the logarithms of points."""
    return float(np.polyfit(np.log(list(points)), np.log(list(points.values())), 1)[0])


def coefficient(points: dict[float, float]) -> float:
    """Return the slope of the line from the origin that is nearest to points, by least squares."""
    x, y = np.array(list(points)), np.array(list(points.values()))
    return float(x @ y / (x @ x))


def _by_iterations(seconds: float) -> Rows:
    for game in _GAMES:
        for count in _ITERATIONS:
            yield from _measured(f"iterations{_BREAK}{game}{_BREAK}{count}", game, seconds, iterations=count)
    name = f"iterations{_BREAK}leduc{_BREAK}{_ITERATIONS[-1]}, {_MORE_INNER} inner"
    yield from _measured(name, "leduc", seconds, iterations=_ITERATIONS[-1], inner=_MORE_INNER)


def _by_errors(seconds: float) -> Rows:
    """Yield the mean exploitability over the seeds for each error of values, with the highest in the note."""
    for (game, count), kinds in _ERRORS.items():
        for kind, errors in kinds.items():
            for error in errors:
                name = f"errors{_BREAK}{game}{_BREAK}{count}{_BREAK}{kind}{_BREAK}{error}"
                seeds = range(1, 1 + _SEEDS.get(game, _OTHER_SEEDS))
                found = [
                    list(_measured(name, game, seconds, iterations=count, noise=error, kind=kind, seed=seed))
                    for seed in seeds
                ]
                values = [row.value for row, _ in found]
                yield Measurement(name, float(np.mean(values)), "chips", f"worst of {len(values)}: {max(values):.3g}")
                yield Measurement(f"time{_BREAK}{name}", sum(spent.value for _, spent in found), "core-s")


def _known_networks(folders: Sequence[Path]) -> dict[Path, tuple[str, float, float]]:
    """Return each folder's network: its name in the table, and its mean and root mean square error in % of the pot."""
    found = {}
    for folder in folders:
        stored = load_net(folder)
        if stored.level.name != "leduc":
            raise ArtefactRefused(f"{folder} is a network for the level {stored.level.name}; give one for leduc")
        with refused_without_errors():
            validation, count = stored.record["validation"], int(stored.record["situations"])
            errors = 100.0 * float(validation["mae"]), 100.0 * float(validation["rms"])
        found[folder] = (f"{stored.digest[:12]}{_BREAK}{count:,}", *errors)
    return found


def _by_networks(known: dict[Path, tuple[str, float, float]], seconds: float) -> Rows:
    for folder, (network, mean_error, rms) in known.items():
        name = f"networks{_BREAK}{network}{_BREAK}"
        yield Measurement(f"{name}{_MEAN_ERROR}", mean_error, "%")
        yield Measurement(f"{name}{_RMS}", rms, "%")
        for count in _NETWORKS_AT:
            yield from _measured(f"{name}{count}", "leduc", seconds, iterations=count, values=f"net:{folder}")


def _by_options(seconds: float) -> Rows:
    for game, count in _OPTIONS_AT:
        name = f"options{_BREAK}{game}{_BREAK}{count}{_BREAK}"
        tree = _tree(game)
        solver = make_solver(tree, f"hybrid({_scaled(count, seconds) // 2})")
        solver.run(_scaled(count, seconds))
        yield Measurement(name + _WHOLE, _distance(tree, solver.average_strategy()), "chips")
        for column, options in _OPTIONS.items():
            yield from _measured(name + column, game, seconds, iterations=count, **options)


def _off_menu(seconds: float) -> Rows:
    """Yield figures of holdem-mini with half-pot raises.

    The blueprint's tree and the menu of continual re-solving lack these raises; the trees of search have them.
    """
    game = "holdem-mini"
    name = f"off the menu{_BREAK}{game} with half-pot raises{_BREAK}"
    tree = _tree(LADDER[game].game.replace("bettingAbstraction=fcpa", "bettingAbstraction=fchpa"))
    begin = time.process_time()
    config = dataclasses.replace(read_preset(game), iterations=_scaled(_TRAINING, seconds))
    trainer = make_trainer(config, lossless_buckets(config.rules))
    trainer.run()
    translated = strategy_from_agent(tree, _MeanBlueprint(trainer.blueprint()))
    yield Measurement(name + "blueprint, translated", _distance(tree, translated), "chips")
    searcher = GameTreeSearcher(tree)
    for column, search in _SEARCHES.items():
        search = dataclasses.replace(search, iterations=_scaled(search.iterations, seconds))
        yield Measurement(name + column, _distance(tree, searcher.strategy(translated, search)), "chips")
    yield Measurement(f"time{_BREAK}{name}", time.process_time() - begin, "core-s")
    for count in _OFF_MENU_AT:
        yield from _measured(f"{name}continual, T = {count}", tree.game, seconds, iterations=count, menu="fcpa")


class _MeanBlueprint(BlueprintAgent):
    """A blueprint whose answers to a bet between two sizes are means over the random translations."""

    def range_strategy(self, public: PublicState) -> Strategy:
        return self.expected_strategy(public)


def _measured(name: str, game: str, seconds: float, *, iterations: int, **options: Any) -> Rows:
    """Yield the exploitability of continual re-solving, and the processor time of solving and of measuring it."""
    tree, begin = _tree(game), time.process_time()
    config = ContinualConfig(iterations=_scaled(iterations, seconds), **options)
    strategy, counts = continual_strategy(tree, config)
    note = f"{counts['decisions']} public states, {counts['inner_iterations']:,} inner iterations"
    yield Measurement(name, _distance(tree, strategy), "chips", note)
    yield Measurement(f"time{_BREAK}{name}", time.process_time() - begin, "core-s")


@functools.cache
def _tree(game: str) -> GameTree:
    return flatten(game)


def _scaled(count: int, seconds: float) -> int:
    return max(2, round(count * seconds))


def _distance(tree: GameTree, strategy: np.ndarray) -> float:
    found = exploitability(tree, checked_strategy(tree, strategy)).exploitability
    assert found is not None
    return found


def _table(
    name: str, heads: list[str], cells: dict[tuple[str, ...], dict[str, float]], columns: list[str] | None = None
) -> str:
    """Return a table under its name; the columns are by default all that occur."""
    columns = columns or list(dict.fromkeys(column for line in cells.values() for column in line))
    lines = [
        [*key, *(f"{line[column]:.3g}" if column in line else "-" for column in columns)] for key, line in cells.items()
    ]
    return f"By {name}:\n\n{markdown_table([[*heads, *columns], *lines])}"


def _cells(rows: Sequence[Measurement], part: str) -> dict[tuple[str, ...], dict[str, float]]:
    """Return the figures of a table, by the first cells of a line and then by the column."""
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for row in rows:
        first, *key, column = row.name.split(_BREAK)
        if first == part:
            found.setdefault(tuple(key), {})[column] = row.value
    return found
