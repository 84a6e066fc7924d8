"""Programs that speak the line protocol, version 1: one JSON object on each line of standard input and output.

`PROTOCOL.md` describes every line. An ``act`` question is complete in itself. A process that is started within a
hand is therefore told ``hello``, ``hand`` and the question, but no earlier question.
"""

import base64
import binascii
import contextlib
import functools
import json
import math
import re
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL, HoldemRules
from plurispiel.agents.base import Deal, Decision, Event, PublicState, Strategy, View
from plurispiel.evaluation.hand import AgentFault, HandEnd
from plurispiel.tournaments.contestants.child import Died
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.program_agent import ProgramAgent
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.situation import situation_text
from plurispiel.tournaments.formats.acpc import write_betting, write_cards
from plurispiel.tournaments.formats.match_state import write_match_state

__all__ = ["MAX_LINE", "MAX_RANGE_LINE", "PROTOCOL", "LineBot"]

PROTOCOL = 1
"""The version of the protocol."""

MAX_LINE = 1 << 16
"""Largest number of bytes of a line, its end included; `MAX_RANGE_LINE` for answers to ``range``."""

MAX_RANGE_LINE = 1 << 20
"""Largest number of bytes of an answer to ``range``, its end included."""

_SEED_BITS = 48
_MAX_NUMBER = 1 << 53  # JSON readers of all languages read integers up to this number exactly
_MAX_ID = (1 << 31) - 1  # some awks print no larger integers
_MAX_NOTES = 1 << 15  # if more bytes of `_notes` are kept at the end of a hand, they are sent without a question
_TOLERANCE = 1e-4  # of the sum of probabilities: float32 and decimals are rounded
_QUIT_S = 0.5  # seconds for the program to end by itself
_MAX_SHOWN = 60  # characters of an answer in a fault's message
_RAISE = re.compile(r"r([1-9][0-9]{0,15})")

Message = dict[str, Any]


