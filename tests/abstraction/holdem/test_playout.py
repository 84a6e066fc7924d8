import numpy as np
import pytest

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, load_game
from plurispiel.abstraction.holdem.playout import play_random_hands
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem

GAMES = [HUNL, SIXMAX, HULH, LEDUC, KUHN, no_limit_holdem(3, 700), no_limit_holdem(10, 350)]


@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_hands_are_universal_poker_s(rules):
    border = OpenSpielGame(load_game(rules))
    for seed in range(60):
        hands = play_random_hands(rules, 1 + seed % 3, np.random.SeedSequence(seed))
        state = border.replay(hands.deck.tolist(), hands.actions.tolist())
        assert state.is_terminal()
        np.testing.assert_allclose(hands.last_payoffs, state.returns(), rtol=0, atol=1e-9)


def test_cards_are_distinct_and_actions_counted():
    hands = play_random_hands(SIXMAX, 5, np.random.SeedSequence(3))
    assert len(set(hands.deck.tolist())) == 17
    assert hands.num_hands == 5
    assert hands.num_actions >= len(hands.actions)
    assert abs(hands.payoffs.sum()) < 1e-6


def test_same_seed_same_hands():
    first, second = (play_random_hands(HUNL, 50, np.random.SeedSequence(9)) for _ in range(2))
    assert np.array_equal(first.payoffs, second.payoffs)
    other = play_random_hands(HUNL, 50, np.random.SeedSequence(10))
    assert not np.array_equal(first.payoffs, other.payoffs)


def test_the_choice_is_uniform():
    """The first seat folds, calls and raises a third each; Kuhn's first seat checks or bets, half each."""
    counts = np.zeros(3)
    for seed in range(900):
        counts[min(play_random_hands(SIXMAX, 1, np.random.SeedSequence(seed)).actions[0], 2)] += 1
    assert (np.abs(counts - 300) < 5 * (900 * 2 / 9) ** 0.5).all()
    bets = sum(play_random_hands(KUHN, 1, np.random.SeedSequence(seed)).actions[0] > 1 for seed in range(900))
    assert abs(bets - 450) < 5 * 15


def test_needs_a_hand():
    with pytest.raises(ValueError, match="at least 1, got 0"):
        play_random_hands(HUNL, 0, np.random.SeedSequence(0))
