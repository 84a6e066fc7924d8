"""Reading a hand of a PHH file."""

import dataclasses
from decimal import Decimal

import pytest
from phh_text import THREE, by_pokerkit, one, payoffs, read, written

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, no_limit_holdem
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory

DEAL = "'d dh p1 8hKd', 'd dh p2 2c7s', 'd dh p3 7h9c', "


SHOWDOWN = (  # all check down; p2's pair of twos loses to p3's nines
    DEAL + "'p3 cc', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cc', 'd db 3s', 'p2 cc', 'p3 cc', 'd db Qs', "
    "'p2 cc', 'p3 cc'"
)


def refused(tmp_path, text=THREE, **fields):
    hand = one(tmp_path, text, **fields)
    assert isinstance(hand, BrokenHistory)
    return hand.what


def test_a_hand_as_the_format_says(tmp_path):
    (hand,) = read(tmp_path, THREE)
    assert hand == HandHistory(
        rules=dataclasses.replace(no_limit_holdem(3), stacks=(10_000, 5000, 1000)),
        names=("MrOrange", "Hattori", "Pluribus"),
        hole_cards=(parse_cards("8hKd"), parse_cards("2c7s"), parse_cards("7h9c")),
        board=parse_cards("2d7d9h"),
        actions=(225, 0, 1, 1, 525, 0),  # a bet of 300 on the flop comes to 525 over the hand
        payoffs=(-50.0, -225.0, 275.0),
        label="2",
    )
    assert payoffs(hand) == hand.payoffs


def test_heads_up_player_1_is_the_big_blind(tmp_path):
    hand = one(
        tmp_path,
        antes="[0, 0]",
        blinds_or_straddles="[50, 100]",
        starting_stacks="[900, 700]",
        actions="['d dh p1 AsAh', 'd dh p2 KsKh', 'p2 f']",
        players="['BB', 'SB']",
        finishing_stacks="[950, 650]",
    )
    assert hand.rules == dataclasses.replace(HUNL, stacks=(900, 700))
    assert payoffs(hand) == hand.payoffs == (50.0, -50.0)
    assert by_pokerkit(written([hand])) == [50.0, -50.0]


def test_a_fixed_limit_hand(tmp_path):
    limit = {
        "variant": "'FT'",
        "min_bet": None,
        "small_bet": "100",
        "big_bet": "200",
        "actions": f"[{DEAL} 'p3 cbr 200', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cbr 100', 'p2 f']",
        "finishing_stacks": "[9950, 4800, 1250]",
    }
    hand = one(tmp_path, **limit)
    assert hand.actions == (200, 0, 1, 1, 300, 0)
    assert (hand.rules.raise_sizes, hand.rules.stacks) == ((100, 100, 200, 200), None)
    assert payoffs(hand) == hand.payoffs
    for stack in (150, 200, 300):
        stacks = f"[10000, 5000, {stack}]"
        what = refused(tmp_path, **{**limit, "starting_stacks": stacks})
        assert what.endswith("p3 is all in, but our limit games have no stacks")


def test_equal_antes_become_blinds(tmp_path):
    hand = one(
        tmp_path,
        antes="[10, 10, 10]",
        actions=f"[{DEAL} 'p3 cbr 300', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cbr 300', 'p2 f']",
        finishing_stacks="[9940, 4690, 1370]",
    )
    assert hand.rules.blinds == (60, 110, 10)
    assert hand.actions == (310, 0, 1, 1, 610, 0)
    assert payoffs(hand) == hand.payoffs
    assert "antes that differ" in refused(tmp_path, antes="[0, 100, 0]")
    low = {"antes": "[10, 10, 10]", "actions": f"[{DEAL} 'p3 cbr 200']"}
    what = refused(tmp_path, min_bet=None, **low)
    assert "210 is not legal for seat 2: legal are 0 (fold), 1 (call 100), 220..1000 (raise to)" in what
    assert refused(tmp_path, **low).endswith(
        "blind or straddle plus the ante, 110, or all chips, and this raise is by 100"
    )


@pytest.mark.parametrize(
    ("blinds", "actions", "posted"),
    [
        ("[50, 100, 200]", "['p1 f', 'p2 f']", (50, 100, 200)),  # a straddle
        ("[50, 100, -100]", "['p3 cbr 400', 'p1 f', 'p2 f']", (50, 100, 100)),  # posted out of turn, as in pokerkit
        ("[0, 100, 0]", "['p3 f', 'p1 f']", (0, 100, 0)),
    ],
)
def test_other_blinds(tmp_path, blinds, actions, posted):
    hand = one(tmp_path, blinds_or_straddles=blinds, actions=actions, finishing_stacks=None)
    assert hand.rules.blinds == posted
    assert hand.rules.first_seats == (int(actions[3]) - 1, 0, 0, 0)
    assert payoffs(hand)


