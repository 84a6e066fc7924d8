"""A learner's table as an environment of Gymnasium; needs the extra ``gym``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyspiel

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.agents.openspiel.environment import all_opponents
from plurispiel.agents.openspiel.learner_table import LearnerHand, LearnerTable, game_rules

try:
    import gymnasium
except ImportError as error:
    raise ImportError("this needs Gymnasium: pip install 'plurispiel[gym]'") from error

__all__ = ["GymnasiumEnvironment"]


class GymnasiumEnvironment(gymnasium.Env):
    """An environment of Gymnasium for one learner among agents.

    An episode is a hand. ``info["action_mask"]`` tells the legal actions, int8[num_ids]. An action that is not legal is
    replaced: a fold by a check, a raise by a check or call; ``info["is_repaired"]`` is then True. ``info["seat"]`` is
    the learner's seat. Hands that end before the learner's first turn are no episodes. ``info`` of `reset` holds their
    number since the last episode, ``num_walks``, and the sum of their rewards, ``walk_reward``.

    Parameters
    ----------
    game, opponents, seat, observation, sizes, seed, score
        As in `make_environment`; the default of `observation` is ``compact``.

    Raises
    ------
    ValueError
        As by `make_environment`.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        game: "str | pyspiel.Game | HoldemRules" = "leduc",
        opponents: "Sequence[str | Agent] | str" = ("tag",),
        *,
        seat: "str | int" = "rotate",
        observation: str = "compact",
        sizes: str | None = None,
        seed: int = 0,
        score: Callable[[LearnerHand], float] | None = None,
    ):
        rules = game_rules(game)
        self.table = LearnerTable(
            rules,
            all_opponents(rules, opponents, rules.num_seats - 1),
            seat=seat,
            observation=observation,
            sizes=sizes,
            seed=seed,
            score=score,
        )
        observer = self.table.observer
        self.observation_space = gymnasium.spaces.Box(0.0, observer.high, (observer.size,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(self.table.num_ids)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a hand in which the learner is to act, and return the observation and ``info``.

        Raises
        ------
        ValueError
            If the learner gets no turn in `LearnerTable.MAX_WALKS` hands in a row.
        """
        super().reset(seed=seed)
        if seed is not None:
            self.table.reseed(seed)
        num_walks, reward = self.table.begin_for_learner()
        return self.table.observe(0), self._info() | {"num_walks": num_walks, "walk_reward": reward}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take an action, and return the observation, the reward, whether the hand is over, False, and ``info``.

        The value False says that no hand is truncated.
        """
        is_repaired = int(action) not in self.table.legal_ids()
        self.table.act(1 if is_repaired else int(action))
        is_over = self.table.is_over
        reward = self.table.rewards[0] if is_over else 0.0
        return self.table.observe(0), reward, is_over, False, self._info() | {"is_repaired": is_repaired}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.table.mask(), "seat": self.table.seat_of(0)}
