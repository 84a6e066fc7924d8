"""Strategies as OpenSpiel's Python policies.

This module stands apart because ``open_spiel.python.policy`` imports every Python game of OpenSpiel, which takes time.
"""

from collections.abc import Callable

import pyspiel
from open_spiel.python import policy


class StatePolicy(policy.Policy):
    """A policy for all seats, defined by a function of a state and a player.

    The player None stands for the seat to act.
    """

    def __init__(self, game: pyspiel.Game, probabilities: Callable[[pyspiel.State, int | None], dict[int, float]]):
        super().__init__(game, list(range(game.num_players())))
        self._probabilities = probabilities

    def action_probabilities(self, state: pyspiel.State, player_id: int | None = None) -> dict[int, float]:
        """Return the probability of each legal action id of a player, by default of the seat to act."""
        return self._probabilities(state, player_id)
