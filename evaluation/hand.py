"""Play one hand between agents, and keep what happened."""

import operator
import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_state
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, is_allowed
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, Board, Deal, Decision, Event, PublicState, View

_CONTESTANT_ERRORS = (Exception, SystemExit)  # whatever an agent raises costs its own hand only
_MAX_MESSAGE = 300
_MAX_VALUE = 60
REPAIRABLE = ("exception", "illegal")

PAYOFF_UNIT = 2520
"""Payoffs are multiples of 1/2520 chip (a pot splits among at most ten seats), which makes their sums exact."""


FAULT_KINDS = ("load", "exception", "illegal", "timeout", "memory", "output", "fork", "crash", "protocol")
"""What an agent can be blamed for; all but the second and the third end its process."""


class AgentFault(Exception):
    """An agent's fault, raised by one that stands for a contestant in another process.

    Parameters
    ----------
    kind : str
        One of `FAULT_KINDS`.
    message : str
    """

    def __init__(self, kind: str, message: str):
        super().__init__(kind, message)
        self.kind = kind
        self.message = _writable(message)


class RemoteAgent(Agent):
    """An agent that acts elsewhere, and has to be told when a hand is over."""

    def end_hand(self) -> None:
        """Hear that the hand is over; an `AgentFault` still counts for it."""


