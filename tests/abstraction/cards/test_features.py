import os
from itertools import combinations

import numpy as np
import pytest
from reference import strength as reference

from plurispiel.abstraction.cards.features import (
    compute_preflop_equity,
    crowd_strength,
    draw_outs,
    expected_strength,
    made_strength,
    preflop_equity,
)
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.hand_ranks import board_ranks
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX, HoldemRules

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


def small_game(num_ranks, num_suits, num_hole_cards, board_cards):
    return HoldemRules(
        blinds=(100, 50),
        stacks=(1_000, 1_000),
        first_seats=(0,) * len(board_cards),
        board_cards=board_cards,
        num_suits=num_suits,
        num_ranks=num_ranks,
        num_hole_cards=num_hole_cards,
    )


SMALL = [
    LEDUC,
    KUHN,
    small_game(6, 2, 2, (0, 1)),
    small_game(5, 2, 2, (0, 2, 1)),
    small_game(4, 3, 1, (0, 3, 1)),
]


@pytest.mark.parametrize("rules", SMALL, ids=range(len(SMALL)))
def test_equal_the_reference_on_small_decks(rules):
    rng = np.random.default_rng(1)
    combos, cards = rules.combos.tolist(), rules.cards.tolist()
    for street in range(rules.num_streets):
        board = tuple(rng.permutation(cards)[: rules.board_size(street)].tolist())
        to_come = rules.num_board_cards - len(board)
        np.testing.assert_allclose(made_strength(rules, board), reference.strength(combos, board, cards, 0), atol=1e-12)
        expected = reference.strength(combos, board, cards, to_come)
        np.testing.assert_allclose(expected_strength(rules, board), expected, atol=1e-12)
        for number in (1, 3):
            expected = reference.strength(combos, board, cards, to_come, number)
            np.testing.assert_allclose(crowd_strength(rules, board, number), expected, atol=1e-12)


@jit_only
def test_strength_against_a_crowd_on_sampled_run_outs():
    flop = parse_cards("QsJh2h")
    one, two = crowd_strength(HUNL, flop, 1), crowd_strength(HUNL, flop, 2)
    for errors, largest in (
        (one - expected_strength(HUNL, flop), 0.06),  # every fourth run-out
        (crowd_strength(HUNL, (), 1) - preflop_equity(), 0.05),
    ):
        assert np.abs(errors).max() < largest and np.sqrt((errors**2).mean()) < 0.015
    assert (two <= one + 1e-12).all() and (two >= one**2 - 1e-12).all()  # the mean of a square is not below its square
    for number in (0, 10):
        with pytest.raises(ValueError, match=f"1 to 9, got {number}"):
            crowd_strength(HUNL, flop, number)


@jit_only
@pytest.mark.parametrize("board", ["Qs Jh 2h", "Qs Jh 2h 2d", "As Ks Qs Js Ts", "7c 8d 9h Th Jc"])
def test_mean_over_all_hands_is_one_half(board):
    board = parse_cards(board)
    live = ~np.isin(HUNL.combos, board).any(axis=1)
    for strength in (made_strength(HUNL, board), expected_strength(HUNL, board)):
        assert strength[live].mean() == pytest.approx(0.5, abs=1e-12)
        assert (strength[~live] == 0).all()


@jit_only
@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_equal_every_pair_of_hands_of_the_full_deck(num_cards):
    rng = np.random.default_rng(num_cards)
    combos = HUNL.combos.astype(int)
    apart = (combos[:, None, :, None] != combos[None, :, None, :]).all(axis=(2, 3))
    boards = [rng.permutation(52)[:num_cards] for _ in range(6)]
    boards += [4 * rng.permutation(13)[:num_cards], np.arange(num_cards)]  # of one suit; the lowest cards
    for board in boards:
        ranks = board_ranks(board).astype(int)
        live = ranks > 0
        others = apart & live[None, :]
        points = ((ranks[:, None] > ranks) + 0.5 * (ranks[:, None] == ranks)) * others
        expected = np.where(live, points.sum(axis=1) / np.maximum(others.sum(axis=1), 1), 0.0)
        np.testing.assert_allclose(made_strength(HUNL, tuple(board.tolist())), expected, atol=1e-12)


