"""One hand between agents: cards, actions, payoffs and faults."""

import operator
import os
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, is_allowed
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, Board, Deal, Decision, Event, PublicState, Strategy, View

_MAX_MESSAGE = 300
_MAX_VALUE = 60
REPAIRABLE = ("exception", "illegal")
"""Kinds of faults after which the agent's process still runs, so that the agent can play on."""

CONTESTANT_ERRORS = (Exception, SystemExit)
"""Exceptions of an agent's code that are faults of the agent; Ctrl-C ends the run."""

PAYOFF_UNIT = 2520
"""Units per chip. A pot is split among at most ten seats, so payoffs are multiples of 1/2520 chip: a payoff times 2520,
rounded, is the exact number of units. Sums of units are exact; sums of float payoffs are not."""


FAULT_KINDS = ("load", "exception", "illegal", "timeout", "memory", "output", "fork", "crash", "protocol")
"""Kinds of faults. If an agent has a process of its own, all kinds that are not in `REPAIRABLE` end this process."""


class AgentFault(Exception):
    """A fault of an agent. For an agent in another process, its stand-in raises the exception in the run's process.

    Parameters
    ----------
    kind : str
        One of `FAULT_KINDS`.
    message : str
        A description of the fault for the user.
    """

    def __init__(self, kind: str, message: str):
        super().__init__(kind, message)
        self.kind = kind
        self.message = _writable(message)

    def __str__(self) -> str:
        return self.message


class RemoteAgent(Agent):
    """The stand-in for an agent in another process; `play_hand` tells it when a hand is over.

    Attributes
    ----------
    observes : bool
        Whether the agent has an `observe` of its own, as far as the stand-in knows.
    """

    observes = True

    def expected_strategies(self, publics: Sequence[PublicState]) -> list[Strategy | None]:
        """Return `expected_strategy` of some states; a subclass may ask for all of them in one message."""
        return [self.expected_strategy(public) for public in publics]

    def end_hand(self) -> None:
        """Receive the message that the hand is over. Not called if the seat is at fault.

        An `AgentFault` raised here counts as a fault in that hand.
        """

    def show_end(self, end: "HandEnd") -> None:
        """Receive the outcome, after `end_hand` if that is called.

        An `AgentFault` raised here counts as a fault in that hand, too, unless the seat was at fault already.
        """


class HandEnd(NamedTuple):
    """The outcome of a hand, as everybody at the table sees it.

    Attributes
    ----------
    actions : tuple of Action
        All actions in order.
    street : int
        The street that the hand reached; at a showdown the last one.
    board : tuple of int
        The board cards up to that street.
    hole_cards : tuple of tuple of int
        The cards of each seat that showed them at a showdown, empty for all other seats.
    payoffs : tuple of float
        Net chips of every seat.
    """

    actions: tuple[Action, ...]
    street: int
    board: tuple[int, ...]
    hole_cards: tuple[tuple[int, ...], ...]
    payoffs: tuple[float, ...]


class Fault(NamedTuple):
    """A fault of the agent in `seat`, of one of `FAULT_KINDS`, with a message for the user."""

    seat: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Hand:
    """One hand played to its end.

    Attributes
    ----------
    rules : HoldemRules
        The game.
    deck : uint8[num_dealt_cards]
        All hole cards, seat by seat, then all board cards, whether shown or not.
    actions : tuple of Action
        All actions in order; the posted blinds are not among them.
    payoffs : tuple of float
        Net chips of every seat; they sum to 0.
    showdown : bool
        Whether two or more seats were left at the end, so that their hands were compared.
    faults : tuple of Fault
        The faults in order.
    waits : tuple of (int, float)
        For every decision that an agent was asked for, the agent's seat and the seconds until the answer. Empty in a
        hand that was replayed from a record.
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
        The agent of each seat. An agent that raises an exception or answers with an illegal action commits a fault.
        Without `repair`, its seat then folds to a bet, and checks otherwise, for the rest of this hand.
    deck : uint8[num_dealt_cards]
        All hole cards, seat by seat, then the board (`deal_deck`).
    rngs : sequence of Generator
        The random stream of each seat for this hand.
    repair : bool
        Whether an agent continues the hand after a fault of a kind in `REPAIRABLE`. Then an illegal action is replaced
        by the nearest legal action. After an exception, or an answer that is not an action, the seat folds to a bet,
        and checks otherwise, for this decision only.

    Raises
    ------
    ValueError
        If the numbers of agents or streams differ from the number of seats.
    """
    if not len(agents) == len(rngs) == rules.num_seats:
        raise ValueError(f"{rules.num_seats} seats need as many agents and rngs, got {len(agents)} and {len(rngs)}")
    table = _Table(rules, agents, tuple(deck.tolist()), repair)
    table.begin(rngs)
    state = table.betting.array.tolist()
    while state[betting_layout.ACTOR] >= 0:
        if state[betting_layout.STREET] != table.street:
            table.deal_street(state[betting_layout.STREET])
        table.ask(state)
        state = table.betting.array.tolist()
    payoffs = tuple(table.betting.payoffs(deck).tolist())
    showdown = state[betting_layout.NUM_LIVE] > 1
    table.end(payoffs, showdown)
    return Hand(rules, deck, table.actions, payoffs, showdown, tuple(table.faults), tuple(table.waits))


