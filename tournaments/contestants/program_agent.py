"""An agent that is a program in any language, whatever protocol it speaks."""

import abc
import contextlib
from collections.abc import Sequence
from pathlib import Path

from plurispiel.agents.agent_files import program_of
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.hand import AgentFault
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits, Refused
from plurispiel.tournaments.contestants.sandbox import PRIVATE, Sandbox

__all__ = ["ProgramAgent"]

_MAX_PID = 20  # characters of the launcher's line
_MAX_TEXT = 500  # characters of a fault's message


class ProgramAgent(IsolatedAgent):
    """An agent that is a program, started by `launcher` or another module that takes the same arguments.

    A subclass defines `_greet`, which makes the program ready for questions. The parameters are those of
    `IsolatedAgent`. If the spec sets a shorter time limit, this limit replaces the run's limit.
    """

    way_to_tell = ""
    """How a program reports its strategy, worded to end an error message; empty if its protocol has no way."""

    _launcher = "launcher"
    _if_late = ""  # a hint for programs that are not ready in time

    def __init__(
        self,
        spec: str,
        limits: Limits,
        log: Path | None = None,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
    ):
        super().__init__(spec, limits, log, sandbox, rivals)
        self.name = parse_spec(spec).title
        self._seconds = limits.seconds  # longest time for an answer: the run's limit, or the spec's if that is shorter

    def _more_arguments(self) -> list[str]:
        """Return arguments that follow those of the spec."""
        return []

    def send(self, data: bytes) -> None:
        """Write lines to the process. All lines to the program pass through this method."""
        self._child.send(data)

    def _refuse_unasked(self) -> None:
        """Refuse lines that the process wrote before it was asked: they might seem to answer the next question.

        Raises
        ------
        AgentFault
            If there are such lines; the process is left as it is.
        """
        if self._child.has_unasked():
            raise AgentFault("protocol", "it wrote a line that answers no question")

    @abc.abstractmethod
    def _greet(self) -> None:
        """Make the started program ready for questions.

        Raises
        ------
        Died
            If the process ends.
        AgentFault
            If the program is not ready in time, or breaks its protocol.
        """

    def _begin(self) -> None:
        try:
            program = program_of(self._spec)
        except ValueError as error:
            raise Refused("load", str(error)) from None
        self._seconds = min(self._limits.seconds, program.seconds)
        # In a sandbox, folders other than the agent's own may be missing or empty; the private folder always exists.
        start = program.start or (PRIVATE if self._sandbox else program.folder)
        command = [str(start), *program.command, *self._more_arguments()]
        self._open([self._launcher, str(self._limits.memory), *command], self._launcher_id)
        self._child.send(b"\n")
        try:
            self._greet()
        except AgentFault as fault:
            if fault.kind != "timeout":
                raise
            raise AgentFault("load", self._load_text(fault.message.removeprefix("load: "), self._if_late)) from None

    def _launcher_id(self) -> int:
        line = self._child.receive(_line_size, "load", self._limits.load_seconds)
        return int(line) if line.strip().isdigit() else 0

    def _crash(self, what: str, cause: str, words: str, is_new: bool) -> AgentFault:
        if is_new:
            return AgentFault("load", self._load_text(cause, words) + self._hint())
        return super()._crash(what, cause, words, is_new)

    def _hint(self) -> str:
        """Return advice for a program that may miss files in its sandbox."""
        with contextlib.suppress(ValueError):
            if self._sandbox is not None and not program_of(self._spec).is_placed:
                return "; in the sandbox it sees, of your files, only those that its command names, and ?cwd=FOLDER"
        return ""

    def _load_text(self, cause: str, words: str) -> str:
        return f"load: {self.name} does not load: {cause}{f': {words}' if words else ''}"[:_MAX_TEXT]

    def _protocol_fault(self, text: str) -> AgentFault:
        """End the process, and return the fault of a program that breaks its protocol."""
        self._end()
        return AgentFault("protocol", text[:_MAX_TEXT])


def _line_size(data: bytearray) -> int:
    """Return the size of the launcher's line at the start of `data`; 0 if it is incomplete.

    More than `_MAX_PID` characters without an end of line are taken for the line.
    """
    return data.find(b"\n") + 1 or (len(data) > _MAX_PID) * len(data)
