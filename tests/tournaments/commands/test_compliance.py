"""`plurispiel compliance`: good agents pass, and bad ones are told what is wrong."""

import json
import re
import sys
from pathlib import Path

import pytest

from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import compliance
from plurispiel.tournaments.contestants import isolated
from plurispiel.tournaments.contestants.isolated import Limits

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late

BOTS = Path(__file__).parents[1] / "contestants" / "bots"

LIAR = """
import numpy as np
from plurispiel.agents import Agent, Strategy

class Bot(Agent):
    def act(self, view):
        return 1

    def range_strategy(self, public):
        actions = [0, 1] if public.can_fold else [1]
        shares = np.full((public.rules.num_combos, len(actions)), 1 / len(actions))
        return Strategy(np.array(actions), shares)
"""

MOODY = """
from plurispiel.agents import Agent

class Bot(Agent):
    hands = 0

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.hands += 1

    def act(self, view):
        return self.hands % 2 or (0 if view.public.can_fold else 1)
"""

ESCAPES = """
import os, sys
from plurispiel.agents import Agent

class Bot(Agent):
    def act(self, view):
        return 1

    def range_strategy(self, public):
        print("noise")
        sys.stderr.write("last words\\x1b[2J")
        os._exit(9)
"""


REMEMBERS = """
from plurispiel.agents import Agent

class Bot(Agent):
    def __init__(self):
        self.seen = set()

    def act(self, view):
        public = view.public
        if len(public.board) < 5:
            return 1
        known = public.board in self.seen
        self.seen.add(public.board)
        return public.raise_by_pot(9.0) if known else 1
"""

SLOW = """
import time
from plurispiel.agents import Agent

class Bot(Agent):
    def act(self, view):
        time.sleep(0.2)
        return 1
"""

SLOW_TO_MAKE = """
import time
from plurispiel.agents import Agent


class Bot(Agent):
    def __init__(self):
        time.sleep(1.0)

    def act(self, view):
        return 1
"""
DEAF = """
import time
from plurispiel.agents import Agent

class Bot(Agent):
    def act(self, view):
        return 1

    def range_strategy(self, public):
        time.sleep(600)
"""


