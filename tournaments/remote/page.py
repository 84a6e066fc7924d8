"""The report on hands at services: the results of one folder or several, as one self-contained HTML page."""

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.tournaments.remote import gtowizard, slumbot
from plurispiel.tournaments.remote.score import results_of
from plurispiel.tournaments.remote.store import ServiceHand, read_hands
from plurispiel.tournaments.report.document import Part, html_document
from plurispiel.tournaments.report.drawing import RowLayout
from plurispiel.tournaments.report.page import Page
from plurispiel.tournaments.report.panel import csv_text, fitted, html_table, paragraph
from plurispiel.tournaments.report.ranking import intervals_picture
from plurispiel.tournaments.run.results import number_text

_BIG_BLINDS = {"slumbot": slumbot.RULES.big_blind, "gtowizard": gtowizard.RULES.big_blind}
_FIGURES = {"raw": "raw", "aivat": "AIVAT", "service": "the service's estimate"}
_RESULTS = (
    "Our agent's rate in mbb/hand, thousandths of a big blind per hand. AIVAT is our own estimate with luck taken off. "
    "It needs the opponent's cards in every hand. Hands are taken as independent. An estimate is shown only if every "
    "scored hand has one."
)
_HANDS = (
    "Broken hands contradict our rules, or were not finished; they are not scored. A folder whose opponent has changed "
    "has results against different players."
)


class Sitting(NamedTuple):
    """The hands of a folder.

    Attributes
    ----------
    name : str
        The folder's name.
    settings : mapping
        The settings of `HandStore`.
    hands : list of ServiceHand
        All hands.
    results : dict
        The results of the hands (`results_of`).
    """

    name: str
    settings: Mapping[str, Any]
    hands: list[ServiceHand]
    results: dict[str, Any]


def read_sitting(folder: Path) -> Sitting:
    """Read the hands of a folder, also while another process plays.

    Raises
    ------
    ValueError
        If the folder holds no hands, damaged ones, or those of a service or version that this package does not know.
    """
    settings, hands = read_hands(folder)
    big_blind = _BIG_BLINDS.get(settings.get("service", ""))
    if big_blind is None:
        raise ValueError(f"{folder} has hands of an unknown service: {str(settings.get('service'))[:40]!r}")
    return Sitting(printable(folder.absolute().name), settings, hands, results_of(hands, big_blind))


def make_remote_page(sittings: Sequence[Sitting], folder: str) -> Page:
    """Return the report of one sitting or several; `folder` holds the CSV files, and is relative to the page."""
    files = {"results.csv": _results_csv(sittings), "hands.csv": _hands_csv(sittings)}
    links = {name: f'<a class="csv" href="{html.escape(folder)}/{name}">CSV</a>' for name in files}
    parts = [
        Part("results", "Results", _RESULTS, links["results.csv"], _results(sittings)),
        Part("hands", "Hands", _HANDS, links["hands.csv"], _hands(sittings)),
        Part("settings", "Settings", "All hands of a folder were played with these settings.", "", _settings(sittings)),
    ]
    title = ", ".join(sitting.name for sitting in sittings)
    hands = sum(sitting.results["hands"] for sitting in sittings)
    tiles = f'<dl class="tiles"><div><dt>scored hands</dt><dd>{hands:,}</dd></div></dl>'
    header = f'<h1>{html.escape(title)}</h1><p class="what">hands at services on the web</p>{tiles}'
    return Page(html_document(title, header, parts, "The replies of the services are in remote.sqlite."), files)


def _rates(sitting: Sitting) -> dict[str, tuple[float, float | None]]:
    """Return the rates that a sitting has and their half-widths, in mbb/hand."""
    results = sitting.results
    records = {"raw": results, "aivat": results["aivat"], "service": results["by_service"]}
    return {
        name: (record["mbb_per_hand"], record["ci95"])
        for name, record in records.items()
        if record is not None and record["mbb_per_hand"] is not None
    }


def _results(sittings: Sequence[Sitting]) -> str:
    rows: list[tuple[str, float, tuple[float, float] | None, str]] = []
    for sitting in sittings:
        for name, (rate, width) in _rates(sitting).items():
            ends = None if width is None else (rate - width, rate + width)
            rows.append((f"{sitting.name}, {_FIGURES[name]}", rate, ends, _rate_text(rate, width)))
    if not rows:
        return paragraph("No hand has been scored yet.")

    def picture(layout: RowLayout) -> str:
        return intervals_picture("mbb/hand of every folder, raw and with luck taken off", rows, layout)

    columns = [name for name in _FIGURES if any(name in _rates(sitting) for sitting in sittings)]
    head = ("folder", "agent", "opponent", *(_FIGURES[name] for name in columns), "hands")
    table = []
    for sitting in sittings:
        rates = _rates(sitting)
        texts = [_rate_text(*rates[name]) if name in rates else "–" for name in columns]
        opponents = printable(" and ".join(sitting.results["opponents"]) or "–")
        table.append((sitting.name, _agent(sitting), opponents, *texts, f"{sitting.results['hands']:,}"))
    return fitted(picture) + html_table(head, table, num_texts=3)


def _hands(sittings: Sequence[Sitting]) -> str:
    head = ("folder", "first trouble or fault", "scored", "broken", "open", "faults", "mean time")
    table = []
    for sitting in sittings:
        found, hands = sitting.results, sitting.hands
        num_open = len(hands) - found["hands"] - found["broken"]
        counts = [f"{count:,}" for count in (found["hands"], found["broken"], num_open, found["faults"])]
        times = [hand.milliseconds for hand in hands if hand.milliseconds]
        mean = f"{sum(times) / len(times) / 1000.0:,.2f} s" if times else "–"
        trouble = printable(found["first_trouble"] or found["first_fault"] or "–")
        table.append((sitting.name, trouble, *counts, mean))
    return html_table(head, table, num_texts=2)


def _settings(sittings: Sequence[Sitting]) -> str:
    names = sorted({name for sitting in sittings for name in sitting.settings})
    rows = [(name, *(printable(str(sitting.settings.get(name, "–"))) for sitting in sittings)) for name in names]
    return html_table(("setting", *(sitting.name for sitting in sittings)), rows, num_texts=1 + len(sittings))


def _results_csv(sittings: Sequence[Sitting]) -> str:
    columns = ("folder", "agent", "service", "figure", "mbb_per_hand", "ci95", "hands", "broken", "faults")
    rows = [
        (
            *(sitting.name, _agent(sitting), sitting.settings["service"], name, rate, width),
            *(sitting.results[key] for key in ("hands", "broken", "faults")),
        )
        for sitting in sittings
        for name, (rate, width) in _rates(sitting).items()
    ]
    return csv_text(columns, rows)


def _hands_csv(sittings: Sequence[Sitting]) -> str:
    fields = ("number", "status", "opponent", "seat", "payoff", "aivat", "service_corrected", "milliseconds", "trouble")
    rows = [(sitting.name, *(getattr(hand, name) for name in fields)) for sitting in sittings for hand in sitting.hands]
    return csv_text(("folder", *fields), rows)


def _agent(sitting: Sitting) -> str:
    return printable(re.sub(r"\s+", " ", str(sitting.settings.get("agent", ""))))


def _rate_text(rate: float, width: float | None) -> str:
    return f"{number_text(rate, '+,.1f')} ± {number_text(width, ',.1f')}"
