"""A solved spot as text and as a picture."""

from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.ranges import CLASS_NAMES, class_grid, combo_text, hand_class
from plurispiel.agents.spots.node_strategy import NodeStrategy
from plurispiel.agents.spots.spot_solution import SpotSolution
from plurispiel.tournaments.figures.hand_squares import draw_squares
from plurispiel.tournaments.figures.picture import CALL_COLOUR, FOLD_COLOUR, picture, raise_colours


def summary_text(solution: SpotSolution) -> str:
    """Return a table of the players' EVs and equities as text, with the exploitability in the lines below."""
    pot = solution.spot.pot
    lines = [f"{'player':6}  {'EV (chips)':>10}  {'of the pot':>10}  {'equity':>7}"]
    for player, ev, share in zip(solution.spot.players, solution.ev, solution.equity, strict=True):
        lines.append(f"{player:6}  {ev:10,.3f}  {100 * ev / pot:8.2f} %  {100 * share:5.2f} %")
    if solution.bucket_exploitability_pct is not None:
        lines.append(
            f"exploitability {solution.bucket_exploitability_pct:.3g} % of the pot by best responses in the buckets"
        )
    lines.append(
        f"exploitability {solution.exploitability_pct:.3g} % of the pot after {solution.iterations:,} iterations, "
        f"{solution.seconds:.3g} s, {solution.memory_mb:,.0f} MB"
    )
    if len(solution.spot.players) > 2:
        lines.append(
            "measured by the best response of one player at a time; with three players CFR may miss every equilibrium"
        )
    return "\n".join(lines)


def node_text(shown: NodeStrategy) -> str:
    """Return a node's strategy as a grid of the 169 classes of hands, with lines of combos below it.

    A cell shows the mean probabilities over the combos of its class, weighted by the range. The combos of a class are
    listed if the strategy of one of them differs from the mean by more than 0.005.
    """
    title = f"{shown.player} on {cards_text(shown.board)}" + (f" after {shown.node}" if shown.node else "")
    overall = ", ".join(
        f"{action} {100 * share:.1f} %" for action, share in zip(shown.actions, shown.frequencies, strict=True)
    )
    lines = [f"{title}: {overall}", f"in each cell: {' / '.join(shown.actions)} in %"]
    filled = np.nan_to_num(shown.probabilities)
    grid = class_grid(filled, np.where(np.isnan(shown.probabilities[:, 0]), 0.0, shown.weights))
    cells = [
        [_cell(name, share) for name, share in zip(names, shares, strict=True)]
        for names, shares in zip(CLASS_NAMES, grid, strict=True)
    ]
    width = max(len(cell) for row in cells for cell in row)
    lines += [" ".join(cell.ljust(width) for cell in row).rstrip() for row in cells]
    return "\n".join([*lines, *_combo_lines(shown, grid)])


def draw_node(path: Path, shown: NodeStrategy) -> None:
    """Draw the grid of the 169 classes of hands; bars in each cell show the probabilities of the actions.

    Raises
    ------
    MatplotlibMissing
        If matplotlib is not installed.
    """
    filled = np.nan_to_num(shown.probabilities)
    held = np.where(np.isnan(shown.probabilities[:, 0]), 0.0, shown.weights)
    title = f"{shown.player} on {cards_text(shown.board)}" + (f" after {shown.node}" if shown.node else "")
    with picture(path, 9, 9.4, title) as figure:
        axes = figure.subplots()
        plain = {"f": FOLD_COLOUR, "c": CALL_COLOUR}
        blues = iter(raise_colours(sum(name not in plain for name in shown.actions)))
        colours = [plain[name] if name in plain else next(blues) for name in shown.actions]
        draw_squares(axes, class_grid(filled, held), colours)
        handles = [axes.barh(-1, 0, color=colour) for colour in colours]
        labels = [f"{name} {100 * share:.1f} %" for name, share in zip(shown.actions, shown.frequencies, strict=True)]
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))


def _cell(name: str, shares: np.ndarray) -> str:
    if np.isnan(shares[0]):
        return f"{name:3} ."
    return f"{name:3} " + "/".join(f"{100 * share:.0f}" for share in shares)


def _combo_lines(shown: NodeStrategy, grid: np.ndarray) -> list[str]:
    """Return a line with all combos for each uneven class; no lines if no class is uneven.

    A class is uneven if the probability of an action with one of its combos differs by more than 0.005 from the mean of
    the class.
    """
    by_class: dict[str, list[str]] = {}
    different = set()
    for combo in np.flatnonzero((shown.weights > 0.0) & ~np.isnan(shown.probabilities[:, 0])).tolist():
        place = hand_class(combo)
        name = CLASS_NAMES[place[0]][place[1]]
        shares = shown.probabilities[combo]
        by_class.setdefault(name, []).append(combo_text(combo) + " " + "/".join(f"{100 * p:.0f}" for p in shares))
        if np.abs(shares - grid[place]).max() > 0.005:
            different.add(name)
    if not different:
        return []
    order = [name for row in CLASS_NAMES for name in row if name in different]
    return ["by combo, where suits matter:", *(f"{name:3} {'  '.join(by_class[name])}" for name in order)]
