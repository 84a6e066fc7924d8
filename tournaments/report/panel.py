"""Sections of the report and their content for one run, and tables as HTML and CSV."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.tournaments.report.drawing import NARROW, WIDE, RowLayout
from plurispiel.tournaments.report.run_record import RunRecord

Cells = Sequence[Any]
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""The first characters of texts that spreadsheets may run as formulas."""


@dataclass(frozen=True)
class Panel:
    """A section's HTML for one run, and its numbers.

    Attributes
    ----------
    html : str
        The section's content for the run.
    rows : sequence of sequence
        The run's rows in the section's CSV file, without the run's letter.
    is_empty : bool
        Whether the HTML holds nothing but the reason for an empty panel. A section with only empty panels is left out.
    """

    html: str
    rows: Sequence[Cells] = ()
    is_empty: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the page, with a panel for every run.

    Attributes
    ----------
    name : str
        The section's ``id`` in the HTML, and the name of its CSV file without the suffix.
    title, note : str
        The heading, and the text below it, which explains the figures and their units.
    columns : sequence of str
        The columns of the CSV file after the run's letter.
    panel : callable
        Makes the panel of a run.
    """

    name: str
    title: str
    note: str
    columns: Sequence[str]
    panel: Callable[[RunRecord], Panel]


def html_table(head: Cells, rows: Sequence[Cells], *, num_texts: int = 1) -> str:
    """Return a table of plain texts as HTML.

    The first `num_texts` columns hold words and are left-aligned. All other columns hold figures and are right-aligned.
    A narrow window may break an interval such as "+100 ± 20" before the sign "±".
    """

    def cells(row: Cells, tag: str) -> str:
        starts = [f"<{tag}>" if k < num_texts else f'<{tag} class="figure">' for k in range(len(row))]
        texts = [escape(str(cell)) for cell in row]
        for k in range(num_texts, len(row)):
            if " ± " in texts[k]:
                texts[k] = " ".join(f"<span>{part}</span>" for part in texts[k].replace(" ± ", "\n± ").splitlines())
        return "".join(f"{start}{text}</{tag}>" for start, text in zip(starts, texts, strict=True))

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'


def paragraph(text: str, css: str = "remark") -> str:
    """Return plain text as a paragraph of HTML."""
    return f'<p class="{css}">{escape(text)}</p>'


def fitted(draw: Callable[[RowLayout], str]) -> str:
    """Return a picture in two layouts, for wide and for narrow windows; the page shows the layout that fits."""
    return f'<div class="on-wide">{draw(WIDE)}</div><div class="on-narrow">{draw(NARROW)}</div>'


def figures(pictures: Sequence[str]) -> str:
    """Return pictures in a grid with as many columns as fit."""
    return f'<div class="figures">{"".join(pictures)}</div>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Return a legend of colours, from pairs of a CSS class and a text."""
    keys = "".join(f'<span class="key"><i class="{css}"></i>{escape(text)}</span>' for css, text in entries)
    return f'<p class="legend">{keys}</p>'


def csv_text(columns: Cells, rows: Sequence[Cells]) -> str:
    """Return a table as CSV; None is an empty cell, and `_cell` keeps texts from being run as formulas."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in (columns, *rows))
    return stream.getvalue()


def _cell(value: object) -> object:
    """Return a cell; a leading apostrophe keeps spreadsheets from running a text that begins like a formula."""
    if not isinstance(value, str):
        return value
    return "'" * value.startswith(_FORMULA) + printable(value)
