"""The boards of a subgame, street by street, and the hands that each seat can hold on them.

Two boards are isomorphic if a renaming of suits turns one into the other. The renaming must not change the cards of
earlier streets, the ranges or the locks. Isomorphic boards form a class, and the *members* of a class are the sets of
new cards that lead to its boards. Only one board of each class is dealt. Its values are added once for each member, to
the hands with suits renamed.

On each board, the hands in a seat's range are numbered from 0 by their strength, weakest first. The *parent* of a
board is the board of the street before, to which new cards are added. A *block* is sixteen numbers (`machine.lanes`);
a *tile* has one block for each hand (`showdown_kernels`).
"""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker
from plurispiel.abstraction.machine.lanes import blocks_for
from plurispiel.agents.resolve import _deals_kernels as kernels

__all__ = ["Deals", "SeatHands", "StreetDeals", "deal_streets"]

_GOLDEN_RATIO = 0.6180339887498949


class SeatHands(NamedTuple):
    """The hands of a seat on all boards of a street, board after board.

    Attributes
    ----------
    first : int64[num_boards + 1]
        The index in `combos` of each board's first hand, then the number of hands.
    block : int64[num_boards + 1]
        The index of each board's first block, then the number of blocks. Each board's hands are padded to whole blocks.
    combos : int32[num_hands]
        The combo number of each hand.
    cards : uint8[num_hands, 2]
        The cards of each hand, as in `RankedHands`.
    above : int32[num_hands]
        The number of each hand among the seat's hands on the parent; on the subgame's first street, its combo number.
    same : int32[num_hands]
        The index of the same combo's block in a tile of the other seat's hands (`fill_fold_tile`). If the combo is not
        in the other seat's range, the index is 0, that of a block of zeros.
    target_first : int64[num_members + 1]
        The index in `targets` of the first entry of each member, board after board, then the length of `targets`.
    targets : int32[n]
        An entry for each member and each hand on its board. The renaming of suits that turns the member into the board
        turns one hand on the parent into this hand; the entry is the number of that hand on the parent.
    """

    first: np.ndarray
    block: np.ndarray
    combos: np.ndarray
    cards: np.ndarray
    above: np.ndarray
    same: np.ndarray
    target_first: np.ndarray
    targets: np.ndarray


class StreetDeals(NamedTuple):
    """All boards of a street.

    Attributes
    ----------
    seats : tuple of SeatHands
    member_first : int64[num_boards + 1]
        The index of the first member of each board's class, then the number of members.
    group_first : int64[num_boards + 1]
        The index of each board's first group of hands of equal strength, then the number of groups.
    group_stops : int32[2, num_groups]
        For each seat and group, the number of the seat's hands on the board up to the end of the group.
    weight : float[num_boards]
        The probability that one member of the board's class is dealt on the parent, given both hands. In a sample, this
        probability is multiplied by the board's factor (`_sampled`).
    multiplicity : float[num_boards]
        The number of ways to deal a board of this class after the board on which the subgame begins. In a sample, this
        number is multiplied by the board's factor.
    """

    seats: tuple[SeatHands, SeatHands]
    member_first: np.ndarray
    group_first: np.ndarray
    group_stops: np.ndarray
    weight: np.ndarray
    multiplicity: np.ndarray


class Deals(NamedTuple):
    """The boards of a street: the arrays that kernels take, and the cards.

    Attributes
    ----------
    arrays : StreetDeals
    boards : list of tuple of int
        The cards of each board, street after street.
    child_first : int64[boards of the street before + 1]
        The index of the first board dealt from each board of the street before, then the number of boards.
    renamings : list of dict
        For each board of the street before, a mapping from a set of new cards to two numbers: the index of the board
        that represents the set, and the row of `suit_permutations` that turns the set into that board's new cards.
        In a sample, the sets of cards that no dealt board represents are missing.
    """

    arrays: StreetDeals
    boards: list[tuple[int, ...]]
    child_first: np.ndarray
    renamings: list[dict[tuple[int, ...], tuple[int, int]]]


class _SeatTables:
    """`SeatHands` under construction.

    Parameters
    ----------
    num_hands, num_targets : int
        Upper bounds on the numbers of hands and of targets on all boards together.
    """

    def __init__(self, num_hands: int, num_targets: int):
        self.first = [0]
        self.block = [0]
        self.combos = np.empty(num_hands, np.int32)
        self.cards = np.empty((num_hands, 2), np.uint8)
        self.above = np.empty(num_hands, np.int32)
        self.same = np.empty(num_hands, np.int32)
        self.target_first = [0]
        self.targets = np.empty(num_targets, np.int32)

    def add(self, count: int, num_members: int) -> None:
        """Add a board whose `count` hands are already in the arrays, with targets for each of its members."""
        self.first.append(self.first[-1] + count)
        self.block.append(self.block[-1] + blocks_for(count))
        start = self.target_first[-1]
        self.target_first += [start + count * (number + 1) for number in range(num_members)]

    def built(self) -> SeatHands:
        count = self.first[-1]
        return SeatHands(
            np.array(self.first),
            np.array(self.block),
            self.combos[:count],
            self.cards[:count],
            self.above[:count],
            self.same[:count],
            np.array(self.target_first),
            self.targets[: self.target_first[-1]],
        )


