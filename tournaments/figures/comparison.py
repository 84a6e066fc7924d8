"""Comparison of solvers that had equal time, as text, as a CSV file and as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.evaluation.solver_comparison import TimedRun
from plurispiel.tournaments.figures.picture import SERIES, picture

__all__ = ["comparison_record", "comparison_text", "draw_comparison", "write_comparison"]


def comparison_record(runs: Sequence[TimedRun]) -> list[dict[str, Any]]:
    """Return an entry for each algorithm: its runs, and the mean and range of the distances at the ends of the runs."""
    found: dict[str, list[TimedRun]] = {}
    for run in runs:
        found.setdefault(run.algorithm, []).append(run)
    entries = []
    for algorithm, some in found.items():
        ends = [run.curve[-1].distance for run in some]
        entries.append(
            {
                "algorithm": algorithm,
                "mean": float(np.mean(ends)),
                "lowest": min(ends),
                "highest": max(ends),
                "runs": [
                    {
                        "seed": run.seed,
                        "iterations": run.curve[-1].iteration,
                        "curve": [list(each) for each in run.curve],
                    }
                    for run in some
                ],
            }
        )
    return entries


def comparison_text(entries: Sequence[dict[str, Any]], measure: str, unit: str) -> str:
    """Return a table of the algorithms; the algorithm with the lowest mean comes first."""
    table = [["algorithm", "iterations", f"{measure} ({unit})", "lowest", "highest", "seeds"]]
    for each in sorted(entries, key=lambda entry: entry["mean"]):
        sampled = each["runs"][0]["seed"] is not None
        spread = (
            [f"{each['lowest']:.3g}", f"{each['highest']:.3g}", f"1 to {len(each['runs'])}"] if sampled else [""] * 3
        )
        iterations = np.mean([run["iterations"] for run in each["runs"]])
        table.append([each["algorithm"], f"{iterations:,.0f}", f"{each['mean']:.3g}", *spread])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in table
    )


def write_comparison(path: Path, runs: Sequence[TimedRun], measure: str) -> None:
    """Write all measurements as CSV: ``algorithm``, ``seed``, ``iteration``, ``seconds`` and `measure`."""
    rows = [f"algorithm,seed,iteration,seconds,{measure}"]
    for run in runs:
        seed = "" if run.seed is None else run.seed
        rows += [f'"{run.algorithm}",{seed},{n},{seconds:.6f},{away!r}' for n, seconds, away in run.curve]
    write_atomically(path, "\n".join(rows) + "\n")


def draw_comparison(path: Path, runs: Sequence[TimedRun], title: str, label: str) -> None:
    """Draw the distance of each run over iterations and over seconds, on logarithmic axes.

    Runs of one algorithm with different seeds have one colour.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    names = list(dict.fromkeys(run.algorithm for run in runs))
    with picture(path, 11, 4.5, title) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for run in runs:
            shown = [point for point in run.curve if point.distance > 0.0 and point.seconds > 0.0]
            place = names.index(run.algorithm)
            label_once = run.algorithm if run.seed in (None, 1) else None
            for axes, numbers in (
                (left, [point.iteration for point in shown]),
                (right, [point.seconds for point in shown]),
            ):
                axes.loglog(
                    numbers,
                    [point.distance for point in shown],
                    color=SERIES[place % len(SERIES)],
                    linestyle=("-", "--", ":")[place // len(SERIES) % 3],
                    marker="",
                    label=label_once,
                )
        left.set_xlabel("iterations")
        right.set_xlabel("time of the iterations (s)")
        for axes in (left, right):
            axes.set_ylabel(label)
        right.legend()
