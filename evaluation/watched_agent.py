"""Two agents that wrap another agent: `WatchedAgent` counts its decisions, `LogUniformSizes` changes its bet sizes."""

from collections import Counter

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.distributions import normalised
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent, Decision, Strategy, View
from plurispiel.agents.blueprint.fallback import LIKE, OFF_TREE, SOURCES
from plurispiel.evaluation.hand import action_of
from plurispiel.evaluation.listener import Listener
from plurispiel.evaluation.play_profile import PlayProfile, WatchedDecision

__all__ = ["LogUniformSizes", "WatchedAgent"]


class WatchedAgent(Listener):
    """Plays as another agent does, and counts that agent's decisions with all hands of its range.

    If the agent reports no strategy, its decisions are counted with the hand held.

    Parameters
    ----------
    agent : Agent
        The agent that decides.
    profile : PlayProfile
        The counts, to which each decision is added.
    """

    def __init__(self, agent: Agent, profile: PlayProfile):
        super().__init__(agent)
        self._profile = profile

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand, with the range of all hands."""
        super().restart(rules, seat, rng)
        self._reach = np.ones(rules.num_combos)

    def act(self, view: View) -> Decision | int:
        """Return the agent's answer."""
        public = view.public
        strategy = self.agent.range_strategy(public)
        before = self._counts()
        decision = self.agent.act(view)
        sources = list((self._counts() - before).elements())
        source = sources[0] if sources else ""
        if strategy is None:
            strategy, weights = _one_hand(view, decision)
        else:
            free = public.rules.free_combos(public.board)
            weights = normalised(self._reach * free, free / free.sum())
            self._reach *= strategy.probability(action_of(decision))
        is_on_tree = source not in (SOURCES[OFF_TREE], SOURCES[LIKE])
        self._profile.see_decision(WatchedDecision(public, strategy, weights, source, is_on_tree))
        return decision

    def _counts(self) -> Counter[str]:
        """Return the agent's attribute ``counts``, its decisions by source so far; empty without this attribute."""
        return Counter(getattr(self.agent, "counts", ()))


class LogUniformSizes(Listener):
    """Plays as another agent does, but bets other sizes.

    The chips by which a bet or raise exceeds the highest contribution so far are drawn log-uniformly, between those of
    the smallest and those of the largest legal raise. Opponents thus meet sizes that their trees lack.

    Parameters
    ----------
    agent : Agent
        The agent that decides whether to fold, call or raise.
    share : float, optional
        The probability with which the size of a bet or raise is replaced.
    """

    def __init__(self, agent: Agent, share: float = 1.0):
        super().__init__(agent)
        self._share = share

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand."""
        super().restart(rules, seat, rng)
        # An agent in another process draws from a copy of `rng`. With `rng` itself, the number that decided the agent's
        # action would also decide the size here.
        if self.is_remote:
            self.rng = np.random.default_rng(int(rng.integers(1 << 63)))

    def act(self, view: View) -> int:
        """Return the agent's action; if it is a bet or raise, the size is drawn with the probability `share`."""
        public = view.public
        action = action_of(self.agent.act(view))
        if action <= CALL or self.rng.random() >= self._share:
            return action
        highest = max(public.contributions)
        smallest, largest = np.log([public.min_raise - highest, public.max_raise - highest])
        return public.raise_to(highest + round(float(np.exp(self.rng.uniform(smallest, largest)))))


def _one_hand(view: View, decision: Decision | int) -> tuple[Strategy, np.ndarray]:
    """Return the strategy and the range of an agent of which only the decision for the hand held is known."""
    if isinstance(decision, Decision) and decision.actions:
        actions, row = decision.actions, decision.probabilities
    else:
        actions, row = (action_of(decision),), (1.0,)
    rules = view.public.rules
    weights, probabilities = np.zeros(rules.num_combos), np.zeros((rules.num_combos, len(actions)))
    held = rules.combo_id(view.hole_cards)
    weights[held], probabilities[held] = 1.0, row
    return Strategy(np.array(actions), probabilities), weights
