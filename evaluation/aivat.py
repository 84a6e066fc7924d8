"""AIVAT for any number of seats: an unbiased score of a hand with most of its luck removed.

The score of a seat is its payoff plus one correction of mean zero for every random choice with a known distribution.
These choices are chance, the seat's own actions and, once two seats are left, the actions of a trusted opponent.
The seat's hole cards are averaged out as well, if its agent reports the strategy with every other combo.
The other agents need not report anything, and the value function may be any function that was fixed beforehand.

Let i be a seat with value function w, and o_t the hand up to step t without the hole cards of i. B_t(h) is the
probability of combo h given o_t. It is proportional to the product of the probabilities p(a|h) of the seat's own
actions a with h, and 0 if h shares a card with the board or with another seat's hand. The other seats' probabilities
cancel, as they do not depend on h. Let q(a) be the probabilities of a trusted opponent with its true cards. Let u(h) be
the payoff of the same actions and board if the seat had held h, and w(h, e) the value with h after an event e, such as
an action a. Then

    estimate = sum_h B_T(h) u(h)
             + sum over chance steps  ( E_e[sum_h B_t(h) w(h, e)]          - sum_h B_t+1(h) w(h, e that came) )
             + sum over own actions   ( sum_h B_t(h) sum_a p(a|h) w(h, a)  - sum_h B_t+1(h) w(h, a taken)     )
             + sum over other actions ( sum_h B_t(h) sum_a q(a) w(h, a)    - sum_h B_t+1(h) w(h, a taken)     )

where the *other* actions are those of the trusted opponent once two seats are left. Each bracket has mean 0 given o_t.
The probability of an event e is s = sum_h B_t(h) p(e|h), with q(e) in place of p(e|h) in the last bracket, and s
B_t+1(h) equals B_t(h) p(e|h). The second term of a bracket therefore averages to the first. The payoff term is the
payoff's conditional expectation. Neither argument uses w or the number of seats, and only the last bracket uses an
opponent's strategy.

References
----------
N. Burch et al.: AIVAT: A New Variance Reduction Technique for Agent Evaluation in Imperfect Information Games.
AAAI (2018): the corrections of chance and own actions, and imaginary observations. N. Brown and T. Sandholm:
Superhuman AI for Multiplayer Poker, Science 365 (2019), supplement: the same estimate for one agent at a table of
six.
"""

import functools
import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Agent
from plurispiel.evaluation.announced import Announced, Answers, Reports
from plurispiel.evaluation.betting_lines import BettingLine, BettingLines
from plurispiel.evaluation.correction_walk import Corrections, DealtDeck, HandWalk, Term, Walked
from plurispiel.evaluation.hand import Fault, Hand
from plurispiel.evaluation.situations import NO_CARD, HandQuestions
from plurispiel.evaluation.value_functions import Checkdown, ValueFunction

__all__ = ["Aivat", "Score"]

_MAX_BOARDS = 256


