"""The page of a league: the ratings, the crosstable and the settings, as one self-contained HTML file."""

import html
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.tournaments.league.folder import League
from plurispiel.tournaments.league.standings import rating_rows, separation_lines, version_lines
from plurispiel.tournaments.report.crosstable import crosstable_picture
from plurispiel.tournaments.report.document import Part, html_document
from plurispiel.tournaments.report.drawing import RowLayout
from plurispiel.tournaments.report.panel import fitted, html_table, paragraph
from plurispiel.tournaments.report.ranking import intervals_picture

_RANKING = (
    "The mean rate against all other agents in mbb/hand, thousandths of a big blind per hand. All opponents count "
    "equally, whatever the number of hands. The intervals are percentiles over resampled groups. They do not allow for "
    "the choice of pairings by results; the anytime-valid intervals in the table of ratings do. Two neighbours count "
    "as separated when the anytime-valid interval of their difference excludes 0."
)
_RATINGS = (
    "Nash averaging solves the game in which two players choose an agent each. The share is the agent's probability in "
    "the equilibrium of maximum entropy, the rating its rate against this equilibrium in mbb/hand. Copies of an agent "
    "change no rating. Alpha-rank is the share of time that a population spends with the agent, while better agents "
    "replace worse ones. ± always is the half-width of the anytime-valid 95 % interval of the mean rate. It holds "
    "however often one looks, although results decide which pairing plays. Intervals in brackets are percentiles over "
    "resampled groups."
)
_CROSSTABLE = (
    "Rate of the row's agent against the column's in mbb/hand, with anytime-valid 95 % half-widths; a dash where the "
    "pair has too few groups. Blue cells are gains of the row's agent, orange cells are losses."
)


def make_league_page(league: League, record: Mapping[str, Any]) -> str:
    """Return the page of a league's standings (`standings.make_standings`)."""
    name = printable(league.folder.absolute().name)
    agents = record["agents"]
    names = [printable(agent["name"]) for agent in agents]
    parts = [_settings(league)]
    if agents:
        parts = [_ranking(record, names), _ratings(record), _crosstable(record, names), *parts]
    figures = (("agents", f"{len(agents):,}"), ("hands", f"{record['hands']:,}"), ("groups", f"{record['groups']:,}"))
    tiles = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in figures)
    header = (
        f'<h1>{html.escape(name)}</h1><p class="what">{html.escape(record["game"])} · league</p>'
        f'<dl class="tiles">{tiles}</dl>'
    )
    if record["unranked"]:
        missing = ", ".join(map(printable, record["unranked"]))
        header += paragraph(f"Not ranked, as they have not met all others: {missing}.", "warning")
    return html_document(name, header, parts, f"The digest of all groups is {record['digest']}.")


def _ranking(record: Mapping[str, Any], names: list[str]) -> Part:
    rows = []
    for name, agent in zip(names, record["agents"], strict=True):
        low, high = agent["mbb_per_hand_ci95"]
        rows.append((name, agent["mbb_per_hand"], (low, high), f"{agent['mbb_per_hand']:+,.0f}"))

    def picture(layout: RowLayout) -> str:
        return intervals_picture("mbb/hand of every agent against the field with 95 % intervals", rows, layout)

    remarks = "".join(map(paragraph, [*separation_lines(record["agents"]), *version_lines(record)]))
    return Part("ranking", "Against the field", _RANKING, "", fitted(picture) + remarks)


def _ratings(record: Mapping[str, Any]) -> Part:
    head, *rows = rating_rows(record["agents"])
    return Part("ratings", "Ratings", _RATINGS, "", html_table(head, rows))


def _crosstable(record: Mapping[str, Any], names: list[str]) -> Part:
    cells = {
        (row, column): (cell["mbb_per_hand"], cell["sequential_ci95"])
        for row, line in enumerate(record["matrix"])
        for column, cell in enumerate(line)
        if cell is not None
    }
    picture = crosstable_picture("mbb/hand of the row against the column", names, cells)
    return Part("crosstable", "Crosstable", _CROSSTABLE, "", f'<div class="wide">{picture}</div>')


def _settings(league: League) -> Part:
    rows = [(name, printable(str(value))) for name, value in asdict(league.config).items() if value not in ("", None)]
    agents = [(printable(entry.name), f"{entry.number}", entry.digest) for entry in league.active]
    body = html_table(("setting", "value"), rows, num_texts=2)
    body += html_table(("agent", "number", "digest"), agents, num_texts=3)
    return Part("settings", "Settings and agents", "Settings are fixed at the creation of the league.", "", body)
