"""Sessions from the first key to the last: turns of the button, results, agents from outside and their faults."""

import io
import re

import pytest
from played_table import RandomKeys, play_table

from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX
from plurispiel.tournaments.formats.files import read_hands

BOT = """\
import numpy as np
from plurispiel.agents import Agent, Strategy

class Checks(Agent):
    def act(self, view):
        print("STATE: no hand")
        return 1

class Tells(Checks):
    def range_strategy(self, public):
        return Strategy(np.array([1]), np.ones((public.rules.num_combos, 1)))

class Fails(Agent):
    def act(self, view):
        raise ValueError("no idea\\x1b[31m")
"""


class Endless(io.StringIO):
    """A pipe like that of `yes`."""

    def __init__(self, key):
        super().__init__()
        self.key = key

    def readline(self, size=-1):
        return f"{self.key}\n"


@pytest.fixture
def bots(tmp_path):
    (tmp_path / "bots.py").write_text(BOT)
    return lambda name: f"{tmp_path / 'bots.py'}:{name}"


def test_the_button_goes_round(tmp_path):
    _, text = play_table(tmp_path / "table", SIXMAX, ["fold", "call"], RandomKeys(2), hands=7)
    seats = re.findall(r"^you are (\w+) with", text, re.MULTILINE)
    assert seats == ["BTN", "CO", "HJ", "UTG", "BB", "SB", "BTN"]
    names = [history.names for history in read_hands(tmp_path / "table" / "hands.phhs")]
    clockwise = ["you", "fold", "call", "fold#2", "call#2", "fold#3"]
    for number, seated in enumerate(names, start=1):
        assert list(seated) == [clockwise[(number + seat) % 6] for seat in range(6)]


def test_the_same_seed_deals_the_same_cards(tmp_path):
    texts = [
        play_table(tmp_path / str(k), HUNL, ["random"], RandomKeys(1), hands=5, seed=s)[1]
        for k, s in ((1, 4), (2, 4), (3, 5))
    ]
    assert texts[0] == texts[1] != texts[2]
    keyless = [play_table(tmp_path / str(k), HUNL, ["call"], ["q"], seed=None)[1] for k in (4, 5)]
    assert keyless[0] != keyless[1]


def test_the_end_of_the_input_within_a_hand_loses_that_hand_alone(tmp_path):
    keys = ["c", "c", "c", "c", "g1", "g 2", "zz", "?", "", "c"]
    is_whole, text = play_table(tmp_path / "table", HUNL, ["call"], keys)
    assert not is_whole and "hand 2\n" in text and "hand 2 is over" not in text
    assert "Enter deals the next hand" in text and "'zz' is no key after a hand" in text
    assert "tells no strategy" in text
    assert len(list(read_hands(tmp_path / "table" / "hands.phhs"))) == 1
    is_whole, text = play_table(tmp_path / "table", HUNL, ["call"], ["c", "c", "c", "c"])
    assert is_whole and "hand 2 is over" in text  # the input ends between two hands


def test_agents_from_outside_play_tell_and_fail_in_their_processes(tmp_path, bots):
    folder = tmp_path / "table"
    _, text = play_table(folder, HUNL, [bots("Tells")], ["c", "c", "c", "c", "g2", "q"])
    assert "check (100%, 100%)" in text and "\nwhole range: check 100%\n" in text
    assert "STATE" not in text and "STATE" in (folder / "agents.txt").read_text()
    _, text = play_table(tmp_path / "other", LEDUC, [bots("Fails")], RandomKeys(1), hands=22, hint=bots("Fails"))
    assert "committed a fault (exception)" in text and "no idea" in text and "\x1b" not in text
    assert text.count("has committed 20 faults: its seat only folds from now on") == 1
    assert "no hint from" in text


def test_a_silent_agent_is_asked_for_nothing_that_counts(tmp_path, bots):
    """Its word corrects no score: the estimates are those against an agent that tells nothing."""
    results = [
        play_table(tmp_path / name, LEDUC, [bots(name)], RandomKeys(3), hands=4)[1].splitlines()[-2:]
        for name in ("Tells", "Checks")
    ]
    assert results[0] == results[1]


def test_a_pipe_that_types_the_same_for_ever_is_left(tmp_path):
    for key, is_over in (("zz", False), ("c", True)):  # refused in a hand, and after one, which counts
        is_whole, text = play_table(tmp_path / key, LEDUC, ["call"], Endless(key))
        assert is_whole == is_over and text.endswith("1,000 lines in succession were no keys: the rest is not read\n")
