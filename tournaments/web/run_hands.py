"""The hands of a run for the hand viewer, as JSON on standard output: ``python -m ...run_hands FOLDER``.

The agents of this package replay their hands here, in a process of its own, and not in the server.
"""

import json
import sys
from pathlib import Path
from typing import Any

from plurispiel.tournaments.report.hand_viewer import make_hand_viewer
from plurispiel.tournaments.report.run_record import read_run

NUM_HANDS = 12
"""Number of hands that are chosen, as in a report."""


def run_hands(folder: Path) -> dict[str, Any]:
    """Return ``data`` (for `report.viewer.js`) and ``remarks`` on hands that are not shown.

    Raises
    ------
    ValueError
        If the folder holds no run, or if the run is damaged.
    """
    viewer = make_hand_viewer([read_run(folder, "A")], NUM_HANDS, [])
    return {"data": {**viewer.data, "opening": viewer.opening}, "remarks": viewer.remarks}


if __name__ == "__main__":
    try:
        print(json.dumps(run_hands(Path(sys.argv[1])), allow_nan=False))
    except ValueError as error:
        sys.exit(" ".join(str(error).split()))
