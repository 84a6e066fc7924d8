"""The report's section on the style of play: VPIP, PFR and other frequencies, over all hands and by position."""

from plurispiel.abstraction.holdem.positions import acting_order, seat_positions
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.tournaments.report.drawing import Drawing
from plurispiel.tournaments.report.panel import Panel, Section, figures, html_table, legend
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LinearScale
from plurispiel.tournaments.report.win_rate import MAX_PANELS
from plurispiel.tournaments.run.results import number_text

_SHARES = {
    "VPIP": ("vpip", "hands"),
    "PFR": ("raised_preflop", "hands"),
    "raise first in": ("first_in_raises", "first_in_chances"),
    "limp first in": ("first_in_limps", "first_in_chances"),
    "3-bet": ("three_bets", "three_bet_chances"),
    "donk bet": ("donk_bets", "donk_bet_chances"),
    "showdown": ("showdowns", "hands"),
}
_DRAWN = {"VPIP": ("circle", "c1"), "PFR": ("diamond", "c2"), "raise first in": ("square", "c3")}
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 356, 190, 44, 14, 30, 26


def _panel(run: RunRecord) -> Panel:
    positions = seat_positions(run.config.rules)
    order = [number for number in run.ranking if run.play[number].counts[:, 0].any()]
    rows, table = [], []
    for number in order:
        play = run.play[number]
        hands = play.counts[:, COUNTERS.index("hands")]
        overall = [play.share(*columns) for columns in _SHARES.values()]
        table.append((run.names[number], *(number_text(share, ".0%") for share in overall)))
        rows.append((run.names[number], "all", int(hands.sum()), *overall))
        for seat, place in enumerate(positions):
            shares = [play.share(*columns, seat) for columns in _SHARES.values()]
            rows.append((run.names[number], place, int(hands[seat]), *shares))
    keys = legend([(f"{shape} {css}", name) for name, (shape, css) in _DRAWN.items()])
    pictures = [_picture(run, n) for n in order[:MAX_PANELS]]
    return Panel(html_table(("agent", *_SHARES), table) + keys + figures(pictures), rows)


def _picture(run: RunRecord, number: int) -> str:
    name, play, positions = run.names[number], run.play[number], seat_positions(run.config.rules)
    drawing = Drawing(_WIDTH, _HEIGHT, f"{run.title}: {name}, VPIP, PFR and raises first in by position, in per cent")
    order = acting_order(run.config.rules)
    step = (_WIDTH - _LEFT - _RIGHT) / len(order)
    y = LinearScale(0.0, 1.0, _HEIGHT - _BOTTOM, _TOP)
    drawing.text(_LEFT, 16, name, "title", room=_WIDTH - _LEFT - 8)
    drawing.y_axis(y, [0.0, 0.25, 0.5, 0.75, 1.0], _LEFT, _WIDTH - _RIGHT, "{:.0%}".format)
    for k, seat in enumerate(order):
        drawing.text(_LEFT + step * (k + 0.5), _HEIGHT - 8, positions[seat], "tick", anchor="middle")
    for label, (shape, css) in _DRAWN.items():
        shares = [(k, play.share(*_SHARES[label], seat)) for k, seat in enumerate(order)]
        points = [(_LEFT + step * (k + 0.5), y(share)) for k, share in shares if share is not None]
        drawing.path(points, f"thin {css}")
        for point in points:
            drawing.mark(*point, shape, css)
    return drawing.svg()


PLAY = Section(
    "play",
    "How they play",
    "Shares of hands or of chances. VPIP: put chips in voluntarily before the flop; PFR: raised before the flop; first "
    "in: before the flop, when all earlier seats had folded; 3-bet: raised before the flop, over exactly one raise; "
    "donk bet: made the first bet of a street, while the last raiser of the previous street had chips left and had not "
    "acted. Pictures show VPIP, PFR and raises first in by position, in the order of acting before the flop, for the "
    f"{MAX_PANELS} agents that rank highest.",
    (
        "agent",
        "position",
        "hands",
        "vpip",
        "pfr",
        "first_in_raise",
        "first_in_limp",
        "three_bet",
        "donk_bet",
        "showdown",
    ),
    _panel,
)
