"""The picture of `plurispiel bench continual-exact`: exploitability by iterations and by the error of values."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from plurispiel.tournaments.figures.picture import NEUTRAL, picture


def draw_resolving(
    path: Path,
    iterations: Mapping[int, float],
    errors: Mapping[str, Mapping[float, float]],
    title: str,
    without: float,
    networks: Mapping[int, Sequence[tuple[float, float]]] | None = None,
) -> None:
    """Draw exploitability by iterations and by the size of the error, in two panels with logarithmic axes.

    A line of slope -1/2 goes through the point with the most iterations.

    Parameters
    ----------
    iterations : mapping of int to float
        By the number of iterations of each solve, the exploitability in chips.
    errors : mapping
        For each kind of error, the exploitability in chips by the size of the error, which is a share of the pot.
    title : str
        Heading of the picture.
    without : float
        The exploitability in chips without an error.
    networks : mapping, optional
        For each number of iterations of a solve, a list with a pair for each network. A pair holds the network's error,
        as a share of the pot, and the exploitability in chips with the network's values.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    with picture(path, 10, 4.6, title) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        counts = sorted(iterations)
        left.loglog(counts, [iterations[count] for count in counts], label="exact values")
        last = iterations[counts[-1]] * counts[-1] ** 0.5
        root = [last / count**0.5 for count in counts]
        left.loglog(counts, root, color=NEUTRAL, linestyle="--", marker="", label="slope -1/2")
        left.set_xlabel("iterations")
        left.set_ylabel("exploitability (chips)")
        for kind, points in errors.items():
            sizes = sorted(points)
            right.loglog([100.0 * size for size in sizes], [points[size] for size in sizes], label=f"{kind} error")
        for count, found in (networks or {}).items():
            if found:
                sizes = [100.0 * size for size, _ in found]
                right.loglog(sizes, [away for _, away in found], linestyle="", label=f"networks, T = {count:,}")
        right.axhline(without, color=NEUTRAL, linestyle="--", marker="", label="no error")
        right.set_xlabel("rms error of the values (% of the pot)")
        right.set_ylabel("exploitability (chips)")
        for axes in (left, right):  # below the axes, where a legend covers no line
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
