"""Pictures as inline SVG. Colours are CSS classes, so that they follow the page's light or dark mode."""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from plurispiel.tournaments.report.scale import LinearScale, LogScale

Pixel = tuple[float, float]
Scale = LinearScale | LogScale


@dataclass(frozen=True)
class RowLayout:
    """The columns of a picture with a row for each agent; all lengths are in pixels.

    `width` is the width of the picture. Names stand left of `left`, marks between `left` and `right`, and figures right
    of `right`.
    """

    width: int
    left: int
    right: int

    @property
    def middle(self) -> float:
        """The horizontal middle of the column of marks, in pixels."""
        return (self.left + self.right) / 2


WIDE, NARROW = RowLayout(720, 190, 570), RowLayout(360, 92, 238)

_LETTER = 6.4  # estimated width of a letter of an 11 px label in pixels; only a browser could measure the text itself


class Drawing:
    """An SVG that grows element by element. All lengths are in pixels, and `css` is the CSS class of an element.

    Parameters
    ----------
    width, height : float
        The size of the picture.
    label : str
        Description of the picture for screen readers.
    """

    def __init__(self, width: float, height: float, label: str):
        self._head = (
            f'<svg viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" height="{_n(height)}" role="img" '
            f'aria-label="{escape(label)}">'
        )
        self._parts: list[str] = []
        self._num_clips = 0
        self._clip_name = f"clip{zlib.crc32(self._head.encode()):x}"

    def rect(self, x: float, y: float, width: float, height: float, css: str, *, opacity: float = 1.0) -> None:
        """Add a rectangle."""
        self._parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(max(0.0, width))}" height="{_n(max(0.0, height))}" '
            f'class="{css}"{_opacity(opacity)}/>'
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Add a straight line."""
        self._parts.append(f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" class="{css}"/>')

    def path(self, points: Iterable[Pixel], css: str, *, closed: bool = False) -> None:
        """Add a line through points or, if `closed`, the area that the line encloses."""
        text = "L".join(f"{_n(x)},{_n(y)}" for x, y in points)
        if text:
            self._parts.append(f'<path d="M{text}{"Z" if closed else ""}" class="{css}"/>')

    def mark(self, x: float, y: float, shape: str, css: str, size: float = 4.0) -> None:
        """Add a marker whose shape is ``circle``, ``square`` or ``diamond``, of about the half-width `size`."""
        if shape == "circle":
            self._parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(size)}" class="{css}"/>')
        elif shape == "square":
            self.rect(x - size * 0.9, y - size * 0.9, size * 1.8, size * 1.8, css)
        else:
            wide = size * 1.3
            self.path([(x, y - wide), (x + wide, y), (x, y + wide), (x - wide, y)], css, closed=True)

    def text(self, x: float, y: float, text: str, css: str = "", *, anchor: str = "start", room: float = 0.0) -> None:
        """Add a text, cut to about `room` pixels unless `room` is 0; hovering over a cut text shows the whole text."""
        shown, tip = text, ""
        if room and len(text) * _LETTER > room:
            shown = text[: max(1, int(room / _LETTER) - 1)] + "…"
            tip = f"<title>{escape(text)}</title>"
        self._parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{_class(css)}>{tip}{escape(shown)}</text>'
        )

    def clip(self, x: float, y: float, width: float, height: float) -> None:
        """Begin a clip: all elements added until `unclip` are visible only inside the rectangle."""
        self._num_clips += 1
        name = f"{self._clip_name}-{self._num_clips}"
        self._parts.append(
            f'<clipPath id="{name}"><rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}"/>'
            f'</clipPath><g clip-path="url(#{name})">'
        )

    def unclip(self) -> None:
        """End the clip begun most recently."""
        self._parts.append("</g>")

    def x_axis(self, scale: Scale, ticks: Sequence[float], y: float, top: float, form: Callable[[float], str]) -> None:
        """Add, for each tick, a number below a plot, formatted by `form`, and a line from `y` up to `top`."""
        for tick in ticks:
            self.line(scale(tick), top, scale(tick), y, "grid")
            self.text(scale(tick), y + 15, form(tick), "tick", anchor="middle")

    def y_axis(
        self, scale: Scale, ticks: Sequence[float], x: float, right: float, form: Callable[[float], str]
    ) -> None:
        """Add, for each tick, a number left of a plot, formatted by `form`, and a line from `x` to `right`.

        The line at 0 is stronger.
        """
        for tick in ticks:
            self.line(x, scale(tick), right, scale(tick), "zero" if tick == 0.0 else "grid")
            self.text(x - 6, scale(tick) + 4, form(tick), "tick", anchor="end")

    def svg(self) -> str:
        """Return the picture as the text of an SVG element."""
        return f"{self._head}{''.join(self._parts)}</svg>"


def count_text(value: float) -> str:
    """Return a number of hands at an axis as a short text, in thousands (k) or millions (M) if it is large.

    >>> count_text(0), count_text(2500), count_text(1200000)
    ('0', '2.5k', '1.2M')
    """
    for limit, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.3g}{letter}"
    return f"{value:.3g}"


def _n(number: float) -> str:
    """Return a length as text with at most one decimal."""
    return f"{number:.1f}".removesuffix(".0")


def _class(css: str) -> str:
    return f' class="{css}"' if css else ""


def _opacity(opacity: float) -> str:
    return "" if opacity >= 1.0 else f' opacity="{opacity:.2f}"'
