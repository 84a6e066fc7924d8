"""Options of the sandbox, for commands that run agents in their own processes."""

from collections.abc import Callable
from typing import Any


def add_sandbox(add: Callable[..., Any]) -> None:
    """Add ``--sandbox`` and ``--agent-network`` to a parser or a group, given its method `add_argument`."""
    add(
        "--sandbox",
        choices=("auto", "bwrap", "none"),
        default="auto",
        help="isolation of agents in their own processes: bwrap (bubblewrap) shows them only their own files, "
        "read-only, and is refused where it does not work; none shows them all that you can read; auto is bwrap where "
        "it works, elsewhere none",
    )
    add("--agent-network", action="store_true", help="give agents in the sandbox network access")
