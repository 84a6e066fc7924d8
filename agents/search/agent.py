"""The agent ``search``, which plays a blueprint and solves subgames while a hand is played."""

import copy
import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.agents.base import Agent, Deal, Decision, Event, PublicState, Strategy, View, draw
from plurispiel.agents.blueprint.agent import BlueprintAgent, BundledAgent, blueprint_agent
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.cards import CardBuckets
from plurispiel.agents.resolve.bucket_shares import warmup as prepare_shares
from plurispiel.agents.resolve.vector_cfr import prepare
from plurispiel.agents.search.beliefs import range_text
from plurispiel.agents.search.config import SearchConfig, config_from_options
from plurispiel.agents.search.leaves import Continuations
from plurispiel.agents.search.multiway import prepare as prepare_multiway
from plurispiel.agents.search.nested import NestedSearch, RootBeliefs, SearchBlueprint
from plurispiel.agents.search.planned import planned_rows
from plurispiel.agents.search.root import MAX_PREFLOP_SEATS, MAX_SEATS
from plurispiel.agents.search.solution import Solutions, StreetSolution

__all__ = ["MOVED_SHARE", "SearchAgent", "search_agent"]

MOVED_SHARE = 0.05
"""A search has *moved* a decision if it shifts more than this probability between fold, call and raise, compared with
the blueprint's strategy for the hand held."""


class SearchAgent(Agent):
    """Searches from the flop on, and before the flop after an off-tree raise; elsewhere plays a blueprint.

    `act` draws from the strategy that `strategy` reports, found by the same search. There are searches with two to nine
    players who have chips, and before the flop with at most four players left. Without the blueprint's bucket table
    there are searches only with two players, and only after the first street.

    Parameters
    ----------
    blueprint : BlueprintAgent or BundledAgent, optional
        By default the bundled blueprint that fits the table.
    config : SearchConfig, optional
    beliefs : callable, optional
        Maps a `Root` to the beliefs with which a search begins there: float64[num_seats, num_combos], with rows that
        sum to 1. By default these are the root's own beliefs, by Bayes' rule. Other beliefs serve studies of search.

    Attributes
    ----------
    blueprint : BlueprintAgent or BundledAgent
        The agent that plays where no search does.
    counts : Counter
        Counts all ``decisions``, the ``searched`` decisions, and the searched decisions that a search has ``moved``
        (`MOVED_SHARE`). `NestedSearch` adds counts of searches.

    Examples
    --------
    >>> from plurispiel.agents.search import SearchAgent, SearchConfig
    >>> SearchAgent(config=SearchConfig(iterations=100)).is_deterministic
    True
    """

    name = "search"

    def __init__(
        self,
        blueprint: BlueprintAgent | BundledAgent | None = None,
        config: SearchConfig | None = None,
        *,
        beliefs: RootBeliefs | None = None,
    ):
        self.config = config or SearchConfig()
        self.is_deterministic = self.config.iterations > 0
        self.counts: Counter[str] = Counter()
        self.blueprint = blueprint or BundledAgent()
        self._root_beliefs = beliefs
        self._solutions: Solutions[StreetSolution] = Solutions()
        self._is_compiled = False

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If the blueprint does not play the game.
        """
        super().restart(rules, seat, rng)
        if not self._is_compiled:  # compile now, before the time limit of a search begins
            prepare()
            prepare(by_buckets=True)
            prepare_shares()
            self._is_compiled = True
        self.blueprint.restart(rules, seat, rng)
        blueprint = self.blueprint.blueprint
        known = SearchBlueprint(
            agent=self.blueprint,
            buckets=blueprint.cards,
            planned=planned_rows(blueprint, rules),
            continuations=_continuations(blueprint, rules, self.config.continuations),
        )
        self._hand = NestedSearch(rules, seat, known, self.config, self._solutions, self.counts, self._root_beliefs)

    def observe(self, event: Event) -> None:
        """Note the seat's cards, which a search uses only to freeze the hand held (`SearchConfig.freeze`)."""
        if isinstance(event, Deal):
            self._hand.combo = self.rules.combo_id(event.hole_cards)

    @property
    def origins(self) -> dict[str, int]:
        """Decisions so far by origin (`base.ORIGINS`)."""
        searched = self.counts["searched"]
        return {"blueprint": self.counts["decisions"] - searched, "solver": searched, "nets": 0}

    clamped = 0

    def act(self, view: View) -> Decision:
        """Draw an action from the strategy of the hand held."""
        public = view.public
        found = self._hand.strategy(public)
        self.counts["decisions"] += 1
        combo_ids = np.array([public.rules.combo_id(view.hole_cards)])
        strategy = _rows(found.played, combo_ids)
        if found.solution is not None:
            self.counts["searched"] += 1
            self.counts["moved"] += self._moved(public, strategy, combo_ids) > MOVED_SHARE
        return draw(strategy, self.rng)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids``.

        With ``freeze=hand`` all rows may depend on the combo that the seat holds.
        """
        return _rows(self._hand.strategy(public).played, combo_ids)

    def range_strategy(self, public: PublicState) -> Strategy | None:
        """Return the strategy of all combos; None with ``freeze=hand``, where it would give away the combo held."""
        if self.config.freeze == "hand":
            return None
        return self.strategy(public, np.arange(public.rules.num_combos))

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Return the strategy of all combos. Where the blueprint plays, it is a mean over translations of the last bet.

        None with ``freeze=hand``, as for `range_strategy`.
        """
        if self.config.freeze == "range" and self._hand.strategy(public).solution is None:
            return self.blueprint.expected_strategy(public)
        return self.range_strategy(public)

    def beliefs(self, public: PublicState) -> np.ndarray:
        """Return each seat's range, as inferred by an observer without hole cards: float64[num_seats, num_combos]."""
        return self._hand.beliefs(public)

    @property
    def searches(self) -> tuple[StreetSolution, ...]:
        """The searches of this hand, in the order in which they were solved or found again."""
        return tuple(self._hand.searched)

    def explain(self, public: PublicState) -> str:
        """Return a text on the search behind a decision: its root, beliefs, size, iterations and values.

        Where the blueprint plays, the text says why.
        """
        found = self._hand.strategy(public)
        if found.solution is None:
            if public.street == 0:
                return (
                    "the blueprint plays before the flop: search begins after a raise more than a big blind away from "
                    f"its sizes, with at most {MAX_PREFLOP_SEATS} players left, at least two of them with chips, "
                    "if the blueprint's bucket table is built"
                )
            return (
                f"the blueprint plays the {STREETS[public.street]}: search is for two players with chips, and for up "
                f"to {MAX_SEATS} where the blueprint's bucket table is built"
            )
        return _explained(found.solution, public)

    def _moved(self, public: PublicState, strategy: Strategy, combo_ids: np.ndarray) -> float:
        """Return how much of one combo's probability a search shifts between fold, call and raise.

        The search's `strategy` for the combo is compared with the blueprint's.
        """
        planned = self.blueprint.range_strategy(public)
        return float(abs(_by_kind(strategy) - _by_kind(_rows(planned, combo_ids))).sum()) / 2.0

    def __deepcopy__(self, memo: dict[int, Any]) -> "SearchAgent":
        """Return an independent agent in the same hand; it shares finished searches, which never change."""
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.counts = self.counts.copy()
        twin.blueprint = copy.deepcopy(self.blueprint, memo)
        twin._solutions = self._solutions.copy()
        if hasattr(self, "_hand"):
            twin.rng = copy.deepcopy(self.rng, memo)
            twin._hand = self._hand.copy(twin.blueprint, twin._solutions, twin.counts)
        return twin


