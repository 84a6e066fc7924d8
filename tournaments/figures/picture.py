"""One style for the pictures of all commands. The pictures need matplotlib, which the extra `plot` installs.

Each series has its own marker and one of the colours of Okabe and Ito, which colour-blind readers can tell apart.
Folds are grey, calls orange and raises blue, as in the report. Larger raises are darker.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.files import require_writable

__all__ = [
    "CALL_COLOUR",
    "FOLD_COLOUR",
    "NEUTRAL",
    "SERIES",
    "RAISE_COLOURS",
    "MatplotlibMissing",
    "outlined",
    "picture",
    "polygons",
    "raise_colours",
    "require_drawable",
]

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Blue, vermillion, bluish green, reddish purple, orange, sky blue, black."""

NEUTRAL = "#8a929b"
"""Colour of lines that are no series, such as the line at zero."""

FOLD_COLOUR, CALL_COLOUR = "#d5d8dc", "#d98a00"
RAISE_COLOURS = ("#8fc6f8", "#4a8ad4", "#1e62a0", "#0b2c66")
"""Colours from the smallest raise to the largest. The report uses the same colours in light mode, but not in dark mode.

Any two of the six colours of actions differ by more than 15 in CIEDE2000, also for eyes without red, green or blue
cones. The blues differ from each other in lightness, and from the orange in hue. A lighter first blue would be too near
the grey of folds: a blue near white differs from this grey by only 5.5.
"""

_MARKERS = ("o", "s", "D", "^", "v", "P", "X")
_STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.which": "both",
    "axes.labelcolor": "#1c2024",
    "axes.labelsize": 10,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "errorbar.capsize": 2.5,
    "figure.titlesize": 13,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "grid.color": "#e3e5e8",
    "grid.linewidth": 0.7,
    "image.cmap": "cividis",
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.0,
    "savefig.dpi": 120,
    "svg.hashsalt": "plurispiel",  # otherwise equal figures get different ids in each file
}


class MatplotlibMissing(ValueError):
    """Matplotlib is not installed."""


def require_drawable(path: Path) -> None:
    """Check before long work that a picture of it can be written.

    Raises
    ------
    MatplotlibMissing
        If matplotlib cannot be imported.
    ValueError
        If matplotlib cannot write the format that the suffix names, or the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MatplotlibMissing('pictures need matplotlib: pip install "plurispiel[plot]"') from None
    kinds = sorted(set(Figure().canvas.get_supported_filetypes()) - {"pgf"})  # PGF needs LaTeX
    if _format(path).lower() not in kinds:
        raise ValueError(f"{path} has no format of pictures: its suffix must be one of .{', .'.join(kinds)}")
    require_writable(path)


@contextlib.contextmanager
def picture(path: Path, width: float, height: float, title: str = "") -> Iterator[Any]:
    """Yield an empty figure in the style of this module. The figure is written whole when its context ends.

    If the context ends with an exception, nothing is written, and an older file stays as it is.

    Parameters
    ----------
    path : Path
        The file to write; its suffix names the format. Without a suffix the format is PNG.
    width, height : float
        Size of the figure in inches.
    title : str
        Heading of the figure; empty for none.

    Yields
    ------
    matplotlib.figure.Figure

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    ValueError
        As in `require_drawable`.
    """
    require_drawable(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.rcsetup import cycler

    with rc_context({**_STYLE, "axes.prop_cycle": cycler(color=SERIES, marker=_MARKERS)}):
        figure = Figure(figsize=(width, height), layout="constrained")
        if title:
            figure.suptitle(title)
        yield figure
        unfinished = path.with_name(f".{path.name}")
        try:
            with unfinished.open("wb") as stream:  # given a path, an interrupted savefig leaves its file open
                kind = _format(path)
                # A date would make equal figures different files; a PNG has none.
                figure.savefig(stream, format=kind, metadata={"Date": None} if kind.lower() == "svg" else None)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def _format(path: Path) -> str:
    return path.suffix[1:] or "png"


def raise_colours(number: int) -> list[str]:
    """Return colours for `number` sizes of a raise, from the smallest to the largest.

    Up to four colours are taken from `RAISE_COLOURS`: a single size has the second, more sizes are spread over all.
    More than four colours are interpolated.

    >>> raise_colours(1), raise_colours(2)
    (['#4a8ad4'], ['#8fc6f8', '#0b2c66'])
    """
    if number == 1:
        return [RAISE_COLOURS[1]]
    last = len(RAISE_COLOURS) - 1
    places = [last * k / (number - 1) for k in range(number)]
    if number <= len(RAISE_COLOURS):
        return [RAISE_COLOURS[int(place + 0.5)] for place in places]
    return [
        _between(RAISE_COLOURS[int(place)], RAISE_COLOURS[min(last, int(place) + 1)], place % 1) for place in places
    ]


def outlined() -> list[Any]:
    """Return matplotlib's path effects for a white outline, which keeps a text readable on all colours."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=1.8, foreground="white", alpha=0.85)]


def polygons(corners: np.ndarray, colour: str) -> Any:
    """Return matplotlib's collection of n polygons of m corners, float64[n, m, 2]: far faster than n bars."""
    from matplotlib.collections import PolyCollection

    return PolyCollection(list(corners), facecolors=colour)


def _between(first: str, second: str, share: float) -> str:
    channels = [(int(first[k : k + 2], 16), int(second[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(low + share * (high - low)):02x}" for low, high in channels)
