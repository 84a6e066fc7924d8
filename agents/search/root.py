"""The root of a search, and the game that the search solves from the root.

On the flop and later streets a search begins with the street, right after a fold that leaves two players, or at a
decision of the searching seat (`SearchConfig.root`). With two players the subgame reaches the end of the hand and is
solved by vector CFR (`two_seats`). With more players, and always before the flop, the subgame ends with the street and
is solved by Monte Carlo CFR (`multiway`). Between the first and the last street, such a subgame also ends after a
number of raises (`MAX_RAISES`).

A seat that has folded leaves its chips in the pot. The information in its cards is ignored, as in the paper: each
seat's range is independent of the others', and cards of folded hands can still be dealt.
"""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, BettingState, raise_menu
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu, StreetBetting, StreetTooLarge, street_betting
from plurispiel.abstraction.holdem.rules import UNLIMITED_RAISES, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.search_menu import SearchMenu, has_few_raises
from plurispiel.agents.search.street_tree import MAX_NODES, Path, is_small

__all__ = [
    "MAX_PREFLOP_SEATS",
    "MAX_RAISES",
    "MAX_SEATS",
    "MIN_BELIEF",
    "AddedRaises",
    "ManySeats",
    "Root",
    "TwoSeats",
    "can_search_street",
    "can_search_two",
    "search_ranges",
]

Offer = Callable[[HoldemRules, list[int]], tuple[int, ...]]
"""Maps a game's rules and a betting state array to the raise-to totals on offer."""

AddedRaises = Mapping[tuple[int, ...], tuple[int, ...]]
"""Off-tree raises that a search offers in addition to its menu, keyed by the decision's betting state array."""

MIN_BELIEF = 1e-5
"""A search gives weight 0 to hands below this share of the likeliest hand's probability."""

MAX_RAISES = 2
"""With more than two players, a subgame ends after this many raises on its street. If the street has had as many raises
or more before the root, the subgame ends after the first raise beyond the root. The first and the last street have no
such limit. The paper ends the subgame of a flop after the second raise."""

MAX_PREFLOP_SEATS = 4
"""The largest number of players left for which there is a search before the flop, as in the paper."""

MAX_SEATS = 9
"""The largest number of players with chips for which there is a search. With more, a second is too short to learn all
answers even to a single raise size."""

TWO_SEATS_NODES = 12_000
"""The largest number of nodes that the betting of any street may have in a search for two players, before off-tree
raises are added. With this number, a search of a flop takes a gigabyte."""

TWO_SEATS_NODES_A_SECOND = 2_500
"""Under a time limit (`SearchConfig.time`), the largest number of nodes of any street, for each second of the limit.

In a second, a search lays out this many nodes of a street and does a few iterations."""


@dataclass(frozen=True, eq=False)
class Root:
    """Where a search begins.

    Attributes
    ----------
    state : BettingState
        The table's state: at the first decision of a street, right after a fold that leaves two players, at a decision
        of the searching seat, or right after a raise before the flop. It must not be changed.
    board : tuple of int
        The board cards at the root.
    beliefs : float64[num_seats, num_combos]
        The belief about each seat's hand; rows sum to 1.
    """

    state: BettingState
    board: tuple[int, ...]
    beliefs: npt.NDArray[np.float64]

    @functools.cached_property
    def live_seats(self) -> tuple[int, ...]:
        """The seats that have not folded, ascending."""
        return tuple(seat for seat, folded in enumerate(self.state.folded) if not folded)

    @functools.cached_property
    def game(self) -> "TwoSeats | ManySeats":
        """The game that a search from here solves."""
        return TwoSeats(self) if can_search_two(self.state) else ManySeats(self)

    @property
    def num_raises(self) -> int:
        """The number of raises made on the root's street before the root."""
        return int(self.state.array[betting_layout.NUM_RAISES])

    def off_tree_raises(self, config: SearchConfig, path: Path) -> tuple[AddedRaises, int]:
        """Return the raises of a path that the menu does not offer, and the number of actions that a search must know.

        Two kinds of raises ask for another search: a raise that is not offered, and a raise at which a subgame ends.
        The latter are raise number `max_raises` of the street and all later raises. A search must know all actions up
        to and including the latest raise of either kind; their number is 0 if there is no such raise.

        Parameters
        ----------
        path : tuple of int
            Actions since the root.
        """
        state, stop, num_raises = self.game.state.copy(), 0, self.num_raises
        added: dict[tuple[int, ...], tuple[int, ...]] = {}
        for number, action in enumerate(path, start=1):
            array = state.array.tolist()
            if action > CALL and action not in self.game.menu(config, added)(state.rules, array):
                added[tuple(array)] = (*added.get(tuple(array), ()), action)
                stop = number
            num_raises += action > CALL
            if action > CALL and num_raises >= self.game.max_raises:
                stop = number
            state.apply_legal(action)
        return added, stop


