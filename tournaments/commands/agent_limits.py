"""Limits of agents from outside, as the options ``--time-limit`` and ``--memory-limit`` give them."""

import argparse

from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.run.config import MAX_TIME_LIMIT


def agent_limits(options: argparse.Namespace) -> Limits:
    """Return the limits that the options give.

    Raises
    ------
    ValueError
        If a limit is out of range.
    """
    if not 0.0 < options.time_limit <= MAX_TIME_LIMIT:
        raise ValueError(f"time-limit must be above 0 and at most {MAX_TIME_LIMIT:g}, got {options.time_limit:g}")
    return Limits(options.time_limit, memory_limit(options))


def memory_limit(options: argparse.Namespace) -> int:
    """Return the limit of memory in MiB.

    Raises
    ------
    ValueError
        If the limit is below 1.
    """
    if options.memory_limit < 1:
        raise ValueError(f"memory-limit must be at least 1 MiB, got {options.memory_limit}")
    return options.memory_limit
