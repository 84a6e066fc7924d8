"""`plurispiel join acpc`: matches at a dealer that is not ours, dealers that end or contradict themselves, refusals."""

import json
import os
import signal
import socket
import threading
import time

import numpy as np
import pytest
from acpc_dealer import Dealer

from plurispiel.abstraction.holdem.rules import HULH, HUNL, SIXMAX, no_limit_holdem
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.formats.game_definition import game_definition_text

HUNL_GAME = "holdem.nolimit.2p.reverse_blinds.game"
THREE_GAME = "holdem.nolimit.3p.game"

BOT = """
from plurispiel.agents import Agent

class Raises(Agent):
    def act(self, view):
        if view.public.street == 1:
            raise RuntimeError("no flops")
        return 3 * view.public.pot
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def join(capsys, port, *arguments, code=0):
    assert main(["join", "acpc", f"127.0.0.1:{port}", *arguments, "--json"]) == code
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def replay(capsys, path):
    assert main(["replay", str(path), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["mismatches"] == record["errors"] == []
    return record


def match(capsys, folder, rules, game, num_hands, agent, **options):
    """A match of an agent to its end: the record, and both logs replayed."""
    dealer = Dealer(rules, game, num_hands, **options)
    record, _ = join(capsys, dealer.ports[0], "--agent", agent, "--game", game, "--out", "ours")
    dealer.join(60.0)
    assert not dealer.troubles and record["faults"] == [] and record["hands"] == num_hands
    (folder / "dealer.log").write_text("\n".join(dealer.log) + "\n")
    ours, theirs = replay(capsys, record["log"]), replay(capsys, "dealer.log")
    assert ours["hands"] == theirs["hands"] == num_hands
    assert ours["players"][agent]["chips"] == pytest.approx(theirs["players"]["p0"]["chips"])
    assert record["mbb_per_hand"] == pytest.approx(theirs["players"]["p0"]["mbb_per_hand"])
    return record


@pytest.mark.parametrize(
    ("rules", "game", "hands", "agent"),
    [
        (HUNL, HUNL_GAME, 80, "random"),
        (no_limit_holdem(3, stack=20_000), THREE_GAME, 40, "tag"),
        (HULH, "holdem.limit.2p.reverse_blinds.game", 25, "random"),
    ],
)
def test_a_match(capsys, folder, rules, game, hands, agent):
    record = match(capsys, folder, rules, game, hands, agent)
    assert record["answers"] >= hands / 2


def test_a_game_that_the_acpc_does_not_have(capsys, folder):
    (folder / "six.game").write_text(game_definition_text(SIXMAX))
    match(capsys, folder, SIXMAX, "six.game", 12, "call")
    assert (folder / "ours" / "join.game").read_text() == game_definition_text(SIXMAX)


def test_the_same_seed_plays_the_same_and_appends_to_the_log(capsys, folder):
    for _ in range(2):
        dealer = Dealer(HUNL, HUNL_GAME, 20, seed=3)
        join(capsys, dealer.ports[0], "--agent", "random", "--game", "HUNL", "--seed", "5", "--out", "ours")
    lines = (folder / "ours" / "join.log").read_text().splitlines()
    assert len(lines) == 42 and lines[:21] == lines[21:]


def test_the_table_is_left_after_some_hands(capsys):
    dealer = Dealer(HUNL, HUNL_GAME, 50)
    record, _ = join(capsys, dealer.ports[0], "--agent", "call", "--game", "HUNL", "--hands", "7")
    assert record["hands"] == 7 and replay(capsys, record["log"])["hands"] == 7


def test_a_match_that_ends_too_early_is_a_failure(capsys):
    dealer = Dealer(HUNL, HUNL_GAME, 5)
    record, error = join(capsys, dealer.ports[0], "--agent", "call", "--game", "HUNL", "--hands", "7", code=1)
    assert record["hands"] == 5 and "the dealer ended the match after 5 of 7 hands" in error


@pytest.mark.parametrize("actions", [0, 1])
def test_a_dealer_that_ends_within_a_hand(capsys, actions):
    dealer = Dealer(HUNL, HUNL_GAME, 50, ends_at=(6, actions))
    record, error = join(capsys, dealer.ports[0], "--agent", "call", "--game", "HUNL", code=1)
    assert record["hands"] >= 6 and replay(capsys, record["log"])["hands"] == record["hands"]
    assert error.splitlines()[-1].startswith("plurispiel join: the ")
    assert f"during hand {record['hands']}" in error


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (":4:", ":4:r150", "150 is not legal"),
        ("MATCHSTATE:1:4", "MATCHSTATE:7:4", "seats 0 to 1, got 7"),
        ("MATCHSTATE", "MATCH\x00STATE", "printable ASCII"),
        ("MATCHSTATE:1:3:", "M" * 5_000, "at most 4096 bytes"),
        ("MATCHSTATE", "HELLO", "a state is written"),
    ],
    ids=["raise", "seat", "nul", "long", "word"],
)
def test_a_dealer_that_contradicts_the_rules(capsys, old, new, what):
    dealer = Dealer(HUNL, HUNL_GAME, 50, spoil=lambda line: line.replace(old, new))
    _, error = join(capsys, dealer.ports[0], "--agent", "call", "--game", "HUNL", code=1)
    (line,) = [line for line in error.splitlines() if line.startswith("plurispiel join")]
    assert what in line and "dealer" in line and "\x00" not in line


def test_cards_that_change_within_a_hand(capsys):
    rng = np.random.default_rng(0)
    cards = ["2c2d", "3h3s", "7c7d", "9h9s"]

    def spoil(line):
        head, sign, holes = line.rpartition(":")
        return f"{head}:{'|'.join(rng.choice(cards) if hole else '' for hole in holes.split('|'))}" if sign else line

    dealer = Dealer(HUNL, HUNL_GAME, 50, spoil=spoil)
    _, error = join(capsys, dealer.ports[0], "--agent", "call", "--game", "HUNL", code=1)
    assert "contradicts the rules" in error


def test_an_agent_from_outside_that_makes_faults(capsys, folder):
    (folder / "bot.py").write_text(BOT)
    dealer = Dealer(HUNL, HUNL_GAME, 30)
    arguments = ("--agent", "bot.py:Raises", "--game", "HUNL", "--sandbox", "none")
    record, error = join(capsys, dealer.ports[0], *arguments, code=3)
    dealer.join(60.0)
    assert not dealer.troubles and record["hands"] == 30 and "no sandbox" in error
    kinds = {fault.split(": ")[1] for fault in record["faults"]}
    assert kinds == {"illegal", "exception"}


def test_an_interrupt_leaves_a_whole_log(usual_signals, capsys):
    def spoil(line):
        if ":9:" in line:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1.0)
        return line

    dealer = Dealer(HUNL, HUNL_GAME, 50, spoil=spoil)
    record, error = join(capsys, dealer.ports[0], "--agent", "call", "--game", "HUNL", code=130)
    assert record["hands"] == replay(capsys, record["log"])["hands"] <= 9
    assert error.splitlines()[-1] == "plurispiel join: interrupted"


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (["acpc", "127.0.0.1", "--agent", "call", "--game", "HUNL"], 2, "is written HOST:PORT"),
        (["acpc", "127.0.0.1:99999", "--agent", "call", "--game", "HUNL"], 2, "is written HOST:PORT"),
        (["acpc", "127.0.0.1:1", "--agent", "call", "--game", "x.game"], 2, "cannot read x.game"),
        (["acpc", "127.0.0.1:1", "--agent", "cal", "--game", "HUNL"], 2, "unknown agent 'cal', did you mean 'call'"),
        (["acpc", "127.0.0.1:1", "--agent", "call", "--game", "HUNL", "--hands", "0"], 2, "hands must be at least 1"),
        (["acpc", "127.0.0.1:1", "--agent", "call", "--game", "HUNL", "--seed", "-1"], 2, "seed must not be negative"),
        (
            ["acpc", "127.0.0.1:1", "--agent", "call", "--game", "HUNL", "--memory-limit", "0"],
            2,
            "memory_limit must be",
        ),
    ],
)
def test_refusals(capsys, arguments, code, what):
    assert main(["join", *arguments]) == code
    assert what in capsys.readouterr().err


def test_a_dealer_that_ends_before_the_first_hand(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def end():
            with server.accept()[0] as stream:
                stream.recv(100)  # the version: a connection closed with unread bytes would be reset

        thread = threading.Thread(target=end)
        thread.start()
        record, error = join(capsys, server.getsockname()[1], "--agent", "call", "--game", "HUNL", code=1)
        thread.join()
    assert record["hands"] == 0 and "the dealer ended the match before the end of the first hand" in error


def test_nobody_listens(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert main(["join", "acpc", f"127.0.0.1:{port}", "--agent", "call", "--game", "HUNL"]) == 1
    assert f"cannot connect to 127.0.0.1:{port}: Connection refused" in capsys.readouterr().err