def can_search_two(state: BettingState) -> bool:
    """Return whether a two-player search to the end of the hand can begin at a state.

    The street must be a later one than the first, and exactly two players must be left, both with chips.
    """
    array = state.array
    return state.street > 0 and array[betting_layout.NUM_LIVE] == 2 and array[betting_layout.NUM_ACTING] == 2


def can_search_street(state: BettingState) -> bool:
    """Return whether a search of one street can begin at a state.

    From 2 to `MAX_SEATS` players must have chips. After the first street more than two players must be left; before
    the flop, at most `MAX_PREFLOP_SEATS`.
    """
    num_live = int(state.array[betting_layout.NUM_LIVE])
    fits = num_live > 2 if state.street else num_live <= MAX_PREFLOP_SEATS
    return bool(fits and 2 <= state.array[betting_layout.NUM_ACTING] <= MAX_SEATS)


class TwoSeats:
    """The game of a two-player search: the two players who are left, in the order of their seats.

    Attributes
    ----------
    state : BettingState
        The root's state in a game for two: seats 0 and 1 are the live seats in ascending order.
    dead_chips : int
        Chips that the players who have folded have put into the pot.
    max_raises : int
        As in `ManySeats`; here `UNLIMITED_RAISES`, since the subgame reaches the end of the hand.
    """

    max_raises = UNLIMITED_RAISES

    def __init__(self, root: Root):
        self._root = root
        table, rules = root.state, root.state.rules
        self._seats = root.live_seats
        self.dead_chips = sum(table.contributions) - sum(table.contributions[seat] for seat in self._seats)
        self.state = table.copy() if rules.num_seats == 2 else BettingState(self._rules(), self._array())

    def ranges(self, uniform_share: float) -> np.ndarray:
        """Return both players' ranges (see `search_ranges`): float64[2, num_combos].

        If the ranges have no compatible hands, the beliefs contradict each other, and uniform ranges are returned.
        """
        rules = self._root.state.rules
        ranges = search_ranges(self._root, self._seats, uniform_share)
        hands = rank_hands(rules, self._root.board)
        if dot(ranges[0, hands.combos], fold_mass(hands, ranges[1, hands.combos])) > 0.0:
            return ranges
        free = rules.free_combos(self._root.board)
        return np.tile(free / free.sum(), (2, 1))

    def menu(self, config: SearchConfig, added: AddedRaises) -> Offer:
        """Return the raises on offer: those of `SearchMenu`, and `added`.

        A game whose rules allow few raises offers all of them, if its betting is small enough.
        """
        return _with_added(_two_seats_offer(self.state.rules, self._key(), self.dead_chips, config), added)

    def betting(self, config: SearchConfig, added: AddedRaises, *, by_chips: bool) -> tuple[StreetBetting, ...]:
        """Return the betting of each street with the raises of `menu`, kept for later calls; see `street_betting`."""
        raises = tuple(sorted(added.items()))
        return _two_seats_betting(self.state.rules, self._key(), self.dead_chips, config, raises, by_chips)

    def history(self, path: Path) -> tuple[tuple[int, int, int], ...]:
        """Return the actions of a path since the root, each as (seat, action, street) of the game for two."""
        state, history = self.state.copy(), []
        for action in path:
            history.append((state.actor, action, state.street))
            state.apply_legal(action)
        return tuple(history)

    def _key(self) -> tuple[int, ...]:
        return tuple(self.state.array.tolist())

    def _rules(self) -> HoldemRules:
        """Return rules for two seats under which the betting continues as at the table."""
        rules, seats = self._root.state.rules, self._seats
        order = [[(first + step) % rules.num_seats for step in range(rules.num_seats)] for first in rules.first_seats]
        return dataclasses.replace(
            rules,
            blinds=(rules.big_blind, rules.big_blind),  # paid long ago; the big blind still sets the smallest raise
            stacks=rules.stacks and tuple(rules.stacks[seat] for seat in seats),
            first_seats=tuple(seats.index(next(seat for seat in row if seat in seats)) for row in order),
        )

    def _array(self) -> np.ndarray:
        """Return the table's betting state with the two live seats renumbered 0 and 1."""
        table = self._root.state.array
        array = table.copy()
        array[betting_layout.ACTOR] = self._seats.index(self._root.state.actor)
        array[betting_layout.ACTING] = 0b11
        array[betting_layout.CONTRIB : betting_layout.FOLDED] = 0
        array[betting_layout.FOLDED : betting_layout.STATE_SIZE] = 0
        for number, seat in enumerate(self._seats):
            array[betting_layout.CONTRIB + number] = table[betting_layout.CONTRIB + seat]
        return array


