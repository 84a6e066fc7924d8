"""The compliance check: whether an agent keeps the contract of `Agent`."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import SUM_TOLERANCE, Agent, Decision, PublicState, Strategy, View
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.evaluation.hand import Hand, deal_deck, play_hand
from plurispiel.evaluation.listener import Listener

MAX_DEVIATION = 4.5
"""Largest allowed difference between the frequency of a kind of action and its expectation by the reported strategy, in
standard errors."""

# Checking the form of a whole strategy takes most of the time of a decision, so only the first decisions are checked.
_FORM_CHECKS = 2_000
# Largest difference between a decision's probabilities and range_strategy: the agent computes both by the same code.
_TOLERANCE = 1e-9
_KINDS = ("fold", "call", "raise")


@dataclass
class ComplianceReport:
    """The violations that a check found.

    Attributes
    ----------
    decisions : int
        The number of the agent's decisions. Each decision is compared with the strategy that the agent reports for it,
        unless the agent reports none, or a malformed one.
    tells_range : bool
        Whether the agent reported a strategy for all combos at least once.
    violations : list of str
        The first violation of each kind.
    times : Counter
        The number of violations, by kind.
    """

    decisions: int = 0
    tells_range: bool = False
    violations: list[str] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = self.violations or ["no violations"]
        return "\n".join(
            [f"{self.decisions:,} decisions, range_strategy: {'yes' if self.tells_range else 'no'}", *lines]
        )

    def add(self, violation: str, kind: str = "") -> None:
        """Count a violation; only the first of each kind is listed. Without a kind, the text itself is the kind."""
        kind = kind or violation
        if kind not in self.times:
            self.violations.append(violation)
        self.times[kind] += 1


def check_agent(
    make: Callable[[], Agent],
    games: Sequence[HoldemRules],
    *,
    num_hands: int = 200,
    num_decks: int = 20,
    num_compared: int = 20,
    seed: int = 1,
    on_hand: Callable[[int], bool] = lambda number: True,
) -> ComplianceReport:
    """Play an agent against random opponents, and return the violations of the contract.

    By the contract an agent acts legally and raises no exception. With the same seed it plays the same, even in an
    instance that has played before. Its `range_strategy` is well-formed, does not depend on the hole cards, and agrees
    with the actions. Equal play and independence of the hole cards are checked in the first hands of each game, except
    hands with a fault. The form of a whole strategy is checked at the first 2,000 decisions.

    Parameters
    ----------
    make : callable
        Returns a new agent.
    games : sequence of HoldemRules
        The games to play.
    num_hands : int
        Hands in each game; the agent's seat and the deck change from hand to hand.
    num_decks : int
        Number of different decks in each game.
    num_compared : int
        Number of hands of each game that are played again, each by three new instances. The play of one instance is
        compared with the first play of the hand. The other two instances get different hole cards from each other, and
        their reports are compared.
    seed : int
        Seed of the decks and of all random choices.
    on_hand : callable
        Called with the number of each hand of a game, from 1, when the hand is over; if it returns False, the game ends
        early.
    """
    report = ComplianceReport()
    for rules in games:
        watcher = _Watcher(make(), report)
        decks = [deal_deck(rules, np.random.default_rng((seed, number))) for number in range(num_decks)]
        for number in range(num_hands):
            seat, deck = number % rules.num_seats, decks[number % num_decks]
            hand = _play(rules, watcher, seat, deck, (seed, number))
            for fault in hand.faults:
                report.add(f"{fault.kind}: {fault.message}", fault.kind)
            if number < num_compared and not hand.faults:
                if _play(rules, make(), seat, deck, (seed, number)).actions != hand.actions:
                    report.add(
                        "with the same seed, an instance that has played before plays differently from a new one"
                    )
                _check_hidden_cards(rules, make, seat, deck, (seed, number), report)
            if not on_hand(number + 1):
                break
        watcher.check_frequencies()
    return report


class _Watcher(Listener):
    """Compares an agent's actions with its reported strategy."""

    def __init__(self, agent: Agent, report: ComplianceReport):
        super().__init__(agent)
        self._report = report
        self._frequencies = [[0.0, 0.0, 0.0] for _ in _KINDS]  # for each kind: times taken, expected times, variance

    def act(self, view: View) -> Decision | int:
        strategy = self.agent.range_strategy(view.public)
        decision = self.agent.act(view)
        self._report.decisions += 1
        if strategy is not None:
            self._report.tells_range = True
            if self._report.decisions > _FORM_CHECKS or self._has_form(strategy, view.public):
                self._compare(strategy, view, decision)
        return decision

    def check_frequencies(self) -> None:
        """Report the kinds of action that were significantly more or less frequent than the strategy says."""
        for kind, (taken, expected, variance) in zip(_KINDS, self._frequencies, strict=True):
            if abs(taken - expected) > MAX_DEVIATION * max(variance, 0.0) ** 0.5 + 1e-6:
                self._report.add(f"it chose {kind} {taken:.0f} times where range_strategy expects {expected:.1f}")

    def _has_form(self, strategy: Strategy, public: PublicState) -> bool:
        wanted = (public.rules.num_combos, len(strategy.actions))
        if strategy.probabilities.shape != wanted:
            self._report.add(f"range_strategy has shape {strategy.probabilities.shape}, not {wanted}")
            return False
        highest = strategy.actions if strategy.highest is None else strategy.highest
        for low, high in zip(strategy.actions.tolist(), highest.tolist(), strict=True):
            if not (low <= high and public.is_legal(low) and public.is_legal(high)):
                self._report.add(f"range_strategy offers {low}..{high}, which is not legal")
                return False
        rows = strategy.probabilities[public.rules.free_combos(public.board)]
        if not (np.isfinite(rows).all() and (rows >= 0).all() and (abs(rows.sum(axis=1) - 1.0) <= SUM_TOLERANCE).all()):
            self._report.add("range_strategy has rows that are not probabilities with the sum 1")
            return False
        return True

    def _compare(self, strategy: Strategy, view: View, decision: Decision | int) -> None:
        row = strategy.probabilities[view.public.rules.combo_id(view.hole_cards)].tolist()
        actions = strategy.actions.tolist()
        highest = actions if strategy.highest is None else strategy.highest.tolist()
        action = decision.action if isinstance(decision, Decision) else int(decision)
        chances = [0.0, 0.0, 0.0]
        possible = False
        for low, high, chance in zip(actions, highest, row, strict=True):
            chances[min(low, 2)] += chance  # 0 is a fold, 1 a call, and any larger number a raise
            possible = possible or (low <= action <= high and chance > 0.0)
        if not possible:
            self._report.add("it took an action to which range_strategy gives probability 0")
        if isinstance(decision, Decision) and decision.probabilities:
            same_form = tuple(actions) == tuple(decision.actions) and len(row) == len(decision.probabilities)
            if not same_form or not np.allclose(row, decision.probabilities, rtol=0.0, atol=_TOLERANCE):
                self._report.add("the probabilities of a decision differ from range_strategy")
        for kind, (frequencies, chance) in enumerate(zip(self._frequencies, chances, strict=True)):
            frequencies[0] += min(action, 2) == kind
            frequencies[1] += chance
            frequencies[2] += chance * (1.0 - chance)


