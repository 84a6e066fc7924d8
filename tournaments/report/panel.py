"""What a section of the report says of one run, and its tables as HTML and CSV."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from plurispiel.tournaments.report.run_record import RunRecord

Row = Sequence[Any]


@dataclass(frozen=True)
class Panel:
    """HTML, and the numbers behind it.

    Attributes
    ----------
    html : str
    rows : sequence of sequence
        For the section's CSV file.
    """

    html: str
    rows: Sequence[Row] = ()


@dataclass(frozen=True)
class Section:
    """A part of the page, made for every run.

    Attributes
    ----------
    name : str
        Of its link and its CSV file.
    title, note : str
        The note says what is shown and in which unit.
    columns : sequence of str
        Of the CSV file; none for a section without numbers.
    panel : callable
        Makes the panel of a run.
    """

    name: str
    title: str
    note: str
    columns: Sequence[str]
    panel: Callable[[RunRecord], Panel]


def html_table(head: Row, rows: Sequence[Row], *, num_texts: int = 1) -> str:
    """Return a table of plain texts; the first columns are left-aligned, the others figures."""

    def cells(row: Row, tag: str) -> str:
        starts = [f"<{tag}>" if k < num_texts else f'<{tag} class="figure">' for k in range(len(row))]
        return "".join(f"{start}{escape(str(cell))}</{tag}>" for start, cell in zip(starts, row, strict=True))

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells(head, "th")}</tr></thead><tbody>{body}</tbody></table></div>'


def paragraph(text: str, css: str = "remark") -> str:
    """Return a line of plain text."""
    return f'<p class="{css}">{escape(text)}</p>'


def figures(pictures: Sequence[str]) -> str:
    """Return pictures that stand side by side as far as there is room."""
    return f'<div class="figures">{"".join(pictures)}</div>'


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Return what colours mean: pairs of a class and a text."""
    keys = "".join(f'<span class="key"><i class="{css}"></i>{escape(text)}</span>' for css, text in entries)
    return f'<p class="legend">{keys}</p>'


def csv_text(columns: Row, rows: Sequence[Row]) -> str:
    """Return a table as CSV; None is an empty cell."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return stream.getvalue()
