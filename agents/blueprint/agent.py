"""Agents that play a blueprint at the table."""

import copy
import functools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.translation import ShadowHand, TranslatedActions, Translation
from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.betting_layout import MAX_STREET_ACTIONS
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.artefact import MANIFEST
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Agent, Decision, PublicState, RangeAgent, Strategy, View, draw, draw_column
from plurispiel.agents.baselines.equity import weigh_equity
from plurispiel.agents.baselines.tight_aggressive import has_starting_hands
from plurispiel.agents.blueprint.blueprint import Blueprint, load_blueprint
from plurispiel.agents.blueprint.defence import call_chances
from plurispiel.agents.blueprint.fallback import CROWDED, SOURCES, STRENGTH, defended_share, kept_rows
from plurispiel.agents.blueprint.library import bundled_blueprints, find_blueprint, pick_bundled
from plurispiel.agents.blueprint.off_tree import MAX_KEPT, OffTreePlay, defends

__all__ = ["DEFAULT_DEFENCE", "BlueprintAgent", "BundledAgent", "DefendingAgent", "blueprint_agent"]

DEFAULT_DEFENCE = 0.8
"""The defence of the agent `blueprint` unless its spec names another; see `DefendingAgent`.

Best responses to `headsup-refined` with defence 0, 0.6, 0.8 and 1 win 5,468, 4,342, 3,774 and 3,680 mbb/hand, on every
eighth turn of one flop. With defence 0.8 the blueprint loses 15 ± 13 mbb/hand to itself without. `search` and
`continual` need the rows of training, and take 0.
"""


