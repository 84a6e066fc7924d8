"""One measured figure, and tables of figures."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.machine.memory import peak_bytes, peak_child_bytes

_Z = 1.96


@dataclass(frozen=True)
class Measurement:
    """A figure: `name`, `value` in `unit`, and a `note` with a peer's figure or the conditions of the measurement."""

    name: str
    value: float
    unit: str
    note: str = ""


def half_width_text(samples: np.ndarray, decimals: int) -> str:
    """Return the half-width of the normal 95 % interval of a mean, to begin a note; one sample has no interval.

    >>> half_width_text(np.array([1.0, 2.0]), 2), half_width_text(np.array([1.0]), 2)
    ('± 0.98, ', '')
    """
    if len(samples) == 1:
        return ""
    return f"± {_Z * samples.std(ddof=1) / len(samples) ** 0.5:.{decimals}f}, "


def peak_memory() -> list[Measurement]:
    """Return this process's peak memory and, if processes that it started have ended, the largest of their peaks."""
    rows = [Measurement("peak memory", peak_bytes() / 2**20, "MiB", "this process, from its start")]
    if child := peak_child_bytes():
        rows.append(Measurement("  largest process started", child / 2**20, "MiB"))
    return rows


def markdown_table(lines: Sequence[Sequence[str]]) -> str:
    """Return the cells of a table as Markdown; the first line is its head."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    head, *others = lines
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (head, ["-" * width for width in widths], *others)
    )
