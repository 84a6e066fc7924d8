import os
import subprocess
import sys
from itertools import combinations

import numba
import numpy as np
import pyspiel
import pytest
from reference import hand_rank as reference

from plurispiel.abstraction.holdem import hand_rank_kernels as kernels
from plurispiel.abstraction.holdem.cards import combo_cards, deck_cards, parse_cards
from plurispiel.abstraction.holdem.hand_ranks import (
    CATEGORIES,
    board_ranks,
    combo_ranks,
    hand_rank,
    rank_category,
    rank_tables,
    warmup,
)
from plurispiel.abstraction.machine.jit import kernel

needs_jit = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="too slow without compilation")

rank_word = kernels.rank_word


def deal(rng, num_hands, num_cards, deck=None):
    deck = deck_cards() if deck is None else deck
    return deck[rng.random((num_hands, len(deck))).argsort(axis=1)[:, :num_cards]]


def dense(values):
    """Return the position of each value among the distinct ones."""
    position = {value: i for i, value in enumerate(sorted(set(values)))}
    return [position[value] for value in values]


def strengths(hands):
    return [reference.strength(hand) for hand in hands.tolist()]


def category_counts(histogram):
    counts = dict.fromkeys(CATEGORIES, 0)
    for rank in np.flatnonzero(histogram):
        counts[rank_category(rank)] += int(histogram[rank])
    return counts


@kernel
def count_five_card_ranks(tables, histogram):
    words, masks = tables.words, tables.masks
    for a in range(52):
        for b in range(a):
            for c in range(b):
                word, mask = tables.starts[5] + words[a] + words[b] + words[c], masks[a] + masks[b] + masks[c]
                for d in range(c):
                    for e in range(d):
                        histogram[rank_word(tables, word + words[d] + words[e], mask + masks[d] + masks[e])] += 1


@kernel
def count_seven_card_ranks(tables, histogram):
    words, masks = tables.words, tables.masks
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    word4 = tables.starts[7] + words[a] + words[b] + words[c] + words[d]
                    mask4 = masks[a] + masks[b] + masks[c] + masks[d]
                    for e in range(d):
                        for f in range(e):
                            word, mask = word4 + words[e] + words[f], mask4 + masks[e] + masks[f]
                            for g in range(f):
                                histogram[rank_word(tables, word + words[g], mask + masks[g])] += 1


@needs_jit
def test_every_five_card_hand():
    histogram = np.zeros(7463, np.int64)
    count_five_card_ranks(rank_tables(), histogram)
    assert (histogram[1:] > 0).all() and histogram[0] == 0
    assert list(category_counts(histogram).values()) == [
        1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40,
    ]  # fmt: skip


@needs_jit
def test_every_seven_card_hand():
    histogram = np.zeros(7463, np.int64)
    count_seven_card_ranks(rank_tables(), histogram)
    assert np.count_nonzero(histogram) == 4824
    assert list(category_counts(histogram).values()) == [
        23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584,
    ]  # fmt: skip


@pytest.mark.parametrize("num_cards", range(1, 8))
def test_order_and_ties_on_random_hands(num_cards):
    hands = deal(np.random.default_rng(num_cards), 1500, num_cards)
    assert dense(hand_rank(hands).tolist()) == dense(strengths(hands))


@pytest.mark.parametrize("num_suits, num_ranks, num_cards", [(1, 3, 1), (2, 3, 2), (2, 6, 4), (2, 6, 5), (3, 5, 7)])
def test_order_and_ties_on_whole_small_decks(num_suits, num_ranks, num_cards):
    hands = np.array(list(combinations(deck_cards(num_suits, num_ranks), num_cards)))
    assert dense(hand_rank(hands).tolist()) == dense(strengths(hands))


@pytest.mark.parametrize("num_cards", range(1, 5))
def test_small_hands_have_dense_ranks(num_cards):
    hands = np.array(list(combinations(deck_cards(), num_cards)), np.uint8)
    ranks = np.unique(hand_rank(hands))
    assert ranks.tolist() == list(range(1, len(ranks) + 1))