@dataclass(frozen=True, slots=True)
class Score:
    """A seat's payoff in a hand and its corrections, in chips.

    Attributes
    ----------
    payoff : float
        The seat's net chips, without corrections.
    imaginary_hands, chance, own_actions, other_actions : float or None
        Corrections averaged over the seat's imaginary hands, which are the combos that it could have held. None where
        the seat's strategy is not known. The payoff plus all four corrections is the AIVAT estimate.
    true_chance : float
        The correction of chance with the true cards, which needs no strategy.
    true_own_actions : float or None
        The correction of own actions with the true cards; None where the seat's strategy is not known.
    true_other_actions : float
        The correction of a trusted opponent's actions with the true cards, which needs no own strategy. It is a part of
        `reduced`.
    refused : str
        Why the agent's reported strategy could not be used, or that the agent committed a fault in the hand. Empty if
        the strategy could be used, or if an agent without a fault reported none.
    fault : Fault or None
        The fault that ended the agent's process while the agent was asked for its strategy.
    decisions : tuple of (kind, actions, probabilities)
        For every own decision, the index of the kind that was played, the lowest action of each kind, and the kinds'
        probabilities with the true cards. Empty where the strategy is not known. If the reports give the actions that
        were played probability 0 with every possible combo, the tuple holds only the decisions before the action or the
        board card that shows it.
    terms : tuple of Term
        The corrections in the order of the hand. Each of the corrections above is a sum of terms, by `Term.kind`.
    """

    payoff: float
    imaginary_hands: float | None
    chance: float | None
    own_actions: float | None
    other_actions: float | None
    true_chance: float
    true_own_actions: float | None
    true_other_actions: float = 0.0
    refused: str = ""
    decisions: tuple[tuple[int, tuple[int, ...], tuple[float, ...]], ...] = ()
    fault: Fault | None = None
    terms: tuple[Term, ...] = ()

    @property
    def estimate(self) -> float | None:
        """The AIVAT estimate; None where the seat's strategy is not known."""
        corrections = self.imaginary_hands, self.chance, self.own_actions, self.other_actions
        known = [chips for chips in corrections if chips is not None]
        return self.payoff + sum(known) if len(known) == len(corrections) else None

    @property
    def reduced(self) -> float:
        """The estimate that needs no own strategy: payoff, chance and a trusted opponent's actions, with true cards."""
        return self.payoff + self.true_chance + self.true_other_actions