STRADDLE = {
    "blinds_or_straddles": "[1, 2, 4]",
    "min_bet": "2",
    "starting_stacks": "[400, 400, 40]",
    "finishing_stacks": None,
}
FLOP = DEAL + "'p1 cc', 'p2 f', 'p3 cc', 'd db 2d7d9h', "


def test_a_min_bet_below_the_straddle(tmp_path):
    """Bets of the straddle's size or more are replayed; the rules have no smaller ones."""
    hand = one(tmp_path, **STRADDLE, actions=f"[{FLOP} 'p1 cbr 4', 'p3 cbr 36', 'p1 f']")
    assert by_pokerkit(written([hand])) == list(payoffs(hand)) == [-8.0, -2.0, 10.0]
    small = refused(tmp_path, **STRADDLE, actions=f"[{FLOP} 'p1 cbr 3', 'p3 f']")
    assert small == (
        "action 4, of p1: min_bet = 2 is not supported: the smallest raise here is the largest blind or straddle plus "
        "the ante, 4, or all chips, and this raise is by 3"
    )
    before_the_flop = refused(tmp_path, **STRADDLE, actions=f"[{DEAL} 'p1 cbr 6', 'p2 f', 'p3 f']")
    assert before_the_flop.startswith("action 1, of p1: min_bet = 2 is not supported")
    twice = refused(tmp_path, **STRADDLE, actions=f"[{FLOP} 'p1 cbr 10', 'p3 cbr 14', 'p1 f']")  # illegal anywhere
    assert twice.startswith("action 5, of p3: 18 is not legal")
    fraction = refused(tmp_path, **STRADDLE | {"min_bet": "0.5"}, actions=f"[{FLOP} 'p1 cbr 0.5', 'p3 f']")
    assert "min_bet = 0.5 is not supported" in fraction and fraction.endswith("this raise is by 0.5")


def test_a_min_bet_above_the_blinds(tmp_path):
    """All raises are at least as large, unless a stack runs out."""
    high = STRADDLE | {"min_bet": "10"}
    hand = one(tmp_path, **high, actions=f"[{FLOP} 'p1 cbr 10', 'p3 cbr 20', 'p1 f']")
    assert payoffs(hand) == (-14.0, -2.0, 16.0)
    small = refused(tmp_path, **high, actions=f"[{FLOP} 'p1 cbr 9', 'p3 f']")
    assert small == "action 4, of p1: a raise by 9 is less than min_bet = 10"
    hand = one(tmp_path, **high, actions=f"[{FLOP} 'p1 cbr 30', 'p3 cbr 36', 'p1 f']")
    assert payoffs(hand) == (-34.0, -2.0, 36.0)


def test_fractions_of_chips(tmp_path):
    hand = one(
        tmp_path,
        blinds_or_straddles="[0.25, 0.50, 0]",
        min_bet="0.50",
        starting_stacks="[50, 20.75, 10.0]",
        actions=f"[{DEAL} 'p3 cbr 1.25', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cbr 1', 'p2 f']",
        finishing_stacks="[49.75, 19.50, 11.50]",
    )
    assert hand.rules.blinds == (25, 50, 0)
    assert hand.rules.stacks == (5000, 2075, 1000)
    assert hand.actions == (125, 0, 1, 1, 225, 0)
    assert hand.chip_value == Decimal("0.01")
    assert payoffs(hand) == hand.payoffs == (-25.0, -125.0, 150.0)
    text = written([hand])
    assert "blinds_or_straddles = [0.25, 0.5, 0]\n" in text
    assert "'p3 cbr 1.25'".replace("'", '"') in text
    assert read(tmp_path, text, "again.phhs") == [hand]
    assert by_pokerkit(text) == [-0.25, -1.25, 1.5]


def test_fractional_finishing_stacks(tmp_path):
    hand = one(tmp_path, finishing_stacks="[9950.5, 4775.25, 1274.25]")
    assert hand.payoffs == (-49.5, -224.75, 274.25)
    assert one(tmp_path, finishing_stacks=None).payoffs is None


