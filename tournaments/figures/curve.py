"""The curve of a solver's convergence as a CSV file and as a picture."""

from collections.abc import Sequence
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.evaluation.convergence import Point
from plurispiel.tournaments.figures.picture import picture


def write_curve(path: Path, curve: Sequence[Point], measure: str) -> None:
    """Write the curve as CSV, with the columns ``iteration``, ``seconds`` and `measure`.

    Parameters
    ----------
    measure : str
        Name of the third column: ``exploitability`` or ``nash_conv``, the two measures of `Point.distance`.
    """
    rows = [f"iteration,seconds,{measure}", *(f"{n},{seconds:.6f},{away!r}" for n, seconds, away in curve)]
    write_atomically(path, "\n".join(rows) + "\n")


def draw_curve(path: Path, curve: Sequence[Point], title: str, label: str) -> None:
    """Draw the distance of each point from an equilibrium over iterations and over seconds, on logarithmic axes.

    Points whose distance or time is 0 are left out; if no point remains, no file is written.

    Parameters
    ----------
    label : str
        Label of the vertical axis, with the unit.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    shown = [point for point in curve if point.distance > 0.0 and point.seconds > 0.0]
    if not shown:
        return
    with picture(path, 10, 4, title) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for axes, numbers, name in (
            (left, [point.iteration for point in shown], "iterations"),
            (right, [point.seconds for point in shown], "time (s)"),
        ):
            axes.loglog(numbers, [point.distance for point in shown])
            axes.set_xlabel(name)
        for axes in (left, right):
            axes.set_ylabel(label)
