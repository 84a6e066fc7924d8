"""The settings of a sweep: the spot, how it is solved, and the flops."""

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.spots.flop_row import check_suits
from plurispiel.agents.spots.flops import NUM_CHOSEN, WeightedFlop, all_flops, chosen_flops, parse_flops
from plurispiel.agents.spots.spot import Spot, spot_record
from plurispiel.agents.spots.spot_file import SolveSettings
from plurispiel.agents.spots.spot_solution import default_algorithm

__all__ = ["SweepSettings", "read_flops"]

VERSION = 1
"""The version of rows. Increase it when solving a flop gives other numbers: folders with older rows are refused."""


@dataclass(frozen=True)
class SweepSettings:
    """A spot and how it is solved; the spot's own board is ignored.

    Attributes
    ----------
    spot : Spot
    solve : SolveSettings

    Raises
    ------
    ValueError
        If the spot has three players, or ranges or locks tell suits apart.
    """

    spot: Spot
    solve: SolveSettings

    def __post_init__(self):
        if self.spot.middle is not None:
            raise ValueError(
                "a sweep is for two players, as three players are solved on the river only: leave out middle"
            )
        # The default algorithm depends on the street at which the betting begins: here the flop, whatever the file's
        # board is.
        object.__setattr__(self, "spot", dataclasses.replace(self.spot, board="2c 2d 2h"))
        check_suits(self.spot)

    def record(self) -> dict[str, Any]:
        """Return the settings on which a row depends, as a record for JSON."""
        spot = spot_record(self.spot)
        del spot["board"]
        solve = dataclasses.asdict(self.solve)
        solve["algorithm"] = self.solve.algorithm or default_algorithm(self.spot)
        if self.solve.max_seconds == math.inf:
            solve["max_seconds"] = None
        if isinstance(spot["stacks"], tuple):
            spot["stacks"] = list(spot["stacks"])
        return {"version": VERSION, "spot": spot, "solve": solve}


def read_flops(flops: str) -> list[WeightedFlop]:
    """Return the flops of a sweep.

    Parameters
    ----------
    flops : str
        ``all``, ``184``, or the path of a file with a flop on each line (`flops.parse_flops`).

    Raises
    ------
    ValueError
        If there is no such file, or it does not hold flops.
    """
    if flops == "all":
        return all_flops()
    if flops == str(NUM_CHOSEN):
        return chosen_flops()
    path = Path(flops)
    if not path.is_file():
        meant = suggestion(flops, ["all", str(NUM_CHOSEN)])
        raise ValueError(f"there is no file {flops}{meant}; give all, {NUM_CHOSEN} or a file with a flop on each line")
    try:
        return parse_flops(path.read_text(encoding="utf-8"))
    except ValueError as error:  # includes texts that are not UTF-8
        raise ValueError(f"{path}: {error}") from None
