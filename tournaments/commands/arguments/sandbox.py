"""Options of the sandbox, for the commands that start agents in processes of their own."""

from collections.abc import Callable
from typing import Any


def add_sandbox(add: Callable[..., Any]) -> None:
    """Add the options."""
    add(
        "--sandbox",
        choices=("auto", "bwrap", "none"),
        default="auto",
        help="what agents with a process of their own see: through bubblewrap their own files, to read, and nothing "
        "else of the machine; or what you see; by default the first where it works",
    )
    add("--agent-network", action="store_true", help="let agents in the sandbox use the network")
