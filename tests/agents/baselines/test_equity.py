from table import public_after

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.specs import make_agent


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
