"""The worlds and mean values that `BlueprintValues` keeps for one deck, in tables that serve one deck after another.

A *world* is a sampled whole board (`roll_outs`).
"""

import numpy as np

from plurispiel.evaluation._blueprint_values_kernels import CARDS, COMBOS, OWN, Known

__all__ = ["KnownCards", "KnownGroup", "KnownValues"]

_FIRST_ROWS = 8


class KnownGroup:
    """One set of known cards with one seat of the tree whose hands are valued.

    Attributes
    ----------
    number : int
        The row in `Known.groups`.
    lines : dict of int
        The row in `Known.means` of each node.
    """

    __slots__ = ("number", "lines")

    def __init__(self, number: int):
        self.number = number
        self.lines: dict[int, int] = {}


class KnownCards:
    """A seat, the board, the other seats' hole cards, and whether one combo is asked about alone.

    Attributes
    ----------
    number : int
        The row in `Known.worlds`.
    has_worlds : bool
    combos : list of int
        The known combo of each seat at the table; -1 for the seat itself.
    is_alone : bool
        Whether one combo is asked about alone.
    groups : dict of KnownGroup
        The groups, by the tree's seat of each seat at the table.
    """

    __slots__ = ("number", "has_worlds", "combos", "is_alone", "groups")

    def __init__(self, number: int, combos: list[int], *, is_alone: bool):
        self.number = number
        self.has_worlds = False
        self.combos = combos
        self.is_alone = is_alone
        self.groups: dict[tuple[int, ...], KnownGroup] = {}


class KnownValues:
    """The tables of one deck; they grow as needed.

    Parameters
    ----------
    num_seats, num_streets, num_combos : int

    Attributes
    ----------
    tables : Known
    """

    def __init__(self, num_seats: int, num_streets: int, num_combos: int):
        self.tables = Known(
            ranks=np.empty((_FIRST_ROWS, num_combos), np.uint16),
            buckets=np.empty((_FIRST_ROWS, num_streets, num_combos), np.int32),
            free=np.empty((_FIRST_ROWS, num_combos), np.bool_),
            worlds=np.zeros((_FIRST_ROWS, 2), np.int64),
            groups=np.empty((_FIRST_ROWS, COMBOS + num_seats), np.int64),
            means=np.empty((_FIRST_ROWS, num_combos)),
            is_known=np.empty((_FIRST_ROWS, num_combos), np.bool_),
        )
        self.clear()

    def clear(self) -> None:
        """Forget everything, but keep the memory."""
        self._num_worlds = self._num_cards = self._num_groups = self._num_lines = 0

    def new_cards(self, combos: list[int], *, is_alone: bool) -> KnownCards:
        """Return new known cards, without worlds; the parameters are as in `KnownCards`."""
        self._make_room(self._num_cards + 1, "free", "worlds")
        self._num_cards += 1
        return KnownCards(self._num_cards - 1, combos, is_alone=is_alone)

    def new_worlds(self, cards: KnownCards, free: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the tables of ranks and buckets of `number` new worlds of known cards, to be filled in.

        Parameters
        ----------
        free : bool[num_combos]
            As in `Worlds`.
        """
        first, end = self._num_worlds, self._num_worlds + number
        self._make_room(end, "ranks", "buckets")
        self._num_worlds, tables = end, self.tables
        tables.worlds[cards.number] = first, number
        tables.free[cards.number] = free
        cards.has_worlds = True
        return tables.ranks[first:end], tables.buckets[first:end]

    def group(self, cards: KnownCards, seat: int, tree_seats: tuple[int, ...]) -> KnownGroup:
        """Return the group of a seat with known cards, given the tree's seat of each seat at the table."""
        group = cards.groups.get(tree_seats)
        if group is None:
            own = tree_seats[seat]
            self._make_room(self._num_groups + 1, "groups")
            row = self.tables.groups[self._num_groups]
            row[:] = -1  # stays for `own` and for empty seats
            row[CARDS], row[OWN] = cards.number, own
            for tree_seat, combo in zip(tree_seats, cards.combos, strict=True):
                if tree_seat not in (-1, own):
                    row[COMBOS + tree_seat] = combo
            group = cards.groups[tree_seats] = KnownGroup(self._num_groups)
            self._num_groups += 1
        return group

    def line(self, group: KnownGroup, node: int) -> int:
        """Return the row in `Known.means` of a group's node, a new one if the node has none."""
        line = group.lines.get(node)
        if line is None:
            line = group.lines[node] = self._num_lines
            self._num_lines += 1
            self._make_room(self._num_lines, "means", "is_known")
            self.tables.is_known[line] = False
        return line

    def _make_room(self, number: int, *names: str) -> None:
        """Make the tables of some names as long as `number`, or twice as long; their rows stay."""
        for name in names:
            table = getattr(self.tables, name)
            if number > len(table):
                longer = np.empty((2 * number, *table.shape[1:]), table.dtype)
                longer[: len(table)] = table
                self.tables = self.tables._replace(**{name: longer})
