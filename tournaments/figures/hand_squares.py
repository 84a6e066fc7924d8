"""Strategies of starting hands, drawn as 13 x 13 squares: aces first, suited hands above the diagonal."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.ranges import CLASS_NAMES
from plurispiel.tournaments.figures.picture import outlined, polygons


def draw_squares(axes: Any, shares: np.ndarray, colours: Sequence[str], *, fontsize: float = 8.0) -> None:
    """Draw a bar for each action in each hand's square; the bar's width is the action's probability.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The axes to draw on.
    shares : float64[13, 13, n]
        Probabilities of n actions, whose bars are drawn from left to right; NaN for a hand that is not in the range.
    colours : sequence of n str
        The colour of each action.
    """
    size = len(CLASS_NAMES)
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal", xticks=[], yticks=[])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    rows, columns = np.indices((size, size)).astype(float)
    lefts = columns
    for kind, colour in enumerate(colours):
        widths = shares[:, :, kind]
        shown = widths > 0.0
        left, right, top = lefts[shown], (lefts + widths)[shown], rows[shown]
        corners = np.stack([left, top, right, top, right, top + 1.0, left, top + 1.0], axis=1)
        axes.add_collection(polygons(corners.reshape(-1, 4, 2), colour), autolim=False)
        lefts = lefts + widths
    outline = outlined()
    for row, names in enumerate(CLASS_NAMES):
        for column, name in enumerate(names):
            text = axes.text(column + 0.06, row + 0.12, name, fontsize=fontsize, va="top", path_effects=outline)
            text.set_in_layout(False)  # it lies within the axes
    axes.hlines(range(size + 1), 0, size, colors="white", linewidths=0.8)
    axes.vlines(range(size + 1), 0, size, colors="white", linewidths=0.8)