def test_sizes_compare_with_each_other():
    rng = np.random.default_rng(0)
    hands = [deal(rng, 1, num_cards)[0] for num_cards in rng.integers(5, 8, size=300)]
    ranks = [int(hand_rank(hand)) for hand in hands]
    assert dense(ranks) == dense([strengths(hand[None])[0] for hand in hands])


def test_ranks_and_categories_equal_phevaluator():
    phevaluator = pytest.importorskip("phevaluator")
    for num_cards in 5, 6, 7:
        hands = deal(np.random.default_rng(0), 1000, num_cards)
        expected = [7463 - phevaluator.evaluate_cards(*hand) for hand in hands.tolist()]
        assert hand_rank(hands).tolist() == expected
        assert [rank_category(rank) for rank in expected] == [reference.category(hand) for hand in hands]


@pytest.mark.parametrize(
    "num_suits, num_ranks, num_hole_cards, board_per_street",
    [(1, 3, 1, "0 0"), (2, 3, 1, "0 1"), (4, 13, 1, "0 1"), (2, 6, 2, "0 1"), (2, 6, 2, "0 2"), (2, 6, 2, "0 3"),
     (2, 6, 2, "0 5"), (2, 13, 2, "0 4"), (4, 5, 3, "0 3"), (4, 13, 2, "0 5")],
)  # fmt: skip
def test_showdowns_equal_universal_poker(num_suits, num_ranks, num_hole_cards, board_per_street):
    num_streets = len(board_per_street.split())
    ones = "1 1"  # one entry would be read as a number
    game = pyspiel.load_game(
        f"universal_poker(betting=limit,numPlayers=2,numRounds={num_streets},blind=1 1,"
        f"raiseSize={ones},maxRaises={ones},firstPlayer={ones},numSuits={num_suits},numRanks={num_ranks},"
        f"numHoleCards={num_hole_cards},numBoardCards={board_per_street},bettingAbstraction=fcpa)"
    )
    deck = deck_cards(num_suits, num_ranks)
    rng = np.random.default_rng(0)
    for _ in range(300):
        state = game.new_initial_state()
        dealt = []
        while not state.is_terminal():
            if state.is_chance_node():
                dealt.append(int(rng.choice(state.legal_actions())))
                state.apply_action(dealt[-1])
            else:
                state.apply_action(1)  # check
        cards = deck[dealt]
        board = cards[2 * num_hole_cards :]
        first, second = (
            int(hand_rank(np.concatenate([cards[seat * num_hole_cards : (seat + 1) * num_hole_cards], board])))
            for seat in range(2)
        )
        assert np.sign(first - second) == np.sign(state.returns()[0])


def test_the_wheel_is_the_lowest_straight():
    wheel, six_high, trips, steel_wheel = (
        int(hand_rank(parse_cards(text))) for text in ("As2c3d4h5s", "2c3d4h5s6s", "AsAcAdKsQh", "Ah2h3h4h5h")
    )
    assert trips < wheel < six_high
    assert rank_category(wheel) == "straight" and rank_category(steel_wheel) == "straight flush"


@pytest.mark.parametrize("num_cards", [3, 4, 5])
def test_board_ranks_equal_hand_rank(num_cards):
    rng = np.random.default_rng(num_cards)
    spades = deal(rng, 4, num_cards, deck_cards()[3::4])
    boards = np.concatenate([deal(rng, 8, num_cards), spades, spades - np.eye(num_cards, dtype=np.uint8)[0]])
    combos = combo_cards()
    actual = board_ranks(boards)
    for board, ranks in zip(boards, actual, strict=True):
        conflict = np.isin(combos, board).any(axis=1)
        hands = np.concatenate([combos, np.tile(board, (len(combos), 1))], axis=1)
        expected = np.where(conflict, 0, hand_rank(hands))
        assert np.array_equal(ranks, expected)
        assert np.array_equal(combo_ranks(board, combos), expected)
    assert np.array_equal(board_ranks(boards[0]), actual[0])


