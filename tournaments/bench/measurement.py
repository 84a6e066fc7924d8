"""One measured figure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A figure with its unit, and a note to compare it with."""

    name: str
    value: float
    unit: str
    note: str = ""
