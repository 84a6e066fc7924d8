"""The passes of all seats through a hand: the weights B_t of each seat's combos, and AIVAT's corrections (`aivat`)."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.abstraction.holdem.rules import KUHN
from plurispiel.abstraction.machine.sums import numpy_order
from plurispiel.agents.base import Action
from plurispiel.evaluation import _correction_kernels as kernels
from plurispiel.evaluation.announced import Announced
from plurispiel.evaluation.betting_lines import BettingLine, BettingLines
from plurispiel.evaluation.situations import HandQuestions

__all__ = ["Corrections", "DealtDeck", "HandWalk", "Term", "Walked"]

_KINDS = ("deal", "board", "action", "other")
"""The kinds of terms by the kinds of events in `_correction_kernels`."""

_FIRST_ROWS = 64


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


Decisions = tuple[tuple[int, tuple[int, ...], tuple[float, ...]], ...]
"""As `aivat.Score.decisions`."""


class Corrections(NamedTuple):
    """The corrections of one seat's score; sums whose names begin with ``true_`` are of the true combo."""

    terms: list[Term]
    chance: float
    own_actions: float
    other_actions: float
    true_chance: float
    true_own_actions: float
    true_other_actions: float


class DealtDeck(NamedTuple):
    """The cards of a deck, as the passes of all its hands need them.

    Attributes
    ----------
    board : tuple of int
        All board cards.
    hole_cards : list of uint8[num_seats, num_hole_cards]
        For each seat, the true cards of the other seats, as in `Situation`.
    held : int64[num_seats]
        The combo that each seat holds.
    starts : float64[num_seats, num_combos]
        For each seat B_1, the weights after the deal: uniform over the possible combos.
    free : bool[num_streets, num_combos]
        The combos that share no card with the cards that come on each street.
    """

    board: tuple[int, ...]
    hole_cards: list[np.ndarray]
    held: np.ndarray
    starts: np.ndarray
    free: np.ndarray


class Walked(NamedTuple):
    """The end of one seat's pass through a hand.

    Attributes
    ----------
    weights : float64[num_combos]
        B_T, the last weights.
    board_size : int
        The number of board cards that the seat has seen.
    decisions : tuple
        As `aivat.Score.decisions`; empty if the strategy was not reported.
    is_refuted : bool
        Whether the reports give the actions that were played the probability 0 with every combo that the board leaves
        possible. The decisions are those before the action or the card that shows it.
    """

    weights: np.ndarray
    board_size: int
    decisions: Decisions
    is_refuted: bool


