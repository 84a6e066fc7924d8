"""Reads the locked strategies of a spot, which are texts by node and action."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.ranges import combo_text, parse_range

__all__ = ["HANDS", "locked_strategy", "require_keys"]

HANDS = "hands"
"""The entry of a lock that names the locked hands."""


def locked_strategy(name: str, table: object, names: Sequence[tuple[str, str]], weights: np.ndarray) -> np.ndarray:
    """Return the strategy of a lock: float64[num_combos, num_actions], with rows of NaN for free hands.

    Parameters
    ----------
    name : str
        The name of the node.
    table : object
        The lock: ranges as text, by action; see `Spot.lock`.
    names : sequence of (str, str)
        Both names of each action, as from `node_names.action_names`.
    weights : float64[num_combos]
        The range of the player who acts.

    Raises
    ------
    ValueError
        If the lock is malformed, or the probabilities of a locked hand in the range sum to more than 1. Also if they
        sum to less than 1 and no action is left out.
    """
    if not isinstance(table, Mapping):
        raise ValueError(f"lock {name!r} must be a table, got {table!r}")
    is_locked = np.ones(len(weights), bool)
    if HANDS in table:
        is_locked = _hands(name, table[HANDS], weights)
    shares = np.full((len(weights), len(names)), np.nan)
    for action, text in table.items():
        if action == HANDS:
            continue
        column = next((k for k, pair in enumerate(names) if action in pair), None)
        if column is None:
            raise ValueError(f"lock {name!r}: actions are {' '.join(name for name, _ in names)}, got {action!r}")
        if not np.isnan(shares[0, column]):
            raise ValueError(f"lock {name!r} names an action twice: {' and '.join(names[column])} are the same")
        if not isinstance(text, str):
            raise ValueError(f"lock {name!r}: {action} needs a range as text, got {text!r}")
        shares[:, column] = parse_range(text) if text.strip() else 0.0
    rest = np.flatnonzero(np.isnan(shares[0]))
    if len(rest) > 1:
        raise ValueError(f"lock {name!r} leaves out {len(rest)} actions; leave out one at most")
    named = np.nansum(shares, axis=1)
    wrong = named > 1.0 + 1e-6 if len(rest) else abs(named - 1.0) > 1e-6
    if (wrong := wrong & is_locked & (weights > 0.0)).any():
        combo = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"lock {name!r}: the probabilities of {combo_text(combo)} must sum to "
            f"{'at most ' * len(rest)}1, got {named[combo]:g}"
        )
    if len(rest):
        shares[:, rest[0]] = np.maximum(1.0 - named, 0.0)
    shares = normalised(shares, 1.0 / len(names))
    shares[~is_locked] = np.nan
    return shares


def require_keys(where: str, table: object, known: Iterable[str]) -> None:
    """Raise ValueError if a value is not a table, or the table holds an unknown key."""
    if not isinstance(table, Mapping):
        raise ValueError(f"{where} must be a table, got {table!r}")
    if unknown := sorted(map(str, set(table) - set(known))):
        raise ValueError(f"{where} may hold {', '.join(known)}, got {unknown[0]!r}")


def _hands(name: str, text: object, weights: np.ndarray) -> np.ndarray:
    """Return whether each combo is locked: bool[num_combos]."""
    if not isinstance(text, str):
        raise ValueError(f"lock {name!r}: {HANDS} needs hands as text, got {text!r}")
    listed = parse_range(text)
    if not np.isin(listed, (0.0, 1.0)).all():
        raise ValueError(f"lock {name!r}: {HANDS} are named without weights, got {text!r}")
    if not ((listed > 0.0) & (weights > 0.0)).any():
        raise ValueError(f"lock {name!r}: {HANDS} names no hand of the player's range, got {text!r}")
    return listed > 0.0
