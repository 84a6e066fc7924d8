"""Scales: from numbers to pixels, and the round numbers at an axis."""

from dataclasses import dataclass
from math import ceil, floor, isclose, log10


@dataclass(frozen=True)
class LinearScale:
    """Maps values in ``low..high`` linearly to pixels in ``start..end``; `low` must be below `high`.

    >>> scale = LinearScale(0.0, 1000.0, 50.0, 250.0)
    >>> scale(500.0), scale.ticks(3)
    (150.0, [0.0, 500.0, 1000.0])
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        """Return evenly spaced round numbers within the scale, at most `about` + 1 of them."""
        step = _round_step((self.high - self.low) / max(1, about))
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


@dataclass(frozen=True)
class LogScale:
    """Maps the logarithms of values in ``low..high`` linearly to pixels in ``start..end``.

    `low` must be positive and below `high`.

    >>> LogScale(0.001, 10.0, 0.0, 400.0).ticks()
    [0.001, 0.01, 0.1, 1.0, 10.0]
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the powers of ten within the scale."""
        return [10.0**k for k in range(ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9) + 1)]


def padded(low: float, high: float, share: float = 0.06) -> tuple[float, float]:
    """Return two limits moved apart, each by a share of the distance between them.

    Equal limits have no distance. They move by a share of their absolute value, or by 1 if they are 0.
    """
    if isclose(low, high, rel_tol=1e-12, abs_tol=1e-12):
        room = abs(low) * share or 1.0
    else:
        room = (high - low) * share
    return low - room, high + room


def _round_step(least: float) -> float:
    """Return the smallest number from `least` on that is 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * power >= least * (1 - 1e-9))
