"""Tables: moves that are late or illegal change nothing, hands are kept, and everything ends with the server."""

import contextlib
import json
import sqlite3

import pytest
from browser_table import RandomTable, sit_down

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.tournaments.api.replay import replay_hands
from plurispiel.tournaments.formats.files import read_hands
from plurispiel.tournaments.web.history import FILE, PlayStore
from plurispiel.tournaments.web.play_setting import LISTED, Move, Sit, checked, lobby_choices, rules_of
from plurispiel.tournaments.web.seat import Said


def errors_of(table):
    return [(kind, json.loads(text)["text"]) for kind, text in table.lines if kind.startswith("error")]


def exported(folder, session=1):
    """Write the exported hands of a session, and return the file."""
    with contextlib.closing(PlayStore(folder / FILE)) as store:
        name, text = store.export(session)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    "game, agents",
    [
        ("holdem", ("call",)),
        ("holdem", ("random",) * 5),
        ("HULH", ("tag",)),
        ("LEDUC", ("equity",)),
        ("KUHN", ("tag",)),
    ],
)
def test_hands_are_kept_and_exported_and_replay_to_the_same_payoffs(tmp_path, game, agents):
    with RandomTable(tmp_path, sit_down(game, agents)) as table:
        ends = [json.loads(views[-1])["end"] for views in table.play(12)]
    path = exported(tmp_path)
    result = replay_hands([str(path)])
    assert (result.hands, result.mismatches, result.errors) == (12, [], [])
    for history, end in zip(read_hands(path), ends, strict=True):
        assert list(history.payoffs) == end["payoffs"]
    with contextlib.closing(PlayStore(tmp_path / FILE)) as store:
        (session,) = store.sessions()
        hands = store.hands(1)
    assert session["hands"] == 12 and session["void"] == session["assisted"] == 0
    assert session["result"]["unaided"]["chips"] == sum(hand.kept.chips for hand in hands)
    assert sqlite3.connect(tmp_path / FILE).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_hand_is_kept_before_the_next_one_is_dealt(tmp_path):
    with RandomTable(tmp_path, sit_down()) as table:
        for number in (1, 2, 3):
            (views,) = table.play(1)
            with contextlib.closing(PlayStore(tmp_path / FILE)) as store:
                assert len(store.hands(1)) == number == json.loads(views[0])["hand"]
            for view in map(json.loads, views):
                assert view.get("wants") != "next" or view["end"]["luck"]["won"] == view["end"]["payoffs"][view["you"]]


def test_late_replayed_illegal_and_unknown_moves_are_errors_and_change_nothing(tmp_path):
    def with_trouble(view):
        for page, move in [
            (7, Move("act", view["number"] - 1, "c")),
            (8, Move("act", view["number"] + 1, "c")),
            (9, Move("next", view["number"], "")),
            (10, Move("act", view["number"], "r1")),
            (11, Move("act", view["number"], "x" * 400)),
            (12, Move("dance", view["number"], "")),
            (13, Move("assist", view["number"], "everything")),
            (14, Move("pace", view["number"], "slow")),
        ]:
            table.inbox.put(Said(page, move))
        return "c"

    with RandomTable(tmp_path, sit_down(), choose=with_trouble) as table:
        (views,) = table.play(1)
    decisions = len({json.loads(text)["number"] for text in views if json.loads(text).get("wants") == "act"})
    errors = errors_of(table)
    assert len(errors) == 8 * decisions
    assert {kind for kind, _ in errors} == {f"error {page}" for page in range(7, 15)}
    assert all("decided already" in text for kind, text in errors if kind in ("error 7", "error 8", "error 9"))
    assert all("r1 is not legal here" in text for kind, text in errors if kind == "error 10")
    assert all(len(text) < 200 for _, text in errors)
    end = json.loads(views[-1])
    assert [each["text"] for each in end["actions"]] == ["call 50"] + ["check"] * 7


def test_a_move_made_twice_acts_once(tmp_path):
    def twice(view):
        table.inbox.put(Said(2, Move("act", view["number"], "c")))
        return "c"

    with RandomTable(tmp_path, sit_down(), choose=twice) as table:
        (views,) = table.play(1)
    actions = json.loads(views[-1])["actions"]
    assert len(actions) == 8 and len(errors_of(table)) == 4


