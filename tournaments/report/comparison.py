"""The report's section that compares runs: the rate of every agent in each run."""

from collections.abc import Sequence

from plurispiel.tournaments.report.drawing import Drawing, RowLayout
from plurispiel.tournaments.report.panel import Panel, fitted, html_table
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LinearScale, padded
from plurispiel.tournaments.run.results import number_text

COLUMNS = ("agent", "run", "mbb_per_hand", "ci95", "difference_to_first_run", "difference_ci95")
NOTE = (
    "Rates in mbb/hand by each run's ranking score, with 95 % intervals. A difference is the rate minus the rate in "
    "the first run in which the agent plays. Intervals of differences assume independent runs; for runs on the same "
    "decks they are too wide or too narrow."
)

_ROW, _GAP, _TOP = 20, 10, 12
_SHAPES = ("circle", "diamond", "square")
_NUM_COLOURS = 6


def comparison(runs: Sequence[RunRecord]) -> Panel:
    """Return each agent's rate in each run, and its difference from the first run with an agent of the same name."""
    found: dict[str, list[tuple[int, float, float | None]]] = {}
    for k, run in enumerate(runs):
        for number in run.ranking:
            agent = run.results["agents"][number]
            if agent["mbb_per_hand"] is not None:
                found.setdefault(run.names[number], []).append((k, agent["mbb_per_hand"], agent["ci95"]))
    rows = []
    for name, rates in found.items():
        _, base, base_half = rates[0]
        for place, (k, rate, half) in enumerate(rates):
            known = place > 0 and half is not None and base_half is not None
            both = (half**2 + base_half**2) ** 0.5 if known and half is not None and base_half is not None else None
            rows.append((name, runs[k].letter, rate, half, rate - base if place else None, both))
    table = [
        (
            name,
            letter,
            number_text(rate, "+,.0f"),
            number_text(half, ",.0f"),
            "" if difference is None else f"{difference:+,.0f} ± {number_text(both, ',.0f')}",
        )
        for name, letter, rate, half, difference, both in rows
    ]
    head = ("agent", "run", "mbb/hand", "± 95 %", "difference")
    picture = fitted(lambda layout: _picture(runs, found, layout))
    return Panel(picture + html_table(head, table, num_texts=2), rows)


def _picture(
    runs: Sequence[RunRecord], found: dict[str, list[tuple[int, float, float | None]]], layout: RowLayout
) -> str:
    ends = [rate + sign * (half or 0.0) for rates in found.values() for _, rate, half in rates for sign in (-1, 1)]
    if not ends:
        return ""
    bottom = _TOP + sum(_ROW * len(rates) + _GAP for rates in found.values())
    x = LinearScale(*padded(min(*ends, 0.0), max(*ends, 0.0)), layout.left, layout.right)
    drawing = Drawing(layout.width, bottom + 40, "mbb/hand of every agent in every run with 95 % intervals")
    drawing.x_axis(x, x.ticks(layout.width // 120), bottom, _TOP, "{:,.0f}".format)
    drawing.line(x(0.0), _TOP, x(0.0), bottom, "zero")
    drawing.text(layout.middle, bottom + 34, "mbb/hand, 95 % intervals", "unit", anchor="middle")
    y = float(_TOP)
    for name, rates in found.items():
        middle = y + _ROW * len(rates) / 2
        drawing.text(layout.left - 30, middle + 4, name, "label", anchor="end", room=layout.left - 32)
        for k, rate, half in rates:
            middle, css = y + _ROW / 2, f"c{k % _NUM_COLOURS + 1}"
            drawing.text(layout.left - 14, middle + 4, runs[k].letter, "tick", anchor="end")
            if half is not None:
                drawing.line(x(rate - half), middle, x(rate + half), middle, "whisker")
            drawing.mark(x(rate), middle, _SHAPES[k % len(_SHAPES)], css, 4.5)
            text = f"{rate:+,.0f} ± {number_text(half, ',.0f')}"
            drawing.text(layout.width - 4, middle + 4, text, "value", anchor="end")
            y += _ROW
        y += _GAP
    return drawing.svg()
