"""The marks of a training run as files: a table and, with matplotlib, a picture."""

import math
from collections.abc import Sequence
from pathlib import Path

from plurispiel.agents.blueprint.marks import CI95, Mark
from plurispiel.tournaments.store import write_atomically


def write_marks(path: Path, marks: Sequence[Mark]) -> None:
    """Write the marks as CSV; values in milli-big-blinds, times in seconds, memory in MiB."""
    seats = len(marks[0].seat_values) if marks else 0
    plain = [name for name in Mark.__dataclass_fields__ if not name.startswith("seat_")]
    columns = [*plain, *(f"seat_{k}" for k in range(seats)), *(f"seat_{k}_deviation" for k in range(seats))]
    rows = [",".join(columns)]
    for mark in marks:
        values = [*(getattr(mark, name) for name in plain), *mark.seat_values, *mark.seat_deviations]
        rows.append(",".join("" if isinstance(v, float) and math.isnan(v) else f"{v:.10g}" for v in values))
    write_atomically(path, "\n".join(rows) + "\n")


def marks_text(marks: Sequence[Mark]) -> str:
    """Return the marks as a table for people."""
    lines = [
        "   iteration   minutes   infosets met   regret   drift   missing   against the last   against the final",
        "                                      %  mbb/visit              %           mbb/hand            mbb/hand",
    ]
    for mark in marks:
        last = _match_text(mark.against_last, mark.against_last_deviation)
        final = _match_text(mark.against_final, mark.against_final_deviation)
        drift = "-" if math.isnan(mark.drift) else f"{mark.drift:.3f}"
        lines.append(
            f"{mark.iteration:12,}  {mark.seconds / 60:8.1f}  {100 * mark.met:13.2f}  {mark.regret:9,.1f}  {drift:>6}  "
            f"{100 * mark.missing:8.2f}  {last:>17}  {final:>18}"
        )
    return "\n".join(lines)


def draw_marks(path: Path, marks: Sequence[Mark], title: str) -> bool:
    """Draw regret, drift, matches and the seats' values by iterations; return False where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:  # the extra `plot` brings it
        return False
    figure = Figure(figsize=(11, 7), layout="constrained")
    figure.suptitle(title)
    iterations = [mark.iteration for mark in marks]
    regrets, drifts, matches, seats = figure.subplots(2, 2).flat
    regrets.loglog(iterations, [mark.regret for mark in marks], marker="o")
    regrets.set(title="positive regret of all infosets", ylabel="mbb a visit")
    for name, label, shape in (
        ("drift", "drift of the strategy since the last", "o"),
        ("missing", "decisions where nothing was learnt", "s"),
    ):
        shown = [mark for mark in marks if getattr(mark, name) > 0.0]  # there is no logarithm of 0
        points = [mark.iteration for mark in shown], [getattr(mark, name) for mark in shown]
        (drifts.loglog if shown else drifts.plot)(*points, marker=shape, label=label)
    drifts.set(title="strategy in self-play", ylabel="share")
    drifts.legend()
    for name, label, shape in (("last", "against the mark before", "o"), ("final", "against the final", "s")):
        means = [getattr(mark, f"against_{name}") for mark in marks]
        errors = [CI95 * getattr(mark, f"against_{name}_deviation") for mark in marks]
        matches.errorbar(iterations, means, errors, marker=shape, capsize=3, label=label)
    matches.axhline(0.0, color="gray", linewidth=0.8)
    matches.set(title="duplicate matches, 95 % intervals", ylabel="mbb/hand", xscale="log")
    matches.legend()
    for seat in range(len(marks[0].seat_values)):
        seats.errorbar(
            iterations,
            [mark.seat_values[seat] for mark in marks],
            [CI95 * mark.seat_deviations[seat] for mark in marks],
            marker=".",
            capsize=2,
            label=f"seat {seat}",
        )
    seats.set(title="what seats win in self-play", ylabel="mbb/hand", xscale="log")
    seats.legend(ncols=2, fontsize=8)
    for axes in (regrets, drifts, matches, seats):
        axes.set_xlabel("iterations")
        axes.grid(which="both", alpha=0.25)
    figure.savefig(path, dpi=120)
    return True


def _match_text(mean: float, deviation: float) -> str:
    return "-" if math.isnan(mean) else f"{mean:+.1f} ± {CI95 * deviation:.1f}"
