"""One style for the pictures of all commands, with matplotlib, which the extra `plot` brings.

Series have the colours of Okabe and Ito, which every kind of colour vision tells apart, and markers of their own. What
is done with hands is grey for folds, orange for calls and blue for raises, the darker the larger, as in the report.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["CALL_COLOUR", "FOLD_COLOUR", "NEUTRAL", "SERIES", "MatplotlibMissing", "picture", "raise_colours"]

SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Blue, vermillion, bluish green, reddish purple, orange, sky blue, black."""

NEUTRAL = "#8a929b"
"""Of lines that are no series, such as zero."""

FOLD_COLOUR, CALL_COLOUR = "#d9dde1", "#e6a117"

_MARKERS = ("o", "s", "D", "^", "v", "P", "X")
_LIGHTEST, _MIDDLE, _DARKEST = (0xD3, 0xE9, 0xF7), (0x56, 0xAE, 0xDE), (0x26, 0x86, 0xC4)
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
}


class MatplotlibMissing(ValueError):
    """Matplotlib is not installed."""


@contextlib.contextmanager
def picture(path: Path, width: float, height: float, title: str = "") -> Iterator[Any]:
    """Give an empty figure in the style, which is written at the end, whole or not at all.

    Parameters
    ----------
    path : Path
        Its ending names the format.
    width, height : float
        In inches.

    Yields
    ------
    matplotlib.figure.Figure

    Raises
    ------
    MatplotlibMissing
        If it is not installed.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
        from matplotlib.rcsetup import cycler
    except ImportError:
        raise MatplotlibMissing('pictures need matplotlib: pip install -e ".[plot]" in your clone') from None
    with rc_context({**_STYLE, "axes.prop_cycle": cycler(color=SERIES, marker=_MARKERS)}):
        figure = Figure(figsize=(width, height), layout="constrained")
        if title:
            figure.suptitle(title)
        yield figure
        unfinished = path.with_name(f".{path.name}")
        try:
            figure.savefig(unfinished, format=path.suffix[1:] or "png")
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def raise_colours(number: int) -> Sequence[str]:
    """Return blues for so many sizes of a raise, from the smallest to the largest.

    >>> raise_colours(1), raise_colours(2)
    (['#56aede'], ['#d3e9f7', '#2686c4'])
    """
    if number == 1:
        return [_hex(_MIDDLE)]
    shares = [k / (number - 1) for k in range(number)]
    return [
        _hex([round(light + share * (dark - light)) for light, dark in zip(_LIGHTEST, _DARKEST, strict=True)])
        for share in shares
    ]


def _hex(channels: Sequence[int]) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in channels)
