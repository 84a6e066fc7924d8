"""Exact exploitability of search on good and bad blueprints, in games small enough to search at every decision."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.abstraction.trees.game_tree import GameTree, flatten
from plurispiel.agents.search.exact.search import GameTreeSearch, GameTreeSearcher, SearchedSubgame
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.best_response import Exploitability, exploitability
from plurispiel.tournaments.bench.measurement import Measurement, markdown_table
from plurispiel.tournaments.figures.search_curves import draw_search

_GAMES = {"leduc": 3_000, "leduc-9": 3_000, "holdem-mini": 3_000, "kuhn3": 3_000, "leduc3": 1_000}
"""By game: the iterations of a search for each second of the option ``seconds``."""

_BLUEPRINTS = (("cfr+", 3_162), ("cfr", 100), ("cfr", 30), ("cfr", 10), ("cfr", 3))

_SEARCHES = {
    "street 2": GameTreeSearch(from_street=2),
    "final iterate": GameTreeSearch(from_street=2, play="final"),
    "uniform 0.001": GameTreeSearch(from_street=2, uniform_share=1e-3),
    "safe": GameTreeSearch(from_street=2, safe=True),
    "street 1, k = 1": GameTreeSearch(continuations=1),
    "k = 2": GameTreeSearch(continuations=2),
    "k = 4": GameTreeSearch(continuations=4),
    "k = 4, safe": GameTreeSearch(continuations=4, safe=True),
}
_BREAK = " | "

_DRAWN_GAMES = ("leduc", "leduc-9", "holdem-mini")
"""Games of the picture, which all have two players."""

_DRAWN = {
    "street 2": "last street, unsafe",
    "safe": "last street, safe",
    "k = 4": "depth-limited, unsafe",
    "k = 4, safe": "depth-limited, safe",
}
"""Searches of the picture, with their names in the picture."""


@dataclass
class _Worst:
    """The largest exploitability of a solved subgame, with three players the largest NashConv; in chips."""

    distance: float = 0.0

    def look(self, solved: SearchedSubgame) -> None:
        found = _distance(exploitability(solved.subgame.tree, solved.average))
        self.distance = max(self.distance, found)


def parse_games(text: str | None, *, is_drawn: bool) -> tuple[str, ...]:
    """Return the games named in a text, separated by commas, each once; for None, all games.

    Raises
    ------
    ValueError
        If a game is not measured here. Also if `is_drawn` is true and no game has two players.
    """
    games = tuple(_GAMES) if text is None else tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in games:
        if name not in _GAMES:
            raise ValueError(
                f"bench search-exact has no game {name!r}{suggestion(name, _GAMES)}: choose from {', '.join(_GAMES)}"
            )
    if is_drawn and not set(games) & set(_DRAWN_GAMES):
        raise ValueError(
            f"the picture shows games of two players ({', '.join(_DRAWN_GAMES)}), got --games {','.join(games)}"
        )
    return games


def bench_search_exact(seconds: float = 1.0, games: Sequence[str] = ()) -> list[Measurement]:
    """Return the exploitability of each blueprint without search and with each search; with three players, NashConv.

    If `games` is empty, all games are measured. For each blueprint there is also the exploitability of the subgame that
    searches solved worst (`_Worst`).
    """
    rows = []
    games = games or tuple(_GAMES)
    with progress_bar(total=len(games) * len(_BLUEPRINTS), unit="blueprint") as progress:
        for game in games:
            iterations = _GAMES[game]
            progress.set_description(game, refresh=False)
            tree = flatten(game)
            searcher = GameTreeSearcher(tree)
            for algorithm, number in _BLUEPRINTS:
                solver = make_solver(tree, algorithm)
                solver.run(number)
                name = f"{game}{_BREAK}{algorithm.upper()} {number:,}{_BREAK}"
                rows += _measure(searcher, name, solver.average_strategy(), max(1, round(iterations * seconds)))
                progress.update()
    return rows


def draw_search_exact(path: Path, rows: list[Measurement]) -> None:
    """Plot the exploitability with search against that of the blueprint alone, for games of two players.

    See `draw_search`.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    values: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        game, blueprint, column = row.name.split(_BREAK)
        values.setdefault(game, {}).setdefault(blueprint, {})[column] = row.value
    games = {
        game: {name: [(each["none"], each[column]) for each in found.values()] for column, name in _DRAWN.items()}
        for game, found in values.items()
        if game in _DRAWN_GAMES
    }
    draw_search(path, games)


def search_exact_text(rows: list[Measurement]) -> str:
    """Return the figures as a table in Markdown: a line for each game and blueprint."""
    parts = [row.name.split(_BREAK) for row in rows]
    columns = list(dict.fromkeys(column for _, _, column in parts))
    lines = {(game, blueprint): ["-"] * len(columns) for game, blueprint, _ in parts}
    for row, (game, blueprint, column) in zip(rows, parts, strict=True):
        lines[game, blueprint][columns.index(column)] = "-" if math.isnan(row.value) else f"{row.value:.3g}"
    return markdown_table([["game", "blueprint", *columns], *([*name, *cells] for name, cells in lines.items())])


def _measure(searcher: GameTreeSearcher, name: str, blueprint: np.ndarray, iterations: int) -> list[Measurement]:
    """Return the figures of one blueprint; NaN for a search that the game does not allow.

    The game has to have the street at which a search begins. For a safe search it also has to have two players and be
    zero-sum.
    """
    tree = searcher.tree
    unit = "chips" if _two(tree) else "chips, NashConv"
    rows = [Measurement(f"{name}none", _distance(exploitability(tree, blueprint)), unit)]
    worst = _Worst()
    for column, search in _SEARCHES.items():
        value = math.nan
        if search.from_street <= searcher.num_streets and (_two(tree) or not search.safe):
            found = searcher.strategy(blueprint, replace(search, iterations=iterations), on_subgame=worst.look)
            value = _distance(exploitability(tree, found))
        rows.append(Measurement(name + column, value, unit, f"{iterations:,} iterations"))
    rows.append(
        Measurement(
            f"{name}worst subgame",
            worst.distance,
            unit,
            "the largest of all searches in this line, given the beliefs at the subgame's root",
        )
    )
    return rows


def _distance(found: Exploitability) -> float:
    return found.nash_conv if found.exploitability is None else found.exploitability


def _two(tree: GameTree) -> bool:
    return tree.num_players == 2 and tree.is_zero_sum
