"""The strategy at one decision with all hands of the range, as a grid of text (`hand_story.decision_grid`)."""

import textwrap
from typing import Any

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.tournaments.figures.preflop_grid import CELL, cell_text
from plurispiel.tournaments.run.hand_story import cell_names, cells_across, grid_shares

LEGEND = (
    "number: % raised; c: % called or checked, if more (c alone: all); . folded; blank: not in the range; "
    "[ ]: the hand held"
)
"""How the cells of `decision_text` are read."""

_RAISE = 2  # kind of an action in a grid


def decision_text(grid: dict[str, Any], rules: HoldemRules, width: int) -> list[str]:
    """Return a decision's grid as lines: a cell for each class of hole cards, as in `preflop_grid.grid_text`.

    Brackets mark the cell of the hand that was held. A cell is empty if the seat reaches the decision with none of the
    cell's hands. A grid that is wider than `width` is laid out more tightly: the brackets take the place of blanks, and
    ``c100`` is ``c``. If the grid is still too wide, each of its rows becomes a list of names and cells.

    Parameters
    ----------
    grid : dict
        A grid of `hand_story.decision_grid`.
    width : int
        Characters in a line.
    """
    shares = grid_shares(grid)
    raises, calls = (
        shares[:, [1 + k for k, kind in enumerate(grid["kinds"]) if kind == wanted]].sum(axis=1)
        for wanted in (_RAISE, 1)
    )
    cells = []
    for number, (reach, raised, called) in enumerate(zip(shares[:, 0], raises, calls, strict=True)):
        text = cell_text(min(raised, 1.0), min(called, 1.0)).strip() if reach > 0.0 else ""
        cells.append(f"[{text}]" if number == grid["cell"] else text)
    names, across = cell_names(rules), cells_across(rules)
    rows = [range(first, first + across) for first in range(0, len(cells), across)]
    wide = max(CELL, *(len(cell) + 1 for cell in cells))
    if 2 + wide * across <= width:
        lines = ["  " + "".join(names[k][1].rjust(wide) for k in rows[0])]  # A, K, ... of AA, AKs, ...; c, d of 4c, 4d
        for row in rows:
            head = names[row[0]][rules.num_hole_cards - 1]  # A, K, ... of AA, AKo, ...; 4, 3, 2 of 4c, 3c, 2c
            lines.append(head.ljust(2) + "".join(cells[k].rjust(wide) for k in row).rstrip())
        return lines
    tight = [cell.strip("[]").replace("c100", "c") for cell in cells]
    wide = 1 + max(map(len, tight))
    if 3 + wide * across <= width:
        lines = ["  " + "".join(names[k][1].rjust(wide) for k in rows[0])]
        for row in rows:
            line = names[row[0]][rules.num_hole_cards - 1].ljust(2) + "".join(tight[k].rjust(wide) for k in row)
            if grid["cell"] in row:
                end = 2 + wide * (row.index(grid["cell"]) + 1)
                begin = end - len(tight[grid["cell"]]) - 1
                line = f"{line[:begin]}[{line[begin + 1 : end]}]{line[end + 1 :]}"
            lines.append(line.rstrip())
        return lines
    lines = []
    for row in rows:
        pairs = [f"{names[k]}\u00a0{cells[k]}" for k in row if cells[k]]
        lines += [line.replace("\u00a0", " ") for line in textwrap.wrap("  ".join(pairs), width)]
    return lines
