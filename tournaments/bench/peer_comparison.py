"""Comparison of our functions with a peer: the same work in turns, after a check that both results are equal."""

import importlib
import importlib.metadata
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from plurispiel.tournaments.bench.measurement import Measurement

_MIN_TURNS = 5
_SPREAD = (0.1, 0.9)
"""Quantiles of the ratios of single turns that are reported as the spread."""


class PeerError(Exception):
    """A peer's result differs from ours, or a peer's program does not keep to its contract."""


@dataclass(frozen=True)
class Comparison:
    """Work that our functions and a peer both do.

    Attributes
    ----------
    name : str
        The work and the peer.
    peer : str
        The peer's name, with its version where the version is known.
    items : str
        The noun of the items of work, in the plural: hands, iterations, solutions.
    ours, theirs : callable
        Do some of the work, and return the seconds of processor time for one item.
    check : callable
        Computes the result on both sides. It returns a text that names the results found equal, and raises `PeerError`
        if the results differ.
    """

    name: str
    peer: str
    items: str
    ours: Callable[[], float]
    theirs: Callable[[], float]
    check: Callable[[], str]


@dataclass(frozen=True, kw_only=True)
class PeerRatio(Measurement):
    """The peer's processor time for an item of work, divided by ours: above 1, we are faster.

    `value` is the median over the turns. In each turn both sides did the same kind of work, one right after the other.

    Attributes
    ----------
    peer : str
        See `Comparison`.
    lowest, highest : float
        The spread: the 10 % and the 90 % quantile of the turns' ratios.
    turns : int
        Number of turns.
    ours, theirs : float
        Median rates, in items a second of processor time.
    """

    peer: str
    lowest: float
    highest: float
    turns: int
    ours: float
    theirs: float


def compare(comparison: Comparison, seconds: float) -> Measurement:
    """Return the ratio of a comparison, from at least five turns and about `seconds` for each side.

    The results are checked first. Then each side works once without being counted. If the check fails, or a peer's
    program breaks its contract, the value is NaN and the note has the reason.
    """
    try:
        checked = comparison.check()
        sides = comparison.theirs, comparison.ours
        for side in sides:
            side()
        taken: list[list[float]] = []
        end = time.perf_counter() + 2.0 * seconds
        while len(taken) < _MIN_TURNS or time.perf_counter() < end:
            taken.append([side() for side in sides])
    except PeerError as error:
        return left_out(comparison.name, f"{comparison.peer}: {error}")
    times = np.array(taken)
    ratios = times[:, 0] / times[:, 1]
    lowest, highest = (float(each) for each in np.quantile(ratios, _SPREAD))
    spread = f"{ratio_text(lowest)} to {ratio_text(highest)} in {len(ratios)} turns"
    theirs, ours = (float(rate) for rate in 1.0 / np.median(times, axis=0))
    return PeerRatio(
        comparison.name,
        float(np.median(ratios)),
        "x",
        f"{spread}; {comparison.peer}; ours {ours:,.4g} {comparison.items}/s; equal: {checked}",
        peer=comparison.peer,
        lowest=lowest,
        highest=highest,
        turns=len(ratios),
        ours=ours,
        theirs=theirs,
    )


def left_out(name: str, reason: str) -> Measurement:
    """Return a row without a value."""
    return Measurement(name, math.nan, "x", f"left out: {reason}")


def not_installed(name: str, package: str) -> Measurement:
    """Return the row of a peer that is not installed; the note names the extra that installs it."""
    return left_out(name, f"{package} is not installed: pip install 'plurispiel[peers]'")


def ratio_text(ratio: float) -> str:
    """Return a ratio with three digits, or all digits before the point.

    >>> ratio_text(1.7256), ratio_text(57.31), ratio_text(6594.4)
    ('1.73', '57.3', '6,594')
    """
    return f"{ratio:,.0f}" if ratio >= 100.0 else f"{ratio:.3g}"


def peer_module(name: str) -> ModuleType | None:
    """Return a peer's module, or None if it cannot be imported."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def peer_name(package: str) -> str:
    """Return the name of an installed package with its version."""
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:  # a module without metadata, such as one in the current folder
        return package


def timed(work: Callable[[], object], count: int) -> Callable[[], float]:
    """Return a function that does `count` items of work and returns the seconds of processor time for one of them.

    Wall-clock time would favour short work: load of the machine lengthens long work more often.
    """

    def run() -> float:
        begin = time.process_time()
        work()
        return (time.process_time() - begin) / count

    return run


def require_same_order(ours: Sequence[int] | np.ndarray, theirs: Sequence[int] | np.ndarray) -> None:
    """Refuse two rankings of the same hands that differ in which of two hands is better, or in which hands are equal.

    Parameters
    ----------
    ours, theirs : int[num_hands]
        Higher numbers for better hands, on any scale.

    Raises
    ------
    PeerError
        If the orders differ.
    """
    dense = [np.unique(np.asarray(ranks), return_inverse=True)[1] for ranks in (ours, theirs)]
    if different := int((dense[0] != dense[1]).sum()):
        raise PeerError(f"the order of hands differs at {different:,} of {len(dense[0]):,} hands")


def require_equal(what: str, ours: float, theirs: float, tolerance: float) -> None:
    """Refuse two numbers whose difference is above the tolerance.

    Raises
    ------
    PeerError
        If the difference is above the tolerance, or is not a number.
    """
    if not abs(ours - theirs) <= tolerance:
        raise PeerError(f"{what} is {theirs:.9g}, ours is {ours:.9g}")
