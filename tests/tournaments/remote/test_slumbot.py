"""Slumbot's replies, written by hand in the documented form, and the requests that answer them."""

import pytest

from plurispiel.tournaments.remote.slumbot import SlumbotTable
from plurispiel.tournaments.remote.table import HandBroken


class Script:
    """A client that gets these replies."""

    def __init__(self, *replies):
        self.host, self.replies, self.sent = "slumbot", [], []
        self._replies = iter(replies)

    def post(self, path, body, busy=frozenset()):
        self.sent.append((path, body))
        return next(self._replies)


OPEN = {
    "old_action": "",
    "action": "b250",
    "client_pos": 0,
    "hole_cards": ["Qs", "Jd"],
    "board": [],
    "token": "t1",
}
FLOP = {**OPEN, "old_action": "b250", "action": "b250c/", "board": ["Qc", "7h", "2d"], "token": "t2"}
TURN = {**FLOP, "action": "b250c/b300c/", "board": ["Qc", "7h", "2d", "3s"]}
RIVER = {**FLOP, "action": "b250c/b300c/kk/", "board": ["Qc", "7h", "2d", "3s", "9c"]}
END = {
    **RIVER,
    "action": "b250c/b300c/kk/b400c",
    "bot_hole_cards": ["As", "7d"],
    "winnings": 950,
    "won_pot": 1900,
    "session_num_hands": 1,
    "baseline_winnings": 100,
}


def test_a_hand_to_its_showdown():
    client = Script(OPEN, FLOP, TURN, RIVER, {**END, "token": None})
    table = SlumbotTable(client)
    state = table.open(1)
    for action in (1, 550, 1):
        state = table.act(state, action)
    assert state.betting.sizes == (250, 1, 550, 1, 1, 1) and state.is_own_turn
    state = table.act(state, 950)
    assert state.betting.state.is_over and state.betting.sizes[-2:] == (950, 1)
    assert client.sent == [
        ("/api/new_hand", {}),
        ("/api/act", {"token": "t1", "incr": "c"}),
        ("/api/act", {"token": "t2", "incr": "b300"}),
        ("/api/act", {"token": "t2", "incr": "k"}),
        ("/api/act", {"token": "t2", "incr": "b400"}),
    ]


def test_all_in_before_the_flop_shows_the_whole_board():
    board = ["Qc", "7h", "2d", "3s", "9c"]
    end = {**OPEN, "action": "b250b20000c///", "board": board, "bot_hole_cards": ["As", "7d"], "winnings": 20_000}
    table = SlumbotTable(client := Script(OPEN, end))
    assert table.act(table.open(1), 20_000).betting.showdown
    assert client.sent[-1][1]["incr"] == "b20000"


def test_a_hand_that_is_over_at_once_shows_the_cards():
    fold = {**OPEN, "action": "f", "bot_hole_cards": ["7d", "2c"], "winnings": 50}
    state = SlumbotTable(Script(fold)).open(1)
    assert state.betting.state.is_over and all(state.hole_cards)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"winnings": 900}, r"by our rules the hand pays \+950 chips, the service says \+900"),
        ({"winnings": None}, "by our rules the hand is over"),
        ({"bot_hole_cards": None}, "a showdown without the opponent's cards"),
        ({"bot_hole_cards": ["Qs", "7d"]}, "a card appears twice"),
        ({"hole_cards": ["Qs", "Jh"]}, "cards have changed"),
        ({"board": ["Qc", "7h", "2d", "3s", "8c"]}, "cards have changed"),
        ({"board": ["Qc", "7h", "2d", "3s"]}, "the board has 5 cards, got 4"),
        ({"client_pos": 1}, "of seat 0 is not over"),
        ({"action": "b250c/b300c/kk/b500c"}, "the service's history lacks our last action"),
        ({"action": "b300c/b300c/kk/b400c"}, "earlier actions have changed"),
        ({"action": "b250c/b300c/kk/b400b800c", "winnings": 1350}, "an action of our seat that we did not take"),
    ],
)
def test_what_is_not_believed(changes, what):
    table = SlumbotTable(Script(OPEN, FLOP, TURN, RIVER, {**END, **changes}))
    state = table.open(1)
    for action in (1, 550, 1):
        state = table.act(state, action)
    with pytest.raises(HandBroken, match=what):
        table.act(state, 950)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"action": ""}, "the opponent is to act"),
        ({"action": "b250c/b300", "board": ["Qc", "7h", "2d"], "client_pos": 1}, "already has an action of ours"),
        ({"bot_hole_cards": ["As", "7d"]}, "shown before the end"),
        ({"token": None}, "no token"),
        ({"hole_cards": ["Qs"]}, "holds 2 cards, got 1"),
    ],
)
def test_beginnings_that_are_not_believed(changes, what):
    with pytest.raises(HandBroken, match=what):
        SlumbotTable(Script({**OPEN, **changes})).open(1)


def test_a_session_that_has_expired_is_begun_anew():
    fold = {**OPEN, "action": "f", "bot_hole_cards": ["7d", "2c"], "winnings": 50}
    table = SlumbotTable(client := Script(fold, {"error_msg": "Session expired"}, OPEN))
    table.open(1)
    assert table.open(2).number == 2
    assert [body for _, body in client.sent] == [{}, {"token": "t1"}, {}]