class _Recorder(Listener):
    """Records the strategies that an agent reports during a hand."""

    def __init__(self, agent: Agent):
        super().__init__(agent)
        self.strategies: list[Strategy | None] = []

    def act(self, view: View) -> Decision | int:
        self.strategies.append(self.agent.range_strategy(view.public))
        return self.agent.act(view)


def _play(rules: HoldemRules, agent: Agent, seat: int, deck: np.ndarray, entropy: tuple[int, ...]) -> Hand:
    table: list[Agent] = [RandomAgent() for _ in range(rules.num_seats)]
    table[seat] = agent
    return play_hand(rules, table, deck, [np.random.default_rng((*entropy, place)) for place in range(rules.num_seats)])


def _check_hidden_cards(
    rules: HoldemRules,
    make: Callable[[], Agent],
    seat: int,
    deck: np.ndarray,
    entropy: tuple[int, ...],
    report: ComplianceReport,
) -> None:
    """Check that the reported strategy stays the same when the seat gets other hole cards.

    The hand is played twice, and strategies are compared up to the first decision at which the two hands differ.
    """
    size = rules.num_hole_cards
    own = slice(seat * size, (seat + 1) * size)
    spare = np.setdiff1d(rules.cards, deck)[:size]
    swapped = deck.copy()
    if len(spare) == size:
        swapped[own] = spare
    else:  # too few undealt cards: swap hole cards with the next seat
        other = (seat + 1) % rules.num_seats * size
        swapped[own], swapped[other : other + size] = deck[other : other + size], deck[own]
    first, second = _Recorder(make()), _Recorder(make())
    played = _play(rules, first, seat, deck, entropy).actions
    replayed = _play(rules, second, seat, swapped, entropy).actions
    equal = 0
    while equal < min(len(played), len(replayed)) and played[equal] == replayed[equal]:
        equal += 1
    # The first different action was still chosen at the same public state, so the strategies there must agree, too.
    comparable = sum(action.seat == seat for action in played[: equal + 1])
    for one, other_one in list(zip(first.strategies, second.strategies, strict=False))[:comparable]:
        if not _equal(one, other_one):
            report.add("range_strategy depends on the cards held")


def _equal(first: Strategy | None, second: Strategy | None) -> bool:
    if first is None or second is None:
        return first is second
    pairs = [(getattr(first, name), getattr(second, name)) for name in ("actions", "probabilities", "highest")]
    return all(np.array_equal(one, other) for one, other in pairs)