class BlueprintAgent(RangeAgent):
    """Plays a blueprint against any legal bets, at tables with as many seats as the blueprint's game or fewer.

    An off-tree bet is mapped to one of the tree's two nearest sizes by one random draw, which holds for the rest of the
    hand (see the module `translation`). A missing row is replaced by a stand-in, if the module `fallback` finds one.
    Without a stand-in, the agent calls with the strongest hands at the minimum defence frequency. It checks where there
    is no bet. The module `off_tree` has the rules for bets below the smallest size, for bets between the all-in and the
    size below it, and for decisions that the tree lacks. From the flop on, the hand may have more opponents than the
    tree. Then the agent weighs its equity against all of them (`weigh_equity`). Before the flop of hold'em, the agent
    never folds a pair of aces.

    Parameters
    ----------
    blueprint : Blueprint

    Attributes
    ----------
    counts : Counter
        Maps each source of a strategy in `fallback.SOURCES` to the number of the agent's decisions from it.
    blueprint : Blueprint
    defence : float
        Above 0 for a `DefendingAgent`.
    """

    name = "blueprint"
    is_deterministic = True
    defence = 0.0

    def __init__(self, blueprint: Blueprint):
        self.counts: Counter[str] = Counter()
        self.blueprint = blueprint
        self._kept = kept_rows(blueprint)
        self._aces = _aces(blueprint.rules)
        self._translation: Translation | None = None

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If the game has more seats than the blueprint's game, or another deck, or other numbers of hole cards or
            board cards.
        """
        super().restart(rules, seat, rng)
        coins = rng.random(MAX_STREET_ACTIONS * rules.num_streets)
        if self._translation is None or self._translation.rules is not rules:
            self._translation = self._kept.translation(rules)
        self._hand = ShadowHand(self._translation, coins, seat)
        self._off_tree = OffTreePlay(self._kept, self._hand, self._at_node, self.range_strategy)

    def act(self, view: View) -> Decision:
        """Draw from the hole cards' row of the strategy."""
        public = view.public
        answers = self._answers(public)
        combo = public.rules.combo_id(view.hole_cards)
        row = None
        if self._plays_rows(public, answers):
            assert answers.node is not None
            row = self._kept.row(answers.node, public.board, combo)
        if row is None:
            strategy, sources = self._look_up(public, np.array([combo]))
            self.counts[SOURCES[sources[0]]] += 1
            return draw(strategy, self.rng)
        self.counts[SOURCES[0]] += 1
        probabilities = [0.0] * len(answers.actions)
        for column, probability in zip(answers.columns, row, strict=True):
            probabilities[column] += probability
        if public.street == 0 and public.can_fold and self._aces[combo]:
            probabilities[answers.actions.index(CALL)] += probabilities[0]
            probabilities[0] = 0.0
        drawn = draw_column(probabilities, self.rng)
        return Decision(answers.actions[drawn], answers.actions, tuple(probabilities))

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of all combos.

        The strategy is read-only, and shared by all agents of the blueprint. There are three exceptions: the tree has
        no decision here; a bet is below the smallest size, or between the all-in and the size below it (`Between`);
        from the flop on, the hand has more opponents than the tree. Then the strategy is computed at each call.
        """
        kept, board = self._kept, public.board
        place = self._hand.at([action for _, action, _ in public.actions])
        strategy = kept.at_boards.get((place, board)) if board else kept.at_places.get(place)
        if strategy is None:
            answers = self._hand.translation.answers(place)
            strategy = self._look_up(public, np.arange(public.rules.num_combos), answers)[0]
            # Off the tree, a strategy also depends on how the agent's coins mapped the earlier bets: it is not shared.
            if self._plays_rows(public, answers):
                kept.keep(place, board, strategy)
        return strategy

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids``."""
        return self._look_up(public, combo_ids)[0]

    def sources(self, public: PublicState, combo_ids: np.ndarray) -> np.ndarray:
        """Return the source of each row of `strategy`: int8[len(combo_ids)], indices into `fallback.SOURCES`."""
        return self._look_up(public, combo_ids)[1]

    def expected_strategy(self, public: PublicState) -> Strategy:
        """Return the mean strategy over the sizes to which the last action may be mapped, weighted by probability.

        The sizes drawn for earlier bets stay as they are.
        """
        every = np.arange(public.rules.num_combos)
        translation = self._hand.translation
        mapped = self._hand.before_coin([action for _, action, _ in public.actions])
        parts = [(chance, self._look_up(public, every, translation.answers(at))[0]) for chance, at in mapped]
        actions = np.unique(np.concatenate([strategy.actions for _, strategy in parts]))
        probabilities = np.zeros((len(every), len(actions)))
        for chance, strategy in parts:
            probabilities[:, np.searchsorted(actions, strategy.actions)] += chance * strategy.probabilities
        return Strategy(actions, probabilities)

    def _plays_rows(self, public: PublicState, answers: TranslatedActions) -> bool:
        """Return whether the agent plays the rows of a decision of the tree, whatever its range is."""
        return answers.node is not None and answers.between is None and not _is_crowded(public, answers)

    def _look_up(
        self, public: PublicState, combo_ids: np.ndarray, answers: TranslatedActions | None = None
    ) -> tuple[Strategy, np.ndarray]:
        """Return the strategy with one row for each of `combo_ids`, and the source of each row as in `sources`.

        `answers` are those of the hand's place in the tree; by default they are looked up.
        """
        answers = answers or self._answers(public)
        if _is_crowded(public, answers):
            return weigh_equity(public, combo_ids), np.full(len(combo_ids), CROWDED, np.int8)
        if answers.between is not None or answers.node is None:
            strategy, sources = self._off_tree.strategy(public, answers)
            rows = strategy.probabilities[combo_ids]
            calls = rows[:, strategy.actions.tolist().index(CALL)]
            self._keep_aces(public, combo_ids, rows[:, 0], calls)
            return Strategy(strategy.actions, rows), sources[combo_ids]
        return self._at_node(public, combo_ids, answers)

    def _at_node(
        self, public: PublicState, combo_ids: np.ndarray, answers: TranslatedActions
    ) -> tuple[Strategy, np.ndarray]:
        """Return the strategy and its sources as `_look_up` does, from the rows of the tree's decision alone."""
        node, actions, columns, *_ = answers
        assert node is not None
        rows, sources = self._kept.find(node, public.board, combo_ids)
        probabilities = rows
        if columns != tuple(range(len(actions))):
            probabilities = np.zeros((len(combo_ids), len(actions)))
            for column, probability in zip(columns, rows.T, strict=True):
                probabilities[:, column] += probability
        folds, calls = probabilities[:, 0], probabilities[:, actions.index(CALL)]
        if np.count_nonzero(sources):
            _defend(public, combo_ids, sources, folds, calls)
        self._keep_aces(public, combo_ids, folds, calls)
        return Strategy(np.array(actions), probabilities), sources

    def _keep_aces(self, public: PublicState, combo_ids: np.ndarray, folds: np.ndarray, calls: np.ndarray) -> None:
        """Let aces call before the flop where they would fold. Modified in place: `folds`, `calls`."""
        if public.street == 0 and public.can_fold:
            stays = np.flatnonzero(self._aces[combo_ids])
            calls[stays] += folds[stays]
            folds[stays] = 0.0

    def _answers(self, public: PublicState) -> TranslatedActions:
        hand = self._hand
        return hand.translation.answers(hand.at([action for _, action, _ in public.actions]))

    def __deepcopy__(self, memo: dict[int, Any]) -> "BlueprintAgent":
        """Return an agent in the same hand, with its own `rng` and `counts`; both agents share the blueprint."""
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.counts = self.counts.copy()
        if hasattr(self, "rng"):
            twin.rng = copy.deepcopy(self.rng, memo)
            twin._off_tree = OffTreePlay(twin._kept, twin._hand, twin._at_node, twin.range_strategy)
        return twin


