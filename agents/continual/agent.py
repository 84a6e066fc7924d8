"""The agent that re-solves small games from their first action on, and heads-up hold'em from the flop on.

With ``preflop=nets``, hold'em is re-solved from the first action on, too.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Decision, PublicState, RangeAgent, Strategy, View
from plurispiel.agents.continual.config import ContinualConfig, read_options, unknown_option
from plurispiel.agents.continual.resolver import MAX_STREETS, Resolver, prepare
from plurispiel.agents.continual.table.agent import TableAgent
from plurispiel.agents.continual.table.config import TableConfig

__all__ = ["ContinualAgent", "SmallGameAgent", "continual_agent"]


class SmallGameAgent(RangeAgent):
    """Plays a small game by continual re-solving, from its own range and bounds on the opponent's values.

    Parameters
    ----------
    config : ContinualConfig, optional

    Examples
    --------
    >>> SmallGameAgent(ContinualConfig(iterations=100)).is_deterministic
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
        """Begin a new hand; solutions of earlier hands of the same game are kept.

        Raises
        ------
        ValueError
            As in `Resolver`.
        ArtefactRefused
            If the option `values` names a network that cannot be used in this game.
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

    def explain(self, public: PublicState) -> str:
        """Return a line on the solve behind a decision."""
        assert self._resolver is not None, "a hand begins with restart"
        found = self._resolver.resolved(public.board, public.actions)
        bounds = "no bounds" if found.carried.bounds is None else "bounds on the opponent's values"
        return (
            f"solved by {self.config.iterations} iterations, {len(found.actions)} actions on offer; "
            f"{bounds} carried to the decision"
        )


class ContinualAgent(Agent):
    """Continual re-solving: `SmallGameAgent` in games of one or two streets, `TableAgent` in heads-up hold'em.

    Parameters
    ----------
    small : ContinualConfig, optional
        The settings in small games.
    table : TableConfig, optional
        The settings in hold'em. If only one of the two is given, the agent plays only that kind of game.

    Examples
    --------
    >>> ContinualAgent(ContinualConfig(iterations=100)).is_deterministic
    True
    """

    name = "continual"

    def __init__(self, small: ContinualConfig | None = None, table: TableConfig | None = None):
        has_neither = small is None and table is None
        self._small = SmallGameAgent(small) if small or has_neither else None
        self._table = TableAgent(table) if table or has_neither else None
        self._agent: SmallGameAgent | TableAgent | None = None
        self.is_deterministic = self._table is None or self._table.is_deterministic

    @property
    def agent(self) -> SmallGameAgent | TableAgent:
        """The agent that plays the game of this hand."""
        assert self._agent is not None, "a hand begins with restart"
        return self._agent

    @property
    def counts(self) -> Counter[str]:
        """The counts of `agent`; none before the first hand."""
        return Counter() if self._agent is None else self._agent.counts

    @property
    def origins(self) -> dict[str, int]:
        """Decisions so far by origin (`base.ORIGINS`); none in small games, where a solver takes all of them."""
        return self._agent.origins if isinstance(self._agent, TableAgent) else {}

    @property
    def clamped(self) -> int:
        """See `base.TellsOrigins`; 0 in small games."""
        return self.counts["clamped"]

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If neither agent plays the game, or the options are for the other kind of game.
        ArtefactRefused
            If the option `values` or `nets` names networks that cannot be used.
        """
        super().restart(rules, seat, rng)
        is_small = rules.num_streets <= MAX_STREETS
        agent = self._small if is_small else self._table
        if agent is None:
            meant, known = ("hold'em", ContinualConfig) if is_small else ("small games", TableConfig)
            raise ValueError(
                f"these options of continual are for {meant}; with {rules.num_streets} streets the options are "
                f"{', '.join(_names(known))}"
            )
        agent.restart(rules, seat, rng)
        self._agent = agent

    def act(self, view: View) -> Decision:
        """Draw an action from the strategy of the hand held."""
        return self.agent.act(view)

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of all combos."""
        return self.agent.range_strategy(public)

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Return the mean strategy over random choices, such as the blueprint's translations of the last bet."""
        return self.agent.expected_strategy(public)

    def explain(self, public: PublicState) -> str:
        """Return a text on the solve behind a decision."""
        return self.agent.explain(public)


def continual_agent(options: Mapping[str, str]) -> ContinualAgent:
    """Return the agent of a spec ``continual?KEY=VALUE``.

    Options that only one kind of game has make an agent for that kind; other options hold for both.

    Raises
    ------
    ValueError
        If an option is unknown, cannot be read or is out of range, or two options are for different kinds of games.
    """
    small, table = _names(ContinualConfig), _names(TableConfig)
    only_table = [name for name in options if name in table and name not in small]
    only_small = [name for name in options if name not in table and name in small]
    if only_table and only_small:
        raise ValueError(f"{only_table[0]} is an option in hold'em, and {only_small[0]} in small games: leave one out")
    if unknown := [name for name in options if name not in {*small, *table}]:
        raise ValueError(unknown_option(unknown[0], list(dict.fromkeys([*small, *table]))))
    return ContinualAgent(
        None if only_table else ContinualConfig(**read_options(options, ContinualConfig)),
        None if only_small else TableConfig(**read_options(options, TableConfig)),
    )


def _names(config: type) -> list[str]:
    return [field.name for field in dataclasses.fields(config)]
