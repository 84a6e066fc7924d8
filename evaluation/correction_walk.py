"""One seat's pass through a hand: the weights B_t of the seat's combos, and AIVAT's corrections (`aivat`)."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Action
from plurispiel.evaluation import _aivat_kernels as kernels
from plurispiel.evaluation.announced import Announced, BadStrategy
from plurispiel.evaluation.betting_lines import BettingLine, BettingLines
from plurispiel.evaluation.value_functions import Question, Situation, ValueFunction

__all__ = ["CorrectionWalk", "Sums", "Term"]

_CERTAIN = 1.0 - 1e-12
"""A share of at least this value counts as 1. A share is a sum of up to 1,326 products, rounded by less than 1e-12."""


class Term(NamedTuple):
    """One correction of a seat's score.

    Attributes
    ----------
    kind : {"deal", "board", "action", "other", "showdown"}
        The luck that the term removes: of the dealt hole cards, of new board cards, of an own action, of an opponent's
        action, or of the seat's own cards at the showdown.
    num_actions : int
        The number of actions in the hand before this event.
    chips : float
        The correction averaged over the seat's imaginary hands; meaningless where the seat's strategy is not known.
    true_chips : float
        The correction with the seat's true cards; the reduced form adds it for the kinds deal, board and other.
    """

    kind: str
    num_actions: int
    chips: float
    true_chips: float


class _Part(NamedTuple):
    """The values of one question in a correction.

    The correction over imaginary hands has their sum weighted by `weights`, times each factor. The correction with the
    true cards has the value of the true combo, times each true factor.
    """

    question: int
    weights: np.ndarray
    factors: tuple[float, ...]
    true_factors: tuple[float, ...]


class _Event(NamedTuple):
    """An event to correct for; `kind` and `num_actions` as in `Term`."""

    kind: str
    num_actions: int
    parts: list[_Part]


class Sums:
    """The corrections of one seat's score; sums whose names begin with ``true_`` are of the true combo."""

    __slots__ = (
        "chance", "own_actions", "other_actions", "true_chance", "true_own_actions", "true_other_actions", "terms",
    )  # fmt: skip

    def __init__(self) -> None:
        self.chance = self.own_actions = self.other_actions = 0.0
        self.true_chance = self.true_own_actions = self.true_other_actions = 0.0
        self.terms: list[Term] = []


