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
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Agent
from plurispiel.evaluation.announced import Announced, Answers, BadStrategy, Reports
from plurispiel.evaluation.betting_lines import BettingLine, BettingLines
from plurispiel.evaluation.correction_walk import CorrectionWalk, Sums, Term
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
        probabilities with the true cards. Empty where the strategy is not known. If a report gives the action played
        probability 0 with every possible combo, the tuple holds only the decisions before that action.
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


class _Pass(NamedTuple):
    """One seat's pass through a hand.

    Attributes
    ----------
    walk : CorrectionWalk
    is_known : bool
        Whether the seat's strategy is known.
    refused : str
        Why the reported strategy could not be used; empty without a reason.
    is_shown : bool
        Whether the seat is at the showdown.
    """

    walk: CorrectionWalk
    is_known: bool
    refused: str
    is_shown: bool


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
        self._sizes = [rules.board_size(street) for street in range(rules.num_streets)]
        self._lines = BettingLines(rules)
        self._free = functools.lru_cache(_MAX_BOARDS)(rules.free_combos)
        self._reports = Reports(rules, self._free)
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
        self._cards: list[int] = []
        self._combos: list[int] = []
        self.announced: list[list[Announced] | None] = []
        self._starts: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._deal_means: dict[int, float] = {}

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
        rules = self._rules
        if hand.deck.tobytes() != self._deck:
            self.restart(self._rng)
            self._deck = hand.deck.tobytes()
            self._cards = hand.deck.tolist()
            held = hand.deck[: rules.num_seats * rules.num_hole_cards].reshape(rules.num_seats, -1).tolist()
            self._combos = list(map(rules.combo_id, held))
            self._values.restart(self._rng)
            self._showdowns.restart(self._rng)
        lines = self._lines.along(hand.actions)
        asked = self._reports.ask(hand, lines, agents)
        self.announced = [answers.announced for answers in asked]
        told = [answers.announced if seat in trusted else None for seat, answers in enumerate(asked)]
        num_seats, combos = rules.num_seats, self._combos
        starts = [self._start(hand, seat) for seat in range(num_seats)]
        self._asked.clear(
            tuple(self._cards[num_seats * rules.num_hole_cards :]), [hole_cards for hole_cards, _ in starts]
        )
        passes = [self._walk(hand, lines, seat, combos, asked[seat], told) for seat in range(num_seats)]
        means = [self._deal_mean(seat) for seat in range(num_seats)]
        weighted, single = self._values.sums(self._asked)
        return tuple(
            self._score(hand, lines, seat, asked[seat].fault, each, each.walk.settle(weighted, single, mean))
            for seat, (each, mean) in enumerate(zip(passes, means, strict=True))
        )

    def _walk(
        self,
        hand: Hand,
        lines: Sequence[BettingLine],
        seat: int,
        combos: list[int],
        asked: Answers,
        told: Sequence[list[Announced] | None],
    ) -> "_Pass":
        """Pass through the hand with one seat, and ask for the values that its corrections need."""
        announced, refused = asked.announced, asked.refused
        board, weights, sizes = self._asked.board, self._starts[seat][1], self._sizes
        walk = CorrectionWalk(
            self._asked,
            seat,
            lines[0],
            sizes[0],
            weights,
            combos[seat],
            self._lines,
            is_told=announced is not None,
        )
        decisions = [0] * self._rules.num_seats
        for line, action in zip(lines, hand.actions, strict=False):
            size = sizes[action.street]
            if size > walk.board_size:
                walk.see_board(line, size, self._free(board[walk.board_size : size]))
            actor = action.seat
            decision = decisions[actor]
            decisions[actor] += 1
            try:
                if actor == seat:
                    if announced is not None:
                        walk.act(line, announced[decision], action)
                elif line.state[betting.NUM_LIVE] == 2 and (others := told[actor]) is not None:
                    walk.watch(line, others[decision], combos[actor], action)
            except BadStrategy as error:
                announced, refused = None, str(error)
            if actor == seat and action.action == FOLD:
                break  # no later event changes the seat's payoff, and therefore no later correction is needed
        is_shown = hand.showdown and seat not in hand.folded
        if is_shown and walk.board_size < len(board):
            walk.see_board(lines[-1], len(board), self._free(board[walk.board_size :]))
        return _Pass(walk, announced is not None, refused, is_shown)

    def _score(
        self, hand: Hand, lines: Sequence[BettingLine], seat: int, fault: Fault | None, each: "_Pass", sums: Sums
    ) -> Score:
        """Return a seat's score from its pass through the hand and the sums of its corrections."""
        walk, known, refused, is_shown = each
        # Without a showdown the payoff is the same with every hand.
        imaginary = 0.0
        if is_shown:
            payoffs = self._showdowns.values(walk.situation(lines[-1]))
            imaginary = dot(walk.weights, payoffs) - hand.payoffs[seat]
            sums.terms.append(Term("showdown", len(hand.actions), imaginary, 0.0))
        return Score(
            payoff=hand.payoffs[seat],
            imaginary_hands=imaginary if known else None,
            chance=sums.chance if known else None,
            own_actions=sums.own_actions if known else None,
            other_actions=sums.other_actions if known else None,
            true_chance=sums.true_chance,
            true_own_actions=sums.true_own_actions if known else None,
            true_other_actions=sums.true_other_actions,
            refused=refused,
            decisions=tuple(walk.decisions),
            fault=fault,
            terms=tuple(sums.terms),
        )

    def _start(self, hand: Hand, seat: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the other seats' hole cards, and the weight of each combo: B_1, uniform over the possible combos."""
        if seat not in self._starts:
            rules = self._rules
            shown = rules.num_seats * rules.num_hole_cards
            hole_cards = hand.deck[:shown].reshape(rules.num_seats, rules.num_hole_cards).copy()
            hole_cards[seat] = NO_CARD
            board = hand.deck[shown : shown + rules.board_size(0)].tolist()
            weights = rules.free_combos([*hole_cards.ravel().tolist(), *board]).astype(np.float64)
            self._starts[seat] = hole_cards, weights / weights.sum()
        return self._starts[seat]

    def _deal_mean(self, seat: int) -> float:
        if seat not in self._deal_means:
            self._deal_means[seat] = self._values.deal_mean(self._rules, seat)
        return self._deal_means[seat]
