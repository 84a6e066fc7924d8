"""Hands between a person and agents, dealt, played, refereed and scored for the terminal or the browser."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat, Score
from plurispiel.evaluation.announced import Announced
from plurispiel.evaluation.hand import Fault, Hand, play_hand
from plurispiel.evaluation.referee import Referee
from plurispiel.evaluation.streams import Keyed, Streams
from plurispiel.evaluation.value_choice import make_value_function
from plurispiel.tournaments.play.luck import RunningResult, TableScore, table_score
from plurispiel.tournaments.play.opponents import Opponents

YOU = "you"
"""The person's name."""

_KEY_BITS = 128


@dataclass(frozen=True)
class Table:
    """The properties of a table that stay the same from hand to hand.

    Attributes
    ----------
    rules : HoldemRules
        The game.
    names : tuple of str
        The names of the person and of the opponents, clockwise.
    values : str
        The name of AIVAT's value function (`value_choice.make_value_function`).
    seed : int or None
        The seed of all cards; None draws a new secret key.
    """

    rules: HoldemRules
    names: tuple[str, ...]
    values: str
    seed: int | None = None


class Seating(NamedTuple):
    """The players around the table in one hand.

    Attributes
    ----------
    number : int
        The number of the hand.
    turn : tuple of int
        The player in each seat: 0 is the person, k the opponent number k - 1.
    names : tuple of str
        The name of the player in each seat.
    seat : int
        The person's seat.
    """

    number: int
    turn: tuple[int, ...]
    names: tuple[str, ...]
    seat: int


class Scored(NamedTuple):
    """The scores of a hand.

    Attributes
    ----------
    table : TableScore
        The scores that are added to the person's running result.
    scores : tuple of Score
        The AIVAT score of every seat.
    announced : list of (list of Announced, or None)
        The strategies that each seat reported; None for a seat that reported none.
    """

    table: TableScore
    scores: tuple[Score, ...]
    announced: list[list[Announced] | None]


class Dealing:
    """Deals the hands of a table.

    From hand to hand the button moves to the next player. All stacks are full again at the start of a hand.

    Parameters
    ----------
    table : Table
        Game and names.
    person : Agent
        The person's seat.
    opponents : Opponents
        The agents.
    """

    def __init__(self, table: Table, person: Agent, opponents: Opponents):
        self._table = table
        self._person = person
        self._opponents = opponents
        rules = table.rules
        key = secrets.randbits(_KEY_BITS) if table.seed is None else table.seed
        self._streams = Streams(rules.num_seats, Keyed([(0, key)]), once=True)
        self._referee = Referee(rules)
        self._aivat = Aivat(rules, make_value_function(table.values, rules))
        self._onlooker = Aivat(rules)  # asks agents from outside, whose reports are shown but correct no score
        self._asks_outsiders = not all(opponents.are_trusted)

    def seating(self, number: int) -> Seating:
        """Return who sits where in the hand with this number."""
        num_seats = self._table.rules.num_seats
        turn = tuple((number + seat) % num_seats for seat in range(num_seats))  # the button moves
        return Seating(number, turn, tuple(self._table.names[player] for player in turn), turn.index(0))

    def adviser_stream(self, seating: Seating) -> np.random.Generator:
        """Return the random stream of the person's adviser in a hand."""
        return self._streams.adviser((seating.number,))

    def play(self, seating: Seating) -> Hand:
        """Deal and play a hand.

        Raises
        ------
        RefereeDisagrees
            If OpenSpiel scores the hand differently (a subclass of RuntimeError).
        RuntimeError
            If the person's seat committed a fault.
        """
        group = (seating.number,)
        deck = self._streams.decks(self._table.rules, group)[0]
        hand = play_hand(self._table.rules, self._seated(seating), deck, next(iter(self._streams.seats(group))))
        self._referee.check(hand)
        if own := [fault for fault in hand.faults if fault.seat == seating.seat]:
            raise RuntimeError(f"the person's seat failed: {own[0].message}")
        return hand

    def score(self, hand: Hand, seating: Seating) -> Scored:
        """Score the latest hand."""
        turn, seated = seating.turn, self._seated(seating)
        trusted = [seat for seat, player in enumerate(turn) if player and self._opponents.are_trusted[player - 1]]
        tellers = [agent if seat in trusted else Agent() for seat, agent in enumerate(seated)]
        self._aivat.restart(self._streams.values((seating.number,)))
        scores = self._aivat.scores(hand, tellers, trusted)
        announced = self._aivat.announced
        silent = {seat for seat, player in enumerate(turn) if not player or self.is_silent(player)}
        if self._asks_outsiders:
            others = [Agent() if seat in trusted or not turn[seat] else seated[seat] for seat in range(len(turn))]
            said = self._onlooker.scores(hand, others)
            announced = [own or other for own, other in zip(announced, self._onlooker.announced, strict=True)]
            # After a failed report no agent from outside is asked any more: each further failure could cost an agent
            # its process.
            self._asks_outsiders = not any(score.fault for score in said)
        return Scored(table_score(scores, seating.seat, silent), scores, announced)

    def faults(self, hand: Hand, seating: Seating) -> tuple[list[tuple[str, Fault]], list[str]]:
        """Return the faults of a hand, each with the agent's name, and the names of agents that only fold from now on.

        Each hand may be passed only once, because the faults are added to the agents' counts.
        """
        faults = [(seating.turn[fault.seat] - 1, fault) for fault in hand.faults]
        names = self._table.names
        retired = [names[number + 1] for number in self._opponents.count(faults)]
        return [(names[number + 1], fault) for number, fault in faults], retired

    def no_result(self) -> RunningResult:
        """Return the result of the person before the first hand."""
        seats = self._table.rules.num_seats
        return RunningResult(self._table.rules.big_blind, [True, *map(self.is_silent, range(1, seats))])

    def is_silent(self, player: int) -> bool:
        """Return whether an opponent's strategy is unknown or not trusted; opponents are the players from 1 on."""
        agent = self._opponents.agents[player - 1]
        tells = getattr(type(agent), "range_strategy", Agent.range_strategy) is not Agent.range_strategy
        return not (tells and self._opponents.are_trusted[player - 1])

    def _seated(self, seating: Seating) -> Sequence[Agent]:
        players = [self._person, *self._opponents.agents]
        return [players[player] for player in seating.turn]