class HandWalk:
    """Passes through one hand after another with each seat; the memory of one hand serves the next hand.

    If a seat's strategy is not known, no values of other combos are asked for, and only the true corrections have a
    meaning. The weights depend on no value. So one call asks a value function for all values of a hand; `settle`
    receives the answers.

    Parameters
    ----------
    lines : BettingLines
        The lines of the game, in which the walk finds the lines after actions that were not played.
    """

    def __init__(self, lines: BettingLines):
        rules = lines.rules
        self._lines = lines
        self._sizes = np.array([rules.board_size(street) for street in range(rules.num_streets)], np.int64)
        self._order = numpy_order(rules.num_combos)
        self._probabilities = np.empty((_FIRST_ROWS, rules.num_combos))
        self._ends = np.empty((rules.num_seats, 3), np.int64)
        self._counts = np.zeros(4, np.int64)
        self._sums = np.empty((rules.num_seats, 6))

    def walk(
        self,
        actions: Sequence[Action],
        lines: Sequence[BettingLine],
        deck: DealtDeck,
        announced: Sequence[Sequence[Announced] | None],
        trusted: Collection[int],
        shown: Sequence[bool],
        asked: HandQuestions,
    ) -> list[Walked]:
        """Pass through a hand, and ask for the values that the corrections need.

        Parameters
        ----------
        actions : sequence of Action
            The hand's actions.
        lines : sequence of BettingLine
            The line before every action, and after the last one.
        deck : DealtDeck
        announced : sequence of (sequence of Announced, or None)
            For each seat, the strategies reported at its decisions; None where the strategy is not known.
        trusted : collection of int
            Seats whose reports also correct the score of their last opponent.
        shown : sequence of bool
            Whether each seat is at the showdown.
        asked : HandQuestions
            Receives the questions.
        """
        played, firsts = self._read(actions, lines, deck, announced, trusted, shown)
        num_kinds, num_seats, num_streets = len(played.after), len(deck.held), len(self._sizes)
        at_decisions = num_seats * (num_kinds + len(actions))
        asked.make_room(num_seats * num_streets + num_kinds + len(actions), 2 * num_seats * num_streets + at_decisions)
        rows = np.empty(num_kinds)
        self._walks = kernels.Walks(
            weights=asked.weights,
            questions=asked.table,
            factors=asked.factors,
            parts=np.empty((2 * num_seats * num_streets + at_decisions, 2), np.int64),
            part_factors=np.empty((2 * num_seats * num_streets + at_decisions, 2)),
            events=np.empty((num_seats * (num_streets + len(actions)), 3), np.int64),
            ends=self._ends,
            rows=rows,
            counts=self._counts,
        )
        kernels.walk_hand(played, self._walks)
        asked.number = int(self._counts[kernels.NUM_QUESTIONS])
        chances, found = rows.tolist(), []
        for seat, (row, size, refuted) in enumerate(self._ends.tolist()):
            reported = announced[seat] or ()
            decisions = [
                (each.played, tuple(each.actions), tuple(chances[first : first + len(each.actions)]))
                for each, first in zip(reported, firsts[seat], strict=False)
            ]
            if refuted >= 0:
                del decisions[refuted:]
            found.append(Walked(asked.weights[row], size, tuple(decisions), refuted >= 0))
        return found

    def _read(
        self,
        actions: Sequence[Action],
        lines: Sequence[BettingLine],
        deck: DealtDeck,
        announced: Sequence[Sequence[Announced] | None],
        trusted: Collection[int],
        shown: Sequence[bool],
    ) -> tuple[kernels.PlayedHand, list[list[int]]]:
        """Return the hand as the kernels read it and, for each seat, the first row of each of its reports."""
        rows: list[int] = []  # a flat list becomes an array faster than a list of rows
        after: list[int] = []
        reports = []
        firsts: list[list[int]] = [[] for _ in announced]
        for k, (seat, action, street) in enumerate(actions):
            line, reported, kind, first = lines[k], announced[seat], 0, len(after)
            is_watched = False
            if reported is not None:
                each = reported[len(firsts[seat])]
                firsts[seat].append(first)
                kind = each.played
                reports.append(each.probabilities)
                after += [self._lines.after(line, lowest).number for lowest in each.actions]
                is_watched = seat in trusted and line.state[betting.NUM_LIVE] == 2
            rows += (seat, street, lines[k + 1].number, kind, first, len(after) - first, is_watched, action == FOLD)
        if len(after) > len(self._probabilities):
            self._probabilities = np.empty((2 * len(after), self._probabilities.shape[1]))
        if reports:
            np.concatenate(reports, out=self._probabilities[: len(after)])
        hand = kernels.PlayedHand(
            actions=np.array(rows, np.int64).reshape(len(actions), 8),
            after=np.array(after, np.int64),
            probabilities=self._probabilities,
            starts=deck.starts,
            free=deck.free,
            sizes=self._sizes,
            held=deck.held,
            tells=np.array([reported is not None for reported in announced]),
            is_shown=np.array(shown),
            order=self._order,
        )
        return hand, firsts

    def settle(self, weighted: np.ndarray, single: np.ndarray, deal_means: Sequence[float]) -> list[Corrections]:
        """Return each seat's corrections in the hand that was walked last.

        Parameters
        ----------
        weighted, single : float64[num_questions]
            The answers to all questions about the hand (`ValueFunction.sums`).
        deal_means : sequence of float
            Each seat's mean value over all deals.
        """
        number = int(self._counts[kernels.NUM_EVENTS])
        chips = np.empty((number, 2))
        kernels.settle_hand(self._walks, weighted, single, np.array(deal_means, np.float64), chips, self._sums)
        terms: list[list[Term]] = [[] for _ in deal_means]
        events = self._walks.events[:number].tolist()
        for (kind, num_actions, seat), (mean, true) in zip(events, chips.tolist(), strict=True):
            terms[seat].append(Term(_KINDS[kind], num_actions, mean, true))
        return [Corrections(terms[seat], *sums) for seat, sums in enumerate(self._sums.tolist())]


def warmup() -> None:
    """Compile every kernel that this module calls."""
    lines = BettingLines(KUHN)
    along = lines.along(())
    none = np.zeros((KUHN.num_seats, KUHN.num_combos))
    held = np.zeros(KUHN.num_seats, np.int64)
    deck = DealtDeck((), [], held, none, np.ones((KUHN.num_streets, KUHN.num_combos), np.bool_))
    walk, asked = HandWalk(lines), HandQuestions(lines)
    walk.walk((), along, deck, [None, None], (), [False, False], asked)
    answers = np.zeros(asked.number)
    walk.settle(answers, answers, (0.0, 0.0))
