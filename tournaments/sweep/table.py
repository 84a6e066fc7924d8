"""The rows of a sweep as a table, as CSV and as means over all flops."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plurispiel.agents.spots.flop_row import FlopRow
from plurispiel.agents.spots.node_names import PLAYERS
from plurispiel.tournaments.report.panel import csv_text

__all__ = ["SweepTable"]


@dataclass(frozen=True)
class SweepTable:
    """The rows of a sweep.

    Attributes
    ----------
    rows : sequence of FlopRow
        In the order of the flops. The frequencies of all rows have the same names.
    """

    rows: Sequence[FlopRow]

    @property
    def lines(self) -> list[str]:
        """The names of the frequencies."""
        return list(self.rows[0].frequencies) if self.rows else []

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        figures = [f"{name} {player}" for name in ("ev", "equity") for player in PLAYERS]
        more = ["bucket_exploitability_pct"] if self._has_buckets else []
        return ["flop", "weight", "pairs", *figures, "exploitability_pct", *more, "iterations", *self.lines]

    @property
    def cells(self) -> list[list[Any]]:
        """The cells of each row; None where there is no figure."""
        return [self._cells(row) for row in self.rows]

    @property
    def csv(self) -> str:
        """The table as CSV."""
        return csv_text(self.columns, self.cells)

    def mean(self) -> dict[str, Any]:
        """Return the means over all deals that reach the flops, as a record for JSON.

        A flop counts by its weight times its pairs of hands. The frequencies of answers to an action are also weighted
        by the frequency of that action. `ev`, `equity` and `exploitability_pct` are defined as in `FlopRow`.
        """
        chances = [row.weight * row.pairs for row in self.rows]

        def mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
            known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
            total = sum(weight for _, weight in known)
            return sum(value * weight for value, weight in known) / total if total > 0.0 else None

        frequencies = {}
        for name in self.lines:
            player, _, line = name.partition(":")[0].partition(" after ")
            before = [row.frequencies[f"{PLAYERS[0]}: {line}"] or 0.0 if line else 1.0 for row in self.rows]
            weights = [chance * share for chance, share in zip(chances, before, strict=True)]
            frequencies[name] = mean([row.frequencies[name] for row in self.rows], weights)
        return {
            "ev": [mean([row.ev[seat] for row in self.rows], chances) for seat in range(2)],
            "equity": [mean([row.equity[seat] for row in self.rows], chances) for seat in range(2)],
            "exploitability_pct": mean([row.exploitability_pct for row in self.rows], chances),
            "frequencies": frequencies,
        }

    @property
    def _has_buckets(self) -> bool:
        return any(row.bucket_exploitability_pct is not None for row in self.rows)

    def _cells(self, row: FlopRow) -> list[Any]:
        more = [row.bucket_exploitability_pct] if self._has_buckets else []
        figures = [*row.ev, *row.equity, row.exploitability_pct, *more, row.iterations]
        return [row.flop, row.weight, row.pairs, *figures, *row.frequencies.values()]
