"""The agent that re-solves in heads-up no-limit hold'em."""

import copy
from collections import Counter
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules, is_holdem
from plurispiel.agents.base import ORIGINS, Decision, PublicState, RangeAgent, Strategy, View
from plurispiel.agents.blueprint.agent import BlueprintAgent, BundledAgent
from plurispiel.agents.continual.end_net_leaves import warmup as prepare_leaves
from plurispiel.agents.continual.resolver import warmup as prepare_lookaheads
from plurispiel.agents.continual.table.config import PREFLOP_NETS, TableConfig
from plurispiel.agents.continual.table.hand import BlueprintPlay, TableDecision, TableHand, TableNets
from plurispiel.agents.continual.table.street import Solved, load_street_nets
from plurispiel.agents.resolve.vector_cfr import prepare
from plurispiel.agents.search.beliefs import range_text
from plurispiel.agents.search.planned import planned_rows
from plurispiel.agents.search.solution import Solutions
from plurispiel.agents.values.bundled import find_nets

__all__ = ["TableAgent"]

_NUM_KEPT, _NUM_LINES = 4, 12
"""The most solutions in memory: the first number is for roots from the flop on, the second for roots before the flop. A
solution of a flop takes about 80 MB, more after many raises off the menu. A solution before the flop takes 30 MB."""


class TableAgent(RangeAgent):
    """Plays the blueprint before the flop, and re-solves at each of its decisions from the flop on.

    With ``preflop=nets`` it re-solves from the start of the hand, and needs no blueprint.

    Parameters
    ----------
    config : TableConfig, optional
    blueprint : BlueprintAgent or BundledAgent, optional
        By default the bundled blueprint that fits the table.

    Attributes
    ----------
    counts : Counter
        ``decisions`` counts all decisions. ``blueprint``, ``solver`` and ``nets`` count them by origin
        (`base.ORIGINS`). `TableHand` adds counts of solves.

    Examples
    --------
    >>> TableAgent(TableConfig(iterations=100)).is_deterministic
    True
    """

    name = "continual"

    def __init__(self, config: TableConfig | None = None, blueprint: BlueprintAgent | BundledAgent | None = None):
        self.config = config or TableConfig()
        self.is_deterministic = not self.config.time
        self.counts: Counter[str] = Counter()
        self.blueprint = None if self.config.preflop == "nets" else blueprint or BundledAgent()
        self._solutions: Solutions[Solved] = Solutions(_NUM_KEPT)
        self._lines: Solutions[Solved] = Solutions(_NUM_LINES)
        self._is_compiled = False
        self._nets = TableNets()

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If the game is not heads-up no-limit hold'em, or the blueprint does not play it.
        ArtefactRefused
            If the folder `nets` lacks sound networks for the flop of this game. With ``preflop=nets``, also if it lacks
            those for solves before the flop.
        """
        if rules.num_seats != 2 or rules.is_limit or not is_holdem(rules):
            kind = "limit" if rules.is_limit else "no-limit"
            raise ValueError(
                "continual re-solving plays heads-up no-limit hold'em, and two-seat games of one or two streets, got a "
                f"{kind} game of {rules.num_seats} seats and {rules.num_streets} streets, with "
                f"{rules.num_suits} suits, {rules.num_ranks} ranks and {rules.num_hole_cards} hole cards"
            )
        super().restart(rules, seat, rng)
        if not self._is_compiled:  # compile now, before the time limit of a decision begins
            prepare()
            prepare(by_buckets=True)
            self._is_compiled = True
        if self.config.nets and self._nets.flop is None:
            folder = find_nets(self.config.nets)
            before = load_street_nets(folder, PREFLOP_NETS) if self.blueprint is None else None
            self._nets = TableNets(load_street_nets(folder), before)
            for warmup in (prepare_lookaheads, prepare_leaves):
                warmup()
        for street, nets in enumerate((self._nets.preflop, self._nets.flop)):
            if nets is not None:
                nets.require(rules, street)
        play = None
        if self.blueprint is not None:
            self.blueprint.restart(rules, seat, rng)
            blueprint = self.blueprint.blueprint
            play = BlueprintPlay(self.blueprint, blueprint.cards, planned_rows(blueprint, rules))
        self._hand = TableHand(rules, play, self.config, self._solutions, self.counts, self._nets, self._lines)

    @property
    def origins(self) -> dict[str, int]:
        """Decisions so far by origin (`base.ORIGINS`)."""
        return {name: self.counts[name] for name in ORIGINS}

    @property
    def clamped(self) -> int:
        """See `base.TellsOrigins`."""
        return self.counts["clamped"]

    def act(self, view: View) -> Decision:
        """Draw an action from the strategy of the hand held."""
        self.counts["decisions"] += 1
        nets = (self._nets.preflop, self._nets.flop, None, None)[view.public.street]
        is_planned = not view.public.street and self.blueprint is not None
        self.counts["blueprint" if is_planned else "nets" if nets else "solver"] += 1
        return super().act(view)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the strategy with one row for each of ``combo_ids``."""
        found = self._hand.strategy(public)
        return Strategy(found.actions.copy(), found.probabilities[combo_ids], found.highest)

    def expected_strategy(self, public: PublicState) -> Strategy | None:
        """Return the strategy of all combos; where the blueprint plays, its mean over translations of the last bet."""
        if self.blueprint is None or public.street:
            return self.range_strategy(public)
        return self.blueprint.expected_strategy(public)

    def decision(self, public: PublicState) -> TableDecision:
        """Return the decision at a public state where the agent re-solves."""
        return self._hand.decision(public)

    def solution(self, public: PublicState) -> Solved:
        """Return the solution behind the decision at a public state where the agent re-solves."""
        return self._hand.solution(public)

    def explain(self, public: PublicState) -> str:
        """Return a text on the solve behind a decision: its root, ranges, bounds, size and iterations."""
        if not public.street and self.blueprint is not None:
            return "the blueprint plays before the flop: re-solving begins on the flop"
        return _explained(self.decision(public), self.solution(public), public)

    def __deepcopy__(self, memo: dict[int, Any]) -> "TableAgent":
        """Return an independent agent in the same hand; it shares solutions, which never change."""
        twin = copy.copy(self)
        memo[id(self)] = twin
        twin.counts = self.counts.copy()
        twin.blueprint = copy.deepcopy(self.blueprint, memo)
        twin._solutions, twin._lines = self._solutions.copy(), self._lines.copy()
        if hasattr(self, "_hand"):
            twin.rng = copy.deepcopy(self.rng, memo)
            twin._hand = self._hand.copy(twin.blueprint, twin._solutions, twin.counts, twin._lines)
        return twin


def _explained(decision: TableDecision, solved: Solved, public: PublicState) -> str:
    root = solved.root
    street = f"on the {STREETS[root.state.street]} {cards_text(root.board)}" if root.board else "before the flop"
    where = f"{'a' if root.state.array[betting_layout.NUM_ACTIONS] else 'the first'} decision {street}"
    since = " ".join(map(str, decision.path)) or "-"
    lines = [f"solved from {where}, pot {sum(root.state.contributions)}; since then: {since}"]
    carried = decision.carried
    for seat in range(2):
        row = carried.range if seat == solved.seat else carried.estimate
        assert row is not None
        lines.append(range_text(seat, row, int(np.count_nonzero(row))))
    return "\n".join(lines + solved.summary())
