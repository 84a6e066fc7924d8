"""Replies of GTO Wizard's benchmark, written by hand in the documented form, and the requests that answer them."""

import copy

import pytest

from plurispiel.tournaments.remote.gtowizard import GtoWizardTable
from plurispiel.tournaments.remote.http import BadStatus
from plurispiel.tournaments.remote.table import HandBroken, TableError


class Script:
    """A client that gets these replies; the first are to GET requests."""

    def __init__(self, *replies):
        self.host, self.replies, self.sent = "benchmark", [], []
        self._replies = iter(replies)

    def post(self, path, body=None, busy=frozenset()):
        self.sent.append((path, body))
        reply = next(self._replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    get = post


def reply_of(history, board, winnings=None, shown=None, position="BTN"):
    players = [
        {"name": "GTO Wizard AI", "stack": 1, "position": "BB", "hole_cards": shown},
        {"name": "me", "stack": 1, "position": position, "hole_cards": "AhKd"},
    ]
    state = {"street": "flop", "common_pot": 600, "total_pot": 600, "board_cards": board, "players": players}
    state |= {"is_hand_over": winnings is not None, "action_history": history, "winnings": winnings}
    state["aivat_score"] = None if winnings is None else 12.5
    game = {"game_id": 1, "game_name": "HUNL 200BB", "starting_stack": 20000, "blinds": [100, 50]}
    return {"hand_id": 41, "game": game, "game_state": state}


def test_a_hand_with_a_fold():
    end = reply_of(["b300", "c", "_", "k", "b400", "f"], "Qc7h2d", 300.0)
    replies = reply_of([], ""), reply_of(["b300", "c", "_", "k"], "Qc7h2d"), end
    table = GtoWizardTable(client := Script(BadStatus(404, "none yet"), *replies))
    state = table.open(1)
    assert state.seat == 1 and table.opponent == "GTO Wizard AI" and table.hand_id == "41"
    state = table.act(state, 300)
    assert table.corrected is None
    state = table.act(state, 700)
    assert state.betting.sizes == (300, 1, 1, 700, 0) and table.corrected == 12.5
    assert client.sent == [
        ("/results?game_name=HUNL+200BB", None),
        ("/hands", {"game_name": "HUNL 200BB"}),
        ("/hands/41/act", {"action": "b", "amount": 300}),
        ("/hands/41/act", {"action": "b", "amount": 400}),
    ]


@pytest.mark.parametrize("history", [["b20000", "c"], ["b20000", "c", "_"], ["b20000", "c", "_", "_", "_"]])
def test_all_in_with_any_number_of_street_ends(history):
    end = reply_of(history, "Qc7h2d3s9c", -20000, "QsQh")
    table = GtoWizardTable(Script({"name": "me", "gto_wizard_version": 2}, reply_of([], ""), end))
    assert table.act(table.open(1), 20_000).betting.showdown
    assert table.opponent == "GTO Wizard AI version 2"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda reply: reply["game_state"]["players"].pop(), "two players are expected"),
        (lambda reply: reply["game_state"]["players"][1].update(position="BB"), "positions are not SB and BB"),
        (lambda reply: reply["game_state"]["players"][0].update(name="me"), "both players are named 'me'"),
        (lambda reply: reply["game_state"]["players"][0].update(hole_cards="QsQh"), "shown before the end"),
        (lambda reply: reply["game"].update(blinds=["100", 50]), "the game has blinds"),
        (lambda reply: reply["game"].update(starting_stack=10000), "the game has blinds"),
        (lambda reply: reply.update(hand_id="../results"), "a hand's name has letters, digits and hyphens"),
        (lambda reply: reply["game_state"].update(action_history=["k"] * 500), "at most 400 texts"),
        (lambda reply: reply["game_state"].update(is_hand_over=1), "'is_hand_over' has to be of type bool"),
        (lambda reply: reply["game_state"].update(is_hand_over=True, winnings=0), "by our rules the hand is not over"),
    ],
)
def test_what_is_not_believed(change, what):
    reply = copy.deepcopy(reply_of([], ""))
    change(reply)
    with pytest.raises(HandBroken, match=what):
        GtoWizardTable(Script({"name": "me"}, reply)).open(1)


def test_a_hand_that_is_over_already():
    table = GtoWizardTable(Script({}, reply_of([], ""), BadStatus(409, "conflict")))
    state = table.open(1)
    with pytest.raises(HandBroken, match="says that hand 41 is over already"):
        table.act(state, 1)


def test_a_key_that_is_refused_begins_no_hand():
    with pytest.raises(TableError) as caught:
        GtoWizardTable(Script(BadStatus(403, "no"))).open(1)
    assert not isinstance(caught.value, HandBroken)
