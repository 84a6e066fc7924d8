"""Strategy reports of agents from outside, made by processes that never see hole cards.

In tournaments and leagues, the reports of an agent that the user believes (``--believe``) correct the agent's score.
Local best response reads the reports of any agent. The process that plays knows its hole cards, and could shape a
report by them. The report therefore comes from another process of the same agent.
"""

from collections.abc import Sequence

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Board, Deal, Decision, Event, PublicState, Strategy, View
from plurispiel.evaluation.hand import HandEnd, RemoteAgent
from plurispiel.tournaments.contestants.isolated import IsolatedAgent


class Speaker(Agent):
    """Reports an agent's strategy, from public information and the agent's random stream alone.

    Parameters
    ----------
    contestant : IsolatedAgent
        The agent in a process that plays no hands.
    """

    def __init__(self, contestant: IsolatedAgent):
        self._contestant = contestant
        self._num_told = -1  # events passed on in this hand; -1 before the first question, which begins the hand

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand. The caller must not draw from `rng` before the first question copies the state of `rng`."""
        super().restart(rules, seat, rng)
        self._num_told = -1

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return the agent's reported strategy for every combo; None if it reports none."""
        if self._num_told < 0:
            self._contestant.restart(self.rules, self.seat, self.rng)
            self._num_told = 0
        events = public_events(public)
        for event in events[self._num_told :]:
            self._contestant.observe(event)
        self._num_told = len(events)
        return self._contestant.range_strategy(public)

    def close(self) -> None:
        """End the process."""
        self._contestant.close()


class SplitAgent(RemoteAgent):
    """An agent with two processes: one decides, and the other, which never sees hole cards, reports the strategy.

    With each question, the reporting process is told the actions and boards of the hand so far, but no `Deal`. It may
    be asked about any state, also about states that the hand never reaches.

    Parameters
    ----------
    player, teller : IsolatedAgent
        Stand-ins for the same agent: `player` decides, `teller` reports. Several split agents may share a teller, if
        they play one after another.
    """

    def __init__(self, player: IsolatedAgent, teller: IsolatedAgent):
        self.name = player.name
        self._player = player
        self._teller = teller
        self._is_teller_in_hand = False

    def load(self, rules: HoldemRules) -> None:
        """Start the processes that the agent needs. The errors are those of `IsolatedAgent.load`."""
        self._player.load(rules)
        if self._player.tells:
            self._teller.load(rules)

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand."""
        self._player.restart(rules, seat, rng)
        # A player that has not started by now is a program, and `LineBot.restart` starts no process.
        self._is_teller_in_hand = self._player.tells or not self._player.num_starts
        if self._is_teller_in_hand:
            self._teller.restart(rules, seat, rng)

    def observe(self, event: Event) -> None:
        """Pass an event to the player and, unless the event names hole cards, to the reporting process."""
        self._player.observe(event)
        if self._is_teller_in_hand and not isinstance(event, Deal):
            self._teller.observe(event)

    def act(self, view: View) -> Decision | int:
        """Ask the player for a decision."""
        return self._player.act(view)

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Ask the reporting process for the strategy of all combos; None if the agent reports none."""
        return self._teller.range_strategy(public) if self._tells(public.rules) else None

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Ask the reporting process for the expected strategy of all combos; None if the agent reports none."""
        return self.expected_strategies([public])[0]

    def expected_strategies(self, publics: Sequence[PublicState]) -> list[Strategy | None]:
        """Ask the reporting process for the expected strategies of some states."""
        if not publics or not self._tells(publics[0].rules):
            return [None] * len(publics)
        return self._teller.expected_strategies(publics)

    def end_hand(self) -> None:
        """End the hand."""
        self._player.end_hand()

    def show_end(self, end: HandEnd) -> None:
        """Pass the outcome to the player alone, as it names cards."""
        self._player.show_end(end)

    def close(self) -> None:
        """End both processes."""
        self._player.close()
        self._teller.close()

    def _tells(self, rules: HoldemRules) -> bool:
        """Return whether the agent can report its strategy, which the playing process says when the agent is loaded."""
        if not self._player.num_starts:
            self._player.load(rules)
        return self._player.tells and self._is_teller_in_hand


def public_events(public: PublicState) -> list[Event]:
    """Return the actions and the boards up to a state, in the order of the hand."""
    rules = public.rules
    events: list[Event] = []
    num_seen = 0  # board cards
    for street in range(public.street + 1):
        size = rules.board_size(street)
        if size > num_seen:
            events.append(Board(public.board[num_seen:size], street))
            num_seen = size
        events += [action for action in public.actions if action.street == street]
    return events
