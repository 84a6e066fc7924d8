"""The card abstraction of a game: the bucket of each combo on each street, as arrays that kernels index."""

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from plurispiel.abstraction.cards.buckets import BucketTable
from plurispiel.abstraction.cards.model import CardModel
from plurispiel.abstraction.cards.preflop import preflop_classes
from plurispiel.abstraction.holdem.boards import (
    board_classes,
    relabel_cards,
    relabel_combos,
    suit_permutations,
)
from plurispiel.abstraction.holdem.boards_kernels import PERMUTATION_BITS, board_rank
from plurispiel.abstraction.holdem.cards import NUM_SUITS
from plurispiel.abstraction.holdem.rules import HoldemRules

MAX_STREETS = 4
MAX_LOSSLESS = 50_000_000


class CardArrays(NamedTuple):
    """The arrays in which kernels look up the bucket of a combo on a board.

    A board's entry holds the board's class, and the renaming of suits that turns the board into the representative of
    the class.

    Attributes
    ----------
    relabel : uint16[num_permutations, num_combos]
        The combo into which each renaming of suits turns each combo.
    entries : tuple of four int32[num_boards]
        For each street, the entry of each board, indexed by `board_rank`; see `boards.BoardClasses`. If fewer than four
        streets have buckets, the array of the last such street is repeated, here and in `rows`.
    rows : tuple of four unsigned integer arrays [num_classes, num_combos]
        For each street, the bucket of each combo on the representative board of each class.
    """

    relabel: np.ndarray
    entries: tuple[np.ndarray, ...]
    rows: tuple[np.ndarray, ...]


class BucketLookup(Protocol):
    """The buckets of a game's hands, stored (`CardBuckets`) or computed for each board (`ModelBuckets`)."""

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Number of buckets on each street that has buckets, from the first street on."""

    @property
    def model(self) -> CardModel | None:
        """The card model that computes the buckets; None for lossless buckets."""

    @property
    def table_digest(self) -> str:
        """Digest of the bucket table with these buckets; empty for lossless buckets."""

    @property
    def flop_rows(self) -> np.ndarray | None:
        """The bucket of each combo on each of the 1,755 classes of flops: uint8 or uint16[1755, 1326].

        None for lossless buckets, if only the first street has buckets, and where the buckets on flops are not stored.
        """

    def row(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return the bucket of each combo on a board: unsigned integers [num_combos].

        Entries of combos that share a card with the board are arbitrary, and may be above the largest bucket.
        """