def test_combo_ranks_of_other_rules():
    leduc = combo_cards(2, 3, 1)
    assert combo_ranks([], leduc).tolist() == [1, 1, 2, 2, 3, 3]
    assert combo_ranks([0], leduc).tolist() == [0, 79, 1, 1, 2, 2]  # 78 unpaired classes
    assert combo_ranks([4], [[0, 0, 1], [0, 1, 4], [0, 1, 2]]).tolist()[:2] == [0, 0]


def test_arrays_of_any_shape_type_and_layout():
    hands = deal(np.random.default_rng(0), 24, 7)
    expected = hand_rank(hands)
    frozen = hands.copy()
    frozen.setflags(write=False)
    assert np.array_equal(hand_rank(frozen), expected)
    assert np.array_equal(hand_rank(hands.astype(np.int64).reshape(2, 3, 4, 7)), expected.reshape(2, 3, 4))
    assert np.array_equal(hand_rank(np.asfortranarray(hands)[::2, ::-1]), expected[::2])
    assert hand_rank(hands[0]).shape == () and hand_rank(np.empty((0, 5), np.uint8)).shape == (0,)
    out = np.empty(24, np.uint16)
    assert hand_rank(hands, out=out) is out and np.array_equal(out, expected)


def test_duplicate_cards_stay_inside_the_tables():
    tables = rank_tables()
    assert int(tables.low.max()) + int(tables.high.max()) < len(tables.values)
    for num_cards in range(1, 8):
        ends = tables.starts[num_cards] + num_cards * tables.words
        assert (ends >> 16 & 0xFFFF < len(tables.high)).all()
        keys = tables.words & 0xFFFF
        assert ((ends & 0xFFFF) - (tables.starts[num_cards] & 0xFFFF) == num_cards * keys).all()  # no carry


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: hand_rank([0] * 8), "a hand has 1 to 7 cards"),
        (lambda: hand_rank(3), "a hand has 1 to 7 cards"),
        (lambda: hand_rank([51, 52]), r"0\.\.51, got int64 from 51 to 52"),
        (lambda: hand_rank([-1, 5]), r"0\.\.51, got int64 from -1 to 5"),
        (lambda: hand_rank([0.0, 1.0]), "got float64"),
        (lambda: hand_rank(["0", "1"]), "got <U1"),
        (lambda: hand_rank([[0, 1]], out=np.empty(1, np.int64)), r"uint16\[1\], got int64\[1\]"),
        (lambda: board_ranks([0, 1]), "a board has 3 to 5 cards"),
        (lambda: combo_ranks([0, 1, 2, 3, 4], [[5, 6, 7]]), "a board for 3 hole cards has 0 to 4 cards"),
        (lambda: combo_ranks([0], [5, 6]), r"expected board\[b\]"),
        (lambda: rank_category(0), r"1\.\.7462, got 0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@needs_jit
def test_one_signature_per_kernel():
    warmup()
    for filler in kernels.fill_hand_ranks, kernels.fill_boards_ranks, kernels.fill_combo_ranks:
        assert len(filler.signatures) == 1


@needs_jit
def test_without_compilation():
    code = (
        "import numpy as np\n"
        "from plurispiel.abstraction.holdem.hand_ranks import board_ranks, combo_ranks, hand_rank\n"
        "from plurispiel.abstraction.holdem.cards import combo_cards\n"
        "assert hand_rank([[48, 44, 40, 36, 32, 1, 2], [0, 1, 2, 3, 50, 51, 49]]).tolist() == [7462, 7308]\n"
        "for board in [0, 4, 8, 13, 50], [0, 4, 8, 12, 51], [0, 4, 8, 12, 20], [0, 1, 2]:\n"
        "    assert np.array_equal(board_ranks(board), combo_ranks(board, combo_cards()))\n"
    )
    subprocess.run(
        [sys.executable, "-W", "error", "-c", code], check=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}
    )