def test_hands_shown_and_mucked(tmp_path):
    winner = (-50.0, -100.0, 150.0)

    def showdown(*shows, deal=DEAL):
        actions = SHOWDOWN.replace(DEAL, deal) + "".join(f", '{show}'" for show in shows)
        return one(tmp_path, actions=f"[{actions}]", finishing_stacks=None)

    hidden = "'d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', "
    for hand in (
        showdown(),
        showdown("p2 sm 2c7s", "p3 sm 7h9c"),
        showdown("p2 sm -", "p3 sm 9c7h"),
        showdown("p2 sm", "p3 sm -"),
        showdown("p2 sm ????", "p3 sm -"),
        showdown("p2 sm 2c7s", "p3 sm 7h9c", deal=hidden),
        showdown("p2 sm", "p3 sm 7h9c", deal=hidden),
        showdown("p2 sm 2c7s", "p3 sm 7h9c", deal=""),
        showdown("p2 sm # folds", "", " # a comment", "p3  sm   7h9c # wins", deal=hidden),
    ):
        assert payoffs(hand) == winner
        assert payoffs(read(tmp_path, written([hand]), "again.phhs")[0]) == winner
    for hand, message in (
        (showdown("p2 sm -", "p3 sm"), "seat 2 mucked, but would win"),
        (showdown("p2 sm ????", "p3 sm 7h9c", deal=hidden), "hole cards of seat 1 unknown"),
        (showdown("p2 sm ??2c", "p3 sm 7h9c", deal=hidden), "hole cards of seat 1 unknown"),
    ):
        with pytest.raises(ValueError, match=message):
            payoffs(hand)
    assert showdown("p2 sm As2s").what == "p2 shows other cards than it was dealt"
    assert one(tmp_path, actions=f"[{DEAL} 'p2 sm 2c7s']").what == "p2 shows or mucks before the betting is over"


def test_cards_dealt_one_by_one(tmp_path):
    deal = "'d dh p1 8h', 'd dh p2 2c', 'd dh p3 7h', 'd dh p1 Kd', 'd dh p2 7s', 'd dh p3 9c', "
    hand = one(tmp_path, actions=f"[{deal} 'p3 f', 'p1 f']", finishing_stacks=None)
    assert hand.hole_cards == (parse_cards("8hKd"), parse_cards("2c7s"), parse_cards("7h9c"))


