"""Options of the sandbox, for commands that run agents in processes of their own."""

from collections.abc import Callable
from typing import Any


def add_sandbox(add: Callable[..., Any]) -> None:
    """Add ``--sandbox`` and ``--agent-network`` to a parser or a group, given its method `add_argument`."""
    add(
        "--sandbox",
        choices=("auto", "bwrap", "none"),
        default="auto",
        help="isolation of agents that run in processes of their own: bwrap (bubblewrap) shows each agent its own "
        "files and those that all agents need, such as Python and bucket tables, read-only. The command fails where "
        "bwrap does not work. none shows agents all that you can read; auto is bwrap where it works, elsewhere none",
    )
    add("--agent-network", action="store_true", help="give agents in the sandbox network access")
