"""The results of a tournament as an object: agents with intervals, the pairwise matrix, tables."""

import copy
import html
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plurispiel.tournaments.run.data_frame import data_frame
from plurispiel.tournaments.run.results import table_text

if TYPE_CHECKING:
    import pandas

__all__ = ["AgentResult", "TournamentResult"]


@dataclass(frozen=True)
class AgentResult:
    """The result of one agent.

    Attributes
    ----------
    name : str
        The agent's spec without folders. If several agents have this name, the second has ``#2`` after it, the third
        ``#3``, ...
    mbb_per_hand : float or None
        Thousandths of a big blind per hand, by the score that ranks the agents; None if the agent played no hand.
    ci95 : float or None
        Half-width of the 95 % confidence interval of `mbb_per_hand`; None with fewer than two samples. A sample is a
        group, or a hand where the agents are ranked by ``raw`` or ``aivat``.
    hands : int
        Hands played; a hand counts once for each seat that the agent or a copy of the agent holds.
    groups : int
        Duplicate groups played: all rotations of a line-up on one deck.
    faults : int
        Faults committed: failures to answer with a legal action, such as exceptions, time-outs and crashes
        (`hand.FAULT_KINDS`).
    retired : bool
        Whether the agent reached the limit of faults, so that its seat only folded afterwards.
    scores : dict
        For each of the scores ``raw``, ``duplicate``, ``aivat``, ``aivat_duplicate`` and ``aivat_zero_sum`` a dict with
        ``mbb_per_hand``, ``ci95`` and ``sd_bb`` (`scores.Sample.record`). None for scores by AIVAT in a run without
        AIVAT, and for every score of an agent that played no hand.
    stats : dict
        Frequencies of play, as shares of 1: ``vpip``, ``pfr``, ... (`PlayStatistics.record`).
    """

    name: str
    mbb_per_hand: float | None
    ci95: float | None
    hands: int
    groups: int
    faults: int
    retired: bool
    scores: dict[str, Any] = field(repr=False)
    stats: dict[str, Any] = field(repr=False)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval in mbb/hand; None where `ci95` is None."""
        if self.mbb_per_hand is None or self.ci95 is None:
            return None
        return self.mbb_per_hand - self.ci95, self.mbb_per_hand + self.ci95


_AGENT_FIELDS = ("name", "mbb_per_hand", "ci95", "hands", "groups", "faults", "retired", "scores", "stats")


@dataclass(frozen=True, repr=False)
class TournamentResult:
    """The results of a tournament.

    ``result[name]`` is the `AgentResult` of the agent with that name.

    Attributes
    ----------
    record : dict
        The content of ``results.json``.
    folder : Path
        The run folder.
    notes : tuple of str
        The lines that the command prints on standard error, for example about settings and faults. Without
        ``progress``, the warning that agents run without a sandbox is a Python warning and not among these lines.
    """

    record: dict[str, Any]
    folder: Path
    notes: tuple[str, ...] = ()

    @property
    def agents(self) -> list[AgentResult]:
        """The agents, in the order in which they were given."""
        return [AgentResult(**{name: agent[name] for name in _AGENT_FIELDS}) for agent in self.record["agents"]]

    @property
    def seed(self) -> int | None:
        """The seed of all cards and random choices; None if the decks came from a secret key (``keys`` of `record`)."""
        return self.record["seed"]

    @property
    def digest(self) -> str:
        """A hash of everything that decides the scores of a group (`TournamentConfig.digest`)."""
        return self.record["digest"]

    @property
    def matrix(self) -> np.ndarray | None:
        """The win rate of the row's agent against the column's: float64[num_agents, num_agents], in mbb/hand.

        Rows and columns are in the order of `agents`. NaN for agents that never met; None with more than two seats.
        """
        return self._matrix("mbb_per_hand")

    @property
    def matrix_ci95(self) -> np.ndarray | None:
        """The half-widths of the 95 % confidence intervals of `matrix`; also NaN for pairs with a single group."""
        return self._matrix("ci95")

    def to_dict(self) -> dict[str, Any]:
        """Return a copy of the record, which ``--json`` prints."""
        return copy.deepcopy(self.record)

    def to_frame(self) -> "pandas.DataFrame":
        """Return a pandas DataFrame with a row for each agent.

        Columns: ``mbb_per_hand, ci95, low, high, hands, groups, faults, retired`` and, for each score,
        ``SCORE_mbb_per_hand`` and ``SCORE_ci95``.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed.
        """
        return data_frame([agent.name for agent in self.agents], map(_row, self.agents))

    def __getitem__(self, name: str) -> AgentResult:
        for agent in self.agents:
            if agent.name == name:
                return agent
        raise KeyError(f"no agent {name!r} (the agents are {', '.join(agent.name for agent in self.agents)})")

    def __repr__(self) -> str:
        return table_text(self.record)

    def _repr_html_(self) -> str:
        """Return the ranking as an HTML table, for notebooks."""
        rows = []
        for agent in sorted(self.agents, key=lambda agent: -(agent.mbb_per_hand or 0.0)):
            cells = [f"{agent.hands:,}", _rate_text(agent), f"{agent.faults:,}"]
            rows.append(f"<tr><th>{html.escape(agent.name)}</th>" + "".join(f"<td>{cell}</td>" for cell in cells))
        head = "<tr><th>agent</th><th>hands</th><th>mbb/hand ± 95 %</th><th>faults</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{''.join(f'{row}</tr>' for row in rows)}</tbody></table>"

    def _matrix(self, key: str) -> np.ndarray | None:
        """Return the number `key` of each entry of the record's matrix; NaN where it is missing."""
        cells = self.record["matrix"]
        if cells is None:
            return None
        values = [[np.nan if cell is None or cell[key] is None else cell[key] for cell in row] for row in cells]
        return np.array(values, dtype=np.float64)


def _rate_text(agent: AgentResult) -> str:
    if agent.mbb_per_hand is None:
        return "-"
    return f"{agent.mbb_per_hand:+,.1f}" + ("" if agent.ci95 is None else f" ± {agent.ci95:,.1f}")


def _row(agent: AgentResult) -> dict[str, Any]:
    low, high = agent.interval or (None, None)
    row: dict[str, Any] = {"mbb_per_hand": agent.mbb_per_hand, "ci95": agent.ci95, "low": low, "high": high}
    row |= {"hands": agent.hands, "groups": agent.groups, "faults": agent.faults, "retired": agent.retired}
    for score, rate in agent.scores.items():
        for key in ("mbb_per_hand", "ci95"):
            row[f"{score}_{key}"] = None if rate is None else rate[key]
    return row
