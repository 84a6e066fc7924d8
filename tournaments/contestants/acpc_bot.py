"""Programs that speak the ACPC's protocol, started as ``PROGRAM 127.0.0.1 PORT``; we are their dealer.

The program connects to `relay`. The program is stopped between questions, so states are kept until the next question.
If many have gathered when a hand ends, they are sent without a question. The order is that of the ACPC's dealer: a
state at the beginning of a hand, one after every action of any seat, and one at the end. On each connection hands are
numbered from 0. The protocol has no questions for strategies and no seed.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Event, View
from plurispiel.evaluation.hand import AgentFault, HandEnd
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.relay import LOOPBACK
from plurispiel.tournaments.contestants.relayed_agent import RelayedAgent
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.formats.match_state import is_version
from plurispiel.tournaments.formats.told_hand import ToldHand

__all__ = ["AcpcBot"]

_MAX_NOTES = 1 << 15  # if more bytes of states are kept at the end of a hand, they are sent without a question
_MAX_SHOWN = 60  # characters of a line in a fault's message


class AcpcBot(RelayedAgent):
    """A program that speaks the ACPC's protocol. The parameters are those of `IsolatedAgent`."""

    def __init__(
        self,
        spec: str,
        limits: Limits,
        log: Path | None = None,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
    ):
        super().__init__(spec, limits, log, sandbox, rivals)
        self._num_hands = 0  # hands begun on this connection
        self._hand: ToldHand | None = None
        self._is_told = False  # False if the running process was started within this hand and has not heard of it
        self._notes = b""  # states that precede the next question

    def load(self, rules: HoldemRules | None = None) -> None:
        """Start the program, and wait until it has connected and told its version."""
        self._hand = None
        super().load(rules)

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        AgentFault
            If the program does not start, or the game deals board cards before the first betting.
        """
        if rules.board_cards[0]:
            raise AgentFault("load", "the ACPC's protocol has no place for board cards before the first betting")
        super().restart(rules, seat, rng)
        self._ask(lambda: None, "load")  # a process that is started here is told the hand from its first state on
        self._hand = ToldHand(rules, seat, self._num_hands)
        self._num_hands += 1
        self._is_told = True

    def observe(self, event: Event) -> None:
        """Keep the state after an event, to be sent with the next question."""
        assert self._hand is not None
        if self._hand.observe(event):
            self._note()

    def act(self, view: View) -> int:
        """Ask for a decision."""
        hand = self._hand
        assert hand is not None

        def ask() -> int:
            if not self._is_told:  # a process that was started within the hand is told only the present state
                hand.renumber(0)
                self._num_hands, self._is_told = 1, True
                self._notes = _line(hand.line)
            notes, self._notes = self._notes, b""
            self._child.go_on()
            self.send(notes)
            action = self._answer(hand, view)
            self._child.stop()
            return action

        return self._ask(ask, "act")

    def show_end(self, end: HandEnd) -> None:
        """Keep the last state of the hand, to be sent with the next question, or now if many states are kept.

        Nothing is kept if the program's process has ended, or was started within the hand and has not heard of it.
        """
        if self.pid is None or self._hand is None or not self._is_told:
            self._notes = b""
            return
        self._hand.end(end)
        self._note()
        if len(self._notes) > _MAX_NOTES:
            self._ask(self._pass_notes, "end")

    def _more_arguments(self) -> list[str]:
        return [LOOPBACK]

    def _greet(self) -> None:
        super()._greet()
        self._notes = b""
        self._num_hands = 0
        self._is_told = False
        with self._blamed("load"):
            version = self._read("load", self._limits.load_seconds)
        if not is_version(version):
            shown = repr(version[:_MAX_SHOWN])
            raise self._protocol_fault(f"load: the first line of a program is VERSION:2.x.y, got {shown}")
        self._child.stop()

    def _answer(self, hand: ToldHand, view: View) -> int:
        """Read lines until one answers the last state, and return its action."""
        end = time.monotonic() + self._seconds
        while True:
            with self._blamed("act"):
                try:
                    line = self._read("act", max(0.0, end - time.monotonic()))
                    action = hand.answer(line, view.public)
                except AgentFault as fault:
                    if fault.kind == "illegal":
                        self._child.stop()
                    if fault.kind == "timeout":
                        raise AgentFault("timeout", f"act: no answer within {self._seconds:g} s") from None
                    raise
            if action is not None:
                return action

    def _pass_notes(self) -> None:
        """Send the kept states now, without a question."""
        self._child.go_on()
        notes, self._notes = self._notes, b""
        self.send(notes)
        self._child.flush("end", self._seconds)
        self._child.stop()

    def _note(self) -> None:
        assert self._hand is not None
        if self._is_told:
            self._notes += _line(self._hand.line)


def _line(text: str) -> bytes:
    return f"{text}\r\n".encode()
