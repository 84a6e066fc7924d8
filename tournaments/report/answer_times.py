"""The report's section on the time that agents take for a decision."""

from plurispiel.tournaments.report.drawing import Drawing, RowLayout
from plurispiel.tournaments.report.panel import Panel, Section, fitted, html_table, legend, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LogScale
from plurispiel.tournaments.run.store import AnswerTimes

_ROW, _TOP, _MARGIN = 26, 10, 24
_SHORTEST = 1e-7
"""Shorter mean times are drawn as this number of seconds, because a logarithmic axis cannot show 0."""


def seconds_text(seconds: float) -> str:
    """Return a time in s, ms, µs or ns, with three significant digits or all digits before the point.

    >>> seconds_text(0.00001234), seconds_text(0.25), seconds_text(7.0), seconds_text(5025.0)
    ('12.3 µs', '250 ms', '7 s', '5,025 s')
    """
    for unit, length in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= length:
            count = seconds / length
            return f"{count:,.0f} {unit}" if count >= 100.0 else f"{count:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _panel(run: RunRecord) -> Panel:
    found = [(run.names[number], run.times[number]) for number in run.ranking if run.times[number].answers]
    if not found:
        return Panel(paragraph("No decision has been made yet."))
    picture = fitted(lambda layout: _picture(run, found, layout))
    table = [
        (name, f"{t.answers:,}", seconds_text(t.seconds / t.answers), seconds_text(t.slowest), seconds_text(t.seconds))
        for name, t in found
    ]
    keys = legend([("circle c1", "mean"), ("diamond c2", "longest")])
    rows = [(name, t.answers, t.seconds / t.answers, t.slowest, t.seconds) for name, t in found]
    head = ("agent", "decisions", "mean", "longest", "total")
    return Panel(keys + picture + html_table(head, table), rows)


def _picture(run: RunRecord, found: list[tuple[str, AnswerTimes]], layout: RowLayout) -> str:
    bottom = _TOP + _ROW * len(found)
    means = [max(_SHORTEST, times.seconds / times.answers) for _, times in found]
    x = LogScale(min(means) / 2, max(times.slowest for _, times in found) * 2, layout.left, layout.width - _MARGIN)
    drawing = Drawing(layout.width, bottom + 40, f"{run.title}: mean and longest time of a decision")
    drawing.x_axis(x, x.ticks(), bottom, _TOP, seconds_text)
    drawing.text((layout.left + layout.width - _MARGIN) / 2, bottom + 34, "time, logarithmic", "unit", anchor="middle")
    for k, ((name, times), mean) in enumerate(zip(found, means, strict=True)):
        y = _TOP + _ROW * (k + 0.5)
        drawing.text(layout.left - 12, y + 4, name, "label", anchor="end", room=layout.left - 16)
        drawing.line(x(mean), y, x(max(mean, times.slowest)), y, "whisker")
        drawing.mark(x(mean), y, "circle", "c1", 4.5)
        drawing.mark(x(max(mean, times.slowest)), y, "diamond", "c2", 4.0)
    return drawing.svg()


ANSWER_TIMES = Section(
    "decision_times",
    "Time per decision",
    "Wall-clock time that the table waited for an agent's decision. Other processes on the machine make this time "
    "longer, and so does the communication with an agent in a separate process.",
    ("agent", "decisions", "mean_s", "longest_s", "total_s"),
    _panel,
)
