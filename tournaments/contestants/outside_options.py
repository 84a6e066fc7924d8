"""The options of commands that run agents from outside: the limits of their processes, and their sandbox."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.specs import parse_spec
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.isolation import Isolation
from plurispiel.tournaments.contestants.process import close_to_others
from plurispiel.tournaments.contestants.sandbox import CHOICES, Sandbox, unprotected, working_sandbox

__all__ = ["OutsideOptions", "open_sandbox"]

Say = Callable[[str], object]
"""A function that shows the user one line of text."""


@dataclass(frozen=True)
class OutsideOptions:
    """How agents from outside run while they are measured, with the defaults of the command line.

    Attributes
    ----------
    time_limit : float
        Seconds for each answer.
    memory_limit : int
        MiB of memory (`Limits`).
    sandbox : {"auto", "bwrap", "none"}
        The sandbox; ``auto`` uses bubblewrap where it works.
    agent_network : bool
        Let agents in the sandbox use the network.

    Raises
    ------
    ValueError
        If a limit is not allowed, or there is no such sandbox.
    """

    time_limit: float = 30.0
    memory_limit: int = 2048
    sandbox: str = "auto"
    agent_network: bool = False

    def __post_init__(self):
        Limits(self.time_limit, self.memory_limit)  # checks both
        if self.sandbox not in CHOICES:
            raise ValueError(f"sandbox must be one of {', '.join(CHOICES)}, got {self.sandbox!r}")

    @classmethod
    def chosen(cls, arguments: object) -> Self:
        """Return the options in parsed arguments, whose attributes have the same names."""
        return cls(**{field.name: getattr(arguments, field.name) for field in dataclasses.fields(cls)})

    def words(self) -> str:
        """Return the options that differ from their defaults, written as on a command line, each word after a blank."""
        words = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                words += [f"--{field.name.replace('_', '-')}", *([] if value is True else [str(value)])]
        return "".join(f" {word}" for word in words)

    def isolation(
        self, specs: Sequence[str], warn: Say, hidden: Sequence[Path] = (), log: Path | None = None
    ) -> Isolation:
        """Prepare this process for the agents of some specs, and return how those from outside run.

        Parameters
        ----------
        warn : callable
            Called with the warning that agents run without a sandbox.
        hidden : sequence of Path
            Files and folders that the sandbox hides from agents.
        log : Path, optional
            File to which the agents' prints are appended.

        Raises
        ------
        ValueError
            If the sandbox does not work.
        """
        sandbox = None
        if any(parse_spec(spec).is_foreign for spec in specs):
            sandbox = open_sandbox(self.sandbox, network=self.agent_network, warn=warn)
        hiding = sandbox.hiding(*hidden) if sandbox else None
        return Isolation(Limits(self.time_limit, self.memory_limit), hiding, log)


def open_sandbox(choice: str, *, network: bool, warn: Callable[[str], object]) -> Sandbox | None:
    """Prepare this process for agents from outside, and return their sandbox. If there is none, warn and return None.

    This process may know cards, and computes results. It therefore closes its memory to other processes of the user,
    before any code of the agents runs.

    Parameters
    ----------
    choice, network
        As in `working_sandbox`.
    warn : callable
        Called with the warning that agents run without a sandbox.

    Raises
    ------
    ValueError
        If the sandbox does not work, or there is no such choice.
    """
    close_to_others()
    sandbox = working_sandbox(choice, network=network)
    if sandbox is None:
        warn(printable(unprotected(choice)))
    return sandbox