class _Table:
    """A hand while it is played.

    First `begin` is called, then `ask` for each decision, and `end` at the end. On each street but the first,
    `deal_street` is called before the first decision; it is not called for a street without decisions.

    Attributes
    ----------
    betting : BettingState
        The betting so far.
    street : int
        The latest street whose board was shown.
    actions, faults, waits
        The attributes of the same names in `Hand`, so far.
    """

    __slots__ = (
        "actions", "betting", "faults", "street", "waits",
        "_agents", "_at_fault", "_board", "_community", "_hole_cards", "_observers", "_repair", "_rules",
    )  # fmt: skip

    def __init__(self, rules: HoldemRules, agents: Sequence[Agent], cards: tuple[int, ...], repair: bool):
        num_hole = rules.num_hole_cards
        self.betting = BettingState(rules)
        self.street = 0
        self.actions: tuple[Action, ...] = ()
        self.faults: list[Fault] = []
        self.waits: list[tuple[int, float]] = []
        self._rules = rules
        self._agents = agents
        self._repair = repair
        self._hole_cards = [cards[seat * num_hole : (seat + 1) * num_hole] for seat in range(rules.num_seats)]
        self._community = cards[rules.num_seats * num_hole :]
        self._board = self._community[: rules.board_size(0)]
        self._at_fault = [False] * rules.num_seats
        self._observers: list[int] = []

    def begin(self, rngs: Sequence[np.random.Generator]) -> None:
        """Restart all agents. Then show the agents that observe events their own hole cards, and the board if any."""
        for seat, agent in enumerate(self._agents):
            try:
                agent.restart(self._rules, seat, rngs[seat])
            except CONTESTANT_ERRORS as error:
                self._blame(seat, "restart", error)
            # Most agents ignore events; an agent without `observe` of its own is spared the calls.
            if observes(agent):
                self._observers.append(seat)
        for seat in self._observers:
            self._tell(seat, Deal(self._hole_cards[seat]))
        if self._board:
            for seat in self._observers:
                self._tell(seat, Board(self._board, 0))

    def deal_street(self, street: int) -> None:
        """Show the board cards of a street."""
        num_seen = len(self._board)
        self.street = street
        self._board = self._community[: self._rules.board_size(street)]
        for seat in self._observers:
            self._tell(seat, Board(self._board[num_seen:], street))

    def ask(self, state: list[int]) -> None:
        """Apply the action of the agent whose turn it is, and show it to all agents that observe.

        The agent is asked for the action unless its seat is at fault.
        """
        seat = state[betting_layout.ACTOR]
        # The agent gets a copy of the state, because it could write to the state.
        public = PublicState(self._rules, state.copy(), self._board, self.actions)
        if self._at_fault[seat]:
            action = passive_action(public)
        else:
            asked = time.perf_counter()
            view = View(public, seat, self._hole_cards[seat])
            action, fault = answer_of(self._agents[seat], view, state, repair=self._repair)
            if fault is not None:
                self._note(fault)
            self.waits.append((seat, time.perf_counter() - asked))
        self.betting.apply_legal(action)
        taken = Action(seat, action, self.street)
        self.actions += (taken,)
        for observer in self._observers:
            self._tell(observer, taken)

    def end(self, payoffs: tuple[float, ...], showdown: bool) -> None:
        """Tell agents in other processes that the hand is over, and its outcome."""
        remote = [(seat, agent) for seat, agent in enumerate(self._agents) if isinstance(agent, RemoteAgent)]
        if not remote:
            return
        street = self._rules.num_streets - 1 if showdown else self.street
        board = self._community[: self._rules.board_size(street)]
        folded = {action.seat for action in self.actions if action.action == FOLD}
        shown = tuple(cards if showdown and seat not in folded else () for seat, cards in enumerate(self._hole_cards))
        outcome = HandEnd(self.actions, street, board, shown, payoffs)
        for seat, agent in remote:
            try:
                if not self._at_fault[seat]:
                    agent.end_hand()
                agent.show_end(outcome)
            except AgentFault as error:
                if not self._at_fault[seat]:
                    self._blame(seat, "observe", error)

    def _tell(self, seat: int, event: Event) -> None:
        if not self._at_fault[seat]:
            try:
                self._agents[seat].observe(event)
            except CONTESTANT_ERRORS as error:
                self._blame(seat, "observe", error)

    def _blame(self, seat: int, where: str, error: BaseException) -> None:
        self._note(error_fault(seat, where, error))

    def _note(self, fault: Fault) -> None:
        self._at_fault[fault.seat] = not self._repair or fault.kind not in REPAIRABLE
        self.faults.append(fault)


