"""`plurispiel deal`: programs at our table, well and badly behaved, and the logs of their matches."""

import contextlib
import json
import os
import queue
import re
import signal
import socket
import struct
import threading
import time

import numpy as np
import pytest
from acpc_client import Client, is_own_turn, play

from plurispiel.abstraction.holdem.rules import HUNL, no_limit_holdem
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.deal import server
from plurispiel.tournaments.formats.acpc import read_acpc
from plurispiel.tournaments.formats.match_state import seen_cards, write_match_state
from plurispiel.tournaments.remote.acpc import AcpcTable
from plurispiel.tournaments.remote.connection import connect
from plurispiel.tournaments.remote.visit import Player, visit

LIMIT_S = 0.4


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def ports(monkeypatch):
    """A queue of the ports at which the dealer listens, in the order of the seats."""
    found = queue.Queue()
    made = server.TcpSeat.__init__

    def note(self, *arguments):
        made(self, *arguments)
        found.put(self.port)

    monkeypatch.setattr(server.TcpSeat, "__init__", note)
    return found


def deal(capsys, folder, *arguments, code=0, players=()):
    """Deal a match while players run in threads of their own; the record, and what the command said."""
    threads = [threading.Thread(target=player, daemon=True) for player in players]
    for thread in threads:
        thread.start()
    found = main(["deal", *arguments, "--out", str(folder / "deal"), "--json"])
    assert code in (None, found)
    for thread in threads:
        thread.join(30.0)
        assert not thread.is_alive()
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    return json.loads(lines[-1]) if lines[-1:] and lines[-1].startswith("{") else None, captured.err


