"""Reads and writes spots as TOML files, and their solutions as folders."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.machine.artefact import (
    Artefact,
    ArtefactRefused,
    load_artefact,
    stored_config,
    write_artefact,
)
from plurispiel.abstraction.machine.settings import read_settings
from plurispiel.agents.resolve.discounting import parse_discounting
from plurispiel.agents.resolve.three_way_cfr import ThreeWaySolver
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.spot import Spot, spot_record
from plurispiel.agents.spots.spot_solution import TARGET_PCT, SpotSolution, new_solver, require_memory, solution_of

__all__ = [
    "EXAMPLES",
    "SolveSettings",
    "load_spot_solution",
    "read_spot",
    "save_spot_solution",
    "spot_of_table",
    "spot_toml",
    "stored_spot",
]

EXAMPLES = Path(__file__).parent / "examples"
"""Folder of the spots that come with the package."""

KIND = "spot solution"
_EXACT_FORMAT, _BUCKETS_FORMAT = 1, 2
"""The format versions of solutions with exact cards and with buckets.

In format 1 of solutions with buckets, later streets numbered their roots in another order (`street_betting`). The shape
of the tables can be the same, so only the version tells them apart."""

_REQUIRED = ("board", "pot", "stacks", "oop", "ip")
_OPTIONAL = ("middle", "bets", "solve", "all_in_share", "lock")


@dataclass(frozen=True)
class SolveSettings:
    """Settings of the solver, from the table ``[solve]`` of a spot's file.

    The same table may hold ``cards``, which is an attribute of the `Spot`.

    Attributes
    ----------
    algorithm : str, optional
        The CFR variant, as for `spot_solution.solve_spot`; by default `spot_solution.default_algorithm`.
    target_pct : float
        Exploitability to reach, in % of the pot.
    max_seconds : float
        Time limit in seconds; by default none.

    Raises
    ------
    ValueError
        If there is no such algorithm, or a number is not positive.
    """

    algorithm: str | None = None
    target_pct: float = TARGET_PCT
    max_seconds: float = math.inf

    def __post_init__(self):
        if self.algorithm is not None:
            if not isinstance(self.algorithm, str):
                raise ValueError(f"algorithm must be a text, got {self.algorithm!r}")
            parse_discounting(self.algorithm)
        for name in ("target_pct", "max_seconds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
                raise ValueError(f"{name} must be a positive number, got {value!r}")


def read_spot(path: Path) -> tuple[Spot, SolveSettings]:
    """Return the spot of a TOML file, and its solver settings.

    Raises
    ------
    ValueError
        If the file cannot be read, or is not a spot.
    """
    table = read_settings(path)
    try:
        return spot_of_table(table)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def spot_of_table(table: Mapping[str, Any]) -> tuple[Spot, SolveSettings]:
    """Return the spot and the solver settings of a table that has the form of a spot's file.

    Raises
    ------
    ValueError
        If the table is not a spot.
    """
    if "cards" in table:
        raise ValueError(f"cards belongs to the table [solve], got cards = {table['cards']!r:.40} outside of it")
    solve = table.get("solve", {})
    settings = _settings(solve)
    return _spot({**table, "cards": solve["cards"]} if "cards" in solve else table), settings


def spot_toml(spot: Spot, settings: SolveSettings) -> str:
    """Return the text of a spot's file, which `read_spot` reads."""
    record = spot_record(spot)
    lines = [f"{name} = {_toml(record[name])}" for name in ("board", "pot", "stacks", *spot.players)]
    if spot.all_in_share != 1.0:
        lines.append(f"all_in_share = {_toml(spot.all_in_share)}")
    solve = {name: value for name, value in vars(settings).items() if value not in (None, math.inf)}
    solve |= {"cards": spot.cards} if spot.cards != "exact" else {}
    for name, table in (("bets", spot.bets), ("lock", spot.lock), ("solve", solve)):
        if table:
            lines += ["", f"[{name}]", *(f"{_toml_key(key)} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Return a value of a spot as TOML. Texts are quoted as in JSON, which TOML allows."""
    if isinstance(value, Mapping):
        entries = ", ".join(f"{_toml_key(key)} = {_toml(each)}" for key, each in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[a-z_]+", key) else json.dumps(key)


def save_spot_solution(folder: Path, solution: SpotSolution) -> str:
    """Write a solution to a folder as an artefact, and return the artefact's digest.

    Raises
    ------
    ArtefactRefused
        If the folder is not empty and holds anything but a solution of a spot.
    """
    solver, arrays = solution.solver, _sums(solution.solver)
    config = {
        "spot": spot_record(solution.spot),
        "algorithm": solver.algorithm.name,
        "iterations": solution.iterations,
        "seconds": solution.seconds,
    }
    return write_artefact(folder, KIND, _format_of(solution.spot), arrays, config)


def stored_spot(folder: Path) -> Spot:
    """Return the spot of a solution in a folder, without the solution.

    Raises
    ------
    ArtefactRefused
        If the folder holds no valid solution.
    """
    try:
        return _spot(stored_config(folder, KIND)["spot"])
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ArtefactRefused(f"{folder} is no sound {KIND}: {error}; solve the spot again") from None


def load_spot_solution(folder: Path, *, threads: int = 2) -> SpotSolution:
    """Return the solution that `save_spot_solution` wrote to a folder.

    The strategies are read; values and exploitability are measured again.

    Parameters
    ----------
    threads : int
        Threads for the measurement with two players; with three players the measurement always uses one.

    Raises
    ------
    ArtefactRefused
        If the folder holds no valid solution, or the solution needs more memory than is free.
    """
    artefact = load_artefact(folder, KIND, _format_of(stored_spot(folder)))
    try:
        config = artefact.config
        spot = _spot(config["spot"])
        iterations, seconds = config["iterations"], config["seconds"]
        if type(iterations) is not int or not isinstance(seconds, float) or iterations < 1 or seconds < 0.0:
            raise ValueError("iterations must be a whole number from 1, and seconds a number from 0")
        if not isinstance(config["algorithm"], str):
            raise ValueError("its algorithm is not a text")
        solver = new_solver(spot, config["algorithm"], threads=threads, on_memory=require_memory)
        _fill(solver, artefact)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ArtefactRefused(f"{folder} is no sound {KIND}: {error}; solve the spot again") from None
    solver.iteration = config["iterations"]
    return solution_of(spot, solver, config["seconds"])


def _format_of(spot: Spot) -> int:
    return _BUCKETS_FORMAT if spot.has_buckets else _EXACT_FORMAT


def _sums(solver: VectorSolver | ThreeWaySolver) -> dict[str, np.ndarray]:
    """Return the solver's strategy sums, under their names in the artefact; the arrays are not copies."""
    if isinstance(solver, ThreeWaySolver):
        return {f"sums_{number}": decision.sums for number, (_, decision) in enumerate(solver.decisions())}
    return {
        f"sums_{number}_{seat}": street.sums[seat]
        for number, street in enumerate(solver.streets)
        for seat in range(2)
        if len(street.sums[seat])
    }


def _fill(solver: VectorSolver | ThreeWaySolver, artefact: Artefact) -> None:
    for name, sums in _sums(solver).items():
        stored = artefact.arrays[name]
        if (stored.shape, stored.dtype) != (sums.shape, sums.dtype):
            raise ValueError(
                f"{name} is {stored.dtype}{list(stored.shape)}, and the spot needs {sums.dtype}{list(sums.shape)}"
            )
        if not (np.isfinite(stored) & (stored >= 0)).all():
            raise ValueError(f"{name} holds numbers that are not finite, or are below 0")
        sums[:] = stored


def _spot(table: Mapping[str, Any]) -> Spot:
    if missing := [name for name in _REQUIRED if name not in table]:
        raise ValueError(f"a spot needs {', '.join(_REQUIRED)}; {missing[0]} is missing")
    if unknown := sorted(set(table) - {*_REQUIRED, *_OPTIONAL, "cards"}):
        raise ValueError(f"a spot may hold {', '.join([*_REQUIRED, *_OPTIONAL])}, got {unknown[0]!r}")
    given = {name: value for name, value in table.items() if name != "solve"}
    if not isinstance(given["board"], str):
        raise ValueError(f"board must be cards as text, got {given['board']!r}")
    if isinstance(given["stacks"], list):
        given["stacks"] = tuple(given["stacks"])
    return Spot(**given)


def _settings(table: object) -> SolveSettings:
    known = SolveSettings.__dataclass_fields__
    if not isinstance(table, Mapping) or set(table) - {*known, "cards"}:
        raise ValueError(f"solve may hold {', '.join([*known, 'cards'])}, got {table!r}")
    return SolveSettings(**{name: value for name, value in table.items() if name != "cards"})
