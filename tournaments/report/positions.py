"""The report's section on the agents' rates at each position, raw and corrected for luck."""

from typing import NamedTuple

from plurispiel.abstraction.holdem.positions import acting_order, seat_positions
from plurispiel.evaluation.statistics import Estimate, estimate_mean
from plurispiel.tournaments.report.drawing import Drawing
from plurispiel.tournaments.report.panel import Panel, Section, figures, legend, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LinearScale, padded
from plurispiel.tournaments.report.win_rate import MAX_PANELS
from plurispiel.tournaments.run.scores import FULL

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 356, 200, 62, 14, 30, 26
_CHIPS, _ESTIMATE, _REDUCED = range(3)
"""Last axis of `RunRecord.seat_sums`: net chips, full AIVAT estimates, and reduced AIVAT estimates."""


class Rate(NamedTuple):
    """An agent's rate in one seat, in mbb/hand, from `hands` hands in that seat.

    `raw` is the rate in chips won. `aivat` is the rate by AIVAT; None for an agent whose hands have no AIVAT estimate.
    """

    hands: int
    raw: Estimate
    aivat: Estimate | None


def position_rates(run: RunRecord, number: int) -> list[Rate]:
    """Return an agent's rates by seat, with intervals over groups; in each group the agent holds every seat in turn.

    In the format ``lineup-5v1`` the Control (`tournaments.run`) replaces one of the agents. The Control's rates are
    subtracted from the rates of that agent in the same seats.
    """
    is_own = run.rows["agent"] == number
    hands = run.rows["hands"][is_own] // run.config.seats
    if not len(hands):
        return []
    sums = run.seat_sums[is_own] / hands[:, None, None]
    controls = run.seat_sums[run.rows["agent"] == len(run.names)]
    if number == run.config.controlled and len(controls):
        sums = sums - controls
    rates = sums * (1000.0 / run.config.rules.big_blind)
    form = run.scores.agents[number].form
    column = _ESTIMATE if form == FULL else _REDUCED
    return [
        Rate(
            int(hands.sum()),
            estimate_mean(rates[:, seat, _CHIPS]),
            estimate_mean(rates[:, seat, column]) if form else None,
        )
        for seat in range(run.config.seats)
    ]


def _panel(run: RunRecord) -> Panel:
    positions = seat_positions(run.config.rules)
    found = {number: rates for number in run.ranking if (rates := position_rates(run, number))}
    if not found:
        return Panel(paragraph("No group has been played yet."))
    rows = [
        (run.names[number], position, rate.hands, *_values(rate.raw), *_values(rate.aivat))
        for number, rates in found.items()
        for position, rate in zip(positions, rates, strict=True)
    ]
    keys = [("circle c1", "AIVAT"), ("diamond raw", "raw")] if run.config.uses_aivat else []
    pictures = [_picture(run, number, rates) for number, rates in list(found.items())[:MAX_PANELS]]
    return Panel((legend(keys) if keys else "") + figures(pictures), rows)


def _values(estimate: Estimate | None) -> tuple[float | None, float | None]:
    return (None, None) if estimate is None else (estimate.mean, estimate.ci95)


def _picture(run: RunRecord, number: int, rates: list[Rate]) -> str:
    positions, order = seat_positions(run.config.rules), acting_order(run.config.rules)
    step = (_WIDTH - _LEFT - _RIGHT) / len(order)
    shown = []
    for k, seat in enumerate(order):
        middle, rate = _LEFT + step * (k + 0.5), rates[seat]
        if rate.aivat is None:
            shown.append((middle, rate.raw, "circle", "c1"))
        else:
            apart = min(7.0, step / 6)
            shown += [(middle + apart, rate.raw, "diamond", "raw"), (middle - apart, rate.aivat, "circle", "c1")]
    ends = [one.mean + sign * (one.ci95 or 0.0) for _, one, _, _ in shown for sign in (-1, 1)]
    y = LinearScale(*padded(min(*ends, 0.0), max(*ends, 0.0)), _HEIGHT - _BOTTOM, _TOP)
    what = "mbb/hand by position" + (", raw and by AIVAT" if rates[0].aivat else "")
    drawing = Drawing(_WIDTH, _HEIGHT, f"{run.title}: {run.names[number]}, {what}")
    drawing.text(_LEFT, 16, run.names[number], "title", room=_WIDTH - _LEFT - 80)
    drawing.text(_WIDTH - _RIGHT, 16, "mbb/hand", "unit", anchor="end")
    drawing.y_axis(y, y.ticks(5), _LEFT, _WIDTH - _RIGHT, "{:,.0f}".format)
    for k, seat in enumerate(order):
        drawing.text(_LEFT + step * (k + 0.5), _HEIGHT - 8, positions[seat], "tick", anchor="middle")
    for x, one, shape, css in shown:
        if one.ci95 is not None:
            drawing.line(x, y(one.mean - one.ci95), x, y(one.mean + one.ci95), "whisker")
        drawing.mark(x, y(one.mean), shape, css, 4.5 if shape == "circle" else 3.5)
    return drawing.svg()


POSITIONS = Section(
    "positions",
    "Win rate by position",
    "Rates in mbb/hand with 95 % intervals over groups, raw and corrected by AIVAT (without the zero-sum correction), "
    "in the order of acting before the flop. In the format lineup-5v1 every hand is played again with a Control in "
    "place of the second agent. The Control's rate in the same seat is subtracted from the second agent's rate. "
    "The panels have different scales.",
    ("agent", "position", "hands", "raw_mbb_per_hand", "raw_ci95", "aivat_mbb_per_hand", "aivat_ci95"),
    _panel,
)
