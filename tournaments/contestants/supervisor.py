"""The run's side of an isolated agent (*contestant*): its process is started, asked, limited and restarted here."""

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Decision, Event, PublicState, Strategy, View
from plurispiel.agents.specs import parse_spec, relocate_spec
from plurispiel.evaluation.hand import FAULT_KINDS, AgentFault, RemoteAgent
from plurispiel.tournaments.contestants import wire
from plurispiel.tournaments.contestants.family import Family
from plurispiel.tournaments.contestants.sandbox import Sandbox, SandboxBroken

LOAD_SECONDS = 60.0
"""Time limit in seconds to load an agent, unless the limit for an answer is longer and replaces this limit."""

MAX_OUTPUT = 1 << 20
"""Largest number of bytes that an agent may print during one question; also the largest size of an agent's log."""

_STARTS = 20
"""Number of starts of the process for one question; after as many starts without an answer, the agent is at fault."""

_DEATHS = {int(signal.SIGKILL): 5, int(signal.SIGTERM): 5}
"""Number of ends of the process during one question that make the agent at fault, by the signal that ended the process.

The system or a user may have sent these signals. For any other end of the process, the number is two.
"""

_MAX_TEXT = 500  # characters of a fault's message
_CHUNK = 1 << 16  # bytes read from a pipe at once
_GLANCE_S = 0.2  # seconds between two checks of whether a silent process has ended
_GRACE_S = 1.0  # seconds that a process has to end after its pipe closed, so that its exit code is known


@dataclass(frozen=True)
class Limits:
    """Limits of an isolated agent.

    Attributes
    ----------
    seconds : float
        Longest time for an answer, in seconds.
    memory : int
        MiB that the process may allocate in addition to the memory that it holds before the agent's code is loaded.
    """

    seconds: float = 30.0
    memory: int = 2048


class _Refused(AgentFault):
    """The agent does not exist."""


class _Died(Exception):
    """The process ended before it answered."""

    def __init__(self, text: str, number: int = 0):
        super().__init__(text)
        self.signal = number


