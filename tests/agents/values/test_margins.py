import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.abstraction.holdem.showdown import rank_hands, showdown_margin
from plurispiel.agents.values.margins import margin_matrix
from plurispiel.agents.values.ordered_hands import ordered_hands


def test_on_a_complete_board_margins_are_those_of_showdowns():
    board = (0, 5, 10, 20, 51)
    hands = rank_hands(HUNL, board)
    reach = np.random.default_rng(1).random(len(hands.combos))
    np.testing.assert_allclose(margin_matrix(HUNL, board) @ reach, showdown_margin(hands, reach), atol=1e-3)


def test_before_the_river_margins_are_means_over_the_cards_to_come():
    board = (0, 5, 10, 20)
    ordered = ordered_hands(HUNL, board)
    hands = rank_hands(HUNL, board)
    reach = np.random.default_rng(1).random((2, HUNL.num_combos))
    masses, evs = ordered.checkdown(reach[:, ordered.hands.combos])
    expected = np.zeros((2, HUNL.num_combos))
    expected[:, ordered.hands.combos] = 2.0 * masses * evs
    margins = margin_matrix(HUNL, board)
    for seat in range(2):
        found = margins @ reach[1 - seat, hands.combos]
        np.testing.assert_allclose(found, expected[seat, hands.combos], atol=1e-3)
    assert (margins == -margins.T).all() and not margins.flags.writeable


def test_small_games():
    assert margin_matrix(LEDUC, ()).shape == (6, 6)