def replay(capsys, *paths):
    assert main(["replay", *map(str, paths), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["mismatches"] == record["errors"] == []
    return record


@pytest.mark.parametrize("style", ["call", "fold", "random"])
def test_a_match_with_a_program(capsys, folder, ports, style):
    answers = []
    record, _ = deal(
        capsys, folder, "--agents", "tcp,random", "--hands", "60", code=None,
        players=[lambda: answers.append(play(Client(ports.get()), style))],
    )  # fmt: skip
    (log,) = record["logs"]
    replayed = replay(capsys, log)
    assert record["hands"] == replayed["hands"] == 60 and answers[0] >= 20
    assert [player["name"] for player in record["players"]] == ["tcp", "random"]
    ours = {player["name"]: player["mbb_per_hand"] for player in record["players"]}
    theirs = {name: player["mbb_per_hand"] for name, player in replayed["players"].items()}
    assert ours == pytest.approx(theirs)
    first, second = (player["aivat"] for player in record["players"])
    assert first["mbb_per_hand"] == pytest.approx(-second["mbb_per_hand"]) and record["values"] == "checkdown"
    if style == "call":
        assert second["ci95"] < record["players"][1]["ci95"]
    faults = [player["faults"] for player in record["players"]]
    assert faults[1] == 0 and (faults[0] == 0) == (style == "call")  # folds for free and raises of any size
    lines = (folder / "deal" / "deal.log").read_text().splitlines()
    assert lines[0] == "# name/game/hands/seed deal holdem.nolimit.2p.reverse_blinds.game 60 0"
    assert lines[1:3] == ["#--t_response 60000", "#--t_hand 600000"]
    assert lines[-2].startswith("SCORE:") and lines[-2].endswith(":tcp|random")
    assert re.fullmatch("# the key of all cards, for --seed: 0x[0-9a-f]+", lines[-1])


def test_the_published_key_deals_the_same_cards(capsys, folder, ports):
    first, _ = deal(capsys, folder, "--agents", "call,random", "--hands", "10")
    key = (folder / "deal" / "deal.log").read_text().splitlines()[-1].split()[-1]
    again, _ = deal(capsys, folder / "again", "--agents", "call,random", "--hands", "10", "--seed", key)
    assert first["players"] == again["players"]


def test_results_may_be_raw_alone(capsys, folder, ports):
    record, _ = deal(capsys, folder, "--agents", "call,random", "--hands", "3", "--values", "none")
    assert record["values"] is None and [player["aivat"] for player in record["players"]] == [None, None]
    assert main(["deal", "--agents", "call,call", "--hands", "3", "--values", "guess"]) == 2


def joining(ports, rules, spec, told):
    """A player of our own client; `told` receives the hands as it saw them."""

    def run():
        table = AcpcTable(connect("127.0.0.1", ports.get(), 10.0), rules)
        told.append(list(visit(table, Player(make_agent(spec), rules, 1, spec))))
        table.close()

    return run


def test_our_client_sits_at_our_table_with_three_seats(capsys, folder, ports):
    rules, told = no_limit_holdem(3, stack=20_000), []
    players = [joining(ports, rules, spec, told) for spec in ("random", "random")]
    arguments = ["--agents", "tcp,call,tcp", "--hands", "60", "--game", "holdem.nolimit.3p.game"]
    record, _ = deal(capsys, folder, *arguments, players=players)
    assert record["hands"] == replay(capsys, *record["logs"])["hands"] == 60
    assert [player["faults"] for player in record["players"]] == [0, 0, 0]
    dealt = list(read_acpc(folder / "deal" / "deal.log"))
    for hands in told:
        assert [hand.actions for hand in hands] == [hand.actions for hand in dealt]
        assert [hand.payoffs for hand in hands] == pytest.approx([hand.payoffs for hand in dealt])


def test_duplicate_gives_everybody_everybodys_cards(capsys, folder, ports):
    def run():
        port = ports.get()
        for _ in range(2):
            client = None
            while client is None:
                try:
                    client = Client(port)
                except ConnectionRefusedError:
                    time.sleep(0.02)
            play(client)

    arguments = ["--agents", "tcp,call", "--hands", "20", "--duplicate"]
    record, _ = deal(capsys, folder, *arguments, players=[run])
    assert record["hands"] == 40 and len(record["logs"]) == 2
    assert [player["mbb_per_hand"] for player in record["players"]] == [0.0, 0.0]  # both call
    first, second = (list(read_acpc(folder / "deal" / f"deal.{part}.log")) for part in range(2))
    assert [hand.hole_cards for hand in first] == [hand.hole_cards for hand in second]
    assert [hand.names for hand in first] == [hand.names[::-1] for hand in second]
    keys = [path.read_text().count("# the key") for path in sorted((folder / "deal").iterdir())]
    assert keys == [0, 1]  # not before the last hand


def test_all_bytes_that_a_player_gets_are_states_that_it_may_see(capsys, folder, ports):
    clients = []

    def run():
        clients.append(Client(ports.get()))
        play(clients[0], "random")

    deal(capsys, folder, "--agents", "tcp,random", "--hands", "80", code=None, players=[run])
    expected = []
    for number, history in enumerate(read_acpc(folder / "deal" / "deal.log")):
        seat = history.names.index("tcp")
        for count in range(len(history.actions) + 1):
            betting = replay_betting(HUNL, history.actions[:count])
            state = betting.state
            seen = seen_cards(history.hole_cards, seat, state.folded if state.is_over and betting.showdown else None)
            expected.append(
                write_match_state(HUNL, seat, number, betting.actions, state.street, seen, history.board) + "\r\n"
            )
    assert clients[0].received.decode() == "".join(expected)


def linger(client):
    """Close with a reset."""
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def second_connection(client, port):
    for _ in range(3):
        with pytest.raises(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=5.0).recv(1)
    client.close()


BAD = {
    "garbage": lambda client, line, port: client.socket.sendall(b"garbage \xff\xfe\n" * 3),
    "nothing but line ends": lambda client, line, port: client.socket.sendall(b"\r\n" * 500),
    "no line end": lambda client, line, port: client.socket.sendall(b"x" * 100_000),
    "a huge line": lambda client, line, port: client.socket.sendall(b"x" * 100_000 + b"\n"),
    "the state again and again": lambda client, line, port: client.socket.sendall(f"{line}\r\n".encode() * 40),
    "half a line": lambda client, line, port: client.socket.sendall(f"{line}:".encode()),
    "silence": lambda client, line, port: None,
    "a byte at a time": lambda client, line, port: slowly(client, f"{line}:c\r\n".encode()),
    "NULs": lambda client, line, port: client.socket.sendall(b"\x00" * 50 + b"\n"),
    "a NUL in an answer": lambda client, line, port: client.answer(line, "c\x00"),
    "another hand": lambda client, line, port: [client.answer("MATCHSTATE:0:99::|", "c") for _ in range(20)],
    "another seat": lambda client, line, port: [client.answer(other_seat(line), "c") for _ in range(20)],
    "other cards": lambda client, line, port: [client.answer(line[:-2] + "??", "c") for _ in range(20)],
    "comments without end": lambda client, line, port: client.socket.sendall(b"# hello\n" * 50),
    "the end": lambda client, line, port: client.close(),
    "the end of writing": lambda client, line, port: client.socket.shutdown(socket.SHUT_WR),
    "a reset": lambda client, line, port: linger(client),
    "half a line and the end": lambda client, line, port: (client.socket.sendall(line.encode()), client.close()),
    "a second connection": lambda client, line, port: second_connection(client, port),
    "HTTP": lambda client, line, port: client.socket.sendall(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20 + b"\r\n"),
    "another version": lambda client, line, port: client.socket.sendall(b"VERSION:2.0.0\r\n" * 30),
}
LATE = ("half a line", "silence", "a byte at a time")
GONE = ("the end", "the end of writing", "a reset", "half a line and the end", "a second connection")
ILLEGAL = {
    "no action": "x",
    "an empty action": "",
    "a raise without a size": "r",
    "a raise to nothing": "r0",
    "a raise to one chip": "r1",
    "a huge raise": "r99999999999999999999",
    "a negative raise": "r-300",
    "a raise in words": "raise",
    "two actions": "cc",
    "another state's colon": "c:c",
}


def slowly(client, data):
    for byte in data:
        client.socket.sendall(bytes([byte]))
        time.sleep(LIMIT_S / 5)


def other_seat(line):
    words = line.split(":")
    return ":".join([words[0], str(1 - int(words[1])), *words[2:]])


@pytest.mark.parametrize("name", BAD)
def test_a_bad_client_costs_one_hand_and_can_connect_again(capsys, folder, ports, name):
    def run():
        port = ports.get()
        client = Client(port)
        line = next(client.states())
        with contextlib.suppress(OSError):  # it may have been thrown out before it has said all
            BAD[name](client, line, port)
        again = None
        while again is None:
            try:
                again = Client(port)
            except OSError:
                time.sleep(0.02)
        play(again)
        client.close()

    limits = ["--t-response", str(LIMIT_S), "--start-timeout", "20", "--values", "none"]
    record, _ = deal(capsys, folder, "--agents", "tcp,call", "--hands", "3", *limits, players=[run])
    tcp = record["players"][0]
    assert tcp["faults"] == 1 and record["hands"] == replay(capsys, *record["logs"])["hands"] == 3
    kind = "timeout" if name in LATE else "crash" if name in GONE else "protocol"
    assert tcp["first_fault"].startswith(f"hand 0: {kind}: act: ")
    assert kind != "timeout" or tcp["first_fault"].endswith("no answer within 0.4 s")


@pytest.mark.parametrize("name", ILLEGAL)
@pytest.mark.parametrize("on_fault", ["repair", "forfeit"])
def test_an_illegal_action_costs_the_answer_or_the_hand(capsys, folder, ports, name, on_fault):
    def run():
        client = Client(ports.get())
        client.answer(next(client.states()), ILLEGAL[name])
        play(client)

    arguments = ["--agents", "tcp,call", "--hands", "2", "--values", "none", "--on-fault", on_fault]
    record, _ = deal(capsys, folder, *arguments, players=[run])
    tcp = record["players"][0]
    assert tcp["faults"] == 1 and ": illegal: " in tcp["first_fault"]
    hands = list(read_acpc(folder / "deal" / "deal.log"))
    assert len(hands) == 2 and set(hands[1].actions) == {1}


def test_a_client_that_never_reads(capsys, folder, ports, monkeypatch):
    def run():
        client = Client(ports.get())
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(20):
            time.sleep(0.05)
        client.close()

    limits = ["--t-response", str(LIMIT_S), "--start-timeout", "1"]
    deal(capsys, folder, "--agents", "tcp,call", "--hands", "6", *limits, players=[run], code=1)


def test_a_client_that_never_comes(capsys, folder, ports):
    limits = ["--t-response", "1", "--start-timeout", "0.3"]
    record, error = deal(capsys, folder, "--agents", "tcp,call", "--hands", "6", *limits, code=1)
    assert record is None and re.search(r"no player connected to port \d+ within 0.3 s; .*deal.log has all", error)


def test_a_client_that_does_not_come_back_is_named_by_its_fault(capsys, folder, ports):
    def run():
        client = Client(ports.get())
        next(client.states())
        client.close()

    limits = ["--t-response", "1", "--start-timeout", "0.5"]
    record, error = deal(capsys, folder, "--agents", "tcp,call", "--hands", "6", *limits, players=[run], code=1)
    assert record is None and re.search(
        r"the player of port \d+ did not connect again within 0.5 s after its fault "
        r"\(crash: (act|observe): the .*\); .*deal.log has all hands so far",
        error,
    )


@pytest.mark.parametrize("first", [b"VERSION:1.0.0\r\n", b"HELLO\r\n", b"\xff\xff\n", b"", b"x" * 9_000])
def test_a_connection_that_tells_no_version_does_not_take_the_seat(capsys, folder, ports, monkeypatch, first):
    monkeypatch.setattr(server, "_VERSION_S", 0.2)

    def run():
        port = ports.get()
        bad = Client(port, version=first)
        bad.line()
        bad.close()
        play(Client(port))

    record, _ = deal(capsys, folder, "--agents", "tcp,call", "--hands", "4", players=[run])
    assert record["hands"] == 4 and record["players"][0]["faults"] == 0


def test_the_port_is_open_to_this_machine_alone_and_to_one_player(capsys, folder, ports):
    listening = []

    def seen(port):
        try:
            with open("/proc/net/tcp") as stream:
                rows = [line.split()[1:4] for line in stream.readlines()[1:]]
        except OSError:
            return [("0100007F", "0A")]
        return [(local.split(":")[0], state) for local, _, state in rows if int(local.split(":")[1], 16) == port]

    def run():
        port = ports.get()
        listening.append(seen(port))
        client = Client(port)
        line = next(client.states())
        listening.append([row for row in seen(port) if row[1] == "0A"])
        client.answer(line, "c")
        play(client)

    deal(capsys, folder, "--agents", "tcp,call", "--hands", "4", players=[run])
    assert listening == [[("0100007F", "0A")], []]  # 127.0.0.1, listening; then nobody listens


def test_many_faults_are_an_exit_code(capsys, folder, ports):
    def run():
        client = Client(ports.get())
        for line in client.states():
            client.answer(line, "r1")
        client.close()

    record, _ = deal(capsys, folder, "--agents", "tcp,call", "--hands", "30", code=3, players=[run])
    assert record["players"][0]["faults"] >= 20


def test_an_interrupt_leaves_a_whole_log(usual_signals, capsys, folder, ports):
    def run():
        client = Client(ports.get())
        for number, line in enumerate(client.states()):
            if number == 20:
                os.kill(os.getpid(), signal.SIGINT)
            client.answer(line, "c")
        client.close()

    record, error = deal(capsys, folder, "--agents", "tcp,call", "--hands", "500", code=130, players=[run])
    assert record is None and re.search("interrupted; .*deal.log has all hands so far", error)
    assert 3 <= replay(capsys, folder / "deal" / "deal.log")["hands"] <= 30


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], 'name the players: --agents "tcp,blueprint"'),
        (["--agents", "tcp"], "HUNL has 2 seats, got 1 players"),
        (["--agents", "tcp,tcp", "--ports", "1"], "2 tcp seats need as many ports, got 1"),
        (["--agents", "tcp,call", "--ports", "x"], "--ports are numbers up to 65535"),
        (["--agents", "tcp,call", "--ports", "99999"], "--ports are numbers up to 65535"),
        (["--agents", "tcp,call", "--hands", "0"], "hands must be at least 1"),
        (["--agents", "tcp,call", "--seed", "-1"], "seed must not be negative"),
        (["--agents", "tcp,call", "--t-response", "0"], "--t-response must be above 0"),
        (["--agents", "tcp,call", "--t-hand", "nan"], "--t-hand must be above 0"),
        (["--agents", "tcp,call", "--memory-limit", "0"], "memory_limit must be at least 1 MiB, got 0"),
        (["--agents", "tcp,call", "--listen", "0.0.0.0"], "other machines can reach 0.0.0.0; give --allow-remote"),
        (["--agents", "tcp,call", "--listen", "home"], "an address to listen on is written like 127.0.0.1"),
        (["--agents", "call,cal"], "unknown agent 'cal'"),
    ],
)
def test_refusals(capsys, arguments, what):
    assert main(["deal", *arguments]) == 2
    assert what in capsys.readouterr().err


def test_a_log_that_exists_is_kept(capsys, folder):
    (folder / "deal").mkdir()
    (folder / "deal" / "deal.log").write_text("mine")
    assert main(["deal", "--agents", "call,call", "--out", "deal"]) == 2
    assert "exists, and a match is not continued" in capsys.readouterr().err


def test_a_port_that_is_taken(capsys, folder):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert main(["deal", "--agents", "tcp,call", "--ports", port, "--out", "deal"]) == 1
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in capsys.readouterr().err


def test_the_clients_of_the_tests_know_their_turn():
    rng = np.random.default_rng(1)
    for _ in range(50):
        actions = []
        while not (state := (betting := replay_betting(HUNL, actions)).state).is_over:
            for seat in range(2):
                seen = seen_cards([(0, 1), (2, 3)], seat)
                line = write_match_state(HUNL, seat, 0, betting.actions, state.street, seen, range(10, 15))
                assert is_own_turn(line) == (state.actor == seat)
            choices = [1, *([0] * state.can_fold), *([state.min_raise, state.max_raise] if state.max_raise else [])]
            actions.append(int(rng.choice(choices)))