@pytest.mark.parametrize("asked", [True, False])
def test_a_seat_without_a_choice_may_be_asked_or_not(tmp_path, asked):
    """The small blind is all-in with its blind: the big blind can only check, and pokerkit does not ask it."""
    check = "'p1 cc', " if asked else ""
    hand = one(
        tmp_path,
        antes="[0, 0]",
        blinds_or_straddles="[50, 100]",
        starting_stacks="[900, 50]",
        actions=f"['d dh p1 AsAh', 'd dh p2 KsKh', {check}'d db 2c7d9h', 'd db Tc', 'd db Js']",
        players="['BB', 'SB']",
        finishing_stacks="[950, 0]",
    )
    assert hand.actions == (1,)
    assert payoffs(hand) == hand.payoffs
    assert by_pokerkit(written([hand])) == [50.0, -50.0]


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"variant": None}, "variant is NT or FT (hold'em, no-limit or fixed-limit), got 'None'"),
        ({"variant": "'PO'"}, "got 'PO'"),
        ({"variant": "['NT']"}, "variant is NT or FT"),
        ({"bring_in": "5"}, "hold'em has no bring_in"),
        ({"antes": None}, "antes must list the chips of every player, got None"),
        ({"antes": "0"}, "antes must list the chips of every player, got 0"),
        ({"antes": "[0, 0]"}, "antes must list the chips of 3 players, as starting_stacks does, got 2"),
        (
            {"blinds_or_straddles": "[50, 100]"},
            "blinds_or_straddles must list the chips of 3 players, as starting_stacks does, got 2",
        ),
        ({"blinds_or_straddles": "[0, 0, 0]"}, "at least one seat must post a blind"),
        ({"starting_stacks": "[]"}, "antes must list the chips of 0 players"),
        ({"starting_stacks": "[10000, 5000, inf]"}, "starting_stacks must be chips, got 'Infinity'"),
        ({"starting_stacks": "[10000, 5000, nan]"}, "starting_stacks must be chips, got 'NaN'"),
        ({"starting_stacks": "[10000, 5000, true]"}, "starting_stacks must be chips, got 'True'"),
        ({"starting_stacks": "[10000, 5000, '1']"}, "starting_stacks must be chips, got '1'"),
        ({"starting_stacks": "[10000, 5000, -1]"}, "starting_stacks must be 0..2147483647 chips, got -1"),
        ({"starting_stacks": "[10000, 5000, 0]"}, "stacks must be positive chips"),
        ({"starting_stacks": "[10000, 70, 1000]"}, "a stack must cover its blind"),
        ({"starting_stacks": "[10000, 5000, 1e999999999]"}, "starting_stacks must be chips, got"),
        ({"starting_stacks": "[10000, 5000, 1e-999999]"}, "starting_stacks must be chips, got"),
        ({"starting_stacks": "[10000, 5000, 0.1234567]"}, "amounts of chips must have at most 6 decimals"),
        ({"starting_stacks": f"[10000, 5000, 1{'0' * 300}]"}, "starting_stacks must be 0..2147483647 chips"),
        ({"starting_stacks": f"[10000, 5000, 1{'0' * 5000}]"}, "not valid TOML"),
        ({"starting_stacks": f"[10000, 5000, 0x1{'0' * 5000}]"}, ""),
        (
            {"finishing_stacks": "[1, 2]"},
            "finishing_stacks must list the chips of 3 players, as starting_stacks does, got 2",
        ),
        ({"finishing_stacks": "[1, 2, '3']"}, "finishing_stacks must be chips, got '3'"),
        ({"players": "['a', 'b']"}, "players must list 3 names, as many as starting_stacks lists, got 2"),
        ({"players": "['a', 'b', 3]"}, "players must be a list of names"),
        ({"players": "'abc'"}, "players must be a list of names"),
        ({"min_bet": "'2'"}, "min_bet must be chips, got '2'"),
        ({"min_bet": "-1"}, "min_bet must be 0..2147483647 chips, got -1"),
        ({"actions": None}, "actions must be a list of texts"),
        ({"actions": "'p3 f'"}, "actions must be a list of texts"),
        ({"actions": "[1]"}, "actions must be a list of texts"),
        ({"actions": "[]"}, "the hand stops before its end, with p3 to act"),
        ({"actions": "['p3 f']"}, "the hand stops before its end, with p1 to act"),
        ({"actions": "['p1 f']"}, "action 1: p1 acts when it is p3's turn"),
        ({"actions": "['p4 f']"}, "there is no player 'p4': players are p1..p3"),
        ({"actions": "['p² f']"}, "there is no player 'p²'"),
        ({"actions": "['p0 f']"}, "there is no player 'p0'"),
        ({"actions": "['x']"}, "not an action of hold'em: 'x'"),
        ({"actions": "['p3 pb']"}, "not an action of hold'em: 'p3 pb'"),
        ({"actions": "['p3 sd As']"}, "not an action of hold'em: 'p3 sd As'"),
        ({"actions": "['d dh p3']"}, "not an action of hold'em: 'd dh p3'"),
        ({"actions": "['p3 f', 'p1 f', 'p2 cc']"}, "action 3: p2 acts after the last action"),
        ({"actions": "['p3 cbr 199']"}, "action 1, of p3: 199 is not legal for seat 2: legal are"),
        ({"actions": "['p3 cbr -5']"}, "a bet is written p1 cbr 200, got 'p3 cbr -5'"),
        ({"actions": "['p3 cbr']"}, "a bet is written p1 cbr 200, got 'p3 cbr'"),
        ({"actions": f"['p3 cbr {'9' * 40}']"}, "a bet is written p1 cbr 200"),
        ({"actions": "['p3 f', 'p1 cc', 'p2 cc', 'p1 cc']"}, "action 4: 0 board cards where street 1 has 3"),
        ({"actions": "['p3 f', 'd db 2c3c4c', 'p1 cc']"}, "action 2: 3 board cards where street 0 has 0"),
        ({"actions": "['d db 2c3']"}, "cards are written like"),
        ({"actions": "['d dh p1 Az']"}, "cards are written like"),
    ],
)
def test_what_is_no_hand_is_refused(tmp_path, fields, what):
    assert what in refused(tmp_path, **fields)


@pytest.mark.parametrize(
    ("hand", "label"), [("17", "17"), ("'final'", "final"), ("''", "1"), ("1.5", "1"), (None, "1"), ("[1]", "1")]
)
def test_labels(tmp_path, hand, label):
    assert one(tmp_path, hand=hand).label == label


def test_players_without_names(tmp_path):
    assert one(tmp_path, players=None).names == ("p1", "p2", "p3")
    assert one(tmp_path, players="['', 'X', '']").names == ("p1", "X", "p3")