@functools.lru_cache(64)
def _two_seats_offer(rules: HoldemRules, array: tuple[int, ...], dead_chips: int, config: SearchConfig) -> Offer:
    """Return the raises on offer in a search for two players, apart from added raises.

    Searches of other boards begin with the same betting again and again, and the size of the betting takes long to
    find.
    """
    state, max_nodes = _state(rules, array), _max_nodes(config, TWO_SEATS_NODES, TWO_SEATS_NODES_A_SECOND)

    def fits(menu: RaiseMenu) -> bool:
        try:
            street_betting(state, menu=menu, dead_chips=dead_chips, max_nodes=max_nodes)
        except StreetTooLarge:
            return False
        return True

    def all_raises(game: HoldemRules, array: list[int]) -> tuple[int, ...]:
        return raise_menu(game, array, dead_chips) or ()

    if has_few_raises(rules) and fits(all_raises):
        return all_raises
    return SearchMenu(rules, config.menu(state.street, rules.num_streets), fits, dead_chips).raises


@functools.lru_cache(8)  # a large betting takes some 30 MB
def _two_seats_betting(
    rules: HoldemRules,
    array: tuple[int, ...],
    dead_chips: int,
    config: SearchConfig,
    added: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...],
    by_chips: bool,
) -> tuple[StreetBetting, ...]:
    menu = _with_added(_two_seats_offer(rules, array, dead_chips, config), dict(added))
    return tuple(street_betting(_state(rules, array), menu=menu, dead_chips=dead_chips, by_chips=by_chips))


def _state(rules: HoldemRules, array: tuple[int, ...]) -> BettingState:
    return BettingState(rules, np.array(array, np.int64))


class ManySeats:
    """The game of a search of one street: the game at the table until the street ends, or until `max_raises` raises.

    Attributes
    ----------
    state : BettingState
        The root's state.
    max_raises : int
        Number of raises on the street after which the subgame ends, even if the street goes on (`MAX_RAISES`);
        `UNLIMITED_RAISES` on the first and the last street.
    """

    def __init__(self, root: Root):
        self.state = root.state
        ends_early = 0 < self.state.street < self.state.rules.num_streets - 1
        self.max_raises = max(MAX_RAISES, 1 + root.num_raises) if ends_early else UNLIMITED_RAISES
        self._offers: dict[SearchConfig, Offer] = {}

    def menu(self, config: SearchConfig, added: AddedRaises) -> Offer:
        """Return the raises on offer: those of `SearchMenu`, and `added`."""
        if config not in self._offers:
            self._offers[config] = self._offer(config)
        return _with_added(self._offers[config], added)

    def _offer(self, config: SearchConfig) -> Offer:
        array, max_nodes = self.state.array, _max_nodes(config, MAX_NODES, MAX_NODES)
        if self.state.street:
            menu = config.multiway_menu(int(array[betting_layout.NUM_ACTING]))
        else:
            menu = config.preflop_menu(int(array[betting_layout.NUM_RAISES]))
        return SearchMenu(
            self.state.rules,
            menu,
            lambda raises: is_small(self.state, raises, self.max_raises, config.continuations, max_nodes),
        ).raises


def search_ranges(root: Root, seats: Sequence[int], uniform_share: float) -> npt.NDArray[np.float64]:
    """Return the ranges of some seats in a search: float64[len(seats), num_combos].

    A range is a mixture: the uniform range of the free combos has the share `uniform_share`. The rest is the seat's
    belief without hands below the share `MIN_BELIEF`, not normalised again.
    """
    rows = root.beliefs[list(seats)]
    # Unsafe search needs no strategy for hands of probability 0. Leaving such hands out made the search of Pluribus
    # about four times as fast (supplement, "Structure of imperfect-information subgames").
    rows = np.where(rows >= MIN_BELIEF * rows.max(axis=1, keepdims=True), rows, 0.0)
    free = root.state.rules.free_combos(root.board)
    return (1.0 - uniform_share) * rows + uniform_share * free / free.sum()


def _max_nodes(config: SearchConfig, limit: int, in_a_second: int) -> int:
    """Return the largest number of nodes: `limit`, and under a time limit at most `in_a_second` for each second."""
    return limit if config.iterations else int(min(limit, config.time * in_a_second))


def _with_added(offer: Offer, added: AddedRaises) -> Offer:
    def raises(game: HoldemRules, array: list[int]) -> tuple[int, ...]:
        return tuple(sorted({*offer(game, array), *added.get(tuple(array), ())}))

    return raises
