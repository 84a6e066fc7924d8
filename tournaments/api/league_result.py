"""The standings of a league as an object: each agent's ratings and intervals, and the matrix of all pairings."""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plurispiel.tournaments.league.standings import standings_text
from plurispiel.tournaments.run.data_frame import data_frame

if TYPE_CHECKING:
    import pandas

__all__ = ["LeagueAgent", "LeagueResult"]

_RATINGS = ("mbb_per_hand", "nash_share", "nash_rating", "alpha_rank")


@dataclass(frozen=True)
class LeagueAgent:
    """The standing of one agent.

    Attributes
    ----------
    name : str
        The title of the agent's spec; later entries of the same title end with ``#2``, ``#3``, ...
    number : int
        The number of the entry, from 1.
    mbb_per_hand : float
        The mean rate against all other ranked agents, in mbb per hand; each opponent counts equally.
    anytime_ci95 : float or None
        Half-width of the anytime-valid 95 % interval of `mbb_per_hand`. The interval stays valid however often one
        looks, although results decide which pairings play. None while a pairing has too few groups.
    bootstrap_ci95 : (float, float)
        The ends of the bootstrap 95 % interval of `mbb_per_hand`, which does not allow for the choice of pairings.
    nash_share, nash_rating, alpha_rank : float
        The other ratings (`nash_average`, `alpha_rank`): `nash_rating` in mbb per hand, the others as shares of 1.
    hands, faults : int
        Hands played and faults committed.
    change : str or None
        ``file`` if the agent's file, program or stored strategy has changed since the agent was added. ``code`` if the
        code of this package that the agent uses has changed. In both cases the agent plays no more. None without a
        change.
    """

    name: str
    number: int
    mbb_per_hand: float
    anytime_ci95: float | None
    bootstrap_ci95: tuple[float, float]
    nash_share: float
    nash_rating: float
    alpha_rank: float
    hands: int
    faults: int
    change: str | None = field(default=None, repr=False)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The anytime-valid 95 % interval of `mbb_per_hand`; None where `anytime_ci95` is None."""
        if self.anytime_ci95 is None:
            return None
        return self.mbb_per_hand - self.anytime_ci95, self.mbb_per_hand + self.anytime_ci95


@dataclass(frozen=True, repr=False)
class LeagueResult:
    """The standings of a league.

    ``result[name]`` is the `LeagueAgent` of the ranked agent with that name; other names raise a KeyError.

    Attributes
    ----------
    record : dict
        The standings as ``plurispiel league FOLDER standings --json`` prints them (`standings.make_standings`).
    folder : Path
        The folder of the league.
    notes : tuple of str
        The lines that ``plurispiel league FOLDER play`` prints on standard error: batches, changed agents, faults.
    """

    record: dict[str, Any]
    folder: Path
    notes: tuple[str, ...] = ()

    @property
    def agents(self) -> list[LeagueAgent]:
        """The ranked agents, the best first."""
        return [_agent(record) for record in self.record["agents"]]

    @property
    def unranked(self) -> list[str]:
        """The names of the agents that have not met all others."""
        return list(self.record["unranked"])

    @property
    def digest(self) -> str:
        """A hash of the scores of all groups."""
        return self.record["digest"]

    @property
    def matrix(self) -> np.ndarray:
        """The rate of the row's agent against the column's: float64[num_agents, num_agents], in mbb/hand.

        Rows and columns are in the order of `agents`; NaN in the diagonal.
        """
        return self._matrix("mbb_per_hand")

    @property
    def matrix_anytime_ci95(self) -> np.ndarray:
        """The half-widths of the anytime-valid 95 % intervals of `matrix`; also NaN for pairs with too few groups."""
        return self._matrix("sequential_ci95")

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the record, which ``--json`` prints."""
        return copy.deepcopy(self.record)

    def to_frame(self) -> "pandas.DataFrame":
        """Return a pandas DataFrame with a row for each ranked agent, the best first.

        Columns: ``number, mbb_per_hand, anytime_ci95, nash_share, nash_rating, alpha_rank, hands, faults, retired,
        change``. The four ratings ``mbb_per_hand, nash_share, nash_rating, alpha_rank`` also have the ends of their
        bootstrap intervals, such as ``nash_share_low`` and ``nash_share_high``.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        names = [agent["name"] for agent in self.record["agents"]]
        return data_frame(names, map(_row, self.record["agents"]))

    def __getitem__(self, name: str) -> LeagueAgent:
        for agent in self.agents:
            if agent.name == name:
                return agent
        known = ", ".join(agent.name for agent in self.agents) or "none yet"
        raise KeyError(f"no ranked agent {name!r} (the ranked agents are {known})")

    def __repr__(self) -> str:
        return standings_text(self.record)

    def _matrix(self, key: str) -> np.ndarray:
        """Return the entry `key` of each cell of the matrix, NaN if missing: float64[num_agents, num_agents]."""
        rows = [
            [np.nan if cell is None or cell[key] is None else cell[key] for cell in row]
            for row in self.record["matrix"]
        ]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows))


def _agent(record: dict[str, Any]) -> LeagueAgent:
    names = ("name", "number", "mbb_per_hand", "nash_share", "nash_rating", "alpha_rank", "hands", "faults", "change")
    low, high = record["mbb_per_hand_ci95"]
    return LeagueAgent(
        anytime_ci95=record["sequential_ci95"],
        bootstrap_ci95=(low, high),
        **{name: record[name] for name in names},
    )


def _row(record: dict[str, Any]) -> dict[str, Any]:
    row = {
        "number": record["number"],
        "mbb_per_hand": record["mbb_per_hand"],
        "anytime_ci95": record["sequential_ci95"],
    }
    for name in _RATINGS:
        row[name] = record[name]
        row[f"{name}_low"], row[f"{name}_high"] = record[f"{name}_ci95"]
    return row | {name: record[name] for name in ("hands", "faults", "retired", "change")}