class _Board(NamedTuple):
    """A dealt board, with the data from which the next street's boards are dealt.

    Attributes
    ----------
    cards : tuple of int
        All cards of the board, street after street.
    symmetries : list of int
        Rows of `suit_permutations` that leave the cards of each street, the ranges and the locks unchanged.
    numbers : int64[2, num_combos]
        For each seat, the number of each combo among the seat's hands on the board; -1 for a combo that shares a card
        with the board or is not in the seat's range.
    multiplicity : int
        The number of ways to deal a board of this class after the board on which the subgame begins.
    """

    cards: tuple[int, ...]
    symmetries: list[int]
    numbers: np.ndarray
    multiplicity: int


def deal_streets(
    rules: HoldemRules,
    street: int,
    board: tuple[int, ...],
    ranges: np.ndarray,
    alike: np.ndarray,
    dtype: type | np.dtype,
    *,
    last_boards: int = 0,
) -> list[Deals]:
    """Return the boards of each street, from a given street to the last street.

    Parameters
    ----------
    rules : HoldemRules
    street : int
        The street on which the subgame begins.
    board : tuple of int
        The whole board of that street.
    ranges : float64[2, num_combos]
        Each seat's weight of each combo. Combos with weight 0 get no number.
    alike : float64[..., num_combos]
        More numbers by combo, such as locked strategies. Boards form a class only by renamings of suits that change
        neither these numbers nor `ranges`.
    dtype : data type
        Data type of `StreetDeals.weight` and `StreetDeals.multiplicity`.
    last_boards : int
        Number of draws in the systematic sample of the last street's boards, for each parent; 0 deals all boards. The
        sample is the same in each call, and stands for all boards. The subgame's first street is never sampled.

    Raises
    ------
    ValueError
        If the game deals three hole cards.
    """
    ranker = HandRanker(rules)
    renamed = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
    symmetries = [
        number
        for number, row in enumerate(renamed)
        if set(relabel_cards(board, number, rules.num_suits).tolist()) == set(board)
        and np.array_equal(ranges[:, row], ranges)
        and np.array_equal(alike[..., row], alike)
    ]
    before = [_Board((), symmetries, np.tile(np.arange(rules.num_combos), (2, 1)), 1)]
    first: list[_Classes] = [{board: [(board, 0)]}]
    deals = [_deal_one(rules, ranker, renamed, ranges, before, first, [{board: 1.0}], 1, dtype)]
    for later in range(street + 1, rules.num_streets):
        before = deals[-1][1]
        size = rules.board_cards[later]
        classes = [_classes(rules, each, size) for each in before]
        shares: list[Mapping[tuple[int, ...], float]] = [dict.fromkeys(each, 1.0) for each in classes]
        if last_boards and later == rules.num_streets - 1:
            shares = [_sampled(each, last_boards, number) for number, each in enumerate(classes)]
        # Given both hands: 45 cards are left for the turn of a flop, then 44 for the river.
        remaining = len(rules.cards) - rules.board_size(later - 1) - 2 * rules.num_hole_cards
        num_deals = int(np.prod(np.arange(remaining, remaining - size, -1)) / np.prod(np.arange(1, size + 1)))
        deals.append(_deal_one(rules, ranker, renamed, ranges, before, classes, shares, num_deals, dtype))
    return [each for each, _ in deals]


_Classes = dict[tuple[int, ...], list[tuple[tuple[int, ...], int]]]


def _classes(rules: HoldemRules, board: _Board, size: int) -> _Classes:
    """Return the classes of new cards that can be dealt on a board.

    Each class is a list under its representative, the smallest set of the class in the order of tuples. An entry is a
    set of new cards and the row of `suit_permutations` that turns the set into the representative.
    """
    classes: _Classes = {}
    left = [card for card in rules.cards.tolist() if card not in board.cards]
    for new in combinations(left, size):
        if len(board.symmetries) == 1:  # the identity: every set of cards is its own class
            classes[new] = [(new, board.symmetries[0])]
            continue
        images = [
            (tuple(sorted(relabel_cards(new, number, rules.num_suits).tolist())), number) for number in board.symmetries
        ]
        image, number = min(images)
        classes.setdefault(image, []).append((new, number))
    return classes


