"""One measured figure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A figure with its unit, and what to compare it with."""

    name: str
    value: float
    unit: str
    note: str = ""
