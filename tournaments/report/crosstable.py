"""The report's section on each agent's rate against each other agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.report.drawing import Drawing
from plurispiel.tournaments.report.panel import Panel, Section, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.run.results import number_text
from plurispiel.tournaments.run.schedule import make_lineups

MAX_AGENTS = 24
"""Largest number of agents in the picture; the CSV file has all agents."""

_CELL, _HEIGHT, _LEFT, _TOP = 86, 40, 170, 34
_STRONGEST = 0.62
"""Opacity of the cell with the largest gain or loss; text on a stronger colour would be hard to read."""


@dataclass(frozen=True)
class Meeting:
    """The rate of an agent in the groups in which a second agent sat at the same table, in mbb/hand.

    `own` is the number of the first agent, `other` the number of the second. `mean` is the rate of the first agent,
    `ci95` the half-width of its 95 % interval (None with one group), and `hands` the first agent's hands in these
    groups.
    """

    own: int
    other: int
    mean: float
    ci95: float | None
    hands: int


def meetings(run: RunRecord) -> list[Meeting]:
    """Return the meetings of all pairs of agents that sat at the same table, by the ranking score."""
    lineups = make_lineups(run.config)
    per_chip = 1000.0 / run.config.rules.big_blind
    found = []
    for own, scores in enumerate(run.scores.agents):
        rows = run.rows[run.rows["agent"] == own]
        rates = scores.group_chips(run.scores.headline) / np.maximum(rows["hands"], 1) * per_chip
        for other in range(len(run.names)):
            together = [k for k, lineup in enumerate(lineups) if own in lineup and other in lineup and other != own]
            chosen = np.isin(rows["lineup"], together)
            if chosen.any():
                estimate = estimate_mean(rates[chosen])
                found.append(Meeting(own, other, estimate.mean, estimate.ci95, int(rows["hands"][chosen].sum())))
    return found


def _panel(run: RunRecord) -> Panel:
    found = meetings(run)
    names = run.names
    rows = [(names[m.own], names[m.other], m.mean, m.ci95, m.hands) for m in found]
    if len(make_lineups(run.config)) < 2:
        what = "One line-up plays the whole run: the rates at this table are in the table of results."
        return Panel(paragraph(what), is_empty=True)
    order = [number for number in run.ranking if any(number in (m.own, m.other) for m in found)][:MAX_AGENTS]
    if not order:
        return Panel(paragraph("No group has been played yet."), is_empty=True)
    place = {number: k for k, number in enumerate(order)}
    cells = {(place[m.own], place[m.other]): m for m in found if m.own in place and m.other in place}
    picture = crosstable_picture(
        f"{run.title}: mbb/hand of the row against the column",
        [names[number] for number in order],
        {pair: (m.mean, m.ci95) for pair, m in cells.items()},
    )
    cut = [paragraph(f"The best {MAX_AGENTS} agents; the CSV file has all agents.")] * (len(run.ranking) > MAX_AGENTS)
    return Panel(f'<div class="wide">{picture}</div>' + "".join(cut), rows)


def crosstable_picture(
    label: str, names: Sequence[str], cells: Mapping[tuple[int, int], tuple[float, float | None]]
) -> str:
    """Return a picture of rates and half-widths in mbb/hand, coloured by the rate.

    Parameters
    ----------
    label : str
        Description of the picture for screen readers.
    names : sequence of str
        The names of the rows, which are also those of the columns.
    cells : mapping of (int, int) to (float, float or None)
        The rate and its half-width, by the indices of row and column; other cells stay empty.
    """
    size = len(names)
    drawing = Drawing(_LEFT + _CELL * size, _TOP + _HEIGHT * size + 4, label)
    for k, name in enumerate(names):
        drawing.text(_LEFT + _CELL * (k + 0.5), _TOP - 10, name, "label", anchor="middle", room=_CELL - 4)
        drawing.text(_LEFT - 10, _TOP + _HEIGHT * (k + 0.5) + 4, name, "label", anchor="end", room=_LEFT - 14)
        drawing.rect(_LEFT + _CELL * k + 1, _TOP + _HEIGHT * k + 1, _CELL - 2, _HEIGHT - 2, "void")
    strongest = max((abs(rate) for rate, _ in cells.values()), default=0.0) or 1.0
    for (row, column), (rate, half_width) in cells.items():
        left, top = _LEFT + _CELL * column, _TOP + _HEIGHT * row
        opacity = max(0.04, _STRONGEST * (abs(rate) / strongest) ** 0.5)
        drawing.rect(left + 1, top + 1, _CELL - 2, _HEIGHT - 2, "gain" if rate >= 0.0 else "loss", opacity=opacity)
        drawing.text(left + _CELL / 2, top + 18, f"{rate:+,.0f}", "value", anchor="middle")
        drawing.text(left + _CELL / 2, top + 32, f"± {number_text(half_width, ',.0f')}", "small", anchor="middle")
    return drawing.svg()


CROSSTABLE = Section(
    "crosstable",
    "Crosstable",
    "Rate of the row's agent in mbb/hand, by the ranking score, in the groups in which the column's agent sat at the "
    "same table, with 95 % half-widths. Heads-up it is the rate against the column's agent. Blue cells are gains of "
    "the row's agent, orange cells are losses.",
    ("agent", "other", "mbb_per_hand", "ci95", "hands"),
    _panel,
)
