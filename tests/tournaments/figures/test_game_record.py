"""Units and amounts in the record of a small game."""

import pyspiel

from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.tournaments.figures.game_record import amount_text, record_text, unit_of


def test_units():
    assert unit_of("leduc_poker()") == unit_of("kuhn_poker(players=3)") == ("chips", None)
    assert unit_of(str(pyspiel.load_game("universal_poker()"))) == ("chips", None)  # blinds 100 100: antes
    assert unit_of(str(find_game("holdem-mini"))) == ("chips", 100)
    assert unit_of("liars_dice(numdice=1)") == ("points", None)
    assert amount_text(12.5, {"unit": "chips", "big_blind": 100}) == "12.500000 chips = 125 mbb/hand"
    assert amount_text(0.00012345678, {"unit": "points", "big_blind": None}) == "0.000123457 points"


def test_text_of_a_game_without_an_exploitability():
    record = {"unit": "points", "big_blind": None, "values": [0.5, -0.25, -0.0], "incentives": [0.0, 0.25, 1.0]}
    text = record_text(record | {"nash_conv": 1.25, "exploitability": None})
    assert text.splitlines() == [
        "seat      value  best response  incentive   (points)",
        "   0  +0.500000      +0.500000   0.000000",
        "   1  -0.250000      +0.000000   0.250000",
        "   2  +0.000000      +1.000000   1.000000",
        "",
        "NashConv 1.250000 points",
        "exploitability: not defined (it takes two players and a zero-sum game)",
    ]