def observes(agent: Agent) -> bool:
    """Return whether an agent has an `observe` of its own; any other agent ignores events."""
    if isinstance(agent, RemoteAgent):
        return agent.observes
    return getattr(type(agent), "observe", Agent.observe) is not Agent.observe


def answer_of(agent: Agent, view: View, state: list[int], *, repair: bool) -> tuple[int, Fault | None]:
    """Return an agent's action, or a legal action in its place and the agent's fault.

    Parameters
    ----------
    view : View
        The agent's view of the hand.
    state : list of int
        The betting (`betting_layout`).
    repair : bool
        Whether an illegal action is replaced by the nearest legal action. Otherwise, and after all other faults, the
        action is `passive_action`.
    """
    rules = view.public.rules
    action = passive_action(view.public)
    try:
        wanted = action_of(agent.act(view))
        if is_allowed(rules, state, wanted):  # not `public.is_legal`: the agent could write to it
            return wanted, None
        if repair:
            action = _nearest(PublicState(rules, state), wanted)
        legal = BettingState(rules, np.array(state, dtype=np.int64)).legal_text()
        raise AgentFault("illegal", f"{_text(wanted)} is not legal: {legal}")
    except CONTESTANT_ERRORS as error:
        return action, error_fault(view.seat, "act", error)


def passive_action(public: PublicState) -> int:
    """Return the action of a seat at fault: it folds to a bet, and checks otherwise."""
    return FOLD if public.can_fold else CALL


def deal_deck(rules: HoldemRules, rng: np.random.Generator) -> np.ndarray:
    """Return the cards of a random deal: uint8[num_dealt_cards], all hole cards seat by seat, then the whole board."""
    return rng.permutation(rules.cards)[: rules.num_dealt_cards]


def action_of(answer: object) -> int:
    """Return the action in an agent's answer.

    Raises
    ------
    AgentFault
        If the answer is not an action.
    """
    action = answer.action if isinstance(answer, Decision) else answer
    if type(action) is int:
        return action
    try:
        return int(operator.index(action))  # type: ignore[arg-type]
    except Exception:  # whatever an odd object's methods do
        raise AgentFault(
            "illegal", f"{_text(action)} is not an action: FOLD, CALL or a whole number to raise to"
        ) from None


def error_text(error: BaseException) -> str:
    """Return the text of an exception with the file and line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""
    try:
        return f"{type(error).__name__}: {error}"[:_MAX_MESSAGE] + where
    except Exception:  # the agent may define an exception whose text raises another
        return type(error).__name__ + where


def unreadable(agent: Agent, error: Exception) -> ValueError:
    """Return the error to raise for an agent whose strategy cannot be read because of an exception."""
    what = "" if isinstance(error, ValueError | AgentFault) else f"{type(error).__name__}: "
    return ValueError(f"the strategy of {agent.name} cannot be read: {what}{error}")


def error_fault(seat: int, where: str, error: BaseException) -> Fault:
    """Return the fault of an agent whose method, named `where`, raised an exception."""
    if isinstance(error, AgentFault):
        return Fault(seat, error.kind, error.message)
    kind = "memory" if isinstance(error, MemoryError) else "exception"
    return Fault(seat, kind, _writable(f"{where}: {error_text(error)}"))


def _text(value: object) -> str:
    try:
        return repr(value)[:_MAX_VALUE]
    except Exception:
        return f"an object of {type(value).__name__}"


def _writable(text: str) -> str:
    """Return a text that any file can hold: halves of a surrogate pair become a ``?``."""
    return text.encode(errors="replace").decode()


def _nearest(public: PublicState, wanted: int) -> int:
    """Return the legal action nearest to an illegal one.

    A negative number becomes a fold where folding is legal, else a call. A fold that is not legal becomes a call. A
    raise becomes the legal raise of the nearest size, or a call where no raise is legal.
    """
    if wanted <= CALL or public.max_raise == 0:
        return CALL if wanted > FOLD or not public.can_fold else FOLD
    if public.menu is not None:
        return min(public.menu, key=lambda raise_to: abs(raise_to - wanted))
    return min(max(wanted, public.min_raise), public.max_raise)
