"""The picture of `plurispiel bench search-exact`: exploitability with search, by that of the blueprint alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from plurispiel.tournaments.figures.picture import NEUTRAL, picture

_MAX_COLUMNS = 3


def draw_search(path: Path, games: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> None:
    """Draw a panel for each game, with logarithmic axes and a line for each kind of search.

    A point below the dashed diagonal is a search that improves on its blueprint; a point above the diagonal is a search
    that does harm.

    Parameters
    ----------
    games : mapping
        For each game and kind of search, a pair for each blueprint: the exploitability of the blueprint alone, and the
        exploitability with the search, both in chips.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    with picture(path, 3.0 + 3.2 * len(games), 4.6) as figure:
        for axes, (game, searches) in zip(figure.subplots(1, len(games), squeeze=False)[0], games.items(), strict=True):
            alone = sorted({x for points in searches.values() for x, _ in points})
            axes.loglog(alone, alone, color=NEUTRAL, linestyle="--", marker="", label="blueprint alone")
            for name, points in searches.items():
                axes.loglog(*zip(*sorted(points), strict=True), label=name)
            axes.set_title(game)
            axes.set_xlabel("exploitability of the blueprint (chips)")
            axes.set_ylabel("exploitability with search (chips)")
        handles, names = axes.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=_MAX_COLUMNS)
