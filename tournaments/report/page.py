"""The report's page: sections one below the other, and in each section the runs side by side.

The page links to CSV files.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from plurispiel.tournaments.report.answer_times import ANSWER_TIMES
from plurispiel.tournaments.report.comparison import COLUMNS, NOTE, comparison
from plurispiel.tournaments.report.corrections import CORRECTIONS
from plurispiel.tournaments.report.crosstable import CROSSTABLE
from plurispiel.tournaments.report.document import Part, html_document
from plurispiel.tournaments.report.faults import FAULTS
from plurispiel.tournaments.report.hand_viewer import NOTE as HANDS
from plurispiel.tournaments.report.hand_viewer import VIEWER_SCRIPTS, HandViewer
from plurispiel.tournaments.report.panel import Panel, csv_text, paragraph
from plurispiel.tournaments.report.play import PLAY
from plurispiel.tournaments.report.positions import POSITIONS
from plurispiel.tournaments.report.provenance import PROVENANCE
from plurispiel.tournaments.report.ranking import RANKING, SCORE_NAMES
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.report.win_rate import WIN_RATE
from plurispiel.tournaments.run.results import number_text

SECTIONS = (RANKING, WIN_RATE, CROSSTABLE, CORRECTIONS, PLAY, POSITIONS, ANSWER_TIMES, FAULTS, PROVENANCE)

_VIEWER = "\n".join((Path(__file__).parent / name).read_text(encoding="utf-8") for name in VIEWER_SCRIPTS)


@dataclass(frozen=True)
class Page:
    """A page and its files.

    Attributes
    ----------
    html : str
        The text of the page.
    files : dict of str to str
        The texts of the CSV files by file name. The page links to every file but the hands' choices and grids.
    """

    html: str
    files: Mapping[str, str]


def make_page(runs: Sequence[RunRecord], folder: str, viewer: HandViewer | None = None) -> Page:
    """Return the report of one run or several.

    Parameters
    ----------
    folder : str
        Folder of the CSV files, relative to the page; the page's links begin with it.
    viewer : HandViewer, optional
        The hands to show, in a section before the faults; None for a page without this section.
    """
    parts: list[Part] = []
    files = {}
    if len(runs) > 1:
        panel = comparison(runs)
        files["comparison.csv"] = csv_text(COLUMNS, panel.rows)
        parts.append(_section("comparison", "Side by side", NOTE, panel.html, folder))
    for section in SECTIONS:
        if section is FAULTS and viewer is not None:
            for name, (columns, *rows) in viewer.files.items():
                files[f"{name}.csv"] = csv_text(columns, rows)
            parts.append(_section("hands", "Hands", HANDS, viewer.html(), folder, "hand_terms"))
        panels = [section.panel(run) for run in runs]
        if all(panel.is_empty for panel in panels):
            continue
        rows = [(run.letter, *row) for run, panel in zip(runs, panels, strict=True) for row in panel.rows]
        files[f"{section.name}.csv"] = csv_text(("run", *section.columns), rows)
        body = _side_by_side(runs, panels)
        parts.append(_section(section.name, section.title, section.note, body, folder))
    title = ", ".join(run.title for run in runs)
    header = f"<h1>{html.escape(title)}</h1>{''.join(_summary(run, len(runs) > 1) for run in runs)}"
    footer = f"The numbers of every picture are in the files beside this page, in {folder}/."
    text = html_document(title, header, parts, footer, is_wide=len(runs) > 1, script=_VIEWER)
    return Page(text, files)


def _section(name: str, title: str, note: str, body: str, folder: str, file: str = "") -> Part:
    file = f"{file or name}.csv"
    return Part(name, title, note, f'<a class="file" href="{quote(folder)}/{file}">{file}</a>', body)


def _side_by_side(runs: Sequence[RunRecord], panels: Sequence[Panel]) -> str:
    if len(runs) == 1:
        return panels[0].html
    columns = "".join(
        f'<div class="run"><h3>{_badge(run)}{html.escape(run.title)}</h3>{panel.html}</div>'
        for run, panel in zip(runs, panels, strict=True)
    )
    return f'<div class="runs">{columns}</div>'


def _summary(run: RunRecord, is_lettered: bool) -> str:
    """Return the run's game, format and key figures, with a warning if the run is unfinished or stopped early."""
    results = run.results
    figures = (
        ("hands", f"{results['hands']:,}"),
        ("groups", f"{run.num_groups:,}"),
        ("agents", f"{len(run.names):,}"),
        ("seats", f"{run.config.seats}"),
        ("ranked by", SCORE_NAMES[results["score"]]),
        ("hands/s", number_text(results["hands_per_second"], ",.0f")),
        ("seed", "drawn" if run.config.draws_key else f"{run.config.seed}"),
    )
    tiles = "".join(f"<div><dt>{name}</dt><dd>{html.escape(value)}</dd></div>" for name, value in figures)
    name = f"<strong>{_badge(run)}{html.escape(run.title)}</strong> · " if is_lettered else ""
    what = f'<p class="what">{name}{html.escape(results["game"])} · {html.escape(run.config.format)}</p>'
    warning = ""
    if not run.is_finished:
        warning = paragraph(
            f"Unfinished: {run.num_groups:,} of {run.num_wanted:,} groups have been played, and all figures cover "
            "only these. The same tournament command continues the run.",
            "warning",
        )
    elif results["stopped"]:
        warning = paragraph(
            f"Stopped by its rule “{results['stop_when']}” after {results['decks']:,} decks of each line-up. The "
            "rule was checked many times. Therefore trust the anytime-valid intervals (sequential_ci95 in "
            "ranking.csv); the intervals and p on this page assume a single check.",
            "remark",
        )
    return f'{what}<dl class="tiles">{tiles}</dl>{warning}'


def _badge(run: RunRecord) -> str:
    return f'<span class="badge">{html.escape(run.letter)}</span>'
