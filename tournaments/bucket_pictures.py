"""Pictures of a bucket table, with matplotlib."""

from pathlib import Path

import numpy as np

from plurispiel.abstraction.cards.buckets import BucketTable
from plurispiel.abstraction.cards.config import STREETS
from plurispiel.abstraction.cards.preflop import preflop_classes, preflop_names
from plurispiel.abstraction.holdem.cards import RANKS, cards_text


def draw_table(table: BucketTable, folder: Path, flop: tuple[int, ...]) -> list[Path] | None:
    """Draw sizes of buckets, their equities, and one flop's buckets in a grid of starting hands.

    Returns
    -------
    list of Path or None
        What was written; None where matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:  # the extra `plot` brings it
        return None
    folder.mkdir(parents=True, exist_ok=True)
    sizes = Figure(figsize=(12, 4), layout="constrained")
    spread = Figure(figsize=(12, 4), layout="constrained")
    for street, left, right in zip(STREETS, sizes.subplots(1, 3), spread.subplots(1, 3), strict=True):
        report = table.reports[street]
        left.bar(np.arange(len(report.sizes)), 100 * report.sizes / report.sizes.sum(), width=1.0)
        left.set(title=street, xlabel="bucket", ylabel="share of hands, %")
        right.errorbar(np.arange(len(report.equity)), report.equity, report.equity_sd, fmt=".", elinewidth=0.7)
        right.set(title=street, xlabel="bucket", ylabel="mean equity and deviation", ylim=(0, 1))
    grid = Figure(figsize=(9, 8), layout="constrained")
    axes = grid.subplots()
    means, texts = flop_grid(table, flop)
    image = axes.imshow(means, cmap="viridis", vmin=0, vmax=table.num_buckets["flop"] - 1)
    for row in range(13):
        for column in range(13):
            color = "black" if means[row, column] > 0.7 * table.num_buckets["flop"] else "white"
            axes.text(column, row, texts[row][column], ha="center", va="center", fontsize=6, color=color)
    axes.set(title=f"{table.model.config.name}: buckets on {cards_text(flop)}", xticks=[], yticks=[])
    grid.colorbar(image, label="mean bucket")
    pictures = {"sizes.png": sizes, "equity.png": spread, f"flop-{cards_text(flop)}.png": grid}
    for name, figure in pictures.items():
        figure.savefig(folder / name, dpi=120)
    return [folder / name for name in pictures]


def flop_grid(table: BucketTable, flop: tuple[int, ...]) -> tuple[np.ndarray, list[list[str]]]:
    """Return the 13x13 grid of starting hands on a flop, aces first, suited hands above the diagonal.

    Returns
    -------
    means : float64[13, 13]
        Mean bucket of the combos that can be held; not a number where there are none.
    texts : list of list of str
        The hand, and its lowest and highest bucket.
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