class Aivat:
    """Scores hands of one game with one value function.

    Parameters
    ----------
    rules : HoldemRules
        The game of all hands to score.
    value_function : ValueFunction
        Guesses the values in all corrections; by default `Checkdown`.

    Attributes
    ----------
    announced : list of (list of Announced, or None)
        For each seat, the strategies that its agent reported at its decisions in the hand scored most recently. None
        if the agent reported no strategy, or one that cannot be used, or committed a fault in the hand. But a report
        that gives a played action probability 0 with every possible combo is kept.

    Examples
    --------
    >>> from plurispiel.abstraction.holdem.rules import LEDUC
    >>> from plurispiel.agents import make_agent
    >>> from plurispiel.evaluation import play_hand
    >>> agents = [make_agent("tag"), make_agent("call")]
    >>> deck = np.array([9, 0, 8], dtype=np.uint8)  # king against jack, and a king comes
    >>> hand = play_hand(LEDUC, agents, deck, [np.random.default_rng(seat) for seat in range(2)])
    >>> score = Aivat(LEDUC).scores(hand, agents)[0]
    >>> score.payoff, round(score.estimate, 3)
    (7.0, 5.0)
    """

    def __init__(self, rules: HoldemRules, value_function: ValueFunction | None = None):
        self._rules = rules
        self._lines = BettingLines(rules)
        self._walk = HandWalk(self._lines)
        self._reports = Reports(rules, functools.lru_cache(_MAX_BOARDS)(rules.free_combos))
        self._asked = HandQuestions(self._lines)
        self._values = value_function or Checkdown()
        self._showdowns = self._values if type(self._values) is Checkdown else Checkdown()
        self.restart(np.random.default_rng(0))

    def restart(self, rng: np.random.Generator) -> None:
        """Forget the previous deck, and sample outcomes of chance from `rng` from now on.

        Consecutive hands of the same deck share the values that were computed for it.

        Parameters
        ----------
        rng : Generator
            Independent of the decks and of the agents' streams.
        """
        self._rng = rng
        self._deck = b""
        self._dealt: DealtDeck | None = None
        self._deal_means: list[float] = []
        self.announced: list[list[Announced] | None] = []

    def scores(self, hand: Hand, agents: Sequence[Agent], trusted: Collection[int] = ()) -> tuple[Score, ...]:
        """Return the score of every seat of a hand.

        Parameters
        ----------
        agents : sequence of Agent
            For each seat the agent that reports the strategy: the agent that played the hand, or another in its place.
            Every seat's reports correct the seat's own score. An agent that may lie for its own gain must therefore be
            replaced by an agent that reports nothing.
        trusted : collection of int
            Seats whose reports also correct the score of their last opponent, once only two seats are left in a hand.
        """
        if hand.deck.tobytes() != self._deck or self._dealt is None:
            self._begin_deck(hand.deck)
        deck, asked = self._dealt, self._asked
        assert deck is not None
        lines = self._lines.along(hand.actions)
        answers = self._reports.ask(hand, lines, agents)
        self.announced = [answer.announced for answer in answers]
        asked.clear(deck.board, deck.hole_cards)
        folded = hand.folded
        shown = [hand.showdown and seat not in folded for seat in range(self._rules.num_seats)]
        walked = self._walk.walk(hand.actions, lines, deck, self.announced, trusted, shown, asked)
        if not self._deal_means:
            self._deal_means = [self._values.deal_mean(self._rules, seat) for seat in range(self._rules.num_seats)]
        corrections = self._walk.settle(*self._values.sums(asked), self._deal_means)
        return tuple(
            self._score(hand, lines[-1], seat, answers[seat], walked[seat], corrections[seat], shown[seat])
            for seat in range(self._rules.num_seats)
        )

    def _begin_deck(self, deck: np.ndarray) -> None:
        """Forget the previous deck, and compute the parts of scores that all hands of a deck share."""
        rules = self._rules
        self.restart(self._rng)
        self._values.restart(self._rng)
        self._showdowns.restart(self._rng)
        self._deck = deck.tobytes()
        shown = rules.num_seats * rules.num_hole_cards
        held, board = deck[:shown].reshape(rules.num_seats, rules.num_hole_cards), deck[shown:].tolist()
        sizes = [0, *(rules.board_size(street) for street in range(rules.num_streets))]
        hole_cards = [held.copy() for _ in range(rules.num_seats)]
        starts = np.empty((rules.num_seats, rules.num_combos))
        for seat, others in enumerate(hole_cards):
            others[seat] = NO_CARD
            starts[seat] = rules.free_combos([*others.ravel().tolist(), *board[: sizes[1]]])
            starts[seat] /= starts[seat].sum()
        self._dealt = DealtDeck(
            board=tuple(board),
            hole_cards=hole_cards,
            held=np.array([rules.combo_id(cards) for cards in held.tolist()], np.int64),
            starts=starts,
            free=np.array([rules.free_combos(board[known:size]) for known, size in itertools.pairwise(sizes)]),
        )

    def _score(
        self,
        hand: Hand,
        last: BettingLine,
        seat: int,
        answers: Answers,
        walked: Walked,
        corrections: Corrections,
        is_shown: bool,
    ) -> Score:
        """Return a seat's score from its pass through the hand, which ended with the line `last`."""
        refused, terms = answers.refused, corrections.terms
        if walked.is_refuted:
            refused = "it gives the actions that were played probability 0 with every possible combo"
        known = answers.announced is not None and not walked.is_refuted
        # Without a showdown the payoff is the same with every hand.
        imaginary = 0.0
        if is_shown:
            payoffs = self._showdowns.values(self._asked.situation(seat, last, walked.board_size))
            imaginary = dot(walked.weights, payoffs) - hand.payoffs[seat]
            terms.append(Term("showdown", len(hand.actions), imaginary, 0.0))
        return Score(
            payoff=hand.payoffs[seat],
            imaginary_hands=imaginary if known else None,
            chance=corrections.chance if known else None,
            own_actions=corrections.own_actions if known else None,
            other_actions=corrections.other_actions if known else None,
            true_chance=corrections.true_chance,
            true_own_actions=corrections.true_own_actions if known else None,
            true_other_actions=corrections.true_other_actions,
            refused=refused,
            decisions=walked.decisions,
            fault=answers.fault,
            terms=tuple(terms),
        )
