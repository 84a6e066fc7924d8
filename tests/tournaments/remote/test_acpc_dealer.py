"""The ACPC's own programs `dealer` and `example_player`, in the folder that `PLURISPIEL_ACPC_DEALER` names."""

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest
from acpc_client import Client

from plurispiel.tournaments.cli import main
from plurispiel.tournaments.deal import server
from plurispiel.tournaments.formats.game_definition import find_game, game_definition_text

PROGRAMS = os.environ.get("PLURISPIEL_ACPC_DEALER")
pytestmark = [
    pytest.mark.skipif(not PROGRAMS, reason="PLURISPIEL_ACPC_DEALER names no folder with the ACPC's dealer"),
    pytest.mark.usefixtures("home"),
]
GAMES = {2: "holdem.nolimit.2p.reverse_blinds.game", 3: "holdem.nolimit.3p.game"}


@pytest.fixture
def games(home, tmp_path):
    for game in GAMES.values():
        (tmp_path / game).write_text(game_definition_text(find_game(game)))


@contextlib.contextmanager
def programs():
    """A function that starts one of the ACPC's programs; all end with the block."""
    with contextlib.ExitStack() as stack:

        def start(name, *arguments):
            command = [Path(PROGRAMS) / name, *map(str, arguments)]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
            stack.callback(process.kill)
            return process

        yield start


def dealer_of(start, seats, hands):
    """The ACPC's dealer of a match, and its ports."""
    dealer = start("dealer", "theirs", GAMES[seats], hands, 7, *(f"p{seat}" for seat in range(seats)), "-q")
    return dealer, dealer.stdout.readline().decode().split()


def chips(capsys, path, hands):
    """What everybody won in a log that our rules replay without a mismatch."""
    assert main(["replay", str(path), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["mismatches"] == record["errors"] == [] and record["hands"] == hands
    return {name: player["chips"] for name, player in record["players"].items()}


@pytest.mark.parametrize(("seats", "hands"), [(2, 200), (3, 100)])
def test_our_client_at_their_dealer(capsys, games, seats, hands):
    with programs() as start:
        dealer, ports = dealer_of(start, seats, hands)
        for port in ports[1:]:
            start("example_player", GAMES[seats], "127.0.0.1", port)
        ours = ["--agent", "tag", "--game", GAMES[seats], "--out", "ours", "--json"]
        assert main(["join", "acpc", f"127.0.0.1:{ports[0]}", *ours]) == 0
        assert dealer.wait(10.0) == 0
    assert json.loads(capsys.readouterr().out)["faults"] == []
    theirs = chips(capsys, "theirs.log", hands)
    assert chips(capsys, "ours/join.log", hands)["tag"] == theirs["p0"] == -sum(theirs.values()) + theirs["p0"]


def test_their_dealer_is_killed_within_a_hand(capsys, games):
    killed = []

    def call_and_kill(client, dealer):
        for number, line in enumerate(client.states()):
            if number == 20:
                dealer.kill()
                killed.append(time.monotonic())
                return client.close()
            client.answer(line, "c")

    with programs() as start:
        dealer, ports = dealer_of(start, 2, 10_000)
        threading.Thread(target=lambda: call_and_kill(Client(int(ports[1])), dealer), daemon=True).start()
        ours = ["--agent", "call", "--game", "HUNL", "--out", "ours"]
        assert main(["join", "acpc", f"127.0.0.1:{ports[0]}", *ours]) == 1
        assert time.monotonic() - killed[0] < 2.0
    assert "during hand" in capsys.readouterr().err
    assert chips(capsys, "ours/join.log", Path("theirs.log").read_text().count("STATE:"))


def test_their_player_at_our_dealer(capsys, games, monkeypatch):
    with programs() as start:
        made = server.TcpSeat.__init__

        def invite(seat, *arguments):
            made(seat, *arguments)
            start("example_player", GAMES[2], "127.0.0.1", seat.port)

        monkeypatch.setattr(server.TcpSeat, "__init__", invite)
        assert main(["deal", "--game", "HUNL", "--agents", "tcp,tag", "--hands", "200", "--out", "ours", "--json"]) == 0
    record = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [player["faults"] for player in record["players"]] == [0, 0]
    assert chips(capsys, "ours/deal.log", 200)


def test_their_player_as_a_contestant(capsys, games, tmp_path):
    bot = tmp_path / "bot"
    bot.mkdir()
    for path in (Path(PROGRAMS) / "example_player", tmp_path / GAMES[2]):
        shutil.copy(path, bot)
    (bot / "startme.sh").write_text(f'#!/bin/sh\nexec ./example_player {GAMES[2]} "$1" "$2"\n')
    (bot / "startme.sh").chmod(0o755)
    run = ["tournament", "--agents", "acpc:bot/startme.sh,tag", "--game", "HUNL", "--decks", "50", "--workers", "1"]
    assert main([*run, "--values", "checkdown", "--json"]) == 0
    assert [agent["faults"] for agent in json.loads(capsys.readouterr().out)["agents"]] == [0, 0]
