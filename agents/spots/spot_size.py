"""The size of a spot before it is solved: nodes, boards, memory, and the street where fewer bets save most memory.

Equal states have equal counts of nodes after them. The counts are computed once and used again, so that counting
millions of nodes takes a moment.
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu, StreetBetting, street_betting
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, STREETS
from plurispiel.abstraction.machine.lanes import LANES
from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.agents.resolve.deals import deal_streets
from plurispiel.agents.resolve.layout import StreetSize, lay_out
from plurispiel.agents.resolve.street import (
    NUM_TABLES,
    NUM_TABLES_BY_BUCKET,
    StreetMemory,
    solver_bytes,
    street_blocks,
)
from plurispiel.agents.spots.spot import Spot

__all__ = ["MAX_NODES", "SpotSize", "spot_size"]

MAX_NODES = 1_000_000
"""The most betting nodes that a street may have: the default limit of `street_betting`."""

_MAX_STATES = 300_000
_EXACT_NODES = 5_000
_NUM_BUCKETS = 500


@dataclass(frozen=True)
class SpotSize:
    """The size of a spot.

    Attributes
    ----------
    memory_bytes : int
        Bytes of the solver's tables and workspaces: exactly those of the solver if the betting has at most 5,000 nodes
        and no hands are in buckets, and else within a few percent.
    nodes : dict of str to int
        For each street from the spot's on, the number of betting nodes. A node counts once, not once for each board.
    boards : dict of str to int
        For each of these streets, the number of boards. Boards that a renaming of suits turns into each other count
        once.
    smaller_bytes : dict of str to int
        For each street with bets, `memory_bytes` with fewer bets on the street and without locks. Each list of several
        sizes loses its first size that is not all-in. If no list has several sizes, all raises are left out; if there
        are no raises, all bets.
    can_have_buckets : bool
        Whether buckets, which the spot does not have, could save memory.
    """

    memory_bytes: int
    nodes: dict[str, int]
    boards: dict[str, int]
    smaller_bytes: dict[str, int]
    can_have_buckets: bool = False

    @property
    def street_to_cut(self) -> str | None:
        """The street where fewer sizes save most memory; None if no street has bets."""
        return min(self.smaller_bytes, key=self.smaller_bytes.__getitem__, default=None)

    def refusal(self, memory_bytes: int | None = None, free_bytes: float | None = None) -> str | None:
        """Return the reason for which the spot cannot be solved now, with the remedy; None if it can be solved.

        Parameters
        ----------
        memory_bytes : int, optional
            Bytes that the solver needs; by default the attribute `memory_bytes`.
        free_bytes : float, optional
            Bytes that are free; by default those free now.
        """
        large = max(self.nodes, key=self.nodes.__getitem__)
        if self.nodes[large] > MAX_NODES:
            return (
                f"the betting of the {large} has {self.nodes[large]:,} nodes, at most {MAX_NODES:,} fit: take fewer "
                f"bet sizes on the {large} or on a street before"
            )
        needed = memory_bytes or self.memory_bytes
        available = available_bytes() if free_bytes is None else free_bytes
        if needed > available:
            remedies = ["narrower ranges", *(["buckets"] if self.can_have_buckets else [])]
            if self.street_to_cut is not None:
                gib = self.smaller_bytes[self.street_to_cut] / 2**30
                remedies.insert(0, f"fewer bet sizes on the {self.street_to_cut} (that could need {gib:.1f} GiB)")
            return (
                f"the spot needs {needed / 2**30:.1f} GiB of memory, {available / 2**30:.1f} GiB are free: "
                f"take {' or '.join(remedies)}"
            )
        return None


def spot_size(spot: Spot, *, threads: int = 2) -> SpotSize:
    """Return the size of a spot.

    The solver's tables and workspaces are not allocated. With wide ranges on a flop, the call takes half a second. A
    further call with the same board and ranges, but other bets, takes some milliseconds.

    Parameters
    ----------
    threads : int
        Threads of the solver, each with a workspace of its own.

    Raises
    ------
    ValueError
        If a range, a bet or a lock is malformed, or the betting has too many different states to be counted.
    """
    found = _measured(spot, threads)
    smaller = {street: _measured(each, threads).memory_bytes for street, each in _smaller_spots(spot).items()}
    return dataclasses.replace(found, smaller_bytes=smaller)


def _measured(spot: Spot, threads: int) -> SpotSize:
    counts = _count_betting(spot)
    names = STREETS[spot.street :]
    nodes = dict(zip(names, counts[:, 0].tolist(), strict=True))
    if spot.middle is not None:
        num_hands = int((spot.ranges()[:, _free(spot)] > 0.0).any(axis=0).sum())
        return SpotSize(16 * num_hands * int(counts[0, 1:].sum()), nodes, {names[0]: 1}, {})
    hands = _hands(spot)
    is_exact = counts[:, 0].sum() <= _EXACT_NODES and not spot.has_buckets
    if is_exact:
        betting = street_betting(spot.start(), menu=spot.raises(), dead_chips=spot.pot % 2)
        streets = [
            _exact_blocks(each, of_street, is_last=k == len(betting) - 1)
            for k, (each, of_street) in enumerate(zip(betting, hands, strict=True))
        ]
    else:
        streets = [
            _near_blocks(counts, k, of_street, by_buckets=spot.has_buckets and k > 0)
            for k, of_street in enumerate(hands)
        ]
    dtype = np.float32 if spot.has_bets() else np.float64
    boards = {name: each.num_boards for name, each in zip(names, hands, strict=True)}
    can_have_buckets = len(names) > 1 and not spot.has_buckets
    return SpotSize(solver_bytes(streets, threads, dtype), nodes, boards, {}, can_have_buckets)


@dataclass(frozen=True)
class _Hands:
    """The boards and hands of a street.

    Attributes
    ----------
    num_boards : int
    blocks : (int, int)
        For each seat, the number of blocks of 16 hands, summed over all boards.
    most_blocks : (int, int)
        For each seat, the largest number of blocks on one board.
    """

    num_boards: int
    blocks: tuple[int, int]
    most_blocks: tuple[int, int]


def _free(spot: Spot) -> np.ndarray:
    return spot.start().rules.free_combos(list(parse_cards(spot.board)))


def _hands(spot: Spot) -> list[_Hands]:
    """Return the boards and hands of each street from the spot's on."""
    ranges = spot.ranges()
    ranges[:, ~_free(spot)] = 0.0
    if not spot.lock:
        return _deal(parse_cards(spot.board), ranges.tobytes(), b"")
    # Locks may tell suits apart. Lock entries are compared, and NaN does not equal itself, so -1 takes its place.
    locks = [np.nan_to_num(lock.T, nan=-1.0) for lock in spot.subgame().locks.values()]
    return _deal(parse_cards(spot.board), ranges.tobytes(), np.concatenate(locks).tobytes())


