"""An agent's view of one hand of an OpenSpiel game.

An OpenSpiel state shows every card to everybody. So `own_view` first removes hidden cards from the history, and all
other code here reads only the history without these cards.
"""

import functools
from collections.abc import Iterable

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, Board, Deal, Decision, PublicState, View


def own_view(rules: HoldemRules, history: list[int], seat: int) -> list[int]:
    """Return the ids in a history that a seat may know: its hole cards, then the board cards and all actions in order.

    The list is empty until every seat has its hole cards.
    """
    num_hole = rules.num_hole_cards
    num_dealt = rules.num_seats * num_hole
    if len(history) < num_dealt:
        return []
    return history[seat * num_hole : (seat + 1) * num_hole] + history[num_dealt:]


class HandFeed:
    """A hand that an agent is told event by event, as `evaluation.hand.play_hand` would tell it.

    Parameters
    ----------
    seen : list of int
        The result of `own_view`, with at least the hole cards. The constructor tells the agent the hole cards, and
        `follow` the rest.
    seed : SeedSequence
        The seed of the agent's random stream in this hand.
    """

    def __init__(self, agent: Agent, game: OpenSpielGame, seat: int, seen: list[int], seed: np.random.SeedSequence):
        rules = game.rules
        self.agent = agent
        self.game = game
        self.seat = seat
        self.seen = seen[: rules.num_hole_cards]
        self.hole_cards = tuple(map(game.card, self.seen))
        self.betting = BettingState(rules)
        self.board: tuple[int, ...] = ()
        self.actions: tuple[Action, ...] = ()
        self._street = -1 if rules.board_size(0) else 0  # the last street whose board the agent knows
        self._bits = np.random.PCG64(seed)
        self._stream = self._bits.state
        agent.restart(rules, seat, np.random.Generator(self._bits))
        agent.observe(Deal(self.hole_cards))

    def follow(self, seen: list[int]) -> bool:
        """Tell the agent the new part of its view, a result of `own_view`, and return whether that was possible.

        If the view is that of another hand, or of an earlier point of this hand, the agent is told nothing and the
        result is False.
        """
        known = len(self.seen)
        if seen[:known] != self.seen:
            return False
        for number in seen[known:]:
            self._advance(number)
            self.seen.append(number)
        return True

    def reseed(self, seed: np.random.SeedSequence) -> None:
        """Let the agent draw from another random stream."""
        self._stream = np.random.PCG64(seed).state

    def public(self) -> PublicState:
        """Return the public state."""
        return PublicState(self.game.rules, self.betting.array.tolist(), self.board, self.actions)

    def act(self) -> Decision:
        """Return the agent's answer, as a `Decision`.

        Every decision has its own part of the hand's random stream. So an agent that joins in mid-hand draws the same
        numbers, with the same seed, as an agent that has followed the hand from the start.
        """
        self._bits.state = self._stream
        self._bits.advance(len(self.seen) << 64)  # 2**64 numbers for each id, more than any decision draws
        answer = self.agent.act(View(self.public(), self.seat, self.hole_cards))
        return answer if isinstance(answer, Decision) else Decision(answer)

    def range_policy(self) -> dict[int, float] | None:
        """Return the probability of each action id, for the hole cards; None if the agent has no `range_strategy`."""
        policies = self.range_policies([self.game.rules.combo_id(self.hole_cards)])
        return None if policies is None else policies[0]

    def range_policies(self, combo_ids: Iterable[int]) -> list[dict[int, float]] | None:
        """Return each combo's probability of each action id; None if the agent has no `range_strategy`."""
        strategy = self.agent.range_strategy(self.public())
        if strategy is None:
            return None
        highest = strategy.actions if strategy.highest is None else strategy.highest
        return self._by_id(strategy.actions, highest, [strategy.probabilities[combo] for combo in combo_ids])

    def decision_policy(self, decision: Decision) -> dict[int, float]:
        """Return the probability of each action id that a decision reports.

        If a decision reports no probabilities, its action has probability 1.
        """
        actions, row = (decision.actions, decision.probabilities) if decision.actions else ((decision.action,), (1.0,))
        return self._by_id(actions, actions, [row])[0]

    def action_id(self, action: int) -> int:
        """Return the game's id of the actor's action; ValueError if the action is illegal."""
        if not self.public().is_legal(action):
            raise ValueError(f"{self.agent.name} answers {action}: {self.betting.legal_text()}")
        return self.game.action_id(self.betting.array.tolist(), int(action))

    def _advance(self, number: int) -> None:
        """Apply the next id of the history, a board card or an action, and tell the agent."""
        rules, betting = self.game.rules, self.betting
        state = betting.array.tolist()
        if state[betting_layout.ACTOR] < 0:
            return  # a board card after the last action: agents at a table are not told of these cards either
        street = state[betting_layout.STREET]
        if len(self.board) < rules.board_size(street):
            self.board += (self.game.card(number),)
        else:
            action = Action(state[betting_layout.ACTOR], self.game.action(state, number), street)
            betting.apply(action.action)
            self.actions += (action,)
            self.agent.observe(action)
            street = betting.street
        if street > self._street and len(self.board) == rules.board_size(street) and not betting.is_over:
            self.agent.observe(Board(self.board[rules.board_size(self._street) :], street))
            self._street = street

    def _by_id(
        self, lowest: Iterable[int], highest: Iterable[int], rows: Iterable[Iterable[float]]
    ) -> list[dict[int, float]]:
        """Return the probability of each action id for each row; a column has the raises to `lowest`..`highest`."""
        nothing = dict.fromkeys(self.game.actions(self.betting.array.tolist()) or (), 0.0)
        bounds = list(zip(lowest, highest, strict=True))
        action_id = functools.cache(self.action_id)
        policies = []
        for row in rows:
            policy = dict(nothing)
            for (low, high), probability in zip(bounds, row, strict=True):
                if probability > 0.0:
                    # A column may stand for all raise sizes low..high, but only in games that give every size its own
                    # id. The ids are consecutive, and each size gets an equal share of the probability.
                    for number in range(action_id(low), action_id(high) + 1):
                        policy[number] = policy.get(number, 0.0) + float(probability) / (high - low + 1)
            policies.append(policy)
        return policies