class DefendingAgent(BlueprintAgent):
    """Plays a blueprint, but folds less where a bet would profit from its folds alone.

    The blueprint's rows are for buckets. On some boards a large part of the range that reaches a decision falls into
    buckets that fold, and a bet with any two cards wins chips there. On the last two streets, if two players are left
    and the agent faces a bet, at least the share `defence` * pot / (pot + bet) of its range goes on, with the pot
    before the bet. With 1, this is the minimum defence frequency. Rows that go on with less are changed: raises stay,
    and the strongest hands call (see the module `defence`). The range is that of `OffTreePlay.reach`.

    Parameters
    ----------
    blueprint : Blueprint
    defence : float
        Above 0, at most 1.

    Raises
    ------
    ValueError
        If `defence` is out of range.
    """

    def __init__(self, blueprint: Blueprint, defence: float = 1.0):
        if not 0.0 < defence <= 1.0:
            raise ValueError(f"a defence is above 0 and at most 1, got {defence:g}")
        super().__init__(blueprint)
        self.defence = defence

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            As in `BlueprintAgent.restart`.
        """
        super().restart(rules, seat, rng)
        self._defended: dict[tuple[Any, ...], tuple[Strategy, np.ndarray]] = {}

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of all combos."""
        if not _may_defend(public):
            return super().range_strategy(public)
        return self._look_up(public, np.arange(public.rules.num_combos))[0]

    def _plays_rows(self, public: PublicState, answers: TranslatedActions) -> bool:
        return not _may_defend(public) and super()._plays_rows(public, answers)

    def _look_up(
        self, public: PublicState, combo_ids: np.ndarray, answers: TranslatedActions | None = None
    ) -> tuple[Strategy, np.ndarray]:
        """Return the strategy and its sources as `BlueprintAgent` does, of a range that goes on often enough."""
        if not _may_defend(public):
            return super()._look_up(public, combo_ids, answers)
        answers = answers or self._answers(public)
        key = public.actions, public.board, answers
        if key not in self._defended:
            if len(self._defended) >= MAX_KEPT:
                self._defended.clear()
            self._defended[key] = self._defend_range(public, answers)
        strategy, sources = self._defended[key]
        return Strategy(strategy.actions, strategy.probabilities[combo_ids]), sources[combo_ids]

    def _defend_range(self, public: PublicState, answers: TranslatedActions) -> tuple[Strategy, np.ndarray]:
        """Return the strategy of all combos, and their sources."""
        strategy, sources = super()._look_up(public, np.arange(public.rules.num_combos), answers)
        rows, share = strategy.probabilities, self.defence * defended_share(public.pot, public.to_call)
        if 1.0 - dot(self._off_tree.reach(public), rows[:, 0]) < share:
            call = strategy.actions.tolist().index(CALL)
            rows = self._off_tree.defended(public, rows, call_chances(rows, call), share)
        return Strategy(strategy.actions, rows), sources


