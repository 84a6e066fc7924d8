"""Suit isomorphism: classes, representatives, and hands that go along with their boards."""

import os
from math import comb

import numpy as np
import pytest
from reference import boards as reference

from plurispiel.abstraction.holdem.boards import (
    board_classes,
    find_boards,
    relabel_cards,
    relabel_combos,
    suit_permutations,
)
from plurispiel.abstraction.holdem.cards import combo_cards, deck_cards, parse_cards
from plurispiel.abstraction.holdem.hand_ranks import combo_ranks

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

FULL_DECK = {0: 1, 1: 13, 2: 169, 3: 1_755, 4: 16_432, 5: 134_459}


@pytest.mark.parametrize("num_cards", FULL_DECK)
@jit_only
def test_classes_of_the_full_deck_are_as_many_as_burnside_counts(num_cards):
    classes = board_classes(num_cards)
    assert len(classes.boards) == FULL_DECK[num_cards] == reference.count_orbits([num_cards])
    assert classes.sizes.sum() == comb(52, num_cards) == len(classes.entries)
    assert (np.diff(classes.boards.astype(int), axis=1) > 0).all()
    # A representative has its suits in descending order of their masks.
    masks = np.zeros((len(classes.boards), 4), np.int64)
    for column in classes.boards.T.astype(np.int64):
        masks[np.arange(len(masks)), column & 3] |= 1 << (column >> 2)
    assert (np.diff(masks, axis=1) <= 0).all()
    own, permutation = find_boards(classes.boards)
    np.testing.assert_array_equal(own, np.arange(len(own)))
    assert (permutation == 0).all()


def test_burnside_gives_the_counts_of_situations():
    counts = {(2,): 169, (2, 3): 1_286_792, (2, 3, 1): 55_190_538, (2, 3, 1, 1): 2_428_287_420}
    counts |= {(2, 4): 13_960_050, (2, 5): 123_156_254}
    assert {sizes: reference.count_orbits(sizes) for sizes in counts} == counts


CARD_IMAGES = np.array([relabel_cards(np.arange(52), p) for p in range(24)], np.int64)
HELD = np.array([(combo_cards() == card).any(axis=1) for card in range(52)], np.float32)


def first_of_orbit(images, group):
    """Return which things are the lowest of their orbit under some rows of int[24, n] images."""
    return images[group].min(axis=0) == np.arange(images.shape[1])


@jit_only
@pytest.mark.parametrize(
    ("num_cards", "expected"), [(3, 1_286_792), (4, 13_960_050), pytest.param(5, 123_156_254, marks=pytest.mark.slow)]
)
def test_orbits_of_hands_on_the_classes_of_boards(num_cards, expected):
    """Each class of boards has as many classes of hands as its own symmetries leave."""
    boards = board_classes(num_cards).boards.astype(np.int64)
    held = np.zeros((len(boards), 52), np.float32)
    np.put_along_axis(held, boards, 1, axis=1)
    keeps = np.stack([(held[:, CARD_IMAGES[p]] == held).all(axis=1) for p in range(24)], axis=1)
    groups, which = np.unique(keeps, axis=0, return_inverse=True)
    found = 0
    for number, group in enumerate(groups):
        hands = HELD[:, first_of_orbit(relabel_combos(), group)]
        found += int((held[which == number] @ hands == 0).sum())
    assert found == expected


@jit_only
@pytest.mark.parametrize(
    ("streets", "expected"), [(2, 55_190_538), pytest.param(3, 2_428_287_420, marks=pytest.mark.slow)]
)
def test_orbits_of_hands_when_streets_are_told_apart(streets, expected):
    """Flops, then turn cards up to a flop's symmetries, then river cards up to those of both."""
    found = 0
    for flop in board_classes(3).boards.tolist():
        own = np.array([set(CARD_IMAGES[p][flop]) == set(flop) for p in range(24)])
        for turn in np.flatnonzero(first_of_orbit(CARD_IMAGES, own)).tolist():
            if turn in flop:
                continue
            group = own & (CARD_IMAGES[:, turn] == turn)
            dead = HELD[[*flop, turn]].any(axis=0)
            if streets == 2:
                found += int((first_of_orbit(relabel_combos(), group) & ~dead).sum())
                continue
            rivers = np.flatnonzero(first_of_orbit(CARD_IMAGES, group))
            rivers = rivers[~np.isin(rivers, [*flop, turn])]
            keeps, which = np.unique(group & (CARD_IMAGES[:, rivers] == rivers).T, axis=0, return_inverse=True)
            for number, kept in enumerate(keeps):
                hands = (first_of_orbit(relabel_combos(), kept) & ~dead).astype(np.float32)
                of_this = rivers[which == number]
                found += int(len(of_this) * hands.sum() - (HELD[of_this] @ hands).sum())
    assert found == expected