def test_help_is_counted_apart_and_can_be_switched(tmp_path):
    def switch(view):
        if view["hand"] == 2 and view["assist"] == "off":
            table.inbox.put(Said(1, Move("assist", view["number"], "advice")))
        return "c"

    with RandomTable(tmp_path, sit_down("LEDUC", ("tag",), adviser="tag"), choose=switch) as table:
        first, second, third = table.play(3)
    assert "help" not in "".join(first)
    assert not any(json.loads(views[-1])["end"]["data"]["hands"][0]["steps"][1].get("grid") for views in (first,))
    ends = [json.loads(views[-1]) for views in (first, second, third)]
    assert [end["assisted"] for end in ends] == [False, True, True]
    assert ends[-1]["results"]["unaided"]["hands"] == 1 and ends[-1]["results"]["assisted"]["hands"] == 2
    with contextlib.closing(PlayStore(tmp_path / FILE)) as store:
        assert store.sessions()[0]["assisted"] == 2


def test_ranges_and_advice_come_while_the_person_thinks(tmp_path):
    sit = sit_down("LEDUC", ("tag",), assist="advice", adviser="tag")
    with RandomTable(tmp_path, sit, choose=lambda view: "c", waits_for_help=True) as table:
        (views,) = table.play(1)
    asked = [json.loads(text) for text in views if "ranges" in json.loads(text).get("help", {})]
    assert asked
    for view in asked:
        assert view["help"]["advice"]["shares"] and not view["help"]["advice"]["trouble"]
        (other,) = view["help"]["ranges"]
        assert other["seat"] == 1 - view["you"] and other["grid"]["actions"] == ["in the range"]


def test_a_session_goes_on_with_its_result_and_a_void_hand_is_said(tmp_path):
    with RandomTable(tmp_path, sit_down()) as table:
        before = json.loads(table.play(2)[-1][-1])["results"]
    with contextlib.closing(PlayStore(tmp_path / FILE)) as store:
        store.note_dealt(1, 3)
        assert store.sessions()[0]["void"] == 1
    with RandomTable(tmp_path, None, session=1) as table:
        (views,) = table.play(1)
    first = json.loads(views[0])
    assert first["hand"] == 4 and first["results"] == before
    assert [history.label for history in read_hands(exported(tmp_path))] == ["1", "2", "4"]


def test_a_session_whose_agent_has_changed_is_refused(tmp_path):
    with RandomTable(tmp_path, sit_down()) as table:
        table.play(1)
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute('UPDATE sessions SET digests = \'{"call": "other"}\'')
    with pytest.raises(ValueError, match="call has changed since"):
        RandomTable(tmp_path, None, session=1)
    with pytest.raises(ValueError, match="there is no session 9"):
        RandomTable(tmp_path, None, session=9)


def test_a_file_that_is_no_database_is_refused_and_left(tmp_path):
    (tmp_path / FILE).write_bytes(b"my diary" * 200)
    with pytest.raises(ValueError, match="cannot be used"):
        PlayStore(tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes().startswith(b"my diary")


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"game": "go"}, "the game must be one of"),
        ({"seats": 7}, "has 2 to 6 seats here, got 7"),
        ({"stack": 4}, "a stack is 5 to 1,000 big blinds"),
        ({"game": "LEDUC", "stack": 50}, "only in no-limit"),
        ({"agents": ("call", "call")}, "2 seats need 1 agents, got 2"),
        ({"agents": ("/bin/sh",)}, "the server lists no agent '/bin/sh'"),
        ({"adviser": "stdio:sh"}, "the server lists no agent 'stdio:sh'"),
        ({"game": "KUHN", "agents": ("blueprint",)}, "no bundled blueprint"),
        ({"seed": "-1"}, "a seed is a whole number"),
        ({"seed": "²"}, "a seed is a whole number"),
        ({"seed": str(1 << 64)}, "a seed is a whole number"),
        ({"pace": ""}, "the pace must be"),
        ({"assist": "all"}, "the help must be"),
    ],
)
def test_wishes_that_cannot_be_fulfilled_are_refused(changed, words):
    usual = {"game": "holdem", "seats": 2, "stack": 0, "agents": ("call",), "seed": "", "pace": "calm"}
    with pytest.raises(ValueError, match=words):
        checked(Sit(**(usual | {"assist": "off", "adviser": "call"} | changed)), LISTED)


def test_the_lobby_names_games_with_the_agents_that_play_them():
    games = {game["key"]: game for game in lobby_choices(LISTED)["games"]}
    assert games["holdem"]["seats"] == [2, 3, 4, 5, 6] and games["holdem"]["stacks"] == [200, 100, 100, 100, 100]
    assert "blueprint" in games["holdem"]["agents"][0] and "blueprint" not in games["LEDUC"]["agents"][0]
    assert games["KUHN"]["usual"] == ["tag"]
    usual = {"seats": 2, "agents": ("call",), "seed": "", "pace": "calm", "assist": "off", "adviser": "call"}
    assert rules_of(Sit("holdem", stack=0, **usual)) == HUNL
    assert rules_of(Sit("holdem", stack=50, **usual)).stacks == (5_000, 5_000)
