"""Options for agents from outside, for commands in which no other agents run in processes of their own."""

from collections.abc import Callable
from typing import Any

from plurispiel.tournaments.commands.arguments.sandbox import add_sandbox


def add_outside(add: Callable[..., Any]) -> None:
    """Add the limits and the sandbox of agents from outside to a parser or a group, given its method `add_argument`."""
    add(
        "--time-limit",
        type=float,
        metavar="S",
        default=30.0,
        help="seconds for each answer of an agent from outside, above 0 and at most 86,400",
    )
    add_memory_limit(add)
    add_sandbox(add)


def add_memory_limit(add: Callable[..., Any]) -> None:
    """Add ``--memory-limit`` alone, for a command with time limits of its own."""
    add(
        "--memory-limit",
        type=int,
        metavar="MIB",
        default=2048,
        help="memory that the process of an agent from outside may allocate after its start, in MiB, at least 1; Linux "
        "only",
    )
