"""Folds and showdowns between ranges: equal to comparing every pair of hands."""

import dataclasses
import os

import numpy as np
import pytest
from reference import showdown as reference

from plurispiel.abstraction.holdem import showdown_kernels as kernels
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.hand_ranks import combo_ranks
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker, fold_mass, rank_hands, showdown_margin
from plurispiel.abstraction.machine.lanes import empty_blocks

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def small_deck(num_suits, num_ranks, num_hole_cards):
    return HoldemRules(
        blinds=(100, 50),
        stacks=(600, 600),
        num_suits=num_suits,
        num_ranks=num_ranks,
        num_hole_cards=num_hole_cards,
    )


def random_range(rng, size):
    """Weights of very different size, many of them 0."""
    return np.where(rng.random(size) < 0.3, 0.0, rng.random(size) ** 4)


def check(rules, board, sample=None):
    rng = np.random.default_rng(sum(board))
    hands = rank_hands(rules, board)
    combos = rules.combos.tolist()
    weights = np.stack([random_range(rng, len(combos)) for _ in range(3)])
    held = np.arange(len(hands.combos)) if sample is None else rng.permutation(len(hands.combos))[:sample]
    own = rules.combos[hands.combos[held]].tolist()
    for actual, expected in (
        (fold_mass(hands, weights[:, hands.combos]), reference.fold_mass),
        (showdown_margin(hands, weights[:, hands.combos]), reference.showdown_margin),
    ):
        assert actual.shape == (3, len(hands.combos))
        for row, result in zip(weights.tolist(), actual, strict=True):
            np.testing.assert_allclose(result[held], expected(own, combos, board, row), rtol=0, atol=1e-11)


@jit_only
@pytest.mark.parametrize(
    "board",
    ["Qs Jh 2h 7c 3d", "Qs Jh 2h", "7c 7d 7h 7s As", "As Ks Qs Js Ts", "2c 3c 4c 5c 7h", "Ah Kh 9h 4h"],
    ids=lambda board: board.replace(" ", ""),
)
def test_equal_all_pairs_on_boards_of_the_full_deck(board):
    check(HUNL, parse_cards(board), sample=16)


@jit_only
@pytest.mark.parametrize("seed", range(4))
def test_equal_all_pairs_on_random_rivers(seed):
    check(HUNL, tuple(np.random.default_rng(seed).permutation(52)[:5].tolist()), sample=10)


@pytest.mark.parametrize(
    "deck, board_size",
    [((2, 6, 2), 1), ((3, 4, 2), 3), ((4, 4, 2), 2), ((2, 5, 2), 5), ((2, 3, 1), 1), ((1, 3, 1), 0), ((4, 5, 1), 2)],
)
def test_equal_all_pairs_on_small_decks(deck, board_size):
    rules = small_deck(*deck)
    for seed in range(4):
        check(rules, tuple(np.random.default_rng(seed).permutation(rules.cards)[:board_size].tolist()))


def check_tiles(rules, board, dtype, tolerance):
    """Sixteen ranges over one list of hands, values of another list."""
    rng = np.random.default_rng(sum(board) + 1)
    hands = rank_hands(rules, board)
    live = [rng.random(len(hands.combos)) < share for share in (0.7, 0.5)]
    (own, own_cards), (_, other_cards) = ((hands.combos[row], hands.cards[row].copy()) for row in live)
    stops = [np.concatenate(([0], np.cumsum(row)))[hands.groups[1:]].astype(np.int32) for row in live]
    place = np.where(live[1], kernels.FIRST_HAND + np.cumsum(live[1]) - 1, 0)
    same = place[live[0]].astype(np.int32)
    weights = np.zeros((16, rules.num_combos))
    weights[:, hands.combos[live[1]]] = [random_range(rng, len(other_cards)) for _ in range(16)]
    tile = empty_blocks(kernels.FIRST_HAND + len(other_cards), dtype)
    tile[kernels.FIRST_HAND :] = weights[:, hands.combos[live[1]]].T
    mass = empty_blocks(kernels.CARD_SLOTS, dtype)
    padded = -(-len(own) // 16) * 16
    held, combos = rng.permutation(len(own))[:10], rules.combos.tolist()
    chosen = rules.combos[own[held]].tolist()
    for fill, lists, expected in (
        (kernels.fill_fold_tile, (own_cards, other_cards), reference.fold_mass),
        (kernels.fill_margin_tile, (own_cards, stops[0], other_cards, stops[1]), reference.showdown_margin),
    ):
        out = empty_blocks(padded, dtype)
        out[:] = np.nan
        fill(*lists, *([same] if fill is kernels.fill_fold_tile else []), tile, mass, out)
        assert (out[len(own) :] == 0.0).all()
        for lane in (0, 7, 15):
            right = expected(chosen, combos, board, weights[lane].tolist())
            np.testing.assert_allclose(out[held, lane], right, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 2e-4)])
def test_sixteen_ranges_at_a_time(dtype, tolerance):
    for deck, size in (((2, 6, 2), 1), ((3, 4, 2), 3), ((2, 3, 1), 1), ((1, 3, 1), 0)):
        rules = small_deck(*deck)
        check_tiles(rules, tuple(rules.cards[::-1][:size].tolist()), dtype, tolerance)


@jit_only
@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-10), (np.float32, 2e-4)])
@pytest.mark.parametrize("board", ["Qs Jh 2h 7c 3d", "As Ks Qs Js Ts", "7c 7d 7h 7s As"])
def test_sixteen_ranges_at_a_time_on_boards_of_the_full_deck(board, dtype, tolerance):
    check_tiles(HUNL, parse_cards(board), dtype, tolerance)


def test_hands_stand_in_order_of_strength():
    board = parse_cards("4c 2d 5d")
    rules = small_deck(3, 4, 2)
    hands = rank_hands(rules, board)
    ranks = combo_ranks(board, rules.combos)
    assert sorted(hands.combos.tolist()) == np.flatnonzero(ranks).tolist()
    ordered = ranks[hands.combos].astype(int)
    assert (np.diff(ordered) >= 0).all()
    assert hands.groups.tolist() == [0, *(np.flatnonzero(np.diff(ordered)) + 1).tolist(), len(hands.combos)]
    np.testing.assert_array_equal(hands.cards, rules.combos[hands.combos])


def test_a_ranker_may_be_used_for_one_board_after_another():
    ranker = HandRanker(LEDUC)
    for board in [(0,), (), (5,), (0,)]:
        fresh = rank_hands(LEDUC, board)
        for first, second in zip(ranker.rank(board), fresh, strict=True):
            np.testing.assert_array_equal(first, second)


def test_results_can_be_written_where_the_caller_says():
    hands = rank_hands(KUHN, ())
    reach = np.array([1.0, 2.0, 4.0])
    out = np.empty(3)
    assert fold_mass(hands, reach, out) is out
    assert out.tolist() == [6.0, 5.0, 3.0]
    assert showdown_margin(hands, reach.tolist(), out) is out
    assert out.tolist() == [-6.0, -3.0, 3.0]
    assert reach.tolist() == [1.0, 2.0, 4.0]


def test_wrong_shapes_and_games_are_refused():
    hands = rank_hands(KUHN, ())
    with pytest.raises(ValueError, match="each of the 3 hands"):
        fold_mass(hands, np.ones(4))
    with pytest.raises(ValueError, match="C-contiguous float64"):
        showdown_margin(hands, np.ones(3), np.empty(3, np.float32))
    with pytest.raises(ValueError, match="one or two hole cards"):
        rank_hands(dataclasses.replace(HUNL, num_hole_cards=3, board_cards=(0, 2, 1, 1)), ())
