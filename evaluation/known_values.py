"""The worlds and mean values that `BlueprintValues` keeps for one deck, in tables that serve one deck after another.

A *world* is a whole board on which roll-outs are played (`roll_outs`). A set of *known cards* names a seat, the board
so far and the other seats' hole cards. It also tells whether only one combo of the seat is asked about, which decides
how many worlds are drawn. A *group* is a set of known cards with a seating, see `line_places`.
"""

from collections.abc import Sequence

import numpy as np

from plurispiel.evaluation import _hand_plan_kernels as kernels
from plurispiel.evaluation._blueprint_values_kernels import COMBOS, Known
from plurispiel.evaluation._hand_plan_kernels import NUM_GROUPS, NUM_LINES

__all__ = ["KnownValues"]

_FIRST_ROWS = 8
_FIRST_LINES = 512


class KnownValues:
    """The tables of one deck; they grow as needed.

    Parameters
    ----------
    num_seats, num_streets, num_combos : int

    Attributes
    ----------
    tables : Known
    cards : int64[num_card_sets, num_seats + num_seatings]
        For each set of known cards, first the known combo of each seat, -1 for the seat itself. Then for each seating
        the number of its group, -1 if there is none yet.
    lines : int64[2^n, 2]
        A hash table of the rows of `Known.means` by group and node (`kept` in `_hand_plan_kernels.plan_points`).
    counts : int64[3]
        The number of groups and the number of rows of `Known.means`, both for the deck; and the number of rows of
        `PlannedPoints.chances` for the latest hand.
    """

    def __init__(self, num_seats: int, num_streets: int, num_combos: int):
        self._num_seats = num_seats
        self.tables = Known(
            ranks=np.empty((_FIRST_ROWS, num_combos), np.uint16),
            buckets=np.empty((_FIRST_ROWS, num_streets, num_combos), np.int32),
            free=np.empty((_FIRST_ROWS, num_combos), np.bool_),
            worlds=np.zeros((_FIRST_ROWS, 2), np.int64),
            groups=np.empty((_FIRST_ROWS, COMBOS + num_seats), np.int64),
            means=np.empty((_FIRST_ROWS, num_combos)),
            is_known=np.empty((_FIRST_ROWS, num_combos), np.bool_),
        )
        self.cards = np.empty((_FIRST_ROWS, num_seats + 1), np.int64)
        self.lines = np.empty((_FIRST_LINES, 2), np.int64)
        self.counts = np.zeros(3, np.int64)
        self.clear()

    def clear(self) -> None:
        """Forget everything, but keep the memory."""
        self._num_worlds = self._num_cards = 0
        self.counts[:] = 0
        self.lines[:] = -1

    def new_cards(self, combos: Sequence[int]) -> int:
        """Add a set of known cards, given the known combo of each seat, without worlds; return the index of the set."""
        number = self._num_cards
        self._num_cards += 1
        self._make_room(self._num_cards, "free", "worlds")
        self.tables.worlds[number] = 0
        self.cards = _longer(self.cards, self._num_cards)
        self.cards[number] = -1
        self.cards[number, : self._num_seats] = combos
        return number

    def new_worlds(self, cards: int, free: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Add `number` worlds to a set of known cards, and return their tables of ranks and buckets, to be filled in.

        Parameters
        ----------
        cards : int
            The index of the set.
        free : bool[num_combos]
            As in `roll_outs.Worlds`.

        Returns
        -------
        uint16[number, num_combos]
            The ranks.
        int32[number, num_streets, num_combos]
            The buckets.
        """
        first, end = self._num_worlds, self._num_worlds + number
        self._make_room(end, "ranks", "buckets")
        self._num_worlds, tables = end, self.tables
        tables.worlds[cards] = first, number
        tables.free[cards] = free
        return tables.ranks[first:end], tables.buckets[first:end]

    def make_room(self, num_points: int, num_seatings: int) -> None:
        """Make room for `num_points` more groups, as many more rows of means, and `num_seatings` seatings in all."""
        self._make_room(int(self.counts[NUM_GROUPS]) + num_points, "groups")
        num_lines = int(self.counts[NUM_LINES] + num_points)
        self._make_room(num_lines, "means", "is_known")
        if 2 * num_lines > len(self.lines):  # at most half of the rows are taken, so that free ones are near
            longer = np.full((1 << (4 * num_lines).bit_length(), 2), -1)
            kernels.move_lines(self.lines, longer)
            self.lines = longer
        missing = self._num_seats + num_seatings - self.cards.shape[1]
        if missing > 0:
            self.cards = np.hstack([self.cards, np.full((len(self.cards), missing), -1)])

    def _make_room(self, number: int, *names: str) -> None:
        """Make the tables with these names at least `number` rows long; they keep their rows."""
        for name in names:
            table = getattr(self.tables, name)
            if number > len(table):
                self.tables = self.tables._replace(**{name: _longer(table, number)})


def _longer(table: np.ndarray, number: int) -> np.ndarray:
    """Return the table itself if it has at least `number` rows, else a longer copy, of 2 * `number` rows."""
    if number <= len(table):
        return table
    longer = np.empty((2 * number, *table.shape[1:]), table.dtype)
    longer[: len(table)] = table
    return longer
