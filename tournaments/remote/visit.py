"""A visit of an agent to a table that somebody else runs: hand by hand, until the match is over."""

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Board, Deal, PublicState, View
from plurispiel.evaluation.hand import (
    CONTESTANT_ERRORS,
    REPAIRABLE,
    Fault,
    HandEnd,
    RemoteAgent,
    answer_of,
    error_fault,
    passive_action,
)
from plurispiel.evaluation.replay import replay_hand
from plurispiel.tournaments.contestants.speaker import public_events
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.formats.match_state import MatchState
from plurispiel.tournaments.remote.table import RemoteTable, TableError


def visit(table: RemoteTable, player: "Player", num_hands: int | None = None) -> Iterator[HandHistory]:
    """Play at a table, and yield every hand at its end, with the cards that are known.

    Parameters
    ----------
    num_hands : int, optional
        Number of hands to play; by default the match is played to its end.

    Raises
    ------
    TableError
        If a hand cannot be begun or finished, or the known cards do not settle its payoffs.
    """
    for _ in itertools.repeat(None) if num_hands is None else range(num_hands):
        state = table.new_hand()
        if state is None:
            return
        player.begin(state)
        while not state.betting.state.is_over:
            state = table.act(state, player.act(state))
        history = _history(state, player)
        player.end(state, history.payoffs or ())
        yield history


class Player:
    """An agent at a remote table.

    The agent gets the messages that `play_hand` would send. They are made from the states that the table returns.

    An illegal action becomes the nearest legal one. After an exception in `act`, or an answer that is not an action,
    the seat folds to a bet, and checks otherwise, for this decision only. After a fault of a kind that is not in
    `REPAIRABLE`, such as a time-out or a crash, the seat does so to the end of the hand.

    Parameters
    ----------
    agent : Agent
        The agent.
    rules : HoldemRules
        The game.
    seed : int
        The agent's random stream in a hand comes from ``SeedSequence(seed, spawn_key=(number of the hand, seat))``.
    name : str
        The agent's name in histories.

    Attributes
    ----------
    faults : list of (int, Fault)
        The faults so far, each with the number of its hand.
    num_answers : int
        Number of actions taken so far.
    """

    def __init__(self, agent: Agent, rules: HoldemRules, seed: int, name: str):
        self.name = name
        self.faults: list[tuple[int, Fault]] = []
        self.num_answers = 0
        self._agent = agent
        self._rules = rules
        self._seed = seed
        self._num_told = 0
        self._is_out = False

    def begin(self, state: MatchState) -> None:
        """Begin a hand."""
        rules, seat = self._rules, state.seat
        sequence = np.random.SeedSequence(self._seed, spawn_key=(state.number, state.seat))
        self._num_told = 0
        self._is_out = False
        rng = np.random.default_rng(sequence)
        self._try(state, "restart", lambda: self._agent.restart(rules, seat, rng))
        self._try(state, "observe", lambda: self._agent.observe(Deal(state.hole_cards[seat])))

    def act(self, state: MatchState) -> int:
        """Return the agent's action, or after a fault a legal action in its place."""
        public = self._tell(state)
        self.num_answers += 1
        if self._is_out:
            return passive_action(public)
        view = View(public, state.seat, state.hole_cards[state.seat])
        action, fault = answer_of(self._agent, view, state.betting.state.array.tolist(), repair=True)
        if fault is not None:
            self._note(state, fault)
        return action

    def end(self, state: MatchState, payoffs: tuple[float, ...]) -> None:
        """Tell the agent the rest of the hand; an agent in another process is also told the outcome."""
        self._tell(state)
        if isinstance(agent := self._agent, RemoteAgent):
            betting, board = state.betting, state.board
            shows = [betting.showdown and not folded for folded in betting.state.folded]
            shown = tuple(cards if show else () for cards, show in zip(state.hole_cards, shows, strict=True))
            outcome = HandEnd(betting.actions, betting.state.street, board, shown, payoffs)
            self._try(state, "observe", agent.end_hand)
            self._try(state, "observe", lambda: agent.show_end(outcome))

    def _tell(self, state: MatchState) -> PublicState:
        """Tell the agent the events since it was told last, and return the public state.

        At the end of a hand, boards that nobody could bet on any more are not told, as in `play_hand`.
        """
        betting = state.betting
        public = PublicState(self._rules, betting.state.array.tolist(), state.board, betting.actions)
        events = public_events(public)
        if betting.state.is_over:
            last = max(betting.streets, default=0)
            events = [event for event in events if not isinstance(event, Board) or event.street <= last]
        for event in events[self._num_told :]:
            self._try(state, "observe", lambda event=event: self._agent.observe(event))  # type: ignore[misc]
        self._num_told = len(events)
        return public

    def _try(self, state: MatchState, where: str, tell: Callable[[], None]) -> None:
        if not self._is_out:
            try:
                tell()
            except CONTESTANT_ERRORS as error:
                self._note(state, error_fault(state.seat, where, error))

    def _note(self, state: MatchState, fault: Fault) -> None:
        self.faults.append((state.number, fault))
        self._is_out = fault.kind not in REPAIRABLE


def _history(state: MatchState, player: Player) -> HandHistory:
    """Return a hand that is over, with the payoffs of our rules; opponents are numbered from the left of our seat."""
    rules = state.betting.rules
    try:
        hand = replay_hand(state.betting, state.hole_cards, state.board)
    except ValueError as error:
        raise TableError(f"hand {state.number} cannot be paid: {error}") from None
    count = rules.num_seats
    others = [f"opponent{number}" if count > 2 else "opponent" for number in range(count)]
    names = [player.name if seat == state.seat else others[(seat - state.seat) % count] for seat in range(count)]
    return HandHistory(
        rules, tuple(names), state.hole_cards, state.board, state.betting.sizes, hand.payoffs, str(state.number)
    )
