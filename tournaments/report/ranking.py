"""The report's section with the table of results and a picture of every agent's rate and interval."""

from collections.abc import Sequence

from plurispiel.tournaments.report.drawing import Drawing, RowLayout
from plurispiel.tournaments.report.panel import Panel, Section, fitted, html_table, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LinearScale, padded
from plurispiel.tournaments.run.results import BELIEVED, interval_text, number_text, reduced_form_lines
from plurispiel.tournaments.run.scores import CHANCE_ONLY

SCORE_NAMES = {
    "raw": "raw",
    "duplicate": "duplicate",
    "aivat": "AIVAT",
    "aivat_duplicate": "AIVAT + duplicate",
    "aivat_zero_sum": "AIVAT + zero-sum",
}

_ROW, _TOP = 30, 12


def _panel(run: RunRecord) -> Panel:
    agents = [run.results["agents"][number] for number in run.ranking]
    names = [run.names[number] for number in run.ranking]
    headline = run.scores.headline
    others = [name for name in SCORE_NAMES if name != headline and any(agent["scores"][name] for agent in agents)]
    table = []
    for name, agent in zip(names, agents, strict=True):
        table.append(
            (
                name + (" *" if agent["aivat"] == CHANCE_ONLY else f" {BELIEVED}" * agent["believed"]),
                interval_text(agent),
                *(interval_text(agent["scores"][score]) for score in others),
                number_text(agent["variance_ratio"], ".1f"),
                number_text(agent["p_value"], ".3f"),
                f"{agent['hands']:,}",
                f"{agent['faults']:,}",
            )
        )
    head = ("agent", SCORE_NAMES[headline], *(SCORE_NAMES[score] for score in others), "ratio", "p", "hands", "faults")
    remarks = map(paragraph, reduced_form_lines(agents))
    rows = [
        (
            name,
            agent["mbb_per_hand"],
            agent["ci95"],
            *(value for score in SCORE_NAMES for value in _values(agent["scores"][score])),
            agent["variance_ratio"],
            agent["p_value"],
            agent["sequential_ci95"],
            agent["hands"],
            agent["groups"],
            agent["faults"],
        )
        for name, agent in zip(names, agents, strict=True)
    ]
    picture = fitted(lambda layout: _picture(run, names, agents, layout))
    return Panel(picture + html_table(head, table) + "".join(remarks), rows)


def _picture(run: RunRecord, names: list[str], agents: list[dict], layout: RowLayout) -> str:
    """Return a picture of the rates and their intervals, with a row for each agent."""
    shown = [(name, agent) for name, agent in zip(names, agents, strict=True) if agent["mbb_per_hand"] is not None]
    if not shown:
        return paragraph("No group has been played yet.")
    rows = []
    for name, agent in shown:
        rate, half = agent["mbb_per_hand"], agent["ci95"]
        ends = None if half is None else (rate - half, rate + half)
        rows.append((name, rate, ends, f"{rate:+,.0f} ± {number_text(half, ',.0f')}"))
    return intervals_picture(f"{run.title}: mbb/hand of every agent with 95 % intervals", rows, layout)


def intervals_picture(
    label: str, rows: Sequence[tuple[str, float, tuple[float, float] | None, str]], layout: RowLayout
) -> str:
    """Return a picture of rates in mbb/hand and their 95 % intervals, with a row for each agent.

    Parameters
    ----------
    label : str
        Description of the picture for screen readers.
    rows : sequence of (str, float, (float, float) or None, str)
        One row or more: each agent's name, its rate, the ends of the interval or None, and the text at the right.
    """
    ends = [end for _, rate, interval, _ in rows for end in interval or (rate,)]
    bottom = _TOP + _ROW * len(rows)
    x = LinearScale(*padded(min(*ends, 0.0), max(*ends, 0.0)), layout.left, layout.right)
    drawing = Drawing(layout.width, bottom + 40, label)
    drawing.x_axis(x, x.ticks(layout.width // 120), bottom, _TOP, "{:,.0f}".format)
    drawing.line(x(0.0), _TOP, x(0.0), bottom, "zero")
    drawing.text(layout.middle, bottom + 34, "mbb/hand, 95 % intervals", "unit", anchor="middle")
    for k, (name, rate, interval, text) in enumerate(rows):
        y = _TOP + _ROW * (k + 0.5)
        drawing.text(layout.left - 12, y + 4, name, "label", anchor="end", room=layout.left - 16)
        if interval is not None:
            drawing.line(x(interval[0]), y, x(interval[1]), y, "whisker")
            for end in interval:
                drawing.line(x(end), y - 4, x(end), y + 4, "whisker")
        drawing.mark(x(rate), y, "circle", "c1", 4.5)
        drawing.text(layout.width - 4, y + 4, text, "value", anchor="end")
    return drawing.svg()


def _values(score: dict | None) -> tuple[float | None, float | None]:
    return (None, None) if score is None else (score["mbb_per_hand"], score["ci95"])


RANKING = Section(
    "ranking",
    "Results",
    "Rates in mbb/hand, thousandths of a big blind per hand, with the half-width of the 95 % interval. The first "
    "column of rates is the score that ranks the agents, as drawn above. Intervals of “raw” and “AIVAT” are over "
    "hands, all others over groups (a deck in all seat rotations). Ratio: variance of the raw score over the "
    "variance of the ranking score, both for one hand. p: probability of this rate or a higher one if the agent's "
    "true rate were 0.",
    (
        "agent",
        "mbb_per_hand",
        "ci95",
        *(f"{score}_{part}" for score in SCORE_NAMES for part in ("mbb_per_hand", "ci95")),
        "variance_ratio",
        "p_value",
        "sequential_ci95",
        "hands",
        "groups",
        "faults",
    ),
    _panel,
)
