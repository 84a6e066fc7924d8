"""The machines that played a run, and whether the results of one machine differ from the results of the others."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.scores import best_estimates

__all__ = ["machine_notes", "machine_records", "machine_text"]

_LARGE_RESIDUAL = 4.5
_SMALL_CHANCE = 1e-4

_MIN_GROUPS = 100
"""The smallest number of groups for a residual: with fewer groups, a few large pots make a large residual."""


def machine_records(
    config: TournamentConfig, scores: np.ndarray, names: Sequence[str], machine: np.ndarray
) -> list[dict[str, Any]]:
    """Return a record of each machine's play, as in ``results.json``; empty if the run has no names of machines.

    Parameters
    ----------
    scores : schema.SCORES[num_rows]
        The stored scores.
    names : sequence of str
        The names of the machines, all empty in a run of an earlier version.
    machine : int64[num_rows]
        The index of the machine that played each row.

    Returns
    -------
    list of dict
        ``machine`` (its name), ``groups, hands, groups_with_faults, faults_chance, residual``. ``faults_chance`` is the
        probability of at least as many groups with faults on this machine, if all groups are equally likely to have
        faults. ``residual`` is the difference between the scores of an agent on this machine and those on all machines,
        in the same line-ups and in standard errors. The agent with the largest difference is taken. ``faults_chance``
        is None without faults on this machine. ``residual`` is None if this machine played fewer than 100 groups, or no
        score varies. Both are None if there is only one machine.
    """
    from scipy.special import bdtrc  # not needed by the runs' worker processes

    if not any(names):
        return []
    _, first, group = np.unique(scores[["lineup", "deck"]], return_index=True, return_inverse=True)
    where = machine[first]
    has_faults = np.bincount(group, scores["faults"] > 0, minlength=len(first)) > 0
    records = []
    for number, name in enumerate(names):
        here = where == number
        count, guilty = int(here.sum()), int(has_faults[here].sum())
        others = len(names) > 1 and len(first) > 0
        chance = float(bdtrc(guilty - 1, int(has_faults.sum()), count / len(first))) if others and guilty else None
        records.append(
            {
                "machine": name,
                "groups": count,
                "hands": count * config.seats,
                "groups_with_faults": guilty,
                "faults_chance": chance,
                "residual": _residual(config, scores, machine == number) if others and count >= _MIN_GROUPS else None,
            }
        )
    return records


def machine_text(record: dict[str, Any]) -> str:
    """Return a record as text."""
    text = f"{record['machine']}: {record['hands']:,} hands, {record['groups_with_faults']:,} groups with faults"
    return text if record["residual"] is None else f"{text}, residual {record['residual']:+.1f}"


def machine_notes(records: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line that lists the machines if there are several, and warnings about machines with other results."""
    notes = ["machines: " + "; ".join(map(machine_text, records))] if len(records) > 1 else []
    for record in records:
        if record["residual"] is not None and abs(record["residual"]) > _LARGE_RESIDUAL:
            notes.append(
                f"WARNING: scores on {record['machine']} are {abs(record['residual']):.1f} standard errors from those "
                "of all machines; --check-share 1 on a new run compares it with the others"
            )
        if record["faults_chance"] is not None and record["faults_chance"] < _SMALL_CHANCE:
            notes.append(
                f"WARNING: {record['machine']} has more groups with faults than the other machines (probability by "
                f"chance {record['faults_chance']:.0e}); it may be too slow for the agents, or short of memory"
            )
    return notes


def _residual(config: TournamentConfig, scores: np.ndarray, here: np.ndarray) -> float | None:
    """Return the largest residual of an agent, with its sign; None if no score varies.

    Let n of the N scores of an agent in a line-up be from this machine, and v the variance of the N scores. The sum of
    the n scores has the mean n / N times the sum of all N, and the variance v n (1 - n / N).
    """
    largest: float | None = None
    values = best_estimates(scores)
    for agent in range(len(config.agents)):
        excess = variance = 0.0
        own = scores["agent"] == agent
        for lineup in np.unique(scores["lineup"][own]):
            among = own & (scores["lineup"] == lineup)
            found, mine = values[among], here[among]
            if len(found) > 1:
                excess += float(found[mine].sum() - mine.sum() * found.mean())
                variance += float(found.var(ddof=1) * mine.sum() * (1.0 - mine.mean()))
        if variance > 0.0 and abs(excess) > abs(largest or 0.0) * variance**0.5:
            largest = excess / variance**0.5
    return largest
