"""The page of a sweep as one self-contained HTML file: means, and a table of all flops. A click sorts the table."""

import json
from html import escape
from pathlib import Path
from typing import Any

from plurispiel.agents.spots.node_names import PLAYERS
from plurispiel.tournaments.report.document import Part, html_document
from plurispiel.tournaments.report.panel import html_table
from plurispiel.tournaments.sweep.settings import SweepSettings
from plurispiel.tournaments.sweep.table import SweepTable

__all__ = ["make_sweep_page"]

_SCRIPT = (Path(__file__).parent / "sort.js").read_text(encoding="utf-8")
_MEANS = (
    "Means over all deals that reach the flops: a flop counts by its weight times its pairs of hands. EV is a player's "
    "mean share of the final pot less the player's further bets. Equity is the player's share of the pot if there are "
    "no further bets."
)
_LINES = "The frequency of each action of the first decision, and of each answer, in %."
_FLOPS = (
    "A click on a heading sorts the table, a second click turns the order around. The weight is the number of flops "
    "for which the flop stands. EV is in chips, equity and exploitability are in % of the pot, and frequencies of "
    "actions are in %."
)


def make_sweep_page(settings: SweepSettings, table: SweepTable) -> str:
    """Return the page of a sweep."""
    spot, mean = settings.spot, table.mean()
    figures = (
        ("flops", f"{len(table.rows):,}"),
        ("sum of weights", f"{sum(row.weight for row in table.rows):,.0f}"),
        ("pot", f"{spot.pot:,}"),
        *((f"EV {player}", f"{ev:,.2f}") for player, ev in zip(PLAYERS, mean["ev"], strict=True)),
    )
    tiles = "".join(f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in figures)
    header = f'<h1>Sweep over flops</h1><dl class="tiles">{tiles}</dl>'
    parts = [_means(mean, spot.pot), _lines(mean), _flops(table), _settings(settings)]
    return html_document("Sweep over flops", header, parts, "", is_wide=True, script=_SCRIPT)


def _means(mean: dict[str, Any], pot: int) -> Part:
    rows = [
        (player, f"{ev:,.3f}", f"{100 * ev / pot:.2f} %", f"{100 * share:.2f} %")
        for player, ev, share in zip(PLAYERS, mean["ev"], mean["equity"], strict=True)
    ]
    return Part("means", "Means", _MEANS, "", html_table(("player", "EV (chips)", "of the pot", "equity"), rows))


def _lines(mean: dict[str, Any]) -> Part:
    rows = [(name, _percent(share)) for name, share in mean["frequencies"].items()]
    return Part("lines", "Lines", _LINES, "", html_table(("action", "frequency"), rows))


def _flops(table: SweepTable) -> Part:
    rows = []
    for row in table.rows:
        by_buckets = [] if row.bucket_exploitability_pct is None else [f"{row.bucket_exploitability_pct:.3g}"]
        rows.append(
            (
                row.flop,
                f"{row.weight:,g}",
                f"{row.pairs:,.1f}",
                *(f"{ev:,.3f}" for ev in row.ev),
                *map(_percent, row.equity),
                f"{row.exploitability_pct:.3g}",
                *by_buckets,
                f"{row.iterations:,}",
                *map(_percent, row.frequencies.values()),
            )
        )
    heads = [name.replace("_", " ").replace(" pct", "") for name in table.columns]
    return Part("flops", "Flops", _FLOPS, "", f'<div id="sorted">{html_table(heads, rows)}</div>')


def _settings(settings: SweepSettings) -> Part:
    text = json.dumps(settings.record(), indent=2)
    return Part(
        "settings", "Settings", "The spot, and how it was solved on each flop.", "", f"<pre>{escape(text)}</pre>"
    )


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100.0 * share:.2f}"
