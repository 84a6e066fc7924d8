"""A table of learners and agents as an AEC environment of PettingZoo; needs the extra ``gym``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyspiel

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.agents.openspiel.learner_table import LearnerHand, LearnerTable, game_rules

try:
    import gymnasium
    import pettingzoo
except ImportError as error:
    raise ImportError("this needs PettingZoo: pip install 'plurispiel[gym]'") from error

__all__ = ["PettingZooEnvironment"]


class PettingZooEnvironment(pettingzoo.AECEnv):
    """An AEC environment of PettingZoo: each seat without an opponent has a learner.

    The learners are named ``learner_0`` and so on. By default their seats rotate. An episode is a hand in which a
    learner is to act. An observation is a dict of ``observation`` and of ``action_mask``. The mask is all zeros for a
    learner whose turn it is not. All learners terminate at the end of the hand.

    Parameters
    ----------
    opponents : sequence of (str or Agent)
        Agents at some of the seats, by default none. They sit after the learners.
    game, seat, observation, sizes, seed, score
        As in `make_environment`; the default of `observation` is ``compact``.

    Raises
    ------
    ValueError
        As by `make_environment`.
    """

    metadata: dict[str, Any] = {"name": "plurispiel_v0", "render_modes": [], "is_parallelizable": False}
    render_mode = None

    def __init__(
        self,
        game: "str | pyspiel.Game | HoldemRules" = "leduc",
        opponents: "Sequence[str | Agent] | str" = (),
        *,
        seat: "str | int" = "rotate",
        observation: str = "compact",
        sizes: str | None = None,
        seed: int = 0,
        score: Callable[[LearnerHand], float] | None = None,
    ):
        super().__init__()
        given = [opponents] if isinstance(opponents, str) else opponents
        self.table = LearnerTable(
            game_rules(game), given, seat=seat, observation=observation, sizes=sizes, seed=seed, score=score
        )
        self.possible_agents = [f"learner_{number}" for number in range(self.table.num_learners)]
        self.agents: list[str] = []
        observer, num_ids = self.table.observer, self.table.num_ids
        space = gymnasium.spaces.Dict(
            {
                "observation": gymnasium.spaces.Box(0.0, observer.high, (observer.size,), np.float32),
                "action_mask": gymnasium.spaces.Box(0, 1, (num_ids,), np.int8),
            }
        )
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = {name: gymnasium.spaces.Discrete(num_ids) for name in self.possible_agents}

    def observation_space(self, agent: str) -> gymnasium.Space:
        """Return the space of a learner's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        """Return the space of a learner's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a hand in which a learner is to act.

        Raises
        ------
        ValueError
            If no learner gets a turn in `LearnerTable.MAX_WALKS` hands in a row.
        """
        if seed is not None:
            self.table.reseed(seed)
        self.table.begin_for_learner()
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {name: {} for name in self.agents}
        self.agent_selection = self.possible_agents[self.table.learner]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """Return a learner's observation and the mask of its legal actions."""
        number = self.possible_agents.index(agent)
        mask = self.table.mask() if number == self.table.learner else np.zeros(self.table.num_ids, np.int8)
        return {"observation": self.table.observe(number), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Take the action of the learner to act; None after the end of a hand.

        Raises
        ------
        ValueError
            If the action is not legal.
        """
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        self.table.act(-1 if action is None else int(action))
        if self.table.is_over:
            self.rewards = dict(zip(self.possible_agents, self.table.rewards, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self.possible_agents[self.table.learner]
        self._accumulate_rewards()

    def render(self) -> None:
        """Draw nothing: the environment has no mode of rendering."""

    def close(self) -> None:
        """Release nothing."""
