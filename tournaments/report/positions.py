"""What the agents win at each position, of the hands that were kept."""

from collections.abc import Sequence

import numpy as np

from plurispiel.evaluation.play_statistics import acting_order, position_names
from plurispiel.tournaments.report.drawing import Drawing
from plurispiel.tournaments.report.panel import Panel, Section, figures, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LinearScale, padded
from plurispiel.tournaments.report.win_rate import MAX_PANELS

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 356, 200, 62, 14, 30, 26

Rate = tuple[int, float, float]
"""Hands, mean and half-width of its 95 % interval in mbb/hand; the latter two not numbers where there are too few."""


def position_rates(run: RunRecord, number: int) -> list[Rate]:
    """Return an agent's raw rate in each seat, its hands taken as independent."""
    from scipy.special import stdtrit

    per_chip = 1000.0 / run.config.rules.big_blind
    rates = []
    for hands, chips, squares in run.seat_sums[number]:
        mean = chips / hands if hands else np.nan
        half = np.nan
        if hands > 1:
            variance = max(0.0, squares - hands * mean * mean) / (hands - 1)
            half = float(stdtrit(hands - 1, 0.975)) * (variance / hands) ** 0.5
        rates.append((int(hands), float(mean * per_chip), float(half * per_chip)))
    return rates


def _panel(run: RunRecord) -> Panel:
    positions = position_names(run.config.seats)
    found = {number: position_rates(run, number) for number in run.ranking if run.seat_sums[number, :, 0].any()}
    if not found:
        return Panel(paragraph("The run has kept no hands; --hands all keeps every one."))
    rows = [
        (run.names[number], position, hands, *(None if np.isnan(value) else value for value in rate))
        for number, rates in found.items()
        for position, (hands, *rate) in zip(positions, rates, strict=True)
    ]
    pictures = [_picture(run, number, positions, rates) for number, rates in list(found.items())[:MAX_PANELS]]
    num_hands = run.num_kept * run.config.seats
    remark = f"From {num_hands:,} kept hands of {run.results['hands']:,}"
    more = "." if num_hands == run.results["hands"] else ", a sample; a run with --hands all tells of every hand."
    return Panel(paragraph(remark + more) + figures(pictures), rows)


def _picture(run: RunRecord, number: int, positions: Sequence[str], rates: Sequence[Rate]) -> str:
    order = acting_order(len(positions))
    shown = [(k, *rates[seat][1:]) for k, seat in enumerate(order) if not np.isnan(rates[seat][1])]
    ends = [mean + sign * np.nan_to_num(half) for _, mean, half in shown for sign in (-1, 1)]
    y = LinearScale(*padded(min(*ends, 0.0), max(*ends, 0.0)), _HEIGHT - _BOTTOM, _TOP)
    step = (_WIDTH - _LEFT - _RIGHT) / len(order)
    drawing = Drawing(_WIDTH, _HEIGHT, f"{run.title}: {run.names[number]}, raw mbb/hand by position")
    drawing.text(_LEFT, 16, run.names[number], "title", room=_WIDTH - _LEFT - 80)
    drawing.text(_WIDTH - _RIGHT, 16, "mbb/hand", "unit", anchor="end")
    drawing.y_axis(y, y.ticks(5), _LEFT, _WIDTH - _RIGHT, "{:,.0f}".format)
    for k, seat in enumerate(order):
        drawing.text(_LEFT + step * (k + 0.5), _HEIGHT - 8, positions[seat], "tick", anchor="middle")
    for k, mean, half in shown:
        x = _LEFT + step * (k + 0.5)
        if not np.isnan(half):
            drawing.line(x, y(mean - half), x, y(mean + half), "whisker")
        drawing.mark(x, y(mean), "circle", "c1", 4.5)
    return drawing.svg()


POSITIONS = Section(
    "positions",
    "Win rate by position",
    "Raw rate in mbb/hand with 95 % intervals over hands, luck included, in the order of acting before the flop. Each "
    "panel has a scale of its own.",
    ("agent", "position", "hands", "raw_mbb_per_hand", "raw_ci95"),
    _panel,
)