def search_agent(text: str, options: Mapping[str, str]) -> SearchAgent:
    """Return the agent of a spec ``search:TEXT?KEY=VALUE``.

    Parameters
    ----------
    text : str
        A blueprint's folder, file or name; empty for the bundled blueprint that fits the table.
    options : mapping
        Texts of the settings in `SearchConfig`, by name.

    Raises
    ------
    ValueError
        If there is no such blueprint, or `config_from_options` refuses an option.
    ArtefactRefused
        If the blueprint is incomplete or damaged.
    """
    config = config_from_options(options)
    agent = SearchAgent(blueprint_agent(text) if text else BundledAgent(), config)
    agent.name = f"search:{text}" if text else "search"
    return agent


@functools.lru_cache(4)
def _continuations(blueprint: Blueprint, rules: HoldemRules, k: int) -> Continuations | None:
    """Return a blueprint's continuations, after compiling the kernels that use them.

    None for a game of one street, or a blueprint without a bucket table.
    """
    if rules.num_streets == 1 or not isinstance(blueprint.cards, CardBuckets):
        return None
    found = Continuations(blueprint, rules, k)
    prepare_multiway(found, rules)
    return found


def _rows(strategy: Strategy, combo_ids: np.ndarray) -> Strategy:
    return Strategy(strategy.actions.copy(), strategy.probabilities[combo_ids], strategy.highest)


def _by_kind(strategy: Strategy) -> np.ndarray:
    """Return the first row's probabilities of a fold, a call and any raise: float64[3]."""
    return np.bincount(np.minimum(strategy.actions, CALL + 1), strategy.probabilities[0], 3)


def _explained(solution: StreetSolution, public: PublicState) -> str:
    root = solution.root
    here = [action.action for action in public.actions if action.street == public.street]
    num_before = int(root.state.array[betting_layout.NUM_ACTIONS])
    street = f"the {STREETS[root.state.street]} {cards_text(root.board)}".strip()
    last = here[num_before - 1] if num_before else CALL
    actions = {FOLD: "the fold", CALL: "the call"}
    where = f"{actions.get(last, f'the raise to {last}')} on" if num_before else "the start of"
    lines = [
        f"searched from {where} {street}, pot {sum(root.state.contributions)}; "
        f"since then: {' '.join(map(str, here[num_before:])) or '-'}"
    ]
    for seat, hands in zip(root.live_seats, solution.hands, strict=True):
        lines.append(range_text(seat, root.beliefs[seat], hands))
    added = sum(map(len, solution.added.values()))
    lines.append(
        f"{solution.num_decisions} decisions, {added} raises added, {len(solution.frozen)} decisions frozen; "
        f"{solution.iterations} iterations, {solution.seconds:.2f} s"
    )
    if solution.evaluation is not None:
        values = ", ".join(f"{value:+.1f}" for value in solution.evaluation.values)
        lines.append(f"values {values} chips, exploitability {solution.evaluation.exploitability:.2f} chips")
    return "\n".join(lines)
