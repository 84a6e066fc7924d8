"""The curve of a solver's convergence as files: a table and, with matplotlib, a picture."""

from collections.abc import Sequence
from pathlib import Path

from plurispiel.evaluation.convergence import Point
from plurispiel.tournaments.store import write_atomically


def write_curve(path: Path, curve: Sequence[Point], measure: str) -> None:
    """Write the curve as CSV.

    Parameters
    ----------
    measure : str
        What the distances are, ``exploitability`` or ``nash_conv``.
    """
    rows = [f"iteration,seconds,{measure}", *(f"{n},{seconds:.6f},{away!r}" for n, seconds, away in curve)]
    write_atomically(path, "\n".join(rows) + "\n")


def draw_curve(path: Path, curve: Sequence[Point], title: str, label: str) -> bool:
    """Draw the curve, both axes logarithmic, by iterations and by seconds; return False where matplotlib is missing.

    Parameters
    ----------
    label : str
        Of the vertical axis, with the unit.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:  # the extra `plot` brings it
        return False
    shown = [point for point in curve if point.distance > 0.0 and point.seconds > 0.0]
    if not shown:
        return True
    figure = Figure(figsize=(10, 4), layout="constrained")
    figure.suptitle(title)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, numbers, name in (
        (left, [point.iteration for point in shown], "iterations"),
        (right, [point.seconds for point in shown], "seconds"),
    ):
        axes.loglog(numbers, [point.distance for point in shown], marker=".")
        axes.set_xlabel(name)
        axes.grid(which="both", alpha=0.3)
    left.set_ylabel(label)
    figure.savefig(path, dpi=120)
    return True
