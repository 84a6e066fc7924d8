"""The zero-sum correction of a run's groups: for each line-up, and separately for the Control's table."""

import numpy as np

from plurispiel.evaluation.zero_sum import prior_coefficients, zero_sum_scores
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import BLOCK_DECKS
from plurispiel.tournaments.run.schema import FULL_CORRECTIONS, REDUCED_CORRECTIONS, SCORES

ZERO_SUM = "zero_sum"
"""The column that `with_zero_sum` adds."""

_WIDE = np.dtype([*SCORES.descr, (ZERO_SUM, "f8")])


def with_zero_sum(config: TournamentConfig, rows: np.ndarray) -> np.ndarray:
    """Return a run's rows with one more column, the corrected chips of each agent in each group.

    Agents of this package enter the table sum with all corrections of AIVAT, agents from outside with the reduced form,
    even if they are believed. An agent of this package may lack a correction, as after a fault. From that group on, it
    enters with the reduced form, too. If an agent of this package at the Control's table lacks a correction, the
    Control's chips have no zero-sum correction from that group on. No row depends on later decks of its line-up.

    Parameters
    ----------
    rows : SCORES[num_rows]
        Rows of whole groups, in any order.

    Returns
    -------
    structured array[num_rows]
        The columns of `SCORES` and the column `ZERO_SUM`, NaN without AIVAT.

    Raises
    ------
    ValueError
        If a group lacks an agent that its line-up has in other groups.
    """
    wide = np.empty(len(rows), dtype=_WIDE)
    for name in SCORES.names or ():
        wide[name] = rows[name]
    wide[ZERO_SUM] = np.nan
    for lineup in np.unique(rows["lineup"]):
        here = np.flatnonzero(rows["lineup"] == lineup)
        here = here[np.lexsort((rows["agent"][here], rows["deck"][here]))]
        agents = np.unique(rows["agent"][here])
        if len(here) != len(agents) * len(np.unique(rows["deck"][here])):
            raise ValueError(f"the run is damaged: a group of line-up {lineup} lacks an agent; start over (--fresh)")
        grid = here.reshape(-1, len(agents))
        if np.isnan(rows["true_chance"][here]).any():
            continue
        decks = rows["deck"][grid[:, 0]]
        num_earlier = np.searchsorted(decks, decks // BLOCK_DECKS * BLOCK_DECKS)
        is_control = agents == len(config.agents)
        if is_control.any():
            wide[ZERO_SUM][grid[:, is_control]] = _control_chips(config, rows[grid[:, is_control]], num_earlier)
        seated = grid[:, ~is_control]
        wide[ZERO_SUM][seated] = _table_chips(config, rows[seated], num_earlier)
    return wide


def _table_chips(config: TournamentConfig, table: np.ndarray, num_earlier: np.ndarray) -> np.ndarray:
    """Return the corrected chips of everybody at a table, given SCORES[num_groups, num_agents]."""
    is_outside = np.isin(table["agent"], list(config.outsiders))
    estimates, is_reduced = _estimates(table, is_outside)
    # The prior, like the coefficients, may depend on earlier blocks alone.
    reduced_before = np.concatenate([is_outside[:1], is_outside | is_reduced])[num_earlier]
    prior = prior_coefficients(table["hands"], reduced_before)
    return zero_sum_scores(estimates, num_earlier, prior)


def _control_chips(config: TournamentConfig, rows: np.ndarray, num_earlier: np.ndarray) -> np.ndarray:
    """Return the corrected chips of the Control, given SCORES[num_groups, 1].

    The other agents at the Control's table are copies of the first agent, as the Control is. These other agents count
    as one contestant here.
    """
    is_outside = np.full(rows.shape, 0 in config.outsiders)
    own, _ = _estimates(rows, is_outside)
    is_lost = np.logical_or.accumulate(np.isnan(rows["table_sum"]), axis=0)
    others = np.where(is_lost, 0.0, rows["table_sum"]) - own
    prior = prior_coefficients(np.array([1, config.seats - 1]), is_outside.repeat(2, axis=1))
    return zero_sum_scores(np.hstack([own, others]), num_earlier, prior)[:, :1]


def _estimates(rows: np.ndarray, is_outside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the chips with which each agent enters the table sum, and whether these chips use AIVAT's reduced form.

    Parameters
    ----------
    rows : SCORES[num_groups, num_agents]
        The groups in the order of decks.
    is_outside : bool[num_groups, num_agents]
        Whether each agent is from outside.
    """
    full = rows["chips"] + sum(rows[name] for name in FULL_CORRECTIONS)
    reduced = rows["chips"] + sum(rows[name] for name in REDUCED_CORRECTIONS)
    # If a group's own result chose the form for this group alone, the sum would be biased. So the form changes once,
    # for good.
    is_reduced = is_outside | np.logical_or.accumulate(np.isnan(full), axis=0)
    return np.where(is_reduced, reduced, full), is_reduced
