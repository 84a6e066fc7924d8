"""Pictures of a bucket table: sizes and equities of its buckets, and the buckets of one flop."""

from pathlib import Path

import numpy as np

from plurispiel.abstraction.cards.buckets import BucketTable
from plurispiel.abstraction.cards.config import BUCKETED_STREETS
from plurispiel.abstraction.cards.preflop import preflop_classes, preflop_names
from plurispiel.abstraction.holdem.cards import RANKS, cards_text
from plurispiel.tournaments.figures.picture import SERIES, picture


def draw_table(table: BucketTable, folder: Path, flop: tuple[int, ...]) -> list[Path]:
    """Draw the sizes and equities of the buckets, and one flop's buckets in a grid of starting hands; return the files.

    Parameters
    ----------
    folder : Path
        Folder of the three pictures; created if it does not exist.
    flop : tuple of int
        The three cards of the flop.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = table.model.config.name
    paths = [folder / "sizes.png", folder / "equity.png", folder / f"flop-{cards_text(flop)}.png"]
    reports = [(street, table.reports[street]) for street in BUCKETED_STREETS]
    with picture(paths[0], 12, 4, f"{name}: sizes of the buckets") as figure:
        for (street, report), axes in zip(reports, figure.subplots(1, 3), strict=True):
            shares = 100 * report.sizes / report.sizes.sum()
            axes.bar(np.arange(len(shares)), shares, width=1.0, color=SERIES[0])
            axes.set(title=street, xlabel="bucket", ylabel="share of hands (%)")
    with picture(paths[1], 12, 4, f"{name}: equity in the buckets, mean and standard deviation") as figure:
        for (street, report), axes in zip(reports, figure.subplots(1, 3), strict=True):
            middles, spreads = 100 * report.equity, 100 * report.equity_sd
            axes.errorbar(np.arange(len(middles)), middles, spreads, fmt=".", elinewidth=0.7, capsize=0)
            axes.set(title=street, xlabel="bucket", ylabel="equity (%)", ylim=(0, 100))
    with picture(paths[2], 9, 8, f"{name}: buckets on {cards_text(flop)}") as figure:
        axes = figure.subplots()
        means, texts = flop_grid(table, flop)
        image = axes.imshow(means, vmin=0, vmax=table.num_buckets["flop"] - 1)
        for row in range(13):
            for column in range(13):
                color = "black" if means[row, column] > 0.5 * table.num_buckets["flop"] else "white"
                color = "black" if np.isnan(means[row, column]) else color
                text = axes.text(column, row, texts[row][column], ha="center", va="center", fontsize=6, color=color)
                text.set_in_layout(False)  # it lies within the axes
        axes.set(xticks=[], yticks=[])
        axes.grid(visible=False)
        figure.colorbar(image, label="mean bucket")
    return paths


def flop_grid(table: BucketTable, flop: tuple[int, ...]) -> tuple[np.ndarray, list[list[str]]]:
    """Return the 13x13 grid of starting hands on a flop, aces first, suited hands above the diagonal.

    Returns
    -------
    means : float64[13, 13]
        Mean bucket of the hand's combos that share no card with the flop; NaN if every combo shares a card.
    texts : list of list of str
        The name of each hand and, on a second line, the lowest and the highest bucket of the same combos. Equal
        buckets are written once. The second line is missing where the mean is NaN.
    """
    row = table.row(np.array(flop, np.uint8)).astype(np.int64)
    live = row != np.iinfo(table.model.dtype("flop")).max
    numbers = {name: number for number, name in enumerate(preflop_names())}
    means, texts = np.full((13, 13), np.nan), [[""] * 13 for _ in range(13)]
    order = RANKS[::-1]
    for i, first in enumerate(order):
        for j, second in enumerate(order):
            name = first + second if i == j else f"{first}{second}s" if i < j else f"{second}{first}o"
            found = row[live & (preflop_classes() == numbers[name])]
            texts[i][j] = name
            if found.size:
                means[i, j] = found.mean()
                ends = sorted({int(found.min()), int(found.max())})
                texts[i][j] += "\n" + "-".join(str(end) for end in ends)
    return means, texts
