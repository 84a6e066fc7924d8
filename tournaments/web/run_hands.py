"""The hands of a run for the hand viewer, as JSON on standard output: ``python -m ...run_hands [--hand=NAME] FOLDER``.

The agents of this package replay their hands in this separate process, and not in the server.
"""

import json
import sys
from pathlib import Path
from typing import Any

from plurispiel.tournaments.formats.game_definition import game_definition_text
from plurispiel.tournaments.report.hand_choice import parse_hand
from plurispiel.tournaments.report.hand_viewer import make_hand_viewer
from plurispiel.tournaments.report.run_record import read_run

NUM_HANDS = 12
"""Number of hands that are chosen, as in a report."""


def run_hands(folder: Path, hand: str = "") -> dict[str, Any]:
    """Return ``data`` (for `report.viewer.js`, with the game for advisers) and ``remarks`` on hands that are not shown.

    Parameters
    ----------
    hand : str
        The name of a hand that must be among the hands, and is shown first (`hand_choice.parse_hand`); empty for none.

    Raises
    ------
    ValueError
        If the folder holds no run, the run is damaged, or there is no such hand.
    """
    run = read_run(folder, "A")
    wanted = [parse_hand(hand)] if hand else []
    if wanted and wanted[0][0] != "A":
        raise ValueError(f"the only run here is run A, got the hand {hand!r}")
    viewer = make_hand_viewer([run], NUM_HANDS, wanted)
    names = [shown.name for shown in viewer.hands]
    opening = viewer.opening
    if wanted and (name := wanted[0][1].text("A")) in names:
        opening = (names.index(name), 0)
    games = {"A": game_definition_text(run.config.rules)}
    return {"data": {**viewer.data, "opening": opening, "games": games}, "remarks": viewer.remarks}


def main(*words: str) -> None:
    """Print the hands of the run in the folder that the last word names."""
    *options, folder = words
    hand = options[0].removeprefix("--hand=") if options else ""
    try:
        print(json.dumps(run_hands(Path(folder), hand), allow_nan=False))
    except ValueError as error:
        sys.exit(" ".join(str(error).split()))


if __name__ == "__main__":
    main(*sys.argv[1:])
