"""A match between agents of ours and players that connect, dealt hand by hand as the ACPC's dealer deals."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.evaluation.hand import Fault, Hand, play_hand
from plurispiel.evaluation.streams import Streams
from plurispiel.tournaments.deal.server import TcpSeat
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.formats.match_log import MatchLog


@dataclass
class Match:
    """A match, with its faults, answers and time so far.

    Attributes
    ----------
    rules : HoldemRules
        The game.
    names : tuple of str
        The players' names. Without a shift (see `play`), player p sits in seat p in the first hand. After every hand
        all players move one seat on.
    num_hands : int
        Number of hands that each call of `play` deals.
    streams : Streams
        The source of decks and of the agents' random streams, by the number of the hand.
    repair : bool
        Whether an illegal action or an exception costs only the faulty answer, as with the ACPC's dealer. Otherwise,
        and after any other fault, the player checks or folds to the end of the hand.
    start_s : float
        Longest time in seconds to wait for a player that is not connected.
    faults : list of (int, Fault)
        The faults so far, each with the number of its hand; `Fault.seat` is the number of the player.
    answers : int
        Number of actions that were asked for so far.
    seconds : float
        Time of all hands so far, without the wait for the connections before the first hand, and without `on_hand`.
    """

    rules: HoldemRules
    names: tuple[str, ...]
    num_hands: int
    streams: Streams
    repair: bool
    start_s: float
    faults: list[tuple[int, Fault]] = field(default_factory=list)
    answers: int = 0
    seconds: float = 0.0

    def play(
        self,
        agents: Sequence[Agent],
        shift: int,
        log: MatchLog,
        on_hand: Callable[[Hand, Sequence[int], int], object] = lambda hand, players, number: None,
    ) -> np.ndarray:
        """Deal `num_hands` hands, append them and the score to a log, and return the payoffs.

        The payoffs are float64[num_hands, num_players].

        Parameters
        ----------
        agents : sequence of Agent
            The players.
        shift : int
            Number of seats by which all players move on before the first hand. In duplicate poker, `play` is called
            with each shift below the number of players, so that every player holds every hand of every deck.
        on_hand : callable
            Called after each hand with the hand, the player in each seat, and the number of the hand.

        Raises
        ------
        NoPlayer
            If a player does not connect in time.
        OSError
            If the system no longer lets a seat listen at its port, or the log cannot be written.
        """
        seats = self.rules.num_seats
        clients = [agent for agent in agents if isinstance(agent, TcpSeat)]
        payoffs = np.zeros((self.num_hands, seats))
        for client in clients:
            client.await_player(self.start_s)
        begin = time.monotonic()
        for number in range(self.num_hands):
            for client in clients:
                client.await_player(self.start_s)
                client.hand_number = number
            players = [(seat - number - shift) % seats for seat in range(seats)]
            group = (number,)
            *_, rngs = (generators for _, generators in zip(range(shift + 1), self.streams.seats(group), strict=False))
            deck = self.streams.decks(self.rules, group)[shift]
            hand = play_hand(self.rules, [agents[player] for player in players], deck, rngs, repair=self.repair)
            self.faults += [(number, fault._replace(seat=players[fault.seat])) for fault in hand.faults]
            self.answers += len(hand.waits)
            payoffs[number, players] = hand.payoffs
            names = tuple(self.names[player] for player in players)
            log.add(_history(hand, names, number))
            self.seconds += time.monotonic() - begin
            on_hand(hand, players, number)
            begin = time.monotonic()
        log.add_score(payoffs.sum(axis=0).round(6).tolist(), self.names)
        return payoffs


def _history(hand: Hand, names: tuple[str, ...], number: int) -> HandHistory:
    rules, cards = hand.rules, hand.deck.tolist()
    count = rules.num_hole_cards
    holes = tuple(tuple(cards[seat * count : (seat + 1) * count]) for seat in range(rules.num_seats))
    sizes = tuple(action.action for action in hand.actions)
    return HandHistory(rules, names, holes, tuple(cards[rules.num_seats * count :]), sizes, hand.payoffs, str(number))
