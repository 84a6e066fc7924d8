"""An agent that is a program which connects to a port and exchanges lines of text, through the `relay`."""

import contextlib
from collections.abc import Iterator

from plurispiel.evaluation.hand import AgentFault
from plurispiel.tournaments.contestants.program_agent import ProgramAgent
from plurispiel.tournaments.contestants.relay import CONNECTED
from plurispiel.tournaments.formats.lines import BadLine, line_size, line_text

__all__ = ["RelayedAgent"]


class RelayedAgent(ProgramAgent):
    """An agent that is a program started by `relay`. The parameters are those of `IsolatedAgent`."""

    _launcher = "relay"

    def _greet(self) -> None:
        """Wait until the program has connected."""
        with self._blamed("load"):
            line = self._read("load", self._limits.load_seconds)
        if line != CONNECTED:
            raise self._protocol_fault("load: its process wrote into the pipe of the relay")

    def _read(self, what: str, seconds: float) -> str:
        """Return the next line of the program; the arguments are those of `Child.receive`."""
        return line_text(self._child.receive(line_size, what, seconds))

    @contextlib.contextmanager
    def _blamed(self, what: str) -> Iterator[None]:
        """End the process if the block finds that the program broke its protocol."""
        try:
            yield
        except BadLine as error:
            raise self._protocol_fault(f"{what}: {error}") from None
        except AgentFault as fault:
            if fault.kind == "protocol":
                raise self._protocol_fault(f"{what}: {fault.message}") from None
            raise