def _sampled(classes: _Classes, count: int, number: int) -> dict[tuple[int, ...], float]:
    """Return a systematic sample of the boards dealt from one parent: the factor of each sampled class.

    Classes lie on a line, each as long as its number of members. `count` points at equal steps pick classes from it,
    and each point stands for an equal share of all deals. A class's factor is the number of deals for which its points
    stand, divided by its number of members. The first point depends on the parent's `number`, so that over all parents
    every card is picked about equally often.
    """
    images = list(classes)
    stops = np.cumsum([len(members) for members in classes.values()])
    if count >= stops[-1]:
        return dict.fromkeys(images, 1.0)
    start = 0.5 + number * _GOLDEN_RATIO
    points = (start % 1.0 + np.arange(count)) / count * stops[-1]
    picked, times = np.unique(np.searchsorted(stops, points, side="right"), return_counts=True)
    # A point stands for stops[-1] / count deals, and `share` is the number of points on the class.
    return {
        images[index]: share * stops[-1] / (count * len(classes[images[index]]))
        for index, share in zip(picked.tolist(), times.tolist(), strict=True)
    }


def _deal_one(
    rules: HoldemRules,
    ranker: HandRanker,
    renamed: np.ndarray,
    ranges: np.ndarray,
    before: list[_Board],
    classes: list[_Classes],
    shares: list[Mapping[tuple[int, ...], float]],
    num_deals: int,
    dtype: type | np.dtype,
) -> tuple[Deals, list[_Board]]:
    """Return one street's boards: the solver's `Deals`, and the `_Board` list for the next street.

    `before` lists the parents. For each parent, `classes` has the result of `_classes`, and `shares` maps the
    representative of each class that is dealt to the class's factor; in a sample, other classes are not dealt.
    `num_deals` is the number of ways to deal the new cards on one parent, given both hands.
    """
    origins = np.argsort(renamed, axis=1)  # the combo that each combo was before each renaming
    plays = ranges > 0.0
    tables = [_tables(seat, before, classes, shares) for seat in range(2)]
    member_first, group_first, group_stops = [0], [0], []
    boards: list[_Board] = []
    child_first = [0]
    renamings = []
    times = []
    for parent, of_parent, share_of in zip(before, classes, shares, strict=True):
        renaming = {}
        for new, share in share_of.items():
            members = of_parent[new]
            times.append(share)
            cards = parent.cards + new
            symmetries = parent.symmetries
            if len(symmetries) > 1:
                symmetries = [
                    number
                    for number in symmetries
                    if set(relabel_cards(new, number, rules.num_suits).tolist()) == set(new)
                ]
            hands = ranker.rank(cards)
            numbers = np.empty((2, rules.num_combos), np.int64)
            rows = np.array([number for _, number in members])
            stops = np.empty((2, len(hands.groups) - 1), np.int32)
            for seat, table in enumerate(tables):
                first = table.first[-1]
                count = kernels.deal_hands(
                    hands,
                    plays[seat],
                    parent.numbers[seat],
                    origins,
                    rows,
                    numbers[seat],
                    stops[seat],
                    table.combos[first:],
                    table.cards[first:],
                    table.targets[table.target_first[-1] :],
                )
                table.add(count, len(members))
            for seat, table in enumerate(tables):
                part = slice(*table.first[-2:])
                kernels.match_hands(
                    table.combos[part], parent.numbers[seat], numbers[1 - seat], table.above[part], table.same[part]
                )
            for taken, number in members:
                renaming[taken] = (len(boards), number)
            member_first.append(member_first[-1] + len(members))
            group_first.append(group_first[-1] + stops.shape[1])
            group_stops.append(stops)
            multiplicity = parent.multiplicity * len(members)
            boards.append(_Board(cards, symmetries, numbers, multiplicity))
        child_first.append(len(boards))
        renamings.append(renaming)
    arrays = StreetDeals(
        seats=(tables[0].built(), tables[1].built()),
        member_first=np.array(member_first),
        group_first=np.array(group_first),
        group_stops=np.concatenate(group_stops, axis=1),
        weight=(np.array(times) / num_deals).astype(dtype),
        multiplicity=(np.array(times) * [each.multiplicity for each in boards]).astype(dtype),
    )
    return Deals(arrays, [each.cards for each in boards], np.array(child_first), renamings), boards


def _tables(
    seat: int, before: list[_Board], classes: list[_Classes], shares: list[Mapping[tuple[int, ...], float]]
) -> _SeatTables:
    """Return tables for a seat's hands on all boards of a street: on each at most as many hands as on the parent."""
    num_hands = num_targets = 0
    for parent, of_parent, share_of in zip(before, classes, shares, strict=True):
        most = int(np.count_nonzero(parent.numbers[seat] >= 0))
        num_hands += most * len(share_of)
        num_targets += most * sum(len(of_parent[new]) for new in share_of)
    return _SeatTables(num_hands, num_targets)