class BundledAgent(Agent):
    """Plays the bundled blueprint that fits the table best (`pick_bundled`), chosen at the start of each hand.

    Parameters
    ----------
    defence : float or None
        As in `blueprint_agent`.

    Raises
    ------
    ValueError
        If no blueprint comes with the package.
    ArtefactRefused
        If a bundled blueprint is damaged.
    """

    name = "blueprint"
    is_deterministic = True

    def __init__(self, defence: float | None = 0.0):
        if not bundled_blueprints():
            raise ValueError("no blueprint comes with this package; name one, blueprint:FOLDER or blueprint:NAME")
        self._pick = functools.lru_cache(64)(pick_bundled)
        self._defence = defence
        self._agents: dict[str, BlueprintAgent] = {}

    @property
    def counts(self) -> Counter[str]:
        """Number of decisions from each source, over all blueprints played; see `BlueprintAgent`."""
        return sum((agent.counts for agent in self._agents.values()), Counter())

    @property
    def blueprint(self) -> Blueprint:
        """The blueprint of this hand."""
        return self._agent.blueprint

    @property
    def defence(self) -> float:
        """The defence of this hand, that of a `DefendingAgent`; 0 if a `BlueprintAgent` plays."""
        return self._agent.defence

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If no bundled blueprint has enough seats and the game's cards.
        ArtefactRefused
            If a bundled blueprint is damaged.
        """
        super().restart(rules, seat, rng)
        picked = self._pick(rules)
        if picked.name not in self._agents:
            self._agents[picked.name] = blueprint_agent(str(picked.path), self._defence)
        self._agent = self._agents[picked.name]
        self._agent.restart(rules, seat, rng)

    def act(self, view: View) -> Decision:
        """Draw from the hole cards' row of the strategy."""
        return self._agent.act(view)

    def range_strategy(self, public: PublicState) -> Strategy:
        """Return the strategy of all combos."""
        return self._agent.range_strategy(public)

    def expected_strategy(self, public: PublicState) -> Strategy:
        """Return the mean strategy over the sizes to which the last action may be mapped, see `BlueprintAgent`."""
        return self._agent.expected_strategy(public)


def blueprint_agent(text: str, defence: float | None = 0.0) -> BlueprintAgent:
    """Return the agent of a blueprint, given by its folder, its packed file, its run's folder or its name.

    Parameters
    ----------
    text : str
    defence : float or None
        That of a `DefendingAgent`; 0 for a `BlueprintAgent`. None is `DEFAULT_DEFENCE`, or 0 with lossless buckets,
        which tell all boards apart.

    Raises
    ------
    ValueError
        If no blueprint has this path or name.
    ArtefactRefused
        If the blueprint is incomplete or damaged.
    """
    folder = find_blueprint(text)
    blueprint = _load_once(folder, (folder / MANIFEST).stat().st_mtime_ns)
    if defence is None:
        defence = DEFAULT_DEFENCE if blueprint.cards.model else 0.0
    agent = DefendingAgent(blueprint, defence) if defence else BlueprintAgent(blueprint)
    agent.name = f"blueprint:{text}"
    return agent


@functools.lru_cache(2)
def _load_once(folder: Path, changed_at: int) -> Blueprint:
    """Return a loaded blueprint, shared by all of its agents in a process; the two used last are kept.

    `changed_at`, the time of the last change in ns, is part of the cache's key: a new version of the folder is loaded
    again. One row of every street is looked up, so that a parent process compiles the kernels before its workers start.
    """
    blueprint = load_blueprint(folder)
    for street in range(len(blueprint.cards.num_buckets)):
        board = blueprint.rules.cards[: blueprint.rules.board_size(street)]
        buckets = blueprint.cards.row(tuple(board.tolist()), street)[-1:]
        for node in blueprint.decisions(street)[:1].tolist():
            blueprint.strategy(node, buckets)
    return blueprint


def is_late(rules: HoldemRules, street: int) -> bool:
    """Return whether a street is one of the last two, and not the first."""
    return street >= max(1, rules.num_streets - 2)


def _may_defend(public: PublicState) -> bool:
    """Return whether the seat to act faces a bet of its only opponent on a late street (`is_late`)."""
    return public.can_fold and public.num_live == 2 and is_late(public.rules, public.street)


def _is_crowded(public: PublicState, answers: TranslatedActions) -> bool:
    """Return whether, on the flop or later, a seat that is still in the hand has no seat in the tree."""
    return public.street > 0 and answers.num_left_out > 0


def _defend(
    public: PublicState, combo_ids: np.ndarray, sources: np.ndarray, folds: np.ndarray, calls: np.ndarray
) -> None:
    """Let hands without a row or stand-in check, call or fold by their strength. Modified in place: `folds`, `calls`.

    Parameters
    ----------
    sources : int8[n]
        The source of each hand's strategy, as an index in `fallback.SOURCES`.
    folds, calls : float64[n]
        Each hand's probability of folding, and of checking or calling. Where the seat faces no bet, `folds` is ignored
        and may be any column of the strategy.
    """
    missing = sources >= STRENGTH
    if missing.any():
        stays = defends(public)[combo_ids[missing]]
        calls[missing] = stays
        if public.can_fold:
            folds[missing] = ~stays


@functools.lru_cache(16)
def _aces(rules: HoldemRules) -> np.ndarray:
    """Return whether each combo is a pair of aces, in a game with hold'em's starting hands: bool[num_combos]."""
    return (rules.combos >> 2 == rules.num_ranks - 1).all(axis=1) & has_starting_hands(rules)
