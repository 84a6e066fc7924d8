"""Points of a hand, and the questions that AIVAT asks about them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action
from plurispiel.evaluation.betting_lines import BettingLine, BettingLines

NO_CARD = 255
"""Placeholder of the unknown hole cards in a `Situation`."""

POINT, ROW, COMBO, SEAT, LINE, SIZE, ALONE, NUM_CARDS = range(8)
"""Columns of `HandQuestions.table`."""

_FIRST_ROWS = 64


class Situation(NamedTuple):
    """A point of a hand at which all dealt cards are known except the hole cards of one seat.

    Attributes
    ----------
    rules : HoldemRules
        The game.
    seat : int
        The seat whose values are wanted.
    hole_cards : uint8[num_seats, num_hole_cards]
        The true cards of the other seats; `NO_CARD` in the row of `seat`.
    board : tuple of int
        The board cards so far.
    actions : tuple of Action
        The actions so far.
    state : list of int
        The betting state (`betting_layout`) after `actions`.
    asked : bool[num_combos], optional
        The combos whose values are wanted; by default all.
    """

    rules: HoldemRules
    seat: int
    hole_cards: np.ndarray
    board: tuple[int, ...]
    actions: tuple[Action, ...]
    state: list[int]
    asked: np.ndarray | None = None

    def free_cards(self) -> np.ndarray:
        """Return the cards that are neither on the board nor in another seat's hand, ascending: uint8[num_free]."""
        is_free = np.zeros(NO_CARD + 1, dtype=bool)
        is_free[self.rules.cards] = True
        is_free[self.hole_cards] = False
        is_free[list(self.board)] = False
        return is_free.nonzero()[0].astype(np.uint8)

    def holdable(self) -> np.ndarray:
        """Return which combos the seat may hold: bool[num_combos]."""
        return self.rules.free_combos([*self.hole_cards.ravel().tolist(), *self.board])


class HandQuestions:
    """The questions about a hand. The object serves one hand after another, and keeps its memory.

    A question is about one seat's values at a point of a hand. The questions stand seat by seat, and for each seat in
    the order of the hand.

    Parameters
    ----------
    lines : BettingLines

    Attributes
    ----------
    rules : HoldemRules
    number : int
        The number of questions.
    table : int64[n, 8]
        A row for each question, and rows that are not used:

        - `POINT`: for the use of value functions;
        - `ROW`: the row of `weights` with the weights of the combos;
        - `COMBO`: the combo whose single value is needed, whatever its weight, -1 for none;
        - `SEAT`: the seat whose values are wanted;
        - `LINE`: the number of the line of the actions so far;
        - `SIZE`: the number of board cards so far;
        - `ALONE`: 1 if only the single value is needed, else 0;
        - `NUM_CARDS`: the number of further board cards, over whose deals the mean of the values is taken; 0 for the
          values on the board so far.
    factors : float64[n]
        For each question, the factor by which the score multiplies the weighted sum of the values, without its sign,
        and the largest if there are several; 0 if the sum is not needed.
    weights : float64[num_rows, num_combos]
        Rows of weights. There may be more rows than are used.
    board : tuple of int
        All board cards of the hand.
    hole_cards : list of uint8[num_seats, num_hole_cards]
        For each seat, the true cards of the other seats, as in `Situation`.
    lines : BettingLines
        The lines of the game, among them the lines of the questions.
    """

    def __init__(self, lines: BettingLines):
        self.lines = lines
        self.rules = rules = lines.rules
        self.weights = np.empty((_FIRST_ROWS, rules.num_combos))
        self.table = np.empty((_FIRST_ROWS, NUM_CARDS + 1), np.int64)
        self.factors = np.empty(_FIRST_ROWS)
        self.clear((), [])

    def clear(self, board: tuple[int, ...], hole_cards: list[np.ndarray]) -> None:
        """Forget all questions and weights, and begin a hand."""
        self.number = 0
        self.board = board
        self.hole_cards = hole_cards

    def make_room(self, num_rows: int, num_questions: int) -> None:
        """Make room for this many rows of weights and questions; the contents are lost where there is too little."""
        if num_rows > len(self.weights):
            self.weights = np.empty((2 * num_rows, self.weights.shape[1]))
        if num_questions > len(self.table):
            self.table = np.empty((2 * num_questions, self.table.shape[1]), np.int64)
            self.factors = np.empty(2 * num_questions)

    def __iter__(self) -> Iterator[tuple[Situation, int, np.ndarray, int]]:
        """Yield for each question its situation, the number of next board cards, the weights and the combo."""
        for _, row, combo, seat, line, size, _, num_cards in self.table[: self.number].tolist():
            yield self.situation(seat, self.lines.numbered(line), size), num_cards, self.weights[row], combo

    def situation(self, seat: int, line: BettingLine, board_size: int) -> Situation:
        """Return a seat's situation after the actions of a line, with the first cards of the board."""
        return Situation(self.rules, seat, self.hole_cards[seat], self.board[:board_size], line.actions, line.state)