@functools.lru_cache(maxsize=8)
def _deal(board: tuple[int, ...], ranges: bytes, locks: bytes) -> list[_Hands]:
    by_seat = np.frombuffer(ranges).reshape(2, -1)
    alike = np.frombuffer(locks).reshape(-1, by_seat.shape[1])
    found = []
    for deals in deal_streets(HUNL, len(board) - 2, board, by_seat, alike, np.float32):
        first, second = ((int(seat.block[-1]), int(np.diff(seat.block).max(initial=0))) for seat in deals.arrays.seats)
        found.append(_Hands(len(deals.boards), (first[0], second[0]), (first[1], second[1])))
    return found


def _exact_blocks(betting: StreetBetting, hands: _Hands, *, is_last: bool) -> StreetMemory:
    layout, size = lay_out(betting, np.float32, batches=is_last)
    tables = NUM_TABLES * sum(rows * blocks for rows, blocks in zip(size.table_rows, hands.blocks, strict=True))
    return street_blocks(tables, size, layout.ends.shape[1], hands.most_blocks)


def _near_blocks(counts: np.ndarray, street: int, hands: _Hands, *, by_buckets: bool) -> StreetMemory:
    num_nodes, *rows = counts[street].tolist()
    is_last = street == len(counts) - 1
    num_ends = 0 if is_last else int(counts[street, 3])
    num_roots = int(counts[street - 1, 3]) if street else 1
    if by_buckets:
        tables = NUM_TABLES_BY_BUCKET * _NUM_BUCKETS * sum(-(-row // LANES) for row in rows[:2])
    else:
        tables = NUM_TABLES * sum(row * blocks for row, blocks in zip(rows[:2], hands.blocks, strict=True))
    if is_last:  # walked over in small batches
        rows, num_nodes, num_roots = [min(row, LANES**2) for row in rows[:2]], min(num_nodes, LANES**2), LANES
    reach = rows[0] + num_roots, rows[1] + num_roots
    slots = num_roots + num_ends
    # Half of the nodes are ends of the hand, and many of them share a row of values.
    values = num_nodes // 4 + slots
    size = StreetSize((rows[0], rows[1]), reach, (values, values), (slots, slots))
    return street_blocks(tables, size, num_ends, hands.most_blocks)


def _count_betting(spot: Spot) -> np.ndarray:
    """Return four counts for each street: int64[num_streets, 4].

    The counts are the street's nodes, the actions of all decisions of the first seat, those of the last seat, and the
    nodes after which the next street is dealt. With three players, the second count has the actions of all players.
    """
    counter = _Counter(spot.raises(), spot.street, len(STREETS))
    return counter.below(spot.start(), spot.street)


class _Counter:
    """Counts the betting after states, and keeps the counts of each state for equal states."""

    def __init__(self, raises: RaiseMenu, first: int, last: int):
        self._raises = raises
        self._first = first
        self._shape = last - first, 4
        self._known: dict[tuple[int, ...], np.ndarray] = {}

    def below(self, state: BettingState, street: int) -> np.ndarray:
        """Return the counts of a node of a street and of all nodes below it, as in `_count_betting`."""
        array = state.array.tolist()
        key = (street, *array)
        if key in self._known:
            return self._known[key]
        if len(self._known) >= _MAX_STATES:
            raise ValueError(
                f"the betting has more than {_MAX_STATES:,} different states: take fewer or larger bet sizes"
            )
        counts, row = np.zeros(self._shape, np.int64), street - self._first
        counts[row, 0] = 1
        if not state.is_over and state.street == street:
            raises = self._raises(state.rules, array) or ()
            actions = [*([FOLD] if state.can_fold else []), CALL, *raises]
            seat = state.actor if state.rules.num_seats == 2 else 0
            counts[row, 1 + seat] = len(actions)
            for action in actions:
                following = state.copy()
                following.apply_legal(action)
                counts += self.below(following, street)
        elif not state.is_over or (sum(state.folded) < state.rules.num_seats - 1 and row < len(counts) - 1):
            counts[row, 3] = 1
            counts += self.below(state, street + 1)
        self._known[key] = counts
        return counts


def _smaller_spots(spot: Spot) -> dict[str, Spot]:
    """Return, for each street with bets, the spot with fewer sizes on that street."""
    found = {}
    for street in STREETS[spot.street :]:
        table = spot.bets.get(street)
        if table and (smaller := _fewer(table)) != table:
            # A lock may name a bet that is gone.
            found[street] = dataclasses.replace(spot, bets={**spot.bets, street: smaller}, lock={})
    return found


def _fewer(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a street's bets with a size of each list left out, or without raises, or without bets."""
    if any(isinstance(value, Mapping) for value in table.values()):
        seats = {player: _lists(entry) for player, entry in table.items()}
    else:
        seats = {"": _lists(table)}
    lists = [entry for each in seats.values() for sizes in each.values() for entry in sizes]
    if any(len(entry) > 1 for entry in lists):
        cut = {
            player: {kind: [_shorter(entry) for entry in sizes] for kind, sizes in each.items()}
            for player, each in seats.items()
        }
    elif any(entry for each in seats.values() for entry in each.get("raise", [])):
        cut = {player: {**each, "raise": []} for player, each in seats.items()}
    else:
        cut = {player: {} for player in seats}
    texts = {player: _texts(each) for player, each in cut.items()}
    return texts[""] if "" in texts else texts


def _lists(entry: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    """Return lists of sizes by kind: one list under ``bet``, and under ``raise`` one list for each raise."""
    found = {}
    for kind, sizes in entry.items():
        texts = sizes if isinstance(sizes, (list, tuple)) else [sizes]
        found[kind] = [text.replace(",", " ").split() for text in texts]
    return found


def _shorter(entry: list[str]) -> list[str]:
    """Return a list of sizes without the first that is not all-in; a single size stays.

    After a bet that is not all-in the betting goes on, so leaving out this bet saves more than leaving out all-in.
    """
    if len(entry) < 2:
        return entry
    left_out = next((k for k, word in enumerate(entry) if word.lower() != "allin"), 0)
    return entry[:left_out] + entry[left_out + 1 :]


def _texts(lists: Mapping[str, list[list[str]]]) -> dict[str, Any]:
    texts = {kind: [" ".join(entry) for entry in sizes] for kind, sizes in lists.items()}
    return {kind: entries if kind == "raise" else " ".join(entries) for kind, entries in texts.items()}
