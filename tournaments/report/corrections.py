"""The variance that is left after each step of luck correction, as a share of the raw variance."""

from typing import NamedTuple

from plurispiel.tournaments.report.drawing import Drawing
from plurispiel.tournaments.report.panel import Panel, Section, figures, paragraph
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.scale import LinearScale
from plurispiel.tournaments.report.win_rate import MAX_PANELS
from plurispiel.tournaments.run.table_sums import ZERO_SUM

_NAMES = {
    "chips": "duplicate decks",
    "imaginary_hands": "+ possible hands",
    "chance": "+ chance",
    "own_actions": "+ own actions",
    "other_actions": "+ others' actions",
    "true_chance": "+ chance, own cards",
    "true_other_actions": "+ others' actions",
    ZERO_SUM: "+ zero sum",
}
_WIDTH, _ROW, _TOP, _LEFT, _RIGHT = 356, 26, 30, 130, 96


class Step(NamedTuple):
    """The standard deviation of a hand's result after a step of correction.

    `sd_bb` is the standard deviation in big blinds. `share` is the variance after the step over the raw variance; None
    if the raw variance is 0.
    """

    name: str
    sd_bb: float
    share: float | None


def steps(run: RunRecord, number: int) -> list[Step]:
    """Return an agent's steps, raw hands first; empty if fewer than two hands have been played.

    The standard deviation of the first step is that of single hands. From the second step on, it is the standard
    deviation of the rates of groups, times the square root of the mean number of hands in a group. The zero-sum
    correction is a step if the ranking score has it. With fewer than two groups, only the first step is returned.
    """
    agent = run.scores.agents[number]
    raw = agent.score("raw")
    if raw is None or raw.sd_mbb is None:
        return []
    found = agent.corrections()
    if run.scores.headline != "aivat_zero_sum":
        found.pop(ZERO_SUM, None)
    spreads = [("raw hands", raw.sd_mbb), *((_NAMES[key], s.sd_mbb) for key, s in found.items())]
    return [
        Step(name, sd / 1000.0, (sd / raw.sd_mbb) ** 2 if raw.sd_mbb else None)
        for name, sd in spreads
        if sd is not None
    ]


def _panel(run: RunRecord) -> Panel:
    found = {number: steps(run, number) for number in run.ranking}
    rows = [(run.names[number], *step) for number, listed in found.items() for step in listed]
    shown = [number for number, listed in found.items() if listed][:MAX_PANELS]
    if not shown:
        return Panel(paragraph("Too few hands yet: a standard deviation needs two."))
    return Panel(figures([_picture(run, number, found[number]) for number in shown]), rows)


def _picture(run: RunRecord, number: int, listed: list[Step]) -> str:
    name = run.names[number]
    bottom = _TOP + _ROW * len(listed)
    x = LinearScale(0.0, max(step.sd_bb for step in listed) or 1.0, _LEFT, _WIDTH - _RIGHT)
    drawing = Drawing(_WIDTH, bottom + 8, f"{run.title}: {name}, standard deviation a hand after each correction")
    drawing.text(_LEFT, 16, name, "title", room=_WIDTH - _LEFT - 8)
    drawing.line(_LEFT, _TOP, _LEFT, bottom, "zero")
    for k, step in enumerate(listed):
        top = _TOP + _ROW * k
        drawing.text(_LEFT - 8, top + 17, step.name, "label", anchor="end")
        css = "raw" if k == 0 else "c1"
        drawing.rect(
            _LEFT, top + 5, x(step.sd_bb) - _LEFT, _ROW - 10, css, opacity=1.0 if k == len(listed) - 1 else 0.6
        )
        share = "" if step.share is None else f" · {step.share:.0%}" if step.share >= 0.005 else " · <1%"
        drawing.text(x(step.sd_bb) + 6, top + 17, f"{step.sd_bb:,.1f} bb{share}", "value")
    return drawing.svg()


CORRECTIONS = Section(
    "corrections",
    "Variance by correction",
    "Standard deviation of a hand's result in big blinds, and the variance as a share of the raw variance, as "
    "corrections are added. The steps are: the same deck in all seats; AIVAT's mean over the hands the agent could "
    "have held; chance; the agent's own choices; with two players left, the opponent's choices, if the opponent is an "
    "agent of this package; the zero-sum correction, since all scores of a table should sum to 0 (in this sum, "
    "outside agents are scored without their reported strategies). An agent whose strategy is not known or not used "
    "has no step for the hands it could have held or for its own choices. From the second bar on, the deviation is "
    "over groups, times the square root of the hands "
    "in a group. An early step may add spread that a later step removes.",
    ("agent", "step", "sd_bb_per_hand", "share_of_raw_variance"),
    _panel,
)
