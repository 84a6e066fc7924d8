"""Showdowns of three hands: equal to comparing every triple."""

import os

import numpy as np
import pytest
from reference import three_way as reference

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.holdem.three_way import ALL, pair_masses, three_way_values

SMALL = HoldemRules(blinds=(2, 1), stacks=(60, 60), num_suits=3, num_ranks=4, num_hole_cards=2)


def check(rules, board, contributions, folded, seed, density, num_hands):
    rng = np.random.default_rng(seed)
    hands = rank_hands(rules, board)
    combos = rules.combos.tolist()
    ranges = rng.random((2, len(combos))) ** 3 * (rng.random((2, len(combos))) < density)
    ranges[1, rng.permutation(len(combos))[:3]] = 1.0
    found = three_way_values(hands, *ranges[:, hands.combos], contributions, folded=folded)
    held = rng.permutation(len(hands.combos))[:num_hands]
    own = rules.combos[hands.combos[held]].tolist()
    expected = reference.values(own, combos, board, *ranges.tolist(), contributions, folded)
    np.testing.assert_allclose(found[held], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "contributions, folded",
    [
        ((10.0, 10.0, 10.0), ()),
        ((10.0, 10.0, 10.0), (4.0, 15.0)),
        ((30.0, 20.0, 10.0), ()),
        ((10.0, 20.0, 30.0), (12.0,)),
        ((20.0, 10.0, 20.0), (20.0,)),
        ((10.0, 30.0, 30.0), ()),
        ((20.0, 30.0, 10.0), (25.0, 40.0)),
    ],
)
@pytest.mark.parametrize("board", [(), (0, 5), (0, 4, 8, 12, 1)])
def test_equal_all_triples_on_a_small_deck(board, contributions, folded):
    check(SMALL, board, contributions, folded, len(board), 0.5, 6)


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
@pytest.mark.parametrize("board", ["Qs Jh 2h 7c 3d", "As Ks Qs Js Ts", "7c 7d 7h 2s 2d"])
def test_equal_all_triples_on_the_full_deck(board):
    check(HUNL, parse_cards(board), (30.0, 20.0, 10.0), (5.0,), 1, 0.03, 4)


def test_chips_go_round():
    """What the three win sums to the chips of the folded."""
    board = (0, 5, 10)
    hands = rank_hands(SMALL, board)
    ranges = np.random.default_rng(2).random((3, len(hands.combos)))
    contributions = (30.0, 20.0, 20.0)
    total = 0.0
    for seat in range(3):
        order = [seat, (seat + 1) % 3, (seat + 2) % 3]
        values = three_way_values(
            hands, ranges[order[1]], ranges[order[2]], [contributions[k] for k in order], folded=(6.0,)
        )
        total += ranges[seat] @ values
    assert total == pytest.approx(6.0 * (ranges[0] @ pair_masses(hands, ranges[1], ranges[2])[ALL, ALL]))


def test_a_certain_hand_leaves_two():
    """Against one combo for certain, three hands are two with that combo's cards gone."""
    hands = rank_hands(SMALL, (0, 5, 10))
    first = np.random.default_rng(3).random(len(hands.combos))
    second = np.zeros(len(hands.combos))
    second[7] = 1.0
    apart = np.array([not set(cards) & set(hands.cards[7]) for cards in hands.cards.tolist()])
    masses = pair_masses(hands, first, second)[ALL, ALL]
    np.testing.assert_allclose(masses[apart], fold_mass(hands, first * apart)[apart], rtol=0, atol=1e-12)
    np.testing.assert_allclose(masses[~apart], 0.0, atol=1e-12)


def test_refusals():
    hands = rank_hands(SMALL, ())
    with pytest.raises(ValueError, match="each of the 66 hands"):
        pair_masses(hands, np.ones(5), np.ones(5))
    with pytest.raises(ValueError, match="two hole cards"):
        pair_masses(rank_hands(LEDUC, ()), np.ones(6), np.ones(6))
