"""One measured figure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A figure: `name`, `value` in `unit`, and a `note` with a peer's figure or the conditions of the measurement."""

    name: str
    value: float
    unit: str
    note: str = ""
