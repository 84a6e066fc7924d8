"""The agent that re-solves at the table."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import PublicState, RangeAgent, Strategy
from plurispiel.agents.continual.config import ContinualConfig, config_from_options
from plurispiel.agents.continual.resolver import Resolver, prepare

__all__ = ["ContinualAgent", "continual_agent"]


class ContinualAgent(RangeAgent):
    """Re-solves at each own decision, from its own range and bounds on the opponent's values, in a small game.

    Parameters
    ----------
    config : ContinualConfig, optional

    Examples
    --------
    >>> ContinualAgent(ContinualConfig(iterations=100)).is_deterministic
    True
    """

    name = "continual"
    is_deterministic = True

    def __init__(self, config: ContinualConfig | None = None):
        self.config = config or ContinualConfig()
        self._resolver: Resolver | None = None

    @property
    def counts(self) -> Counter[str]:
        """The counts of `Resolver`."""
        return Counter() if self._resolver is None else self._resolver.counts

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand; solutions of earlier hands are kept.

        Raises
        ------
        ValueError
            If the game is too large, or does not have two seats.
        """
        super().restart(rules, seat, rng)
        if self._resolver is None or self._resolver.rules != rules:
            self._resolver = Resolver(rules, self.config)
            prepare(self.config.values)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids``."""
        assert self._resolver is not None, "a hand begins with restart"
        found = self._resolver.resolved(public.board, public.actions)
        return Strategy(np.array(found.actions), found.played[combo_ids])


def continual_agent(options: Mapping[str, str]) -> ContinualAgent:
    """Return the agent of a spec ``continual?KEY=VALUE``.

    Raises
    ------
    ValueError
        If an option is unknown or out of range.
    """
    return ContinualAgent(config_from_options(options))
