"""Search at the table."""

import copy
import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem import betting_state
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.agents.base import Agent, Deal, Decision, Event, PublicState, Strategy, View, draw
from plurispiel.agents.blueprint.agent import BlueprintAgent, BundledAgent, blueprint_agent
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.resolve.vector_cfr import prepare
from plurispiel.agents.search.beliefs import entropy_bits
from plurispiel.agents.search.config import SearchConfig, config_from_options
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.multiway import prepare as prepare_multiway
from plurispiel.agents.search.nested import NestedSearch, Solutions
from plurispiel.agents.search.planned import PlannedRows
from plurispiel.agents.search.subgame import MOST_PREFLOP_SEATS, MOST_SEATS, StreetSolution

__all__ = ["MOVED_SHARE", "SearchAgent", "search_agent"]

MOVED_SHARE = 0.05
"""A search has moved a decision if it gives this much more of probability to folds, calls or raises than the blueprint
does."""

_NUM_TOP_HANDS = 5


class SearchAgent(Agent):
    """Plays a blueprint before the flop until a raise comes that its sizes are far from, and searches then.

    What it does with every hand is known to it, and is what acts: `range_strategy` is from the same search. Where fewer
    than two players have chips, the blueprint plays on; if its bucket table is not built, also before the flop and
    among more than two.

    Parameters
    ----------
    blueprint : BlueprintAgent or BundledAgent, optional
        By default the bundled one that fits the table.
    config : SearchConfig, optional

    Attributes
    ----------
    counts : Counter
        Of its decisions: ``decisions``, of these ``searched`` and of these ``moved`` (by `MOVED_SHARE`); of its
        searches see `NestedSearch`.
    """

    name = "search"

    def __init__(self, blueprint: BlueprintAgent | BundledAgent | None = None, config: SearchConfig | None = None):
        self.config = config or SearchConfig()
        self.is_deterministic = self.config.iterations > 0
        self.counts: Counter[str] = Counter()
        self._blueprint = blueprint or BundledAgent()
        self._solutions = Solutions()
        self._is_compiled = False

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If the blueprint does not play the game.
        """
        super().restart(rules, seat, rng)
        if not self._is_compiled:
            prepare()
            prepare(by_buckets=True)
            self._is_compiled = True
        self._blueprint.restart(rules, seat, rng)
        blueprint = self._blueprint.blueprint
        planned, continuations = _planned(blueprint, rules), _continuations(blueprint, rules, self.config.k)
        place = rules, seat, self._blueprint, blueprint.cards, planned, continuations
        self._hand = NestedSearch(*place, self.config, self._solutions, self.counts)

    def observe(self, event: Event) -> None:
        """See the own cards, which matter only where searches hold the own hand alone (`SearchConfig.freeze`)."""
        if isinstance(event, Deal):
            self._hand.combo = self.rules.combo_id(event.hole_cards)

    def act(self, view: View) -> Decision:
        """Draw from the own row of the strategy."""
        public = view.public
        found = self._hand.strategy(public)
        self.counts["decisions"] += 1
        own = np.array([public.rules.combo_id(view.hole_cards)])
        strategy = _rows(found.played, own)
        if found.solution is not None:
            self.counts["searched"] += 1
            self.counts["moved"] += self._moved(public, strategy, own) > MOVED_SHARE
        return draw(strategy, self.rng)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids``.

        With ``freeze=hand`` the rows of all combos depend on the one held.
        """
        return _rows(self._hand.strategy(public).played, combo_ids)

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return the strategy of all combos, None if it depends on the one held."""
        if self.config.freeze == "hand":
            return None
        return self.strategy(public, np.arange(public.rules.num_combos))

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Return the strategy of all combos; of the blueprint, the mean over what the last bet may count as."""
        if self.config.freeze == "range" and self._hand.strategy(public).solution is None:
            return self._blueprint.expected_strategy(public)
        return self.range_strategy(public)

    def beliefs(self, public: PublicState) -> np.ndarray:
        """Return how likely each seat holds each combo, for who sees no cards: float64[num_seats, num_combos]."""
        return self._hand.beliefs(public)

    @property
    def searches(self) -> tuple[StreetSolution, ...]:
        """The searches of this hand, in order."""
        return tuple(self._hand.searched)

    def explain(self, public: PublicState) -> str:
        """Return in words how a decision comes about: the root of the search, beliefs, tree, iterations, values."""
        found = self._hand.strategy(public)
        if found.solution is None:
            if public.street == 0:
                return (
                    "the blueprint plays before the flop: search begins behind a raise that is more than a big blind "
                    f"away from its sizes, with {MOST_PREFLOP_SEATS} players left at most, two of them with chips, if "
                    "the blueprint's bucket table is built"
                )
            return (
                f"the blueprint plays the {STREETS[public.street]}: search is for two players with chips and, where "
                f"the blueprint's bucket table is built, for up to {MOST_SEATS}"
            )
        return _explained(found.solution, public)

    def _moved(self, public: PublicState, strategy: Strategy, own: np.ndarray) -> float:
        """Return how much of probability a search moves between folds, calls and raises."""
        planned = self._blueprint.range_strategy(public)
        return float(abs(_by_kind(strategy) - _by_kind(_rows(planned, own))).sum()) / 2.0

    def __deepcopy__(self, memo: dict[int, Any]) -> "SearchAgent":
        """Return an agent in the same hand; finished searches, which never change, are shared."""
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.counts = self.counts.copy()
        twin._blueprint = copy.deepcopy(self._blueprint, memo)
        twin._solutions = self._solutions.copy()
        if hasattr(self, "_hand"):
            twin.rng = copy.deepcopy(self.rng, memo)
            twin._hand = self._hand.copy(twin._blueprint, twin._solutions, twin.counts)
        return twin