class LineBot(ProgramAgent):
    """A program that speaks the line protocol. The parameters are those of `IsolatedAgent`.

    Attributes
    ----------
    is_deterministic : bool
        Whether the program said at its last start that it is deterministic; False before the first start.
    tells : bool
        Whether the program said that it answers ``range``.
    reads_text : bool
        Whether the program wants the plain English of a decision.
    num_actions : int
        Number of ``act`` questions that the program has answered.
    last_fallback : str
        The cause that the program gave with its last fallback.
    """

    way_to_tell = 'to report it, the program lists "range" under "answers" in its "ready" line'
    _if_late = "does it read one line at a time, and flush its output after each line?"

    def __init__(
        self,
        spec: str,
        limits: Limits,
        log: Path | None = None,
        sandbox: Sandbox | None = None,
        rivals: Sequence[str] = (),
    ):
        super().__init__(spec, limits, log, sandbox, rivals)
        self._game = HUNL
        self._greeted: HoldemRules | None = None  # the game of the running process
        self.tells = False
        self.reads_text = True
        self.num_actions = 0
        self.last_fallback = ""
        self._hand = 0
        self._copied = np.random.Generator(np.random.PCG64(0))
        self._seed = 0
        self._cards = ""  # own hole cards; empty in a process that is asked for ranges only
        self._is_told = False  # whether the running process has heard of this hand
        self._notes = b""  # lines that need no answer, which precede the next question

    def load(self, rules: HoldemRules | None = None) -> None:
        """Start the program and wait until it is ready for a game, by default heads-up no-limit hold'em."""
        self._play(rules or HUNL)
        super().load(rules)

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand. The program hears of the hand when it is first asked, or when the hand is over."""
        super().restart(rules, seat, rng)
        self._play(rules)
        self._hand += 1
        self._cards = ""
        self._is_told = False
        # Drawn from a copy, so that `rng` stays as it is and a second process of the program gets the same number.
        self._copied.bit_generator.state = rng.bit_generator.state
        self._seed = int(self._copied.integers(1 << _SEED_BITS))

    def observe(self, event: Event) -> None:
        """Keep the hole cards; every other event is part of the next question."""
        if isinstance(event, Deal):
            self._cards = cards_text(event.hole_cards)

    def act(self, view: View) -> Decision:
        """Ask for a decision."""
        cards = cards_text(view.hole_cards)
        question = {"cards": cards, **self._public(view.public, view.hole_cards)}

        def text() -> str:
            return situation_text(view.public, view.seat, view.hole_cards)

        answer = self._question("act", "action", question, MAX_LINE, text)
        action = answer.get("action")
        if type(action) is not str:
            raise self._protocol_fault(f"act: an answer has the action as a text, got {_shown(action)}")
        self.num_actions += 1
        if cause := answer.get("fallback"):
            self.num_fallbacks += 1
            self.last_fallback = str(cause)[:_MAX_SHOWN]
        actions, row = self._row(answer.get("probabilities"))
        return Decision(_action(action), actions, row)

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Ask for the strategy of all combos; None if the program reports none."""
        self._ask(lambda: None, "range")  # a started program has said in `ready` whether it answers range
        if not self.tells:
            return None
        answer = self._question("range", "range", self._public(public, ()), MAX_RANGE_LINE)
        names = answer.get("actions")
        if names is None:
            return None
        if not isinstance(names, list) or not all(type(name) is str for name in names):
            raise self._protocol_fault(f"range: actions are a list of texts, got {_shown(names)}")
        rows = self._rows(answer.get("probabilities"), len(names))
        try:
            actions = np.array([_action(name) for name in names], dtype=np.int64)
        except AgentFault as fault:
            raise self._protocol_fault(f"range: {fault.message}") from None
        return Strategy(actions, rows)

    def show_end(self, end: HandEnd) -> None:
        """Keep the outcome of the hand, to be sent with the next question, or now if many lines are kept.

        Nothing is kept if the program's process has ended.
        """
        if self.pid is None:
            self._notes = b""
            return
        rules = self.rules
        betting = write_betting(rules, end.actions, end.street)
        state = f"STATE:{self._hand}:{betting}:{self._card_text(end.hole_cards, end.board, end.street)}"
        chips = "|".join(repr(float(payoff)).removesuffix(".0") for payoff in end.payoffs)
        self._notes += self._hand_line() + _line(
            {
                "type": "end",
                "hand": self._hand,
                "payoffs": [int(payoff) if payoff == int(payoff) else payoff for payoff in end.payoffs],
                "shown": [cards_text(cards) for cards in end.hole_cards],
                "state": f"{state}:{chips}" if self._has_states else "",
            }
        )
        self._is_told = True
        if len(self._notes) > _MAX_NOTES:
            self._ask(self._pass_notes, "end")

    def close(self) -> None:
        """Tell the program to quit, wait a moment for its process to end by itself, and then end the process."""
        if self.pid is not None:
            with contextlib.suppress(Died):
                self._child.go_on()
                self.send(self._notes + _line({"type": "quit"}))
                self._child.wait(_QUIT_S)
        self._notes = b""
        super().close()

    def _play(self, rules: HoldemRules) -> None:
        """Note the game; a process that was greeted with another game is ended."""
        self._game = rules
        if self._greeted is not None and self._greeted != rules:
            self.close()
            self._greeted = None

    def _greet(self) -> None:
        self._notes = b""
        self._is_told = False
        self._greeted = self._game
        self.send(_hello(self._game, self._seconds, self._limits.memory))
        ready = self._read("ready", "load", MAX_LINE, self._limits.load_seconds)
        if ready.get("protocol") != PROTOCOL or type(ready.get("protocol")) is not int:
            raise self._protocol_fault(
                f"load: this package speaks version {PROTOCOL} of the protocol, got {_shown(ready.get('protocol'))}"
            )
        answers = ready.get("answers", ["act"])
        if not isinstance(answers, list) or "act" not in answers:
            raise self._protocol_fault(f'load: answers is a list with "act" in it, got {_shown(answers)}')
        self.tells = "range" in answers
        self.is_deterministic = ready.get("deterministic") is True
        self.learns = ready.get("memory") == "match"
        self.reads_text = ready.get("text") is not False
        self._child.stop()

    def _question(
        self, kind: str, wanted: str, question: Message, max_line: int, text: Callable[[], str] | None = None
    ) -> Message:
        """Ask a question and return the answer, of type `wanted`; `text` returns the question in plain English."""

        def ask() -> Message:
            number = 1 + secrets.randbelow(_MAX_ID)  # no program can answer a question that it has not read
            head = {"type": kind, "id": number, "hand": self._hand, "seat": self.seat}
            tail = {"seconds": self._seconds} | ({"text": text()} if text and self.reads_text else {})
            lines = self._notes + self._hand_line() + _line(head | question | tail)
            try:
                self._refuse_unasked()
            except AgentFault as fault:
                raise self._protocol_fault(f"{kind}: {fault.message}") from None
            self._notes, self._is_told = b"", True
            self.send(lines)  # to the stopped process, which then wakes up once and not twice
            self._child.go_on()
            answer = self._read(wanted, kind, max_line, self._seconds)
            self._child.stop()
            if type(answer.get("id")) is not int or answer["id"] != number:
                given = _shown(answer.get("id"))
                raise self._protocol_fault(f"{kind}: the question has the id {number}, got {given}")
            return answer

        return self._ask(ask, kind)

    def _pass_notes(self) -> None:
        """Send the kept lines now, without a question."""
        self._child.go_on()
        notes, self._notes = self._notes, b""
        self.send(notes)
        self._child.flush("end", self._seconds)
        self._child.stop()

    def _read(self, wanted: str, what: str, max_line: int, seconds: float) -> Message:
        """Return the next line of the program, which has to be a JSON object of the type `wanted`.

        Raises
        ------
        Died
            If the process ends first.
        AgentFault
            If there is no such line in time.
        """
        try:
            line = self._child.receive(functools.partial(_line_size, max_line), what, seconds)
            answer = _parsed(line)
        except _BadLine as error:
            raise self._protocol_fault(f"{what}: {error}") from None
        if answer.get("type") != wanted:
            raise self._protocol_fault(f"{what}: the answer has the type {wanted!r}, got {_shown(answer.get('type'))}")
        return answer

    def _hand_line(self) -> bytes:
        """Return the line that begins the hand; empty if the process has heard it."""
        if self._is_told:
            return b""
        cards = {"cards": self._cards} if self._cards else {}
        return _line({"type": "hand", "hand": self._hand, "seat": self.seat, **cards, "seed": self._seed})

    def _public(self, public: PublicState, hole_cards: Sequence[int]) -> Message:
        """Return the entries that ``act`` and ``range`` share; `hole_cards` are those of the seat to act, or empty."""
        rules = public.rules
        seen: list[Sequence[int]] = [()] * rules.num_seats
        seen[public.actor] = hole_cards
        state = ""
        if self._has_states:
            state = write_match_state(
                rules, public.actor, self._hand, public.actions, public.street, seen, public.board
            )
        return {
            "board": cards_text(public.board),
            "state": state,
            "pot": public.pot,
            "to_call": public.to_call,
            "contributions": list(public.contributions),
            "folded": list(public.folded),
            "legal": {
                "fold": public.can_fold,
                "call": True,
                "raise": [public.min_raise, public.max_raise] if public.max_raise else None,
                "menu": None if public.menu is None else list(public.menu),
            },
        }

    @property
    def _has_states(self) -> bool:
        """Whether the game can be written in the ACPC's lines, which have no board before the first betting."""
        return not self._game.board_cards[0]

    def _card_text(self, hole_cards: Sequence[Sequence[int]], board: Sequence[int], street: int) -> str:
        return write_cards(self.rules, hole_cards, board, street) if self._has_states else ""

    def _row(self, told: object) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return the actions and probabilities of an answer.

        Both are empty if the answer has no probabilities, a negative one, or probabilities that do not sum to 1.
        """
        if told is None:
            return (), ()
        if not isinstance(told, dict) or not all(type(number) in (int, float) for number in told.values()):
            raise self._protocol_fault(f"act: probabilities are an object of numbers by action, got {_shown(told)}")
        try:
            row = tuple(map(float, told.values()))
        except OverflowError:
            raise self._protocol_fault("act: a probability has too many digits") from None
        if min(row, default=-1.0) < 0.0 or abs(math.fsum(row) - 1.0) > _TOLERANCE:
            return (), ()  # as with a range, such a report is not used and is no fault
        return tuple(map(_action, told)), row

    def _rows(self, told: object, num_actions: int) -> np.ndarray:
        """Return the probabilities of a ``range`` answer: float64[num_combos, num_actions].

        Rows that sum to 1 within `_TOLERANCE` are normalised. All other rows, and arrays that do not fit the shape,
        are returned as they were sent. AIVAT and local best response refuse such reports.
        """
        try:
            if isinstance(told, str):
                rows = np.frombuffer(base64.b64decode(told, validate=True), dtype="<f4").astype(np.float64)
            elif isinstance(told, list):
                rows = np.array(told, dtype=np.float64)
            else:
                raise ValueError("neither base64 nor lists of numbers")
        except (ValueError, TypeError, OverflowError, binascii.Error) as error:
            raise self._protocol_fault(f"range: the probabilities cannot be read: {error}") from None
        shape = (self.rules.num_combos, num_actions)
        if rows.size != math.prod(shape) or rows.ndim > 2 or (rows.ndim == 2 and rows.shape != shape):
            return rows
        rows = rows.reshape(shape)
        sums = rows.sum(axis=1, keepdims=True)
        is_close = np.abs(sums - 1.0) <= _TOLERANCE
        return np.divide(rows, sums, out=rows, where=is_close)


class _BadLine(ValueError):
    """A line that is no JSON object, or too long."""


@functools.lru_cache(maxsize=16)
def _hello(rules: HoldemRules, seconds: float, memory: int) -> bytes:
    return _line(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "game": {
                "seats": rules.num_seats,
                "blinds": rules.blinds,
                "stacks": rules.stacks,
                "first_seats": rules.first_seats,
                "betting": rules.betting,
                "raise_sizes": rules.raise_sizes,
                "max_raises": rules.max_raises,
                "hole_cards": rules.num_hole_cards,
                "board_cards": rules.board_cards,
                "ranks": rules.num_ranks,
                "suits": rules.num_suits,
                "openspiel": game_string(rules),
            },
            "seconds": seconds,
            "memory_mb": memory,
        }
    )


def _line(message: Message) -> bytes:
    return _write(message).encode() + b"\n"


def _line_size(limit: int, data: bytearray) -> int:
    """Return the size of the line at the start of `data`, its end included; 0 if it is incomplete."""
    size = data.find(b"\n", 0, limit) + 1
    if not size and len(data) >= limit:
        raise _BadLine(f"a line has at most {limit:,} bytes here")
    return size


def _parsed(line: bytes) -> Message:
    """Return the JSON object of a line."""
    try:
        message = _read(line.decode())
    except (ValueError, RecursionError) as error:
        shown = _shown(line.decode(errors="replace").rstrip())
        raise _BadLine(f"the line {shown} is no JSON object: {error}") from None
    if not isinstance(message, dict):
        raise _BadLine(f"a line is a JSON object, got {_shown(message)}")
    return message


def _unique(pairs: list[tuple[str, Any]]) -> Message:
    message = dict(pairs)
    if len(message) < len(pairs):
        raise ValueError("a key appears twice")
    return message


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


_write = json.JSONEncoder(separators=(",", ":")).encode  # made once: `dumps` and `loads` would make one for each line
_read = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number).decode


def _action(text: str) -> int:
    """Return the action in a text: ``f``, ``c``, or ``r`` with the chips over the whole hand.

    Raises
    ------
    AgentFault
        If the text is not an action.
    """
    if text in ("f", "c"):
        return FOLD if text == "f" else CALL
    match = _RAISE.fullmatch(text)
    if match is None or not CALL < int(match[1]) < _MAX_NUMBER:
        raise AgentFault(
            "illegal",
            f"{_shown(text)} is not an action: give f, c, or r with the chips over the whole hand (2 or more), "
            "as in r300",
        )
    return int(match[1])


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "..."
