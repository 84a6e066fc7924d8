"""Counts of play, from hands written out by hand."""

import dataclasses

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.base import Action
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.play_statistics import COUNTERS, PlayStatistics, hand_counts, new_counts

THREE = no_limit_holdem(3)
REVERSE = dataclasses.replace(HUNL, blinds=HUNL.blinds[::-1], first_seats=(0, 1, 1, 1))
NAMES = set(COUNTERS) - {"hands", "showdowns"}


def counts(rules, text):
    """Play streets such as "c r300 f / k k" (the seats follow from the rules) and count."""
    betting = BettingState(rules)
    actions = []
    for word in text.replace("/", " ").split():
        action = {"f": 0, "c": 1, "k": 1}.get(word) if word[0] != "r" else int(word[1:])
        assert (word == "k") == (action == 1 and not betting.can_fold), f"{word} is the wrong word in {text}"
        actions.append(Action(betting.actor, action, betting.street))
        betting.apply(action)
    assert betting.is_over, f"{text} is not over"
    live = rules.num_seats - sum(betting.folded)
    deck = np.arange(rules.num_dealt_cards, dtype=np.uint8)
    return hand_counts(Hand(rules, deck, tuple(actions), (0.0,) * rules.num_seats, live > 1))


def told(rules, text):
    """Return for each seat what was counted besides hands and showdowns."""
    return [
        {name for name, count in zip(COUNTERS, row, strict=True) if count and name in NAMES}
        for row in counts(rules, text)
    ]


CHANCE = {"first_in_chances"}
OPEN = CHANCE | {"first_in_raises", "vpip", "raised_preflop"}
LIMP = CHANCE | {"first_in_limps", "vpip"}
CALL = {"vpip"}
MAY_3BET = {"three_bet_chances"}
THREE_BET = MAY_3BET | {"three_bets", "vpip", "raised_preflop"}
MAY_DONK = {"donk_bet_chances"}
DONK = MAY_DONK | {"donk_bets"}


def test_six_seats_before_the_flop():
    # UTG folds, HJ opens, CO calls, the button folds, SB 3-bets, BB folds, HJ calls, CO folds; SB bets, HJ folds.
    assert told(SIXMAX, "f r250 c f r1000 f c f / r1500 f") == [
        THREE_BET,
        set(),
        CHANCE,
        OPEN,
        CALL | MAY_3BET,
        MAY_3BET,
    ]


def test_six_seats_all_fold_to_the_big_blind():
    assert told(SIXMAX, "f f f f f") == [CHANCE, set(), CHANCE, CHANCE, CHANCE, CHANCE]


def test_six_seats_a_limp_is_not_a_raise_and_a_raise_behind_it_is_no_3bet():
    # UTG limps, HJ raises over it (not first in), all fold to UTG, who raises again: a 3-bet.
    assert told(SIXMAX, "c r400 f f f f r1200 f") == [
        MAY_3BET,
        MAY_3BET,
        LIMP | THREE_BET,
        {"vpip", "raised_preflop"},
        MAY_3BET,
        MAY_3BET,
    ]


def test_six_seats_a_4bet_is_no_3bet():
    assert told(SIXMAX, "r250 r750 f f f f r2000 f") == [set(), set(), OPEN, THREE_BET, set(), set()]


def test_three_seats_small_blind_completes_and_big_blind_checks():
    # Nobody raised, so nobody can donk; the big blind's check is no VPIP and no first-in.
    assert told(THREE, "f c k / k k / r200 f") == [LIMP, set(), CHANCE]


def test_three_seats_donk_bets():
    # The button opens, both blinds call. SB checks (a chance), BB bets into the button: a donk bet.
    assert told(THREE, "r250 c c / k r400 f f") == [CALL | MAY_3BET | MAY_DONK, CALL | MAY_3BET | DONK, OPEN]
    # The opener acted before: a bet behind its check is none. Next street nobody bet before: no chance.
    assert told(THREE, "r250 c c / k k k / r400 f f") == [
        CALL | MAY_3BET | MAY_DONK,
        CALL | MAY_3BET | MAY_DONK,
        OPEN,
    ]


def test_three_seats_a_bet_behind_the_raiser_is_no_donk_bet():
    # SB raised last before the flop and acts first on it: the button bets behind its check.
    assert told(THREE, "c r400 f c / k r600 f") == [
        {"vpip", "raised_preflop"},
        MAY_3BET,
        LIMP | MAY_3BET,
    ]


