"""Boards of a subgame: isomorphic ones are dealt once, and a sample stands for all."""

import numpy as np
import pytest
from subgames import (
    heads_up,
    jit_only,
)

from plurispiel.abstraction.holdem.boards import relabel_combos
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.resolve.deals import deal_streets


def test_fewer_last_boards_stand_for_all():
    """Behind each turn some rivers: as many ways of dealing in all, each card about equally often."""
    rules, board = no_limit_holdem(2, 1000, (1, 2)), parse_cards("QsJh2h")
    ranges = np.ones((2, 1326))
    alike = np.zeros((0, 1326))
    full, some = (deal_streets(rules, 1, board, ranges, alike, np.float64, last_boards=n)[-1] for n in (0, 3))
    assert len(some.boards) < len(full.boards) / 10
    for deals in (full, some):
        per_board = np.diff(deals.arrays.member_first) * deals.arrays.weight
        np.testing.assert_allclose(np.add.reduceat(per_board, deals.child_first[:-1]), 48 / 44)
        assert deals.arrays.multiplicity.sum() == pytest.approx(49 * 48)
    rivers = np.bincount([each[-1] // 4 for each in some.boards], some.arrays.multiplicity)
    assert (abs(rivers / rivers.mean() - 1.0) < 0.5).all()
    equal = deal_streets(rules, 1, board, ranges, alike, np.float64, last_boards=10_000)[-1]
    np.testing.assert_allclose(equal.arrays.weight, full.arrays.weight)


@jit_only
def test_isomorphic_cards_are_dealt_once():
    """Monotone and rainbow turns: as many rivers as differ, and the values of all of them."""
    whole, part = np.ones((2, 1326)), np.ones((2, 1326))
    part[0, 10] = 0.5  # 3d2c tells the suits apart
    for board, weights, rivers in (("Ah Kh 9h 4h", whole, 22), ("Ah Kd 9c 4s", whole, 48), ("Ah Kh 9h 4h", part, 48)):
        cards = parse_cards(board)
        state, _ = heads_up(cards, "fc")
        solver = VectorSolver(Subgame(state, cards, weights))
        assert len(solver.streets[1].deals.boards) == rivers
        assert len(solver.streets[1].deals.renamings[0]) == 48


@jit_only
@pytest.mark.parametrize("is_thinned", [False, True])
def test_hands_of_each_board_are_numbered_as_described(is_thinned):
    """A monotone turn and its rivers, by the definitions of `SeatHands` and `StreetDeals`, with whole ranges or not."""
    rules, board = no_limit_holdem(2, 1000, (1, 2)), parse_cards("Ah Kh 9h 4h")
    ranges = np.ones((2, 1326))
    if is_thinned:
        ranges[np.random.default_rng(1).random((2, 1326)) < 0.7] = 0.0
    renamed = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
    turn, river = deal_streets(rules, 2, board, ranges, np.zeros((0, 1326)), np.float64)
    before = [{combo: combo for combo in range(1326)}] * 2  # the numbers of combos on the parent
    for deals, members in ((turn, [{board: (0, 0)}]), (river, river.renamings)):
        known = []
        targets = [[], []]
        for number, cards in enumerate(deals.boards):
            hands = rank_hands(rules, cards)
            own = [[combo for combo in hands.combos.tolist() if ranges[seat, combo] > 0.0] for seat in range(2)]
            numbers = [{combo: k for k, combo in enumerate(combos)} for combos in own]
            groups = slice(*deals.arrays.group_first[number : number + 2])
            for seat, (combos, held) in enumerate(zip(own, deals.arrays.seats, strict=True)):
                part = slice(*held.first[number : number + 2])
                assert held.combos[part].tolist() == combos
                assert held.cards[part].tolist() == rules.combos[combos].tolist()
                assert held.above[part].tolist() == [before[seat][combo] for combo in combos]
                others = numbers[1 - seat]
                same = [FIRST_HAND + others[combo] if combo in others else 0 for combo in combos]
                assert held.same[part].tolist() == same
                is_own = np.isin(hands.combos, combos)
                stops = [int(is_own[:stop].sum()) for stop in hands.groups[1:]]
                assert deals.arrays.group_stops[seat, groups].tolist() == stops
                for index, renaming in members[0].values():
                    if index == number:
                        origin = np.argsort(renamed[renaming])
                        targets[seat] += [before[seat][combo] for combo in origin[combos].tolist()]
            known.append(numbers)
        assert [held.targets.tolist() for held in deals.arrays.seats] == targets
        before = known[0]


def test_a_seat_may_hold_no_hand_on_a_board_that_stands_for_several():
    """The turn or the river may be a card of all hands of the seat."""
    rules, board = no_limit_holdem(2, 1000, (1, 2)), parse_cards("Ah 7h 2c")
    ranges = np.zeros((2, 1326))
    for seat, hands in enumerate(("KcKd KcKs KdKs", "AdAs")):
        for hand in hands.split():
            ranges[seat, rules.combo_id(parse_cards(hand))] = 1.0
    for deals in deal_streets(rules, 1, board, ranges, np.zeros((0, 1326)), np.float64)[1:]:
        for held in deals.arrays.seats:
            assert len(held.target_first) - 1 == deals.arrays.member_first[-1]
            assert held.target_first[-1] == len(held.targets)