class Contestant(RemoteAgent):
    """An agent whose code runs in another process, which is told only what the agent may know.

    The process is started when it is first needed, and is stopped while it is asked nothing. If the process ends, a new
    process is started and told this hand again. Only repeated ends at the same question are the agent's fault. If
    somebody else kills the process, the results of a deterministic agent therefore do not change.

    Parameters
    ----------
    spec : str
        The agent's spec.
    limits : Limits
        Time and memory.
    log : Path, optional
        File to which the agent's prints are appended, up to `MAX_OUTPUT` bytes.
    sandbox : Sandbox, optional
        Limits the files and processes that the agent sees. Without a sandbox, the agent sees all that this process
        sees.
    rivals : sequence of str
        Specs of agents whose files the sandbox masks.
    """

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
        self._family: Family | None = None
        self._last_words = b""
        self._starts = _STARTS
        self._told: list[wire.Message] = []  # this hand's requests except range_strategy, for a new process
        self._events: list[list] = []  # observed since the last request
        self._observes = True  # whether the agent's class overrides `observe`
        self._number = 0  # number of the last request, which the answer repeats

    def load(self) -> None:
        """Start the process and build the agent, unless the process is already running.

        Raises
        ------
        ValueError
            If the agent does not exist.
        AgentFault
            If the agent's code fails, or the process ends repeatedly or does not answer in time.
        """
        self._told = []
        try:
            self._ask({}, "load")
        except _Refused as refused:
            raise ValueError(refused.message) from None

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand."""
        super().restart(rules, seat, rng)
        self._told = []
        self._events = []
        state = rng.bit_generator.state
        self._ask({"restart": wire.rules_message(rules), "seat": seat, "rng": state}, "restart")

    def observe(self, event: Event) -> None:
        """Keep an event, which is sent with the next request."""
        if self._observes:
            self._events.append(wire.event_message(event))

    def act(self, view: View) -> Decision:
        """Ask for a decision."""
        cards = cards_text(view.hole_cards)
        answer, _ = self._ask({"act": wire.public_message(view.public), "hole_cards": cards}, "act")
        match answer.get("decision"):
            case [int() as action, list() as actions, list() as probabilities] if all(
                type(value) in (int, float) for value in (*actions, *probabilities)
            ):
                return Decision(action, tuple(actions), tuple(map(float, probabilities)))
        raise self._tampered("its decision is malformed")

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Ask for the strategy of all combos; None if the agent reports none."""
        answer, arrays = self._ask({"range": wire.public_message(public)}, "range_strategy")
        if answer.get("told") is not True:
            return None
        if len(arrays) not in (2, 3):
            raise self._tampered("its strategy is malformed")
        return Strategy(*arrays)

    def end_hand(self) -> None:
        """Send the events since the last request; do nothing if there are none."""
        if self._events:
            self._ask({}, "observe")

    def close(self) -> None:
        """End the process and everything that it has started."""
        family, self._family = self._family, None
        if family is None:
            return
        if family.process.stderr is not None:
            with contextlib.suppress(OSError):
                self._keep(family.process.stderr.read(_CHUNK) or b"")
        family.close()

    @property
    def pid(self) -> int | None:
        """The id of the first process of the family; None while none runs."""
        return self._family.process.pid if self._family else None

    def _ask(self, message: wire.Message, what: str) -> tuple[wire.Message, list[np.ndarray]]:
        """Return the answer to a request, which is sent with the events since the last request.

        A process is started if none runs, and again whenever it ends. The agent is at fault when the starts reach
        `_STARTS`, or the ends reach the number in `_DEATHS`. An end by a signal of `_DEATHS` during the start does not
        count as an end.

        Parameters
        ----------
        what : str
            The kind of request, for messages.
        """
        message = message | {"events": self._events}
        self._events = []
        starts = deaths = 0
        while True:
            is_new = self._family is None
            try:
                if is_new:
                    starts += 1
                    self._start()
                    is_new = False
                answer = self._exchange(message, what, self._limits.seconds)
                break
            except _Died as death:
                self.close()
                deaths += not is_new or death.signal not in _DEATHS
                if starts >= self._starts or deaths >= _DEATHS.get(death.signal, 2):
                    self._starts = 1 if is_new else _STARTS  # after a failed start, the next question tries only once
                    raise AgentFault("crash", f"{what}: {death}") from None
        if what != "range_strategy":  # a report must not change the agent's play
            self._told.append(message)
        return answer

    def _start(self) -> None:
        """Start the process, load the agent and repeat this hand's messages."""
        self._family = Family(["host"], self._spec, self._sandbox, self._rivals, self._limits.memory)
        for pipe in (self._family.process.stdout, self._family.process.stderr):
            os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]
        self._received = bytearray()
        seconds = max(LOAD_SECONDS, self._limits.seconds)
        try:
            # No code of the agent has run yet. If the exchange fails without a signal, the sandbox is the cause.
            answer, _ = self._exchange({"hello": True}, "load", seconds)
        except _Died as death:
            if self._sandbox is not None and not death.signal:
                words = self._last_words.decode(errors="replace").strip()
                raise SandboxBroken(f"the sandbox of {self._spec} did not start: {words or death}") from None
            raise
        self._family.has_started(answer["pid"])
        request: wire.Message = {"load": self._spec, "memory": self._limits.memory}
        if self._sandbox is not None:
            request |= {"load": relocate_spec(self._spec, Path.cwd()), "folder": str(Path.cwd())}
        answer, _ = self._exchange(request, "load", seconds)
        self._starts = _STARTS
        self._observes = answer.get("observes") is True
        for message in self._told:
            self._exchange(message, "again", self._limits.seconds)

    def _exchange(self, message: wire.Message, what: str, seconds: float) -> tuple[wire.Message, list[np.ndarray]]:
        """Return the answer of the running process to a message.

        Raises
        ------
        _Died
            If the process ends before it answers.
        AgentFault
            If the process answers with a fault, with bytes that the host never writes, or not in time.
        """
        assert self._family is not None
        self._number += 1
        frame = wire.encode(message | {"number": self._number})
        self._family.go_on()
        try:
            self.send(frame)
        except OSError:
            raise self._death() from None
        try:
            received = self._receive(what, seconds)
            self._family.stop()
            answer, arrays = wire.decode(received)
        except wire.BadFrame as error:
            raise self._tampered(str(error)) from None
        if not isinstance(answer, dict) or answer.get("number") != self._number:
            raise self._tampered("it repeats another number than the last request's")
        if "refused" in answer:
            self.close()
            raise _Refused("load", self._as_named(str(answer["refused"])))
        match answer.get("fault"):
            case None:
                return answer, arrays
            case [str() as kind, str() as text] if kind in FAULT_KINDS:
                if kind not in ("exception", "illegal"):  # after any other fault the process cannot be used again
                    self.close()
                raise AgentFault(kind, self._as_named(text))
        raise self._tampered("its fault is of an unknown kind")

    def _as_named(self, text: str) -> str:
        """Return a message with the agent's file named as in its spec; a sandboxed process names the absolute path."""
        if self._sandbox is not None:
            name = parse_spec(self._spec).name
            text = text.replace(str(Path.cwd() / name), name)
        return text[:_MAX_TEXT]

    def send(self, frame: bytes) -> None:
        """Write a frame to the process. All messages to the agent pass through this method."""
        assert self._family is not None and self._family.process.stdin is not None
        rest = memoryview(frame)
        while rest:
            rest = rest[self._family.process.stdin.write(rest) :]

    def _receive(self, what: str, seconds: float) -> bytes:
        """Return the next frame that the process writes; texts printed in the meantime are appended to the log.

        Raises
        ------
        _Died
            If the process ends, or closes its pipe.
        AgentFault
            If `seconds` pass without a whole frame, or the agent prints too much.
        """
        assert self._family is not None
        process = self._family.process
        answers, prints = process.stdout, process.stderr
        assert answers is not None and prints is not None
        limit = time.monotonic() + seconds
        printed = 0
        with selectors.DefaultSelector() as selector:
            selector.register(answers, selectors.EVENT_READ)
            selector.register(prints, selectors.EVENT_READ)
            while True:
                size = wire.frame_size(self._received)
                if size and len(self._received) >= size:
                    frame = bytes(self._received[:size])
                    del self._received[:size]
                    return frame
                left = limit - time.monotonic()
                if left <= 0:
                    self.close()
                    raise AgentFault("timeout", f"{what}: no answer within {seconds:g} s")
                ready = [key.fileobj for key, _ in selector.select(min(left, _GLANCE_S))]
                if not ready and process.poll() is not None:
                    raise self._death()  # the pipes may still be open, held by a fork of the ended process
                if prints in ready:
                    data = prints.read(_CHUNK)
                    printed += len(data or b"")
                    if not data:
                        selector.unregister(prints)
                    self._keep(data or b"")
                    if printed > MAX_OUTPUT:
                        self.close()
                        raise AgentFault("output", f"{what}: it printed more than {MAX_OUTPUT >> 20} MiB")
                if answers in ready:
                    data = answers.read(_CHUNK)
                    if not data:
                        raise self._death()
                    self._received += data

    def _keep(self, data: bytes) -> None:
        """Append printed bytes to the log."""
        self._last_words = data or self._last_words
        if self._log is None or not data:
            return
        with contextlib.suppress(OSError):  # an unwritable log must not affect a hand
            self._log.parent.mkdir(exist_ok=True)
            with open(self._log, "ab") as stream:
                stream.write(data[: max(0, MAX_OUTPUT - stream.tell())])

    def _death(self) -> _Died:
        """Return the exception for a process that has ended or closed its pipe, with the cause as its text."""
        assert self._family is not None
        code = self._family.exit_code(_GRACE_S)
        if code is None:
            return _Died("its process closed its pipe")
        if code >= 0:
            return _Died(f"its process ended (exit code {code})")
        with contextlib.suppress(ValueError):
            return _Died(f"its process was ended by {signal.Signals(-code).name}", -code)
        return _Died(f"its process was ended by signal {-code}", -code)

    def _tampered(self, text: str) -> AgentFault:
        """End the process, and return the fault of a process that wrote bytes that `host` never writes."""
        self.close()
        return AgentFault("protocol", f"its process wrote an answer that makes no sense: {text}"[:_MAX_TEXT])