class CorrectionWalk:
    """One seat's pass through a hand: the weights B_t of the seat's combos, and the values that the corrections need.

    If the seat's strategy is not known, no values of other combos are asked for, and only the true corrections have a
    meaning. The weights depend on no value. So the value function is asked for all values of a hand at once, when the
    walk has ended (`settle`).

    Parameters
    ----------
    start : Situation
        The situation after the deal.
    weights : float64[num_combos]
        B_1, the weights after the deal.
    own : int
        The combo that the seat really held.
    lines : BettingLines
        The lines of the game, to find those after actions that were not played.
    is_told : bool
        Whether the seat's strategy is known.
    """

    __slots__ = (
        "board", "decisions", "weights", "_events", "_is_told", "_lines", "_own", "_questions", "_situation",
    )  # fmt: skip

    def __init__(self, start: Situation, weights: np.ndarray, own: int, lines: BettingLines, *, is_told: bool):
        self.board = start.board
        self.weights = weights
        self.decisions: list[tuple[int, tuple[int, ...], tuple[float, ...]]] = []
        self._is_told = is_told
        self._situation = start
        self._own = own
        self._lines = lines
        self._questions: list[Question] = []
        self._events = [_Event("deal", 0, [self._part(start, weights, (-1.0,), (-1.0,))])]

    def situation(self, line: BettingLine) -> Situation:
        """Return the situation after the actions of a line, on the board seen so far."""
        rules, seat, hole_cards, *_ = self._situation
        return Situation(rules, seat, hole_cards, self.board, line.actions, line.state)

    def see_board(self, line: BettingLine, board: tuple[int, ...], is_free: np.ndarray) -> None:
        """Correct for board cards up to `board`, after which the combos outside `is_free` are impossible."""
        num_cards = len(board) - len(self.board)
        before = self._part(self.situation(line), self.weights, (1.0,), (1.0,), num_cards)
        self.board = board
        # B_t+1: these cards were equally likely with every combo that is still free, so only the other combos drop out.
        self.weights = self.weights * is_free
        self.weights /= self.weights.sum()
        after = self._part(self.situation(line), self.weights, (-1.0,), (-1.0,))
        self._events.append(_Event("board", len(line.actions), [before, after]))

    def act(self, line: BettingLine, announced: Announced, action: Action) -> None:
        """Correct for an own action after a line, and update the weights: B_t+1(h) ~ B_t(h) p(a|h).

        Raises
        ------
        BadStrategy
            If the strategy gives the action played probability 0 with every possible combo.
        """
        actions, _, probabilities, played = announced
        weights, (number, num_combos) = self.weights, probabilities.shape
        products, after = np.empty((number, num_combos)), np.empty(num_combos)
        numbers = np.empty((2, number))
        kernels.weigh_actions(weights, probabilities, played, self._own, products, after, numbers)
        shares, row = numbers.tolist()
        if not shares[played] > 0.0:
            raise BadStrategy("it gives the action that was played probability 0 with every possible combo")
        self.decisions.append((played, tuple(actions), tuple(row)))
        if shares[played] >= _CERTAIN and row[played] == 1.0:  # no choice, no luck
            self._pass_on(line, action)
            return
        parts = []
        for kind, taken in enumerate(actions):
            if shares[kind] <= 0.0 and row[kind] <= 0.0:
                continue
            # A raise drawn from a range of sizes takes the value of the lowest size on both sides of the correction.
            # Any value leaves the score unbiased if both sides take the same value.
            if kind == played:  # `weights` divided by the share of the action are B_t+1
                factors: tuple[float, ...] = -1.0 / shares[kind], 1.0
                true_factors: tuple[float, ...] = -1.0, row[kind]
            else:
                factors, true_factors = (1.0,), (row[kind],)
            parts.append(self._part(self._follow(line, taken), products[kind], factors, true_factors))
        self.weights = after
        self._events.append(_Event("action", len(line.actions), parts))

    def watch(self, line: BettingLine, announced: Announced, combo: int, action: Action) -> None:
        """Correct for the opponent's action, by its probabilities with the opponent's true cards, `combo`."""
        actions, _, probabilities, played = announced
        row = probabilities[:, combo].tolist()
        if row[played] == 1.0 or row[played] == 0.0:  # no luck, or a report that contradicts the play
            self._pass_on(line, action)
            return
        parts = []
        for kind, taken in enumerate(actions):
            # The mean less the value of the action that came, in one sum: B is the same before and after.
            share = row[kind] - (kind == played)
            if share:
                parts.append(self._part(self._follow(line, taken), self.weights, (share,), (share,)))
        self._events.append(_Event("other", len(line.actions), parts))

    def _pass_on(self, line: BettingLine, action: Action) -> None:
        """Ask for the values after an action without a correction, for a value function that takes means over actions.

        No correction contains these values. Such a function needs them, as they are also the values before the action.
        """
        self._part(self._follow(line, action.action), self.weights, (1.0,), (1.0,))

    def _follow(self, line: BettingLine, action: int) -> Situation:
        """Return the situation after one more action, which need not be the one that was played."""
        return self.situation(self._lines.after(line, action))

    def _part(
        self,
        situation: Situation,
        weights: np.ndarray,
        factors: tuple[float, ...],
        true_factors: tuple[float, ...],
        num_cards: int = 0,
    ) -> _Part:
        """Ask for the value of the true combo and, if the strategy is known, of the combos with positive weight."""
        counted = None  # the forms with the true cards need the value of the true combo alone
        if self._is_told:
            most = max(map(abs, factors))
            counted = weights if most == 1.0 else weights * most
        questions = self._questions
        questions.append(Question(situation, num_cards, counted, self._own))
        return _Part(len(questions) - 1, weights, factors, true_factors)

    def settle(self, value_function: ValueFunction, deal_mean: float) -> Sums:
        """Return the corrections for all events, where `deal_mean` is the mean value over all deals."""
        sums, own = Sums(), self._own
        answers = value_function.answers(self._questions)
        for kind, num_actions, parts in self._events:
            chips = true_chips = deal_mean if kind == "deal" else 0.0
            for question, weights, factors, true_factors in parts:
                values = answers[question]
                value, true_value = dot(weights, values), float(values[own])
                for factor in factors:
                    chips += factor * value
                for factor in true_factors:
                    true_chips += factor * true_value
            if kind == "action":
                sums.own_actions += chips
                sums.true_own_actions += true_chips
            elif kind == "other":
                sums.other_actions += chips
                sums.true_other_actions += true_chips
            else:
                sums.chance += chips
                sums.true_chance += true_chips
            sums.terms.append(Term(kind, num_actions, chips, true_chips))
        return sums


def warmup() -> None:
    """Compile every kernel of this module."""
    row, table = np.ones(1), np.ones((1, 1))
    kernels.weigh_actions(row, table, 0, 0, np.empty((1, 1)), np.empty(1), np.empty((2, 1)))
