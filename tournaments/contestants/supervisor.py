"""An agent in a process of its own, as the run sees it."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Decision, Event, PublicState, Strategy, View
from plurispiel.evaluation.hand import FAULT_KINDS, AgentFault, RemoteAgent
from plurispiel.tournaments.contestants import wire

LOAD_SECONDS = 60.0
"""How long a contestant's file may take to load, if the limit for an answer is not longer still."""

MAX_OUTPUT = 1 << 20
"""Bytes that a contestant may print while it is asked once, and that its log keeps."""

_STARTS = 10  # of an agent that has loaded before: who ends it while it starts is somebody else
_MAX_TEXT = 500
_CHUNK = 1 << 16
_GLANCE_S = 0.2
_GRACE_S = 1.0


@dataclass(frozen=True)
class Limits:
    """What a contestant may take.

    Attributes
    ----------
    seconds : float
        Time for an answer.
    memory : int
        MiB beyond what the process has before the agent is loaded.
    """

    seconds: float = 30.0
    memory: int = 2048


class _Refused(AgentFault):
    """There is no such agent."""


class _Died(Exception):
    """The process ended before it answered."""


class Contestant(RemoteAgent):
    """An agent whose code runs in another process, which holds nothing but what that agent may know.

    The process is started when it is needed. One that dies is started again and told once more what it
    was told of this hand: only if the same question is its end again is that the agent's fault, so that a
    process ended from outside changes no result of an agent that is deterministic given its seed.

    Parameters
    ----------
    spec : str
        The agent's spec.
    limits : Limits
    log : Path, optional
        File to which what the agent prints is appended, up to `MAX_OUTPUT` bytes.
    """

    def __init__(self, spec: str, limits: Limits, log: Path | None = None):
        self.name = spec
        self._spec = spec
        self._limits = limits
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._told: list[wire.Message] = []  # in this hand
        self._events: list[list] = []  # not told yet
        self._observes = True
        self._has_loaded = False
        self._number = 0

    def load(self) -> None:
        """Start the process and build the agent, if that is not done.

        Raises
        ------
        ValueError
            If there is no such agent.
        AgentFault
            If its code fails.
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
        """Keep an event until the agent is asked something."""
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
        raise self._tampered("its decision is none")

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Ask for the strategy of all combos."""
        answer, arrays = self._ask({"range": wire.public_message(public)}, "range_strategy")
        if answer.get("told") is not True:
            return None
        if len(arrays) not in (2, 3):
            raise self._tampered("its strategy is none")
        return Strategy(*arrays)

    def end_hand(self) -> None:
        """Tell what happened since the agent was last asked."""
        if self._events:
            self._ask({}, "observe")

    def close(self) -> None:
        """End the process, and all that it has started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stderr is not None:
            with contextlib.suppress(OSError):
                self._keep(process.stderr.read(_CHUNK) or b"")
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process else None

    def _ask(self, message: wire.Message, what: str) -> tuple[wire.Message, list[np.ndarray]]:
        """Send a request and return its answer; what went wrong on the way is the agent's fault."""
        message = message | {"events": self._events}
        self._events = []
        starts = deaths = 0
        while True:
            starting = self._process is None
            try:
                if starting:
                    starts += 1
                    self._start()
                    starting = False
                answer = self._exchange(message, what, self._limits.seconds)
                break
            except _Died as death:
                self.close()
                deaths += not starting
                if deaths > 1 or starts >= (_STARTS if self._has_loaded else 1):
                    raise AgentFault("crash", f"{what}: {death}") from None
        if what != "range_strategy":
            self._told.append(message)
        return answer

    def _start(self) -> None:
        """Start the process, load the agent and bring it to where it was in this hand."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-u", "-m", "plurispiel.tournaments.contestants.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        for pipe in (self._process.stdout, self._process.stderr):
            os.set_blocking(pipe.fileno(), False)  # type: ignore[union-attr]
        self._received = bytearray()
        request = {"load": self._spec, "memory": self._limits.memory}
        answer, _ = self._exchange(request, "load", max(LOAD_SECONDS, self._limits.seconds))
        self._has_loaded = True
        self._observes = answer.get("observes") is True
        for message in self._told:
            self._exchange(message, "again", self._limits.seconds)

    def _exchange(self, message: wire.Message, what: str, seconds: float) -> tuple[wire.Message, list[np.ndarray]]:
        self._number += 1
        frame = wire.encode(message | {"number": self._number})
        try:
            self.send(frame)
        except OSError:
            raise self._death() from None
        try:
            answer, arrays = wire.decode(self._receive(what, seconds))
        except wire.BadFrame as error:
            raise self._tampered(str(error)) from None
        if not isinstance(answer, dict) or answer.get("number") != self._number:
            raise self._tampered("an answer to no question")
        if "refused" in answer:
            self.close()
            raise _Refused("load", str(answer["refused"])[:_MAX_TEXT])
        match answer.get("fault"):
            case None:
                return answer, arrays
            case [str() as kind, str() as text] if kind in FAULT_KINDS:
                if kind not in ("exception", "illegal"):
                    self.close()
                raise AgentFault(kind, text[:_MAX_TEXT])
        raise self._tampered("a fault of no kind")

    def send(self, frame: bytes) -> None:
        """Write a frame to the process: everything that it ever learns passes here."""
        assert self._process is not None and self._process.stdin is not None
        rest = memoryview(frame)
        while rest:
            rest = rest[self._process.stdin.write(rest) :]

    def _receive(self, what: str, seconds: float) -> bytes:
        """Return the next frame."""
        assert self._process is not None
        answers, prints = self._process.stdout, self._process.stderr
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
                if not ready and self._process.poll() is not None:
                    raise self._death()  # a copy of it may hold its pipes open
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
        """Append to the log what the agent printed."""
        if self._log is None or not data:
            return
        with contextlib.suppress(OSError):  # nobody's hand depends on it
            self._log.parent.mkdir(exist_ok=True)
            with open(self._log, "ab") as stream:
                stream.write(data[: max(0, MAX_OUTPUT - stream.tell())])

    def _death(self) -> _Died:
        """Return how the process ended."""
        assert self._process is not None
        try:
            code = self._process.wait(timeout=_GRACE_S)
        except subprocess.TimeoutExpired:
            return _Died("its process closed its pipe")
        if code >= 0:
            return _Died(f"its process ended (exit code {code})")
        with contextlib.suppress(ValueError):
            return _Died(f"its process was ended by {signal.Signals(-code).name}")
        return _Died(f"its process was ended by signal {-code}")

    def _tampered(self, text: str) -> AgentFault:
        """End the process: what it wrote are not the words of our own code."""
        self.close()
        return AgentFault("protocol", f"what its process wrote makes no sense: {text}"[:_MAX_TEXT])
