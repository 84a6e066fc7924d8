"""A strategy learnt in an environment, as an agent."""

from collections.abc import Callable

import numpy as np

from plurispiel.abstraction.actions.tree_kernels import MAX_ACTIONS
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import PublicState, RangeAgent, Strategy
from plurispiel.agents.environment import table_kernels as kernels
from plurispiel.agents.environment.observation import Observer
from plurispiel.agents.environment.tables import learner_menu, new_tables, num_ids, table_game

__all__ = ["LearnedAgent"]

Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]


class LearnedAgent(RangeAgent):
    """An agent that plays a function of the observations of `make_environment`.

    Parameters
    ----------
    policy : callable
        ``policy(observations, mask)`` gets observations, float32[n, size], and the mask of the legal ids,
        bool[num_ids]. It returns the probabilities of the ids, float[n, num_ids]. Only the probabilities of legal ids
        count; they need not sum to 1. A row in which no legal id has a positive probability becomes uniform.
    observation, sizes
        As given to `make_environment`.

    Raises
    ------
    ValueError
        When a hand begins, if there is no such observation, or the sizes do not fit the game.

    Examples
    --------
    >>> from plurispiel.abstraction.holdem.rules import LEDUC
    >>> from plurispiel.agents.base import PublicState
    >>> from plurispiel.abstraction.holdem.betting import BettingState
    >>> agent = LearnedAgent(lambda observations, mask: np.ones((len(observations), len(mask))))
    >>> agent.restart(LEDUC, 0, np.random.default_rng(0))
    >>> agent.range_strategy(PublicState(LEDUC, BettingState(LEDUC).array.tolist())).probabilities[0].tolist()
    [0.5, 0.5]
    """

    is_deterministic = True

    def __init__(self, policy: Policy, *, observation: str = "information-state", sizes: str | None = None):
        self._policy = policy
        self._observation, self._sizes = observation, sizes
        self._rules: HoldemRules | None = None

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand."""
        super().restart(rules, seat, rng)
        if rules != self._rules:
            menu = learner_menu(rules, self._sizes)
            self._game = table_game(rules, menu, every_size=self._sizes is not None)
            self._observer = Observer(rules, self._observation)
            self._tables = new_tables(rules, 1, np.random.SeedSequence(0))
            self._by_id = np.empty(num_ids(rules, menu), np.int64)
            self._offered = np.empty(MAX_ACTIONS, np.int64)
            self._rules = rules

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the policy's probabilities, with one row for each of `combo_ids`."""
        rules, tables, game = public.rules, self._tables, self._game
        tables.states[0] = game.start
        tables.before[0] = 0
        tables.counts[0] = 0
        for action in public.actions:
            kernels.act_at_table(game, tables, 0, action.action)
        kernels.ids_at_table(game, tables, 0, self._offered, self._by_id)
        mask = self._by_id >= 0
        first = rules.num_seats * rules.num_hole_cards
        tables.cards[0, first : first + len(public.board)] = public.board
        hole = slice(public.actor * rules.num_hole_cards, (public.actor + 1) * rules.num_hole_cards)
        observations = np.empty((len(combo_ids), self._observer.size), np.float32)
        for row, hole_cards in zip(observations, rules.combos[combo_ids], strict=True):
            tables.cards[0, hole] = hole_cards
            row[:] = self._observer.observe(game, tables, 0, public.actor)
        weights = np.where(mask, np.asarray(self._policy(observations, mask), np.float64), 0.0)[:, mask]
        sums = weights.sum(axis=1, keepdims=True)
        probabilities = np.where(sums > 0.0, weights / np.where(sums > 0.0, sums, 1.0), 1.0 / mask.sum())
        order = np.argsort(self._by_id[mask])
        return Strategy(self._by_id[mask][order], probabilities[:, order])
