"""One seat's pass through a hand: the weights B_t of the seat's combos, and AIVAT's corrections (`aivat`)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.agents.base import Action
from plurispiel.evaluation import _aivat_kernels as kernels
from plurispiel.evaluation.announced import Announced, BadStrategy
from plurispiel.evaluation.betting_lines import BettingLine, BettingLines
from plurispiel.evaluation.situations import HandQuestions, Situation

__all__ = ["CorrectionWalk", "Sums", "Term"]

_CERTAIN = 1.0 - 1e-12
"""An action's probability over all combos counts as 1 from this value on. It is a sum of up to 1,326 products, whose
rounding error is below 1e-12."""


class Term(NamedTuple):
    """One correction of a seat's score.

    Attributes
    ----------
    kind : {"deal", "board", "action", "other", "showdown"}
        The luck that the term removes: ``deal`` that of the dealt hole cards, ``board`` of new board cards, ``action``
        of an own action, ``other`` of an opponent's action, ``showdown`` of the seat's own cards at the showdown.
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


_Part = tuple[int, tuple[float, ...], tuple[float, ...]]
"""How a question's answers enter a correction: the number of the question, the factors and the true factors.

The correction over imaginary hands adds the question's weighted sum times each factor. The correction with the true
cards adds the value of the true combo times each true factor.
"""

_Event = tuple[str, int, list[_Part]]
"""An event to correct for: `kind` and `num_actions` as in `Term`, and the parts of the correction."""


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
    meaning. The weights depend on no value. So one call asks a value function for all values of a hand, when the walks
    of all seats have ended; `settle` receives the answers.

    Parameters
    ----------
    asked : HandQuestions
        The questions about the hand, to which this walk adds its own.
    seat : int
    line : BettingLine
        The line without actions.
    board_size : int
        The number of board cards after the deal.
    weights : float64[num_combos]
        B_1, the weights after the deal.
    own : int
        The combo that the seat really held.
    lines : BettingLines
        The lines of the game, in which the walk finds the lines after actions that were not played.
    is_told : bool
        Whether the seat's strategy is known.
    """

    __slots__ = (
        "board_size", "decisions", "_asked", "_events", "_is_told", "_lines", "_own", "_row", "_seat",
    )  # fmt: skip

    def __init__(
        self,
        asked: HandQuestions,
        seat: int,
        line: BettingLine,
        board_size: int,
        weights: np.ndarray,
        own: int,
        lines: BettingLines,
        *,
        is_told: bool,
    ):
        self.board_size = board_size
        self.decisions: list[tuple[int, tuple[int, ...], tuple[float, ...]]] = []
        self._asked = asked
        self._seat = seat
        self._is_told = is_told
        self._own = own
        self._lines = lines
        self._row = asked.new_rows(1)
        asked.weights[self._row] = weights
        self._events: list[_Event] = [("deal", 0, [self._part(line, self._row, (-1.0,), (-1.0,))])]

    @property
    def weights(self) -> np.ndarray:
        """B_t, the present weights: float64[num_combos]."""
        return self._asked.weights[self._row]

    def situation(self, line: BettingLine) -> Situation:
        """Return the situation after the actions of a line, on the board seen so far."""
        return self._asked.situation(self._seat, line, self.board_size)

    def see_board(self, line: BettingLine, size: int, is_free: np.ndarray) -> None:
        """Correct for the deal that brings the board to `size` cards; combos outside `is_free` become impossible."""
        asked, row = self._asked, self._asked.new_rows(1)
        before = self._part(line, self._row, (1.0,), (1.0,), size - self.board_size)
        self.board_size = size
        # B_t+1: these cards were equally likely with every combo that is still free, so only the other combos drop out.
        after = np.multiply(asked.weights[self._row], is_free, out=asked.weights[row])
        after /= after.sum()
        self._row = row
        self._events.append(("board", len(line.actions), [before, self._part(line, row, (-1.0,), (-1.0,))]))

    def act(self, line: BettingLine, announced: Announced, action: Action) -> None:
        """Correct for an own action after a line, and update the weights: B_t+1(h) ~ B_t(h) p(a|h).

        Raises
        ------
        BadStrategy
            If the strategy gives the action played probability 0 with every possible combo.
        """
        actions, _, probabilities, played = announced
        asked, number = self._asked, len(actions)
        first, numbers = asked.new_rows(number + 1), np.empty((2, number))
        kernels.weigh_actions(asked.weights, self._row, first, probabilities, played, self._own, numbers)
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
            if kind == played:  # this row of weights, divided by the share, is B_t+1
                factors: tuple[float, ...] = -1.0 / shares[kind], 1.0
                true_factors: tuple[float, ...] = -1.0, row[kind]
            else:
                factors, true_factors = (1.0,), (row[kind],)
            parts.append(self._part(self._lines.after(line, taken), first + kind, factors, true_factors))
        self._row = first + number
        self._events.append(("action", len(line.actions), parts))

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
                parts.append(self._part(self._lines.after(line, taken), self._row, (share,), (share,)))
        self._events.append(("other", len(line.actions), parts))

    def _pass_on(self, line: BettingLine, action: Action) -> None:
        """Ask for the values after an action that needs no correction.

        No correction contains these values. They are asked for because a value function may compute the values before
        an action as means of the values after the possible actions (`BlueprintValues.sums`).
        """
        self._part(self._lines.after(line, action.action), self._row, (1.0,), (1.0,))

    def _part(
        self,
        line: BettingLine,
        row: int,
        factors: tuple[float, ...],
        true_factors: tuple[float, ...],
        num_cards: int = 0,
    ) -> _Part:
        """Ask for the value of the true combo and, if the strategy is known, for a weighted sum over all combos."""
        # The corrections with the true cards need the value of the true combo alone.
        factor = max(map(abs, factors)) if self._is_told else 0.0
        questions = self._asked.all
        number = len(questions)
        questions.append((self._seat, line, self.board_size, num_cards, row, factor, self._own))
        return number, factors, true_factors

    def settle(self, weighted: Sequence[float], single: Sequence[float], deal_mean: float) -> Sums:
        """Return the corrections for all events.

        Parameters
        ----------
        weighted, single : sequence of float
            The answers to all questions about the hand (`ValueFunction.sums`).
        deal_mean : float
            The mean value over all deals.
        """
        sums = Sums()
        for kind, num_actions, parts in self._events:
            chips = true_chips = deal_mean if kind == "deal" else 0.0
            for question, factors, true_factors in parts:
                value, true_value = weighted[question], single[question]
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
    """Compile every kernel that this module calls."""
    kernels.weigh_actions(np.ones((3, 1)), 0, 1, np.ones((1, 1)), 0, 0, np.empty((2, 1)))
