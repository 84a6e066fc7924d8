"""The run's side of an agent written in Python (*contestant*): messages to its process, and their answers (`wire`)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Decision, Event, PublicState, Strategy, View
from plurispiel.agents.specs import parse_spec, relocate_spec
from plurispiel.evaluation.hand import FAULT_KINDS, REPAIRABLE, AgentFault
from plurispiel.tournaments.contestants import wire
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits, Refused
from plurispiel.tournaments.contestants.sandbox import Sandbox

__all__ = ["Contestant"]

_MAX_TEXT = 500  # characters of a fault's message
_REPORTS = ("range_strategy", "expected_strategy")  # questions that must not change the agent's play

_Answer = tuple[wire.Message, list[np.ndarray]]


class Contestant(IsolatedAgent):
    """A Python agent in another process, in which the module `host` builds it.

    A new process is told the present hand again. The parameters are those of `IsolatedAgent`.
    """

    def __init__(
        self,
        spec: str,
        limits: Limits,
        log: Path | None = None,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
    ):
        super().__init__(spec, limits, log, sandbox, rivals)
        self._told: list[wire.Message] = []  # requests of this hand that a new process gets again, see `_requests`
        self._events: list[list] = []  # events observed since the last request
        self._number = 0  # number of the last request, which the answer repeats

    def load(self, rules: HoldemRules | None = None) -> None:
        """Start the process and build the agent, unless the process is already running."""
        self._told = []
        super().load(rules)

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand."""
        super().restart(rules, seat, rng)
        self._told = []
        self._events = []
        state = rng.bit_generator.state
        self._request({"restart": wire.rules_message(rules), "seat": seat, "rng": state}, "restart")

    def observe(self, event: Event) -> None:
        """Keep an event, which is sent with the next request; do nothing if the agent does not observe events."""
        if self.observes:
            self._events.append(wire.event_message(event))

    def act(self, view: View) -> Decision:
        """Ask for a decision."""
        cards = cards_text(view.hole_cards)
        answer, _ = self._request({"act": wire.public_message(view.public), "hole_cards": cards}, "act")
        match answer.get("decision"):
            case [int() as action, list() as actions, list() as probabilities] if all(
                type(value) in (int, float) for value in (*actions, *probabilities)
            ):
                return Decision(action, tuple(actions), tuple(map(float, probabilities)))
        raise self._tampered("its decision is malformed")

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Ask for the strategy of all combos; None if the agent reports none."""
        return self._strategy(*self._request({"range": wire.public_message(public)}, "range_strategy"))

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Ask for the strategy of all combos, averaged over random choices yet to be made."""
        return self.expected_strategies([public])[0]

    def expected_strategies(self, publics: Sequence[PublicState]) -> list[Strategy | None]:
        """Ask for the expected strategies of some states in one message; the answers arrive one after another."""
        if not publics:
            return []
        message = {"expected": [wire.public_message(public) for public in publics]}
        return [self._strategy(*each) for each in self._requests(message, "expected_strategy", len(publics))]

    def end_hand(self) -> None:
        """Send the events since the last request; do nothing if there are none."""
        if self._events:
            self._request({}, "observe")

    def _request(self, message: wire.Message, what: str) -> _Answer:
        """Return the answer to a request, which is sent with the events since the last request."""
        return self._requests(message, what, 1)[0]

    def _requests(self, message: wire.Message, what: str, count: int) -> list[_Answer]:
        """Return the `count` answers to a request."""
        events = {"events": self._events}
        self._events = []
        is_repeated = what not in _REPORTS
        try:
            return self._ask(lambda: self._converse(message | events, what, self._limits.seconds, count), what)
        except AgentFault as fault:
            is_repeated = is_repeated and fault.kind in REPAIRABLE
            raise
        finally:
            # The agent may play on after a fault, too, and a new process is then told the whole hand. A request for a
            # report, or one whose fault has ended the process, is not repeated; only its events are.
            if is_repeated:
                self._told.append(message | events)
            elif events["events"]:
                self._told.append(events)

    def _strategy(self, answer: wire.Message, arrays: list[np.ndarray]) -> Strategy | None:
        """Return the strategy in an answer; None if the agent reports none."""
        if answer.get("told") is not True:
            return None
        if len(arrays) not in (2, 3):
            raise self._tampered("its strategy is malformed")
        return Strategy(*arrays)

    def _begin(self) -> None:
        """Start the process, load the agent and repeat this hand's messages."""
        seconds = self._limits.load_seconds
        # No code of the agent runs before the answer to `hello`.
        self._open(["host"], lambda: self._exchange({"hello": True}, "load", seconds)[0]["pid"])
        request: wire.Message = {"load": self._spec, "memory": self._limits.memory}
        if self._sandbox is not None:
            request |= {"load": relocate_spec(self._spec, Path.cwd()), "folder": str(Path.cwd())}
        answer, _ = self._exchange(request, "load", seconds)
        self.observes = answer.get("observes") is True
        self.tells = answer.get("tells") is True
        for message in self._told:
            try:
                self._exchange(message, "again", self._limits.seconds)
            except AgentFault as fault:  # a repairable fault was counted when the message was first sent
                if fault.kind not in REPAIRABLE:
                    raise

    def _exchange(self, message: wire.Message, what: str, seconds: float) -> _Answer:
        """Return the running process's answer to a message that has a single answer; errors as in `_converse`."""
        return self._converse(message, what, seconds, 1)[0]

    def _converse(self, message: wire.Message, what: str, seconds: float, count: int) -> list[_Answer]:
        """Return the `count` answers of the running process to a message, each of which may take `seconds`.

        Raises
        ------
        Died
            If the process ends before it answers.
        AgentFault
            If the process answers with a fault, with bytes that the host never writes, or not in time, or the agent
            prints too much.
        """
        self._number += 1
        frame = wire.encode(message | {"number": self._number})
        self._child.go_on()
        self.send(frame)
        answers = []
        for left in reversed(range(count)):
            try:
                received = self._child.receive(wire.frame_size, what, seconds)
                if not left:
                    self._child.stop()
                answers.append(self._checked(*wire.decode(received)))
            except wire.BadFrame as error:
                raise self._tampered(str(error)) from None
        return answers

    def _checked(self, answer: wire.Message, arrays: list[np.ndarray]) -> _Answer:
        """Return an answer, or raise the fault that it reports; the errors are those of `_converse`."""
        if not isinstance(answer, dict) or answer.get("number") != self._number:
            raise self._tampered("it does not repeat the number of the last request")
        if "refused" in answer:
            self.close()
            raise Refused("load", self._as_named(str(answer["refused"])))
        match answer.get("fault"):
            case None:
                return answer, arrays
            case [str() as kind, str() as text] if kind in FAULT_KINDS:
                if kind in REPAIRABLE:
                    self._child.stop()  # no more answers follow a fault
                else:
                    self.close()
                raise AgentFault(kind, self._as_named(text))
        raise self._tampered("its fault is of an unknown kind")

    def send(self, frame: bytes) -> None:
        """Write a frame to the process. All messages to the agent pass through this method."""
        self._child.send(frame)

    def _as_named(self, text: str) -> str:
        """Return a message with the agent's file named as in its spec; a sandboxed process names the absolute path."""
        if self._sandbox is not None and (name := parse_spec(self._spec).file):
            text = text.replace(parse_spec(relocate_spec(self._spec, Path.cwd())).file, name)
        return text[:_MAX_TEXT]

    def _tampered(self, text: str) -> AgentFault:
        """End the process, and return the fault of a process that wrote bytes that `host` never writes."""
        self.close()
        return AgentFault("protocol", f"its process wrote an answer that makes no sense: {text}"[:_MAX_TEXT])
