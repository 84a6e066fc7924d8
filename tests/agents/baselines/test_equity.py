import numpy as np
import pytest
from table import public_after

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.factory import make_agent


def test_equity_weighs_the_price():
    equity = make_agent("equity")
    board = "QsJh2h7c3d"
    facing = public_after(HUNL, [CALL] * 2 + [CALL] * 4 + [400], board)
    strategy = equity.range_strategy(facing)
    assert strategy.actions.tolist()[1:] == [CALL, FOLD]
    folded = strategy.probabilities[:, 2].astype(bool)
    nuts, air = HUNL.combo_id(parse_cards("QhQd")), HUNL.combo_id(parse_cards("5c4d"))
    assert folded[air]
    assert not folded[nuts]


def test_other_sizes_are_bet_with_the_same_hands():
    """Sizes below the least raise, or above the stack, are moved to it and count once."""
    plain, odd = make_agent("equity"), make_agent("equity?sizes=0.2p_0.37p_170%")
    for actions, sizes in (
        ([], [200, 440]),
        ([300, CALL], [420, 522, 1320]),
        ([CALL, CALL, 600], [1100, 2640]),
        ([CALL, CALL, 9000], [17900, 20000]),
    ):
        public = public_after(HUNL, actions, "QsJh2h7c3d")
        told, expected = odd.range_strategy(public), plain.range_strategy(public)
        assert told.actions.tolist()[: len(sizes)] == sizes
        raises = told.probabilities[:, : len(sizes)]
        np.testing.assert_allclose(raises, np.repeat(expected.probabilities[:, :1] / len(sizes), len(sizes), axis=1))
        np.testing.assert_array_equal(told.probabilities[:, len(sizes) :], expected.probabilities[:, 1:])


@pytest.mark.parametrize("sizes", ["2bb", "allin", "0.5p_x", "3", "0", "nan", "2000p", "_"])
def test_sizes_are_shares_of_the_pot(sizes):
    with pytest.raises(ValueError, match="equity bets shares of the pot, at most 1,000, as in"):
        make_agent(f"equity?sizes={sizes}")