@pytest.mark.parametrize("num_suits, num_ranks, num_cards", [(4, 4, 3), (3, 4, 3), (2, 6, 1), (2, 5, 4), (1, 5, 2)])
def test_classes_of_small_decks_are_the_orbits(num_suits, num_ranks, num_cards):
    cards = deck_cards(num_suits, num_ranks).tolist()
    expected = reference.orbits(cards, num_cards, num_suits)
    classes = board_classes(num_cards, num_suits, num_ranks)
    found = {}
    for orbit in expected:
        boards = [sorted(board) for board in orbit]
        ids, permutation = find_boards(boards, num_suits, num_ranks)
        assert len(set(ids.tolist())) == 1
        found[ids[0]] = len(orbit)
        for board, number, row in zip(boards, ids, permutation, strict=True):
            image = sorted(relabel_cards(board, row, num_suits).tolist())
            assert image == classes.boards[number].tolist()
    assert [found[number] for number in range(len(classes.boards))] == classes.sizes.tolist()


@pytest.mark.parametrize("num_cards", [3, 4, 5])
@jit_only
def test_a_renamed_board_and_hand_have_the_row_of_the_representative(num_cards):
    """A value stored per class and combo is the same for every renaming of a situation, whatever the order."""
    rng = np.random.default_rng(num_cards)
    combos, renamings = combo_cards(), relabel_combos()
    classes = board_classes(num_cards)
    for _ in range(60):
        board = rng.permutation(52)[:num_cards]
        (number, other), (row, other_row) = find_boards(
            [board, rng.permutation(relabel_cards(board, rng.integers(24)))]
        )
        assert number == other
        stored = combo_ranks(classes.boards[number], combos)
        np.testing.assert_array_equal(combo_ranks(board, combos), stored[renamings[row]])
        assert 0 <= other_row < 24


def test_renamings_of_combos_follow_their_cards():
    rng = np.random.default_rng(0)
    for num_suits, num_ranks, num_hole_cards in [(4, 13, 2), (2, 6, 2), (3, 4, 3), (2, 3, 1)]:
        combos = combo_cards(num_suits, num_ranks, num_hole_cards)
        table = relabel_combos(num_suits, num_ranks, num_hole_cards)
        assert table.shape == (len(suit_permutations(num_suits)), len(combos))
        np.testing.assert_array_equal(table[0], np.arange(len(combos)))
        for _ in range(50):
            row, combo = rng.integers(len(table)), rng.integers(len(combos))
            image = relabel_cards(combos[combo], row, num_suits)
            assert sorted(image.tolist()) == combos[table[row, combo]].tolist()


def test_known_renaming():
    (number,), (row,) = find_boards([parse_cards("Qs Jh 2h")])
    board = board_classes(3).boards[number]
    assert sorted(board.tolist()) == sorted(parse_cards("Qc Jd 2d"))
    assert suit_permutations()[row].tolist() == [2, 3, 1, 0]  # clubs and diamonds, without cards, go behind


@pytest.mark.parametrize(
    "boards, message",
    [([0, 0, 1], "different cards"), ([0, 1, 52], "different cards"), ([0.5], "card ids"), (3, "card ids")],
)
def test_what_is_no_board_is_refused(boards, message):
    with pytest.raises(ValueError, match=message):
        find_boards(boards)


def test_boards_have_at_most_five_cards():
    with pytest.raises(ValueError, match="0..5 of the 52 cards"):
        board_classes(6)
    with pytest.raises(ValueError, match="0..3 of the 3 cards"):
        board_classes(4, 1, 3)
