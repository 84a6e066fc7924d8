"""An agent whose code runs in another process. The process is started when needed, asked, limited and restarted."""

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import TypeVar

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.hand import AgentFault, RemoteAgent
from plurispiel.tournaments.contestants.child import Child, Died
from plurispiel.tournaments.contestants.sandbox import Sandbox, SandboxBroken

__all__ = ["LOAD_SECONDS", "IsolatedAgent", "Limits", "Refused"]

LOAD_SECONDS = 60.0
"""Time limit in seconds to load an agent. If the limit for an answer is longer, it replaces this limit."""

MAX_TIME_LIMIT = 86_400.0
"""Longest time limit in seconds."""

_STARTS = 20
"""Largest number of starts of the process for one question. If there is still no answer, the agent is at fault.

If a question ends with a fault, and its last start failed before the agent was loaded, the next question has one start.
"""

_DEATHS = {int(SIGKILL): 5, int(SIGTERM): 5}
"""How many times the process may die during one question before the agent is at fault, by the signal of the last death.

The system or a user may have sent these signals. If the last death had another cause, the number is two.
"""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Limits:
    """Limits of an isolated agent.

    Attributes
    ----------
    seconds : float
        Longest time for an answer, in seconds.
    memory : int
        MiB that the process may allocate in addition to the memory that it holds before the agent's code is loaded.

    Raises
    ------
    ValueError
        If a limit is not above 0, or the time is above `MAX_TIME_LIMIT`.
    """

    seconds: float = 30.0
    memory: int = 2048

    @property
    def load_seconds(self) -> float:
        """Longest time to load the agent, in seconds."""
        return max(LOAD_SECONDS, self.seconds)

    def __post_init__(self):
        if not 0.0 < self.seconds <= MAX_TIME_LIMIT:
            raise ValueError(f"time_limit must be above 0 and at most {MAX_TIME_LIMIT:g} seconds, got {self.seconds:g}")
        if self.memory < 1:
            raise ValueError(f"memory_limit must be at least 1 MiB, got {self.memory}")


class Refused(AgentFault):
    """The agent does not exist."""


class IsolatedAgent(RemoteAgent, abc.ABC):
    """An agent whose code runs in another process, which is told only what the agent may know.

    The process is started when it is first needed. On Linux it is suspended between questions (`Child.stop`). If the
    process ends, a new process is started and asked again. Only repeated ends at the same question are the agent's
    fault. If somebody else kills the process, the results of a deterministic agent therefore do not change.

    A subclass defines `_begin`, and asks its process in functions that it passes to `_ask`.

    Parameters
    ----------
    spec : str
        The agent's spec.
    limits : Limits
        Time and memory.
    log : Path, optional
        File to which the agent's prints are appended, up to `child.MAX_OUTPUT` bytes.
    sandbox : Sandbox, optional
        Limits the files and processes that the agent sees. Without a sandbox, the agent sees all that this process
        sees.
    rivals : sequence of str
        Specs of agents whose files the sandbox masks.

    Attributes
    ----------
    learns : bool
        Whether the agent says that it remembers earlier hands.
    num_starts : int
        Number of starts of the agent's process in which the agent was loaded.
    num_fallbacks : int
        Number of answers that the agent marked as replacements for answers that it could not find.
    tells : bool
        Whether the agent can report its strategy for every hand; False until the agent has been loaded.
    """

    learns = False
    num_starts = 0
    num_fallbacks = 0
    tells = False

    def __init__(
        self,
        spec: str,
        limits: Limits,
        log: Path | None = None,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
    ):
        self.name = spec
        self._spec = spec
        self._limits = limits
        self._log = log
        self._sandbox = sandbox
        self._rivals = rivals
        self._process: Child | None = None
        self._starts = _STARTS

    def load(self, rules: HoldemRules | None = None) -> None:
        """Start the process and load the agent, unless the process is already running.

        Parameters
        ----------
        rules : HoldemRules, optional
            Ignored here. Subclasses whose programs are told the game at their start use it.

        Raises
        ------
        ValueError
            If the agent does not exist, or its sandbox does not start.
        AgentFault
            If the agent's code fails, or the process ends repeatedly or does not answer in time.
        """
        try:
            self._ask(lambda: None, "load")
        except Refused as refused:
            raise ValueError(refused.message) from None

    def close(self) -> None:
        """End the process and everything that it has started."""
        self._end()

    @property
    def pid(self) -> int | None:
        """The id of the process that was started, the sandbox's if there is one; None while no process runs."""
        return self._process.pid if self._process is not None and not self._process.is_closed else None

    def _end(self) -> None:
        """End the process immediately."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    @property
    def _child(self) -> Child:
        """The running process."""
        assert self._process is not None
        return self._process

    @abc.abstractmethod
    def _begin(self) -> None:
        """Start the process by `_open`, load the agent, and repeat the messages on which the next question builds."""

    def _open(self, program: Sequence[str], greet: Callable[[], int]) -> None:
        """Start a process.

        Parameters
        ----------
        program : sequence of str
            As in `Child`.
        greet : callable
            Returns the id that the agent's process reports before any code of the agent runs.

        Raises
        ------
        SandboxBroken
            If a process in a sandbox ends, other than by a signal, before it reports its id: the sandbox is the cause.
        Died
            If the process ends in another way before it reports its id.
        """
        self._process = Child(program, self._spec, self._limits.memory, self._log, self._sandbox, self._rivals)
        try:
            agent = greet()
        except Died as death:
            if self._sandbox is not None and not death.signal:
                words = self._child.last_line
                raise SandboxBroken(f"the sandbox of {self._spec} did not start: {words or death}") from None
            raise
        self._child.has_started(agent)

    def _ask(self, question: Callable[[], _Answer], what: str) -> _Answer:
        """Return the answer to a question.

        A process is started if none runs, and again whenever it ends. The agent is at fault when the starts or the
        deaths reach their limits (`_STARTS`, `_DEATHS`). A death by a signal of `_DEATHS` before the agent is loaded
        counts toward the limit of starts only.

        Parameters
        ----------
        question : callable
            Asks the running process and returns its answer. Called again after each end of the process.
        what : str
            The kind of question, for messages.
        """
        starts = deaths = 0
        while True:
            is_new = self.pid is None
            try:
                if is_new:
                    starts += 1
                    self._begin()
                    self.num_starts += 1
                    self._starts = _STARTS
                    is_new = False
                return question()
            except Died as death:
                words = self._child.last_line
                self._end()
                deaths += not is_new or death.signal not in _DEATHS
                if starts >= self._starts or deaths >= _DEATHS.get(death.signal, 2):
                    self._starts = 1 if is_new else _STARTS  # after a failed start, the next question has one start
                    raise self._crash(what, str(death), words, is_new) from None

    def _crash(self, what: str, cause: str, words: str, is_new: bool) -> AgentFault:
        """Return the fault of a process that has ended too often.

        Parameters
        ----------
        words : str
            The last line that the agent printed.
        is_new : bool
            Whether the process ended before the agent was loaded.
        """
        return AgentFault("crash", f"{what}: {cause}")