def search_agent(text: str, options: Mapping[str, str]) -> SearchAgent:
    """Return the agent of a spec ``search:TEXT?KEY=VALUE``.

    Parameters
    ----------
    text : str
        A blueprint's folder, file or name; empty for the bundled one that fits the table.
    options : mapping
        See `SearchConfig`.

    Raises
    ------
    ValueError
        If there is no such blueprint, or an option makes no sense.
    ArtefactRefused
        If the blueprint is not complete and undamaged.
    """
    config = config_from_options(options)
    agent = SearchAgent(blueprint_agent(text) if text else BundledAgent(), config)
    agent.name = f"search:{text}" if text else "search"
    return agent


@functools.lru_cache(4)
def _planned(blueprint: Blueprint, rules: HoldemRules) -> PlannedRows:
    return PlannedRows(blueprint, hand_in_tree(rules, blueprint))


@functools.lru_cache(4)
def _continuations(blueprint: Blueprint, rules: HoldemRules, k: int) -> Continuations | None:
    """Return how hands go on behind a street, ready to be used; None where that cannot be."""
    if rules.num_streets == 1 or not isinstance(blueprint.cards, CardBuckets):
        return None
    found = Continuations(blueprint, rules, k)
    prepare_multiway(found, rules)
    return found


def _rows(strategy: Strategy, combo_ids: np.ndarray) -> Strategy:
    return Strategy(strategy.actions.copy(), strategy.probabilities[combo_ids], strategy.highest)


def _by_kind(strategy: Strategy) -> np.ndarray:
    """Return the probabilities of a fold, a call and any raise in the first row: float64[3]."""
    return np.bincount(np.minimum(strategy.actions, CALL + 1), strategy.probabilities[0], 3)


def _explained(solution: StreetSolution, public: PublicState) -> str:
    root = solution.root
    here = [action.action for action in public.actions if action.street == public.street]
    num_before = int(root.state.array[betting_state.NUM_ACTIONS])
    street = f"the {STREETS[root.state.street]} {cards_text(root.board)}".strip()
    last = here[num_before - 1] if num_before else CALL
    known = {FOLD: "the fold", CALL: "the call"}
    place = f"behind {known.get(last, f'the raise to {last}')} on" if num_before else "the start of"
    lines = [
        f"searched from {place} {street}, pot {sum(root.state.contributions)}; "
        f"since then: {' '.join(map(str, here[num_before:])) or '-'}"
    ]
    for seat, hands in zip(root.live_seats, solution.hands, strict=True):
        row = root.beliefs[seat]
        top = np.argsort(-row, kind="stable")[:_NUM_TOP_HANDS].tolist()
        hands_text = ", ".join(f"{combo_text(combo)} {100.0 * row[combo]:.2g}%" for combo in top)
        lines.append(f"seat {seat}: {hands} hands, {entropy_bits(row):.1f} bits; {hands_text}")
    added = sum(map(len, solution.added.values()))
    held = len(solution.frozen)
    lines.append(
        f"{solution.num_decisions} decisions, {added} raises added, {held} decisions held; "
        f"{solution.iterations} iterations, {solution.seconds:.2f} s"
    )
    if solution.evaluation is not None:
        values = ", ".join(f"{value:+.1f}" for value in solution.evaluation.values)
        lines.append(f"values {values} chips, exploitability {solution.evaluation.exploitability:.2f} chips")
    return "\n".join(lines)
