"""Agents as OpenSpiel's Python policies.

This module stands apart because ``open_spiel.python.policy`` imports every Python game of OpenSpiel, which takes time.
"""

import numpy as np
import pyspiel
from open_spiel.python import policy

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.agents.base import Agent
from plurispiel.agents.openspiel.feed import HandFeed, own_view


class AgentPolicy(policy.Policy):
    """The policy of an agent at every seat; see `agent_policy`."""

    def __init__(self, agent: Agent, game: OpenSpielGame):
        super().__init__(game.game, list(range(game.rules.num_seats)))
        self._agent = agent
        self._game = game
        self.action_probabilities(game.replay(game.rules.cards.tolist(), []))  # refuses agents without range_strategy

    def action_probabilities(self, state: pyspiel.State, player_id: int | None = None) -> dict[int, float]:
        """Return the probability of each legal action id of the seat to act.

        `player_id`, if given, must be the seat to act. In a game where every raise size is legal, actions of
        probability 0 are left out.

        Raises
        ------
        ValueError
            If the agent has no `range_strategy`, or an illegal action has a positive probability.
        """
        seat = state.current_player() if player_id is None else player_id
        seen = own_view(self._game.rules, state.history(), seat)
        hand = HandFeed(self._agent, self._game, seat, seen, np.random.SeedSequence(0))
        hand.follow(seen)
        probabilities = hand.range_policy()
        if probabilities is None:
            raise ValueError(
                f"{self._agent.name} does not tell its strategy for all hands (its range_strategy returns None), "
                "so it has no policy; play it as an OpenSpielBot"
            )
        return probabilities