def report(capsys, *arguments):
    code = main(["compliance", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


KEYS = [
    *("agent", "game", "hands", "faults", "first_faults", "decisions", "tells_range", "violations"),
    *("remembers", "notes", "fallbacks", "answer_seconds", "answers_per_second"),
]


@pytest.mark.parametrize("spec", ["tag", "openspiel:uniform_random", f"{BOTS}/behaves.py:Bot"])
@pytest.mark.slow
def test_good_agents_have_nothing_to_fear(capsys, spec):
    """By default only an agent that remembers decks passes these checks, in a test below."""
    code, record = report(capsys, spec, "--game", "HUNL", "--hands", "40", "--seconds", "600")
    assert code == 0
    assert list(record) == KEYS
    assert 0.0 < record["answer_seconds"] < 1.0 < record["answers_per_second"] and record["fallbacks"] is None
    assert (record["remembers"], record["notes"]) == ({"decks": 40, "different": 0}, [])
    assert (record["hands"], record["faults"], record["violations"]) == (40, {}, [])
    assert record["decisions"] > 400
    assert record["tells_range"] == (spec == "tag")


def test_faults_stop_it(capsys):
    code, record = report(capsys, f"{BOTS}/raises.py:Bot")
    assert (code, record["faults"], record["decisions"]) == (1, {"exception": 20}, 0)
    assert main(["compliance", f"{BOTS}/raises.py:Bot"]) == 1
    out = capsys.readouterr().out
    assert "exception (20), the first: " in out and "not checked" in out


@pytest.mark.parametrize(
    ("source", "violation"),
    [
        (LIAR, "it chose fold 0 times where range_strategy expects"),
        # evaluation/test_compliance.py has its like in one process
        pytest.param(MOODY, "an instance that has played before plays differently", marks=pytest.mark.slow),
    ],
)
def test_breaches_of_the_contract_are_named(capsys, tmp_path, source, violation):
    (tmp_path / "bot.py").write_text(source)
    code, record = report(capsys, f"{tmp_path}/bot.py:Bot", "--game", "LEDUC", "--hands", "12")
    assert (code, record["faults"]) == (1, {})
    assert any(violation in text for text in record["violations"]), record


@pytest.mark.slow
def test_the_last_words_of_a_process_move_no_cursor(capsys, tmp_path):
    (tmp_path / "bot.py").write_text(ESCAPES)
    assert main(["compliance", f"{tmp_path}/bot.py:Bot", "--game", "LEDUC", "--hands", "1"]) == 1
    out = capsys.readouterr().out
    assert "the process that checked the contract ended early (exit code 9): last words" in out and "\x1b" not in out


def test_an_agent_that_remembers_decks_is_noted_and_not_blamed(capsys, tmp_path):
    (tmp_path / "bot.py").write_text(REMEMBERS)
    code, record = report(capsys, f"{tmp_path}/bot.py:Bot", "--game", "HUNL", "--hands", "10")
    assert code == 0 and list(record) == KEYS
    assert 0.0 < record["answer_seconds"] < 1.0 < record["answers_per_second"] and record["fallbacks"] is None
    assert (record["hands"], record["faults"], record["violations"], record["tells_range"]) == (10, {}, [], False)
    assert record["remembers"] == {"decks": 40, "different": 40}  # whichever rotation comes second
    out = compliance._text(record, Limits(), 10)
    assert "40 decks in two rotations" in out and "note: it remembers" in out
    assert "40 of 80 hands went differently" in out


@pytest.mark.slow
def test_a_slow_agent_is_tried_with_fewer_hands(capsys, tmp_path):
    (tmp_path / "bot.py").write_text(SLOW)
    assert main(["compliance", f"{tmp_path}/bot.py:Bot", "--seconds", "1.5"]) == 0
    out = capsys.readouterr().out
    assert " of 1,000 hands as in a tournament" in out and "--seconds gives more" in out
    hands, _, decks = (int(number) for number in re.findall(r"^(?:the contract, )?(\d+) ", out, re.MULTILINE))
    assert 0 < hands < 50 and 0 < decks < 40


@pytest.mark.slow
def test_an_agent_that_loads_slowly_has_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr(compliance, "_LEAST_PATIENCE_S", 1.0)
    (tmp_path / "bot.py").write_text(SLOW_TO_MAKE)
    told = compliance._check_contract(f"{tmp_path}/bot.py:Bot", LEDUC, Limits(0.1), None, 1.0)
    assert told["violations"] == []


@pytest.mark.slow
def test_an_agent_that_never_tells_is_not_waited_for(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(compliance, "_LEAST_PATIENCE_S", 3.0)
    (tmp_path / "bot.py").write_text(DEAF)
    code, record = report(capsys, f"{tmp_path}/bot.py:Bot", "--hands", "20", "--time-limit", "0.2")
    (violation,) = record["violations"]
    assert code == 1 and re.search(r"could not be checked: one hand took more than \d+ s$", violation)
    (tmp_path / "late.py").write_text("import time\ntime.sleep(60)\n")
    with monkeypatch.context() as patched:
        patched.setattr(isolated, "LOAD_SECONDS", 3.0)
        told = compliance._check_contract(f"{tmp_path}/late.py:Bot", LEDUC, Limits(2.0), None, 1.0)
    assert told == {"violations": ["the contract could not be checked: loading took more than 3 s"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "unknown agent"),
        (["tag", "--game", "chess"], "chess"),
        (["tag", "--hands", "0"], "hands must be 1..1,000,000,000, got 0"),
        (["tag", "--hands", str(2**64 - 1)], f"hands must be 1..1,000,000,000, got {2**64 - 1}"),
        (["tag", "--seconds", "0"], "seconds must be above 0, got 0"),
        (["call", "--seed", "-1"], "the seed must not be negative, got -1"),
        (["call", "--time-limit", "nan"], "time_limit must be above 0 and at most 86400 seconds, got nan"),
        ([f"{BOTS}/raises_at_import.py:Bot"], "RuntimeError: two lines (raises_at_import.py, line 1)"),
        ([f"{BOTS}/exits_at_import.py:Bot"], "does not load: its process ended (exit code 5)"),
    ],
)
def test_bad_input_is_one_line(capsys, arguments, message):
    assert main(["compliance", *arguments]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1 and message in err


LINE_BOT = """#!{python}
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    a = None
    if m["type"] == "hello":
        a = dict(type="ready", protocol=1, answers=["act", "range"])
    elif m["type"] == "act":
        a = dict(type="action", id=m["id"], action={action})
    elif m["type"] == "range":
        names = ["f", "c"] if m["legal"]["fold"] else ["c"]
        rows = [[1.0, 0.0][: len(names)]] * 1326
        a = dict(type="range", id=m["id"], actions=names, probabilities=rows)
    if a:
        print(json.dumps(a), flush=True)
"""


def program(tmp_path, action):
    path = tmp_path / "bot"
    path.write_text(LINE_BOT.replace("{python}", sys.executable).replace("{action}", action))
    path.chmod(0o755)
    return f"stdio:{path}"


@pytest.mark.slow
def test_a_program_that_plays_otherwise_than_it_tells_is_found_out(capsys, tmp_path):
    arguments = ["compliance", program(tmp_path, "'c'"), "--game", "HUNL", "--hands", "10", "--json"]
    assert main([*arguments, "--seconds", "2"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["faults"] == {} and report["tells_range"] and report["decisions"]
    assert "it took an action to which range_strategy gives probability 0" in report["violations"]


def test_the_faults_of_a_program_are_told(capsys, tmp_path):
    spec = program(tmp_path, "'call'")
    assert main(["compliance", spec, "--game", "HUNL", "--seconds", "3"]) == 1
    printed = capsys.readouterr().out
    assert 'illegal (20), the first: "call" is not an action: give f, c, or r with the chips' in printed
    assert main(["compliance", "stdio:./no", "--game", "HUNL"]) == 2
    assert "no program './no'" in capsys.readouterr().err


ACPC_BOT = """#!{python} -IS
import socket
import sys

with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as dealer:
    dealer.sendall(b"VERSION:2.0.0\\n")
    for line in dealer.makefile("rb"):
        _, _, hand, betting, _ = line.rstrip().split(b":")  # answers of other seats' states are ignored
        dealer.sendall(line.rstrip() + (b":f\\n" if betting.endswith(b"r") and hand > b"0" else b":c\\n"))
"""


@pytest.mark.slow
def test_a_program_that_is_told_no_seed_is_not_asked_to_play_the_same_again(capsys, tmp_path):
    (tmp_path / "bot").write_text(ACPC_BOT.replace("{python}", sys.executable))
    (tmp_path / "bot").chmod(0o755)
    assert main(["compliance", f"acpc:{tmp_path}/bot", "--game", "KUHN", "--hands", "20", "--seconds", "6"]) == 0
    printed = capsys.readouterr().out
    assert "  no violations\n" in printed
    assert re.search(r"\n  [0-9,]+ answers a second, the median time of an answer is [0-9.]+ .?s\n", printed)
