"""The marks of a training run as text, as a CSV file and as a picture."""

import math
from collections.abc import Sequence
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.agents.blueprint.training_record import CI95, Mark
from plurispiel.tournaments.figures.picture import NEUTRAL, picture


def write_marks(path: Path, marks: Sequence[Mark]) -> None:
    """Write the marks as CSV, one line for each mark, in the units of `Mark`; an unknown value (NaN) is an empty cell.

    The columns are the fields of `Mark`. The last columns are the values of all seats, then their standard errors.
    """
    seats = len(marks[0].seat_values) if marks else 0
    plain = [name for name in Mark.__dataclass_fields__ if not name.startswith("seat_")]
    columns = [*plain, *(f"seat_{k}" for k in range(seats)), *(f"seat_{k}_deviation" for k in range(seats))]
    rows = [",".join(columns)]
    for mark in marks:
        values = [*(getattr(mark, name) for name in plain), *mark.seat_values, *mark.seat_deviations]
        rows.append(",".join("" if isinstance(v, float) and math.isnan(v) else f"{v:.10g}" for v in values))
    write_atomically(path, "\n".join(rows) + "\n")


def marks_text(marks: Sequence[Mark]) -> str:
    """Return the marks as an aligned table."""
    lines = [
        "   iteration   minutes   infosets met   regret   drift   missing   against previous   against the final",
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


def draw_marks(path: Path, marks: Sequence[Mark], title: str, seat_names: Sequence[str]) -> None:
    """Draw four panels over iterations: regret, drift and missing rows, matches of the marks, and values of the seats.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    iterations = [mark.iteration for mark in marks]
    with picture(path, 11, 7, title) as figure:
        regrets, drifts, matches, seats = figure.subplots(2, 2).flat
        regrets.loglog(iterations, [mark.regret for mark in marks])
        regrets.set(title="Positive regret of all infosets", ylabel="regret (mbb/visit)")
        for name, label in (("drift", "drift from the mark before"), ("missing", "decisions where nothing was learnt")):
            shown = [mark for mark in marks if getattr(mark, name) > 0.0]  # a log axis has no 0; NaN is unknown
            if shown:
                shares = [100.0 * getattr(mark, name) for mark in shown]
                drifts.loglog([mark.iteration for mark in shown], shares, label=label)
        drifts.set(title="Strategy in self-play", ylabel="share (%)")
        for name, label in (("last", "against the mark before"), ("final", "against the final")):
            played = [mark for mark in marks if not math.isnan(getattr(mark, f"against_{name}"))]
            if played:
                means = [getattr(mark, f"against_{name}") for mark in played]
                errors = [CI95 * getattr(mark, f"against_{name}_deviation") for mark in played]
                matches.errorbar([mark.iteration for mark in played], means, errors, label=label)
                matches.set_xscale("log")  # only with numbers, as an empty log axis cannot be drawn
        matches.axhline(0.0, color=NEUTRAL, linewidth=0.8, marker="")
        matches.set(title="Duplicate matches, 95 % intervals", ylabel="rate (mbb/hand)")
        for seat, name in enumerate(seat_names):
            values = [mark.seat_values[seat] for mark in marks]
            errors = [CI95 * mark.seat_deviations[seat] for mark in marks]
            seats.errorbar(iterations, values, errors, label=name)
        seats.set(title="Rates by position in self-play, 95 % intervals", ylabel="rate (mbb/hand)", xscale="log")
        for axes in (regrets, drifts, matches, seats):
            axes.set_xlabel("iterations")
            if names := axes.get_legend_handles_labels()[1]:  # below the axes, where it covers no line
                axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=min(6, len(names)))


def _match_text(mean: float, deviation: float) -> str:
    return "-" if math.isnan(mean) else f"{mean:+.1f} ± {CI95 * deviation:.1f}"
