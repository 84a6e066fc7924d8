"""The report's curves of each agent's rate over the hands played, like the figures in the paper on Pluribus.

References
----------
N. Brown, T. Sandholm: Superhuman AI for multiplayer poker. Science 365 (2019), figures 5 and 6.
"""

from dataclasses import dataclass

import numpy as np

from plurispiel.tournaments.report.drawing import Drawing, Pixel, count_text
from plurispiel.tournaments.report.panel import Panel, Section, figures, legend, paragraph
from plurispiel.tournaments.report.ranking import SCORE_NAMES
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LinearScale, padded

MAX_POINTS = 120
"""Largest number of points of a curve."""

MAX_PANELS = 24
"""Largest number of agents in a section with a picture for each agent."""

_WIDTH, _HEIGHT = 356, 236
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 30, 38
_CALM = 0.08
"""Before this share of an agent's hands is played, very wide intervals may extend beyond the picture."""


@dataclass(frozen=True)
class RatePoint:
    """An agent's raw rate and ranking score after its first groups, in mbb/hand.

    `groups` and `hands` count the groups and the agent's hands so far. `raw_ci95` and `score_ci95` are half-widths of
    95 % intervals.
    """

    groups: int
    hands: int
    raw: float
    raw_ci95: float
    score: float
    score_ci95: float


def win_rate_curve(run: RunRecord, number: int) -> list[RatePoint]:
    """Return an agent's raw rate and ranking score at up to `MAX_POINTS` points, from 2 groups to all.

    The list is empty with fewer than two groups, or if the ranking score is not known.
    """
    agent = run.scores.agents[number]
    own = run.rows[run.rows["agent"] == number]
    if len(own) < 2:
        return []
    hands = own["hands"].cumsum()
    points = []
    for groups in np.unique(np.linspace(2, len(own), min(MAX_POINTS, len(own) - 1)).round().astype(int)).tolist():
        part = agent.first(groups)
        raw, score = part.score("raw"), part.score(run.scores.headline)
        if raw is None or score is None:
            return []
        points.append(
            RatePoint(
                groups,
                int(hands[groups - 1]),
                raw.mean_mbb or 0.0,
                raw.ci95_mbb or 0.0,
                score.mean_mbb or 0.0,
                score.ci95_mbb or 0.0,
            )
        )
    return points


def _panel(run: RunRecord) -> Panel:
    curves = {number: win_rate_curve(run, number) for number in run.ranking}
    rows = [
        (run.names[number], p.groups, p.hands, p.raw, p.raw_ci95, p.score, p.score_ci95)
        for number, points in curves.items()
        for p in points
    ]
    shown = [number for number, points in curves.items() if points]
    if not shown:
        return Panel(paragraph("Too few groups yet: an interval needs two."))
    keys = [("c1", f"{SCORE_NAMES[run.scores.headline]}, 95 % band")]
    if run.scores.headline != "raw":
        keys.append(("raw", "raw, 95 % band over hands (dashed)"))
    pictures = [_picture(run, number, curves[number]) for number in shown[:MAX_PANELS]]
    cut = paragraph(f"The best {MAX_PANELS} of {len(shown)} agents; the CSV file has all agents.")
    more = [cut] * (len(shown) > MAX_PANELS)
    return Panel(legend(keys) + figures(pictures) + "".join(more), rows)


def _picture(run: RunRecord, number: int, points: list[RatePoint]) -> str:
    name = run.names[number]
    last = points[-1]
    calm = [p for p in points if p.hands >= _CALM * last.hands] or points
    ends = [p.score + sign * p.score_ci95 for p in calm for sign in (-1, 1)]
    ends += [last.raw - last.raw_ci95, last.raw + last.raw_ci95, 0.0]
    x = LinearScale(0.0, float(last.hands), _LEFT, _WIDTH - _RIGHT)
    y = LinearScale(*padded(min(ends), max(ends)), _HEIGHT - _BOTTOM, _TOP)
    drawing = Drawing(_WIDTH, _HEIGHT, f"{run.title}: {name}, mbb/hand over hands, raw and by {run.scores.headline}")
    drawing.text(_LEFT, 16, name, "title", room=_WIDTH - _LEFT - 180)
    drawing.text(_WIDTH - _RIGHT, 16, f"{last.score:+,.0f} ± {last.score_ci95:,.0f} mbb/hand", "value", anchor="end")
    drawing.x_axis(x, x.ticks(4), _HEIGHT - _BOTTOM, _TOP, count_text)
    drawing.y_axis(y, y.ticks(5), _LEFT, _WIDTH - _RIGHT, "{:,.0f}".format)
    drawing.text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 5, "hands", "unit", anchor="middle")
    drawing.clip(_LEFT, _TOP, _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM)

    def band(middle: str, half: str) -> list[Pixel]:
        upper = [(x(p.hands), y(getattr(p, middle) + getattr(p, half))) for p in points]
        lower = [(x(p.hands), y(getattr(p, middle) - getattr(p, half))) for p in points]
        return upper + lower[::-1]

    if run.scores.headline != "raw":
        drawing.path(band("raw", "raw_ci95"), "band raw", closed=True)
        drawing.path([(x(p.hands), y(p.raw)) for p in points], "curve raw dashed")
    drawing.path(band("score", "score_ci95"), "band c1", closed=True)
    drawing.path([(x(p.hands), y(p.score)) for p in points], "curve c1")
    drawing.unclip()
    return drawing.svg()


WIN_RATE = Section(
    "win_rate",
    "Win rate over hands",
    "The rate so far and its 95 % interval, in the order in which the schedule deals the groups. The panels have "
    "different scales.",
    ("agent", "groups", "hands", "raw_mbb_per_hand", "raw_ci95", "score_mbb_per_hand", "score_ci95"),
    _panel,
)
