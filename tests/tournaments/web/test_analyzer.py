"""Hands as text become stories; what is broken is named."""

import json

import pytest
from phh_text import THREE, with_fields

from plurispiel.tournaments.web.analyzer import MAX_HANDS, pasted_hands

HEAD = "# name/game/hands/seed m holdem.nolimit.2p.reverse_blinds.game 1 0\n"
LOG = "STATE:{}:cr300c/cr600f:{}/Td9d6h:{}:A|B\n"


def test_a_hand_in_phh_is_shown():
    found = pasted_hands(THREE)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    (hand,) = found["data"]["hands"]
    assert found["troubles"] == [] and not found["left_out"]
    assert hand["cards"] == [["8h", "Kd"], ["2c", "7s"], ["7h", "9c"]] and hand["board"] == ["2d", "7d", "9h"]
    assert hand["payoffs"] == [-50, -225, 275] and found["data"]["names"]["0"] == ["MrOrange", "Hattori", "Pluribus"]
    assert [step["text"] for step in hand["steps"] if step["kind"] == "action"][0] == "raise to 225"
    assert hand["steps"][-1]["text"] == "all others folded"


def test_unknown_cards_stay_unknown():
    found = pasted_hands(THREE.replace("p2 2c7s", "p2 ????"))
    (hand,) = found["data"]["hands"]
    assert hand["cards"] == [["8h", "Kd"], [], ["7h", "9c"]]
    assert hand["payoffs"] == [-50, -225, 275]


def test_a_seat_that_mucked_unseen_loses():
    actions = (
        "['d dh p1 8hKd', 'd dh p2 ????', 'd dh p3 7h9c', 'p3 cc', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cc', "
        "'d db 3s', 'p2 cc', 'p3 cc', 'd db Qs', 'p2 cc', 'p3 cc', 'p2 sm', 'p3 sm 7h9c']"
    )
    found = pasted_hands(with_fields(actions=actions, finishing_stacks=None))
    assert found["troubles"] == []
    (hand,) = found["data"]["hands"]
    assert hand["cards"] == [["8h", "Kd"], [], ["7h", "9c"]] and hand["payoffs"] == [-50, -100, 150]


def test_many_hands_in_phhs_are_shown():
    found = pasted_hands(f"[1]\n{THREE}\n[2]\n{THREE.replace('hand = 2', 'hand = 3')}")
    assert [hand["name"] for hand in found["data"]["hands"]] == ["hand 2", "hand 3"]


def test_a_log_of_the_dealer_is_shown():
    found = pasted_hands(HEAD + LOG.format(7, "AsKd|QhJh", "-300|300") + LOG.format(8, "AsKd|", "x|y"))
    assert [hand["name"] for hand in found["data"]["hands"]] == ["hand 7"]
    assert found["data"]["hands"][0]["board"] == ["Td", "9d", "6h"]
    assert len(found["troubles"]) == 1 and found["troubles"][0].startswith("hand 8: ")


def test_no_more_than_a_hundred_hands_are_shown():
    found = pasted_hands(HEAD + "".join(LOG.format(k, "AsKd|QhJh", "-300|300") for k in range(MAX_HANDS + 5)))
    assert len(found["data"]["hands"]) == MAX_HANDS and found["left_out"]


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "empty"),
        ("hello", "not valid TOML"),
        ("\x00\ud800", "not valid TOML"),
        (THREE.replace("p2 f']", "p2 f', 'p1 f']"), "hand 2: "),
        (THREE.replace("cbr 225", "cbr 110"), "hand 2: "),
        (THREE.replace("2d7d9h", "2d7d8h"), "hand 2: "),
        (THREE.replace(", 'd db 2d7d9h',\n", ",\n"), "hand 2: "),
        (LOG.format(1, "AsKd|QhJh", "-300|300"), "game"),
        ("# name/game/hands/seed m ../../etc/passwd 1 0\n" + LOG.format(1, "AsKd|QhJh", "-300|300"), "game"),
        ("[1]\n" * 3, "hand 1: the hand's text is empty"),
    ],
)
def test_what_is_broken_is_named(text, words):
    found = pasted_hands(text)
    assert found["data"]["hands"] == []
    assert words in found["troubles"][0] and "Traceback" not in str(found) and "/tmp" not in str(found["troubles"])


def test_a_story_without_grids_has_no_terms():
    (hand,) = pasted_hands(THREE)["data"]["hands"]
    assert hand["forms"] == [None] * 3 and not any(any(step["terms"]) for step in hand["steps"])