def test_three_seats_donk_bet_on_the_turn():
    # The button bets the flop and SB calls; SB leads the turn into it.
    assert told(THREE, "r250 c f / k r400 c / r900 f") == [CALL | MAY_3BET | DONK, MAY_3BET, OPEN]


def test_a_check_raiser_is_the_last_raiser():
    # SB check-raises the flop; on the turn it acts first, so the button's bet is none.
    assert told(THREE, "r250 c f / k r400 r900 c / k r2000 f") == [CALL | MAY_3BET | MAY_DONK, MAY_3BET, OPEN]


def test_nobody_bets_into_a_raiser_who_is_all_in():
    # The button is all-in for 1,000: the blinds play on for a side pot, but not into him.
    rules = dataclasses.replace(THREE, stacks=(10_000, 10_000, 1_000))
    assert told(rules, "r1000 c c / k r2000 f") == [CALL | MAY_3BET, CALL | MAY_3BET, OPEN]


def test_a_short_big_blind_all_in_is_no_vpip():
    # The big blind has 100 left in all, which it posts.
    rules = dataclasses.replace(THREE, stacks=(10_000, 100, 10_000))
    assert told(rules, "c c / k k / k k / k k") == [CALL, set(), LIMP]


def test_a_call_for_less_is_vpip_once():
    rules = dataclasses.replace(THREE, stacks=(80, 10_000, 10_000))
    assert told(rules, "f c k") == [LIMP, set(), CHANCE]


def test_heads_up():
    # The button (seat 1) opens, the big blind 3-bets, calls follow; the big blind bets as the raiser: no donk bet.
    assert told(HUNL, "r300 r900 c / r1000 c / k k / k k") == [THREE_BET, OPEN]
    assert told(HUNL, "c k / k k / k k / k k") == [set(), LIMP]
    assert told(HUNL, "c r300 f") == [{"vpip", "raised_preflop"}, LIMP | MAY_3BET]
    assert told(HUNL, "r300 c / r400 f") == [CALL | MAY_3BET | DONK, OPEN]
    assert told(HUNL, "f") == [set(), CHANCE]


def test_limit_games_without_stacks():
    # Leduc's antes are equal: a check is no VPIP, and the first bet is first in.
    assert told(LEDUC, "r3 c / r7 f") == [OPEN, CALL | MAY_3BET]
    assert told(LEDUC, "k r3 c / k k") == [CHANCE | CALL | MAY_3BET | MAY_DONK, {"vpip", "raised_preflop"}]


@pytest.mark.parametrize(
    ("text", "showdowns"),
    [
        ("f r250 c f f f / k k / k k / k k", [0, 0, 0, 1, 1, 0]),
        ("f f f f f", [0] * 6),
        ("r10000 c f f f f", [0, 0, 1, 1, 0, 0]),
    ],
)
def test_showdowns(text, showdowns):
    rows = counts(SIXMAX, text)
    assert [row[COUNTERS.index("showdowns")] for row in rows] == showdowns
    assert [row[COUNTERS.index("hands")] for row in rows] == [1] * 6


def test_counts_are_at_most_one():
    # SB acts five times before the flop.
    rows = counts(HUNL, "r200 r300 r400 r500 r600 c / r700 r900 r1300 f")
    assert max(max(row) for row in rows) == 1


def test_positions_are_those_of_the_game():
    table = new_counts(2)
    table[0, COUNTERS.index("first_in_chances")] = table[0, COUNTERS.index("first_in_limps")] = 1
    for rules, limps in ((HUNL, {"BB": 1.0, "BTN": None}), (REVERSE, {"BTN": 1.0, "BB": None})):
        assert PlayStatistics(table).record(rules)["first_in_limp"] == limps


def test_shares_and_positions():
    table = new_counts(3)
    column = {name: k for k, name in enumerate(COUNTERS)}
    table[:, column["hands"]] = 10
    table[:, column["vpip"]] = (2, 1, 6)
    table[2, column["first_in_chances"]] = 8
    table[2, column["first_in_raises"]] = 6
    table[0, column["first_in_chances"]] = 4
    table[0, column["first_in_limps"]] = 1
    record = PlayStatistics(table).record(no_limit_holdem(3))
    assert record == {
        "vpip": 0.3,
        "pfr": 0.0,
        "first_in_raise": {"SB": 0.0, "BB": None, "BTN": 0.75},
        "first_in_limp": {"SB": 0.25, "BB": None, "BTN": 0.0},
        "three_bet": None,
        "donk_bet": None,
        "showdown": 0.0,
    }
    assert all(type(value) is float for value in (record["vpip"], record["first_in_raise"]["BTN"]))
