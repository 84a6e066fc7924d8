import numpy as np
import pytest

from plurispiel.abstraction.holdem import hand_rank, parse_cards, single_hand_rank


@pytest.mark.parametrize("size", range(1, 8))
def test_every_hand_has_its_rank_among_many(size):
    hands = np.random.default_rng(size).random((2_000, 52)).argsort(axis=1)[:, :size]
    assert [single_hand_rank(hand) for hand in hands.tolist()] == hand_rank(hands).tolist()


def test_flushes_have_their_ranks_in_every_suit():
    """A random hand is a flush in one case of thirty."""
    rng = np.random.default_rng(0)
    for suit in range(4):
        own = 4 * rng.random((200, 13)).argsort(axis=1)[:, :5] + suit
        others = 4 * rng.random((200, 13)).argsort(axis=1)[:, :2] + (suit + 1) % 4
        hands = np.concatenate([own, others], axis=1)
        assert [single_hand_rank(hand) for hand in hands.tolist()] == hand_rank(hands).tolist()


def test_numbers_of_numpy_are_cards_too():
    hand = parse_cards("AsKsQsJsTs2c3d")
    for kind in (np.uint8, np.int32, np.int64):
        assert single_hand_rank(np.array(hand, kind)) == 7462


def test_some_numbers_of_numpy_among_others_are_cards():
    """Sums of such numbers would wrap around."""
    assert single_hand_rank([51, 47, 43, 39, 35, np.uint8(50), np.int8(49)]) == 7462


@pytest.mark.parametrize(
    "cards", [(), range(8), "abcdefg", *((0, 1, 2, 3, 4, 5, bad) for bad in (52, -1, 0.5, 6.0, 1 << 63, 1 << 70))]
)
def test_what_is_no_hand_is_refused(cards):
    with pytest.raises(ValueError, match="card"):
        single_hand_rank(cards)