class Fault(NamedTuple):
    """What an agent did wrong in a hand."""

    seat: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand played to its end.

    Attributes
    ----------
    rules : HoldemRules
    deck : uint8[num_dealt_cards]
        All hole cards, seat by seat, then the board, shown or not.
    actions : tuple of Action
    payoffs : tuple of float
        Net chips of every seat; they sum to 0.
    showdown : bool
        Whether hands were compared.
    faults : tuple of Fault
    waits : tuple of (int, float)
        The seat and the seconds it was waited for, of every answer that was asked for; empty if nobody measured.
    """

    rules: HoldemRules
    deck: np.ndarray
    actions: tuple[Action, ...]
    payoffs: tuple[float, ...]
    showdown: bool
    faults: tuple[Fault, ...] = ()
    waits: tuple[tuple[int, float], ...] = ()

    @property
    def folded(self) -> set[int]:
        """Seats that folded."""
        return {action.seat for action in self.actions if action.action == FOLD}


def play_hand(
    rules: HoldemRules,
    agents: Sequence[Agent],
    deck: np.ndarray,
    rngs: Sequence[np.random.Generator],
    *,
    repair: bool = False,
) -> Hand:
    """Play a hand and return it.

    Parameters
    ----------
    agents : sequence of Agent
        The agent of each seat. An agent that raises an exception or answers with an illegal action
        commits a fault: its seat checks or folds to the end of this hand.
    deck : uint8[num_dealt_cards]
        All hole cards, seat by seat, then the board (`deal_deck`).
    rngs : sequence of Generator
        The random stream of each seat for this hand.
    repair : bool
        Replace the one faulty answer only, by the nearest legal action, and let the agent go on with the
        hand, as long as it lives.
    """
    if not len(agents) == len(rngs) == rules.num_seats:
        raise ValueError(f"{rules.num_seats} seats need as many agents and rngs, got {len(agents)} and {len(rngs)}")
    num_hole = rules.num_hole_cards
    cards = tuple(deck.tolist())
    hole_cards = [cards[seat * num_hole : (seat + 1) * num_hole] for seat in range(rules.num_seats)]
    community = cards[rules.num_seats * num_hole :]
    faults: list[Fault] = []
    at_fault = [False] * rules.num_seats
    waits: list[tuple[int, float]] = []

    def blame(seat: int, where: str, error: BaseException) -> None:
        kind, message = _fault_text(where, error)
        at_fault[seat] = not repair or kind not in REPAIRABLE
        faults.append(Fault(seat, kind, message))

    watching = []
    for seat, agent in enumerate(agents):
        try:
            agent.restart(rules, seat, rngs[seat])
        except _CONTESTANT_ERRORS as error:
            blame(seat, "restart", error)
        if getattr(type(agent), "observe", Agent.observe) is not Agent.observe:
            watching.append(seat)

    def tell(seat: int, event: Event) -> None:
        if not at_fault[seat]:
            try:
                agents[seat].observe(event)
            except _CONTESTANT_ERRORS as error:
                blame(seat, "observe", error)

    for seat in watching:
        tell(seat, Deal(hole_cards[seat]))

    betting = BettingState(rules)
    actions: tuple[Action, ...] = ()
    street = 0
    board = community[: rules.board_size(0)]
    if board:
        for seat in watching:
            tell(seat, Board(board, 0))
    while True:
        state = betting.array.tolist()
        seat = state[betting_state.ACTOR]
        if seat < 0:
            break
        if state[betting_state.STREET] != street:
            street = state[betting_state.STREET]
            seen = len(board)
            board = community[: rules.board_size(street)]
            for watcher in watching:
                tell(watcher, Board(board[seen:], street))
        public = PublicState(rules, state, board, actions)
        action = FOLD if public.can_fold else CALL
        if not at_fault[seat]:
            asked = time.perf_counter()
            try:
                wanted = action_of(agents[seat].act(View(public, seat, hole_cards[seat])))
                if is_allowed(rules, state, wanted):  # not by `public`, which the agent has had in its hands
                    action = wanted
                else:
                    if repair:
                        action = _nearest(PublicState(rules, state), wanted)
                    raise AgentFault("illegal", f"{_text(wanted)} is not legal: {betting.legal_text()}")
            except _CONTESTANT_ERRORS as error:
                blame(seat, "act", error)
            waits.append((seat, time.perf_counter() - asked))
        betting.apply_legal(action)
        actions += (Action(seat, action, street),)
        for watcher in watching:
            tell(watcher, actions[-1])
    for seat, agent in enumerate(agents):
        if isinstance(agent, RemoteAgent) and not at_fault[seat]:
            try:
                agent.end_hand()
            except AgentFault as error:
                blame(seat, "observe", error)
    payoffs = tuple(betting.payoffs(deck).tolist())
    return Hand(rules, deck, actions, payoffs, state[betting_state.NUM_LIVE] > 1, tuple(faults), tuple(waits))


def deal_deck(rules: HoldemRules, rng: np.random.Generator) -> np.ndarray:
    """Return a full deal in random order: uint8[num_dealt_cards], all hole cards seat by seat, then the board."""
    return rng.permutation(rules.cards)[: rules.num_dealt_cards]


def action_of(answer: object) -> int:
    """Return the action of what an agent answered.

    Raises
    ------
    AgentFault
        If it is no action at all.
    """
    action = answer.action if isinstance(answer, Decision) else answer
    if type(action) is int:
        return action
    try:
        return int(operator.index(action))  # type: ignore[arg-type]
    except Exception:  # whatever an odd object's methods do
        raise AgentFault("illegal", f"{_text(action)} is no action: FOLD, CALL or a whole number to raise to") from None


def error_text(error: BaseException) -> str:
    """Return what an exception says, and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""
    try:
        return f"{type(error).__name__}: {error}"[:_MAX_MESSAGE] + where
    except Exception:  # an exception of a contestant may not even have a text
        return type(error).__name__ + where


def _fault_text(where: str, error: BaseException) -> tuple[str, str]:
    """Return the kind of a fault, and what to say of it."""
    if isinstance(error, AgentFault):
        return error.kind, error.message
    return "memory" if isinstance(error, MemoryError) else "exception", _writable(f"{where}: {error_text(error)}")


def _text(value: object) -> str:
    try:
        return repr(value)[:_MAX_VALUE]
    except Exception:
        return f"an object of {type(value).__name__}"


def _writable(text: str) -> str:
    """Return a text that can be written anywhere: halves of a surrogate pair, which no file takes, become a ``?``."""
    return text.encode(errors="replace").decode()


def _nearest(public: PublicState, wanted: int) -> int:
    """Return the legal action nearest to an illegal one: less is a check or fold, more the nearest raise."""
    if wanted <= CALL or public.max_raise == 0:
        return CALL if wanted > FOLD or not public.can_fold else FOLD
    if public.menu is not None:
        return min(public.menu, key=lambda raise_to: abs(raise_to - wanted))
    return min(max(wanted, public.min_raise), public.max_raise)
