import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX
from plurispiel.agents.base import Action, PublicState, View
from plurispiel.tournaments.play.table_view import Follower, chips_words, street_start, table_lines


def view_after(rules, *actions, board=(), cards=(51, 44)):
    state, taken = BettingState(rules), ()
    for action in actions:
        taken += (Action(state.actor, action, state.street),)
        state.apply(action)
    return View(PublicState(rules, state.array.tolist(), board, taken), state.actor, cards)


def test_a_table():
    view = view_after(SIXMAX, 250, FOLD, 10_000, FOLD)
    names = ["one", "two", "three", "four", "five", "you"]
    assert table_lines(view._replace(seat=0), names, 80) == [
        ">SB   one    As Kc   9,950  bet 50",
        " BB   two            9,900  bet 100",
        " UTG  three          9,750  bet 250",
        " HJ   four          10,000  folded",
        " CO   five               0  bet 10,000 all-in",
        " BTN  you           10,000  folded",
        "pot 10,400",
    ]


def test_bets_are_those_of_the_street_and_antes_are_none():
    view = view_after(HUNL, 300, CALL, 900, board=(0, 5, 10))
    assert table_lines(view, ["a", "b"], 80)[0].split()[-2:] == ["bet", "600"]
    assert table_lines(view, ["a", "b"], 80)[-1] == "board 2c 3d 4h   pot 1,200"
    leduc = view_after(LEDUC, 3, cards=(4,))
    assert table_lines(leduc, ["a", "b"], 80) == [" BB   a      bet 2", ">BTN  b  3c", "pot 4"]
    assert street_start(leduc.public) == (1, 1)


def test_narrow_screens_cut_names_alone():
    view = view_after(SIXMAX, 250)
    lines = table_lines(view, ["a_long_name_of_an_agent.py:Agent\x1b[31m"] * 6, 44)
    assert max(map(len, lines)) <= 44 and not any("\x1b" in line for line in lines)
    assert "As Kc" in lines[3]
    assert "blue#2" in table_lines(view, ["blueprint#2"] * 6, 20)[0]


def test_actions_are_followed_in_words():
    follower = Follower(HUNL)
    words = [follower.take(250), follower.take(CALL)]
    follower.begin_street(1)
    words += [follower.take(CALL), follower.take(600), follower.take(1_400), follower.take(20_000), follower.take(CALL)]
    assert words == [
        "raise to 250", "call 150", "check", "bet 350", "raise to 1,150", "raise to 19,750 (all-in)",
        "call 18,600 (all-in)",
    ]  # fmt: skip
    assert Follower(LEDUC).take(3) == "bet 2"


def test_chips_have_a_sign_and_two_digits_of_a_fraction():
    assert [chips_words(chips) for chips in (np.float64(0.0), 12_345.0, -0.5, 1 / 3)] == [
        "+0", "+12,345", "-0.50", "+0.33"
    ]  # fmt: skip