@dataclass(frozen=True, eq=False)
class CardBuckets:
    """Stored buckets of a game's hands on its first streets, as arrays that kernels index.

    Attributes
    ----------
    rules : HoldemRules
    num_buckets : tuple of int
        See `BucketLookup`.
    arrays : CardArrays
    model : CardModel or None
        The card model that computes the same buckets; None for lossless buckets.
    table_digest : str
        See `BucketLookup`.
    """

    rules: HoldemRules
    num_buckets: tuple[int, ...]
    arrays: CardArrays
    model: CardModel | None = None
    table_digest: str = ""

    @property
    def flop_rows(self) -> np.ndarray | None:
        """See `BucketLookup`."""
        return self.arrays.rows[1] if self.model is not None and len(self.num_buckets) > 1 else None

    def row(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return the bucket of each combo on a board; see `BucketLookup`."""
        arrays = self.arrays
        return _stored_row(self.rules.num_suits, arrays.relabel, arrays.entries[street], arrays.rows[street], board)


@dataclass(frozen=True, eq=False)
class ModelBuckets:
    """Buckets of hold'em computed for each board by the card model, which is slower than a stored table.

    Attributes
    ----------
    model : CardModel
    num_streets : int
        Number of streets with buckets, from the first street on.
    table_digest : str
        See `BucketLookup`.
    flop_rows : uint8 or uint16[1755, 1326] or None
        The buckets on flops, as in `BucketLookup`. If None, the card model computes them, in 20 ms a flop. The numbers
        are read from a file and may be too large; `row` replaces such a number by that of the last bucket.
    """

    model: CardModel
    num_streets: int
    table_digest: str = ""
    flop_rows: np.ndarray | None = None

    @property
    def num_buckets(self) -> tuple[int, ...]:
        """Number of buckets on each street."""
        return tuple(self.model.num_buckets.values())[: self.num_streets]

    def row(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return the bucket of each combo on a board; see `BucketLookup`."""
        if street == 1 and self.flop_rows is not None:
            row = _stored_row(NUM_SUITS, relabel_combos(), board_classes(3).entries, self.flop_rows, board)
        else:
            row = _classified(self.model, board)
        return np.minimum(row, self.num_buckets[street] - 1)


@functools.lru_cache(2048)
def _classified(model: CardModel, board: tuple[int, ...]) -> np.ndarray:
    """Return the bucket of each combo on a board; searches of one flop ask for its turns and rivers again and again."""
    return model.classify(board)


def lossless_buckets(rules: HoldemRules, num_streets: int = MAX_STREETS) -> CardBuckets:
    """Return lossless buckets of the first `num_streets` streets, or of all streets if the game has fewer.

    Hands share a bucket only if renaming suits makes them equal.

    A board counts as a set: hands on turns of the same four cards may share a bucket although their flops differ.

    Raises
    ------
    ValueError
        If there are more than `MAX_LOSSLESS` pairs of board and combo on the last of these streets.
    """
    num_streets = min(num_streets, rules.num_streets)
    size = rules.board_size(num_streets - 1)
    if math.comb(len(rules.cards), size) * rules.num_combos > MAX_LOSSLESS:
        raise ValueError(
            f"{size} board cards of {len(rules.cards)} make too many hands to tell all apart; name a bucket table"
        )
    combos = rules.num_combos
    relabel = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
    entries, rows, counts = [], [], []
    for street in range(num_streets):
        size = rules.board_size(street)
        classes = board_classes(size, rules.num_suits, rules.num_ranks)
        numbers = np.zeros((len(classes.boards), combos), np.uint32)
        first = 0
        for row, board in zip(numbers, classes.boards, strict=True):
            # Hands are in one class if a renaming of suits that keeps the board turns one into the other. The lowest id
            # among these hands stands for the class.
            images = relabel[_keeping(board, rules)]
            lowest = images.min(axis=0)
            _, row[:] = np.unique(lowest, return_inverse=True)
            row += np.uint32(first)
            first = int(row.max()) + 1
        entries.append(classes.entries)
        rows.append(numbers)
        counts.append(first)
    return _card_buckets(rules, counts, relabel, entries, rows)


def single_buckets(rules: HoldemRules) -> CardBuckets:
    """Return lossless buckets on the first street and one bucket on each later street.

    Such buckets are quickly built, for measurements of speed.
    """
    first = lossless_buckets(rules, 1)
    entries, rows = [first.arrays.entries[0]], [first.arrays.rows[0]]
    for street in range(1, rules.num_streets):
        entries.append(np.zeros(math.comb(len(rules.cards), rules.board_size(street)), np.int32))
        rows.append(np.zeros((1, rules.num_combos), np.uint32))
    counts = [first.num_buckets[0], *[1] * (rules.num_streets - 1)]
    return _card_buckets(rules, counts, first.arrays.relabel, entries, rows)


def table_buckets(rules: HoldemRules, table: BucketTable, num_streets: int = MAX_STREETS) -> CardBuckets:
    """Return a bucket table's buckets on the first streets of a hold'em game with 52 cards.

    Raises
    ------
    ValueError
        As `require_table_game`.
    """
    sizes = require_table_game(rules, num_streets)
    entries, rows = [board_classes(0).entries], [np.array(preflop_classes())[None]]
    for size in sizes[1:]:
        arrays = table.arrays(size)
        entries.append(arrays.classes.entries)
        rows.append(arrays.rows)
    counts = list(table.num_buckets.values())[: len(sizes)]
    return _card_buckets(rules, counts, relabel_combos(), entries, rows, table)


def require_table_game(rules: HoldemRules, num_streets: int = MAX_STREETS) -> list[int]:
    """Return the board sizes of a game's first streets, if bucket tables fit the game.

    Raises
    ------
    ValueError
        Unless the game has 52 cards and two hole cards, and the boards of these streets have 0, 3, 4 and 5 cards.
    """
    sizes = [rules.board_size(street) for street in range(min(num_streets, rules.num_streets))]
    if (rules.num_suits, rules.num_ranks, rules.num_hole_cards) != (4, 13, 2) or sizes != [0, 3, 4, 5][: len(sizes)]:
        raise ValueError("a bucket table is for hold'em with 52 cards; take lossless buckets for this game")
    return sizes


def _stored_row(
    num_suits: int, relabel: np.ndarray, entries: np.ndarray, rows: np.ndarray, board: tuple[int, ...]
) -> np.ndarray:
    """Return the bucket of each combo on a board, from one street's arrays as in `CardArrays`."""
    entry = int(entries[board_rank(num_suits, np.array(board, np.uint8))])
    return rows[entry >> PERMUTATION_BITS][relabel[entry & ((1 << PERMUTATION_BITS) - 1)]]


def _keeping(board: np.ndarray, rules: HoldemRules) -> np.ndarray:
    """Return the renamings of suits that map a board to itself: int64[n], rows of `suit_permutations`."""
    cards = set(board.tolist())
    number = len(suit_permutations(rules.num_suits))
    keeping = [p for p in range(number) if set(relabel_cards(board, p, rules.num_suits).tolist()) == cards]
    return np.array(keeping)


def _card_buckets(rules, counts, relabel, entries, rows, table: BucketTable | None = None) -> CardBuckets:
    # Kernels index tuples with constants only, so the tuples always have four items; missing streets repeat the last.
    # Kernels are compiled for each type of rows. Rows of a table are read-only, and of 8 bits for up to 255 buckets.
    # Lossless rows get the same type if their numbers fit: kernels compiled for a small game then serve tables, too.
    missing = MAX_STREETS - len(rows)
    if table is None and max(counts) <= np.iinfo(np.uint8).max:
        rows = [row.astype(np.uint8) for row in rows]
    for row in rows:
        row.setflags(write=False)
    arrays = CardArrays(relabel.astype(np.uint16), (*entries, *entries[-1:] * missing), (*rows, *rows[-1:] * missing))
    if table is None:
        return CardBuckets(rules, tuple(counts), arrays)
    return CardBuckets(rules, tuple(counts), arrays, table.model, table.digest)
