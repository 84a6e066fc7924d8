"""The plan by which `BlueprintValues` answers all questions about a hand in one call of a kernel.

A *point* is a situation of the hand that is asked about.
"""

from collections.abc import Callable, Iterable

import numpy as np

from plurispiel.evaluation._blueprint_values_kernels import FILLED
from plurispiel.evaluation.betting_lines import BettingLine
from plurispiel.evaluation.known_values import KnownCards, KnownValues
from plurispiel.evaluation.line_places import IN_TREE, LinePlace
from plurispiel.evaluation.situations import HandQuestion

__all__ = ["HandPlan"]


class _View:
    """A seat's points with one board.

    Attributes
    ----------
    cards : KnownCards
    numbers : dict of int
        The number of the point of each line.
    decided : set of BettingLine
        The lines that another point extends by one action.
    """

    __slots__ = ("cards", "numbers", "decided")

    def __init__(self, cards: KnownCards):
        self.cards = cards
        self.numbers: dict[BettingLine | None, int] = {}
        self.decided: set[BettingLine] = set()


_Point = tuple[BettingLine, LinePlace, int, _View]
"""A line of betting of one seat, the line's place, the number of board cards, and the seat's points with that board."""


class HandPlan:
    """The tables of a plan, which grow seat by seat (`_blueprint_values_kernels.PlannedPoints`).

    Parameters
    ----------
    known : KnownValues
        Gets the groups and lines of the points.
    find_place : callable
        Maps a line to its `LinePlace`.
    find_cards : callable
        Maps a seat, a number of board cards and whether one combo is asked about alone to the `KnownCards`.

    Attributes
    ----------
    num_points, num_chances : int
        The numbers of points, and of rows of `PlannedPoints.chances`.
    filled : list of (int, BettingLine, int)
        Of the seat added last, the number, line and number of board cards of each point of the kind `FILLED`.
    decided, rolled_out : list of (BettingLine, int, KnownCards)
        Of the seat added last, the line, number of board cards and known cards of the other points with values of the
        tree: those that may take the mean over the points after their actions, and the rest.
    questions : list of int
        The rows of `Asked.questions`, one after the other.
    """

    def __init__(
        self,
        known: KnownValues,
        find_place: Callable[[BettingLine], LinePlace],
        find_cards: Callable[[int, int, bool], KnownCards],
    ):
        self._known = known
        self._find_place = find_place
        self._find_cards = find_cards
        self.num_points = self.num_chances = 0
        self.filled: list[tuple[int, BettingLine, int]] = []
        self.decided: list[tuple[BettingLine, int, KnownCards]] = []
        self.rolled_out: list[tuple[BettingLine, int, KnownCards]] = []
        self.questions: list[int] = []
        self._factors: list[float] = []
        # Flat lists become arrays faster than lists of rows.
        self._rows: list[int] = []
        self._chips: list[float] = []
        self._branches: list[int] = []

    def add_seat(self, seat: int, questions: Iterable[HandQuestion]) -> None:
        """Add the points of the questions about one seat, given in ascending order of their numbers of actions."""
        first = self.num_points
        views: dict[int, _View] = {}
        points: list[_Point] = []
        find_place, asked, factors = self._find_place, self.questions, self._factors
        for _, line, size, _, row, factor, combo in questions:
            view = views.get(size)
            if view is None:
                view = views[size] = _View(self._find_cards(seat, size, factor == 0.0 and combo >= 0))
            number = view.numbers.get(line)
            if number is None:
                number = view.numbers[line] = first + len(points)
                if line.parent is not None:
                    view.decided.add(line.parent)
                points.append((line, find_place(line), size, view))
            asked += (number, row, combo)
            factors.append(factor)
        self.num_points += len(points)
        self.filled, self.decided, self.rolled_out = [], [], []
        for number, point in enumerate(points, first):
            self._add_row(seat, number, point, points, first)

    def _add_row(self, seat: int, number: int, point: _Point, points: list[_Point], first: int) -> None:
        """Add the row of a point, and those of its branches if its values may be means over the actions there."""
        line, place, size, view = point
        kind, found = place.kinds[seat], place.place
        self._chips += place.chips[seat]
        if kind != IN_TREE:
            self._rows += (kind, 0, 0, 0, 0, 0, 0, 0)
            if kind == FILLED:
                self.filled.append((number, line, size))
            return
        assert found is not None
        cards = view.cards
        group = self._known.group(cards, seat, found.seats)
        num_after, branch, actor = 0, len(self._branches), -1
        if size == place.decides_with and line in view.decided:
            numbers, following = view.numbers, line.following
            after = [numbers.get(following.get(action), -1) for action in place.actions]
            if all(each < 0 or points[each - first][1].has_tree_values(seat) for each in after):
                num_after, actor = len(after), cards.combos[place.actor]
                self._branches += after
        (self.decided if num_after else self.rolled_out).append((line, size, cards))
        line_number = self._known.line(group, found.node)
        chances, street = self.num_chances, place.street
        self._rows += (group.number, line_number, found.node, num_after, branch, chances, actor, street)
        self.num_chances += num_after

    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the points, chips and branches of `PlannedPoints`."""
        return (
            np.array(self._rows, np.int64).reshape(self.num_points, -1),
            np.array(self._chips, np.float64).reshape(self.num_points, -1),
            np.array(self._branches, np.int64),
        )

    def asked(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the questions and the factors of `Asked`."""
        return np.array(self.questions, np.int64).reshape(len(self._factors), -1), np.array(self._factors)