@jit_only
@pytest.mark.parametrize("board", ["Qs Jh 2h", "7c 8d 9h", "Qs Jh 2h 2d", "5s 6s 7s 8s"])
def test_expected_strength_is_the_mean_over_the_next_card(board):
    board = tuple(parse_cards(board))
    total, count = np.zeros(1326), np.zeros(1326)
    for card in set(range(52)) - set(board):
        total += expected_strength(HUNL, (*board, card))
        count += ~(HUNL.combos == card).any(axis=1)
    live = ~np.isin(HUNL.combos, board).any(axis=1)
    np.testing.assert_allclose(expected_strength(HUNL, board)[live], (total / count)[live], atol=1e-12)


@jit_only
def test_every_hand_ties_when_the_board_plays():
    board = parse_cards("As Ks Qs Js Ts")
    strength = made_strength(HUNL, board)
    assert (strength[~np.isin(HUNL.combos, board).any(axis=1)] == 0.5).all()


@jit_only
@pytest.mark.slow
def test_stored_preflop_equity_is_what_is_computed():
    grid = compute_preflop_equity()
    aces, kings = parse_cards("As Ah"), parse_cards("Ks Kh")
    equity = preflop_equity()
    assert equity[HUNL.combo_id(aces)] == pytest.approx(0.85204, abs=5e-6)
    assert equity[HUNL.combo_id(kings)] == pytest.approx(0.82396, abs=5e-6)
    assert equity.mean() == pytest.approx(0.5, abs=1e-12)
    assert equity[HUNL.combo_id(parse_cards("Ah Kh"))] == grid[12, 11]
    assert equity[HUNL.combo_id(parse_cards("2c 7d"))] == grid[0, 5]
    np.testing.assert_array_equal(np.unique(equity), np.unique(grid))
    assert expected_strength(SIXMAX, ()) is equity


def test_order_of_the_board_does_not_matter():
    board = parse_cards("2c 3c")
    rules = SMALL[3]
    assert made_strength(rules, board) is made_strength(rules, board[::-1])


def completes(combo, board, card):
    """Return whether a card makes a straight or flush of five that the combo is part of."""

    def made(cards):
        for five in combinations(cards, 5):
            ranks = sorted(card // 4 for card in five)
            run = ranks == list(range(ranks[0], ranks[0] + 5)) or ranks == [0, 1, 2, 3, 12]
            yield five, run, len({card % 4 for card in five}) == 1

    before = any(run for _, run, _ in made((*combo, *board)))
    straight = not before and any(run for _, run, _ in made((*combo, *board, card)))
    board_alone = any(run for _, run, _ in made((*board, card)))
    flush = any(suited and set(five) & set(combo) for five, _, suited in made((*combo, *board, card)))
    already = any(suited for _, _, suited in made((*combo, *board)))
    return straight and not board_alone, flush and not already


@jit_only
@pytest.mark.parametrize("board", ["Qs Jh 2h", "5c 6d 7h", "9s Ts 2c 3s", "Ah 3d 4c 5s"])
def test_outs_count_cards_that_complete_a_hand(board):
    board = parse_cards(board)
    outs = draw_outs(HUNL, board)
    rng = np.random.default_rng(0)
    for row in rng.permutation(1326)[:60]:
        combo = HUNL.combos[row].tolist()
        if set(combo) & set(board):
            continue
        seen = {*combo, *board}
        straight_ranks, flushes = set(), 0
        for card in range(52):
            if card not in seen:
                straight, flush = completes(combo, board, card)
                if straight:
                    straight_ranks.add(card // 4)
                flushes += flush
        assert outs[row] == 4 * len(straight_ranks) + flushes, combo


def test_games_without_five_cards_have_no_outs_for_straights():
    assert (draw_outs(KUHN, ()) == 0).all()
    assert (draw_outs(small_game(4, 3, 1, (0, 3, 1)), parse_cards("2c 3d 4h")) == 0).all()


def test_outs_of_a_reduced_deck():
    rules = small_game(5, 2, 2, (0, 2, 1))
    outs = draw_outs(rules, parse_cards("4c 5d"))
    expected = {"2c 3d": 2, "2c 6c": 2, "2c 2d": 0, "4d 5c": 0}  # an outside or inside draw, pairs; two suits
    assert {hand: outs[rules.combo_id(parse_cards(hand))] for hand in expected} == expected


@jit_only
def test_three_hole_cards_ignore_shared_cards():
    rules = small_game(4, 2, 3, (0, 2))
    strength = made_strength(rules, (0, 1))
    live = ~np.isin(rules.combos, (0, 1)).any(axis=1)
    assert strength[live].mean() == pytest.approx(0.5, abs=1e-12)
