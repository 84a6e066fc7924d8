"""Lobby and tables over the wire, from a client that is no browser."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from browser_table import sit_down  # noqa: E402
from web_server import RawClient, served  # noqa: E402
from websockets.exceptions import ConnectionClosed  # noqa: E402

import plurispiel.tournaments.web.table as table  # noqa: E402
from plurispiel.tournaments.web.play_pages import PlayPages  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("play")


@pytest.fixture(scope="module")
def client(folder):
    with served(folder / "runs", PlayPages(folder)) as server:
        yield RawClient(server).enter()


def wish(game="LEDUC", agents=("call",), **changed):
    """Return a wish as the page sends it."""
    sit = sit_down(game, agents, **changed)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(sit).items()}


def sit(client, **changed):
    status, _, body = client.post("/api/sit", wish(**changed))
    assert status == 200, body
    return json.loads(body)["session"]


@contextlib.contextmanager
def at_table(client, session):
    """Open a page of a table."""
    with client.open_socket(path="/table") as socket:
        socket.send(json.dumps({"session": session}))
        assert json.loads(socket.recv(timeout=30))["type"] == "table"
        yield socket


def hear(socket, wanted):
    """Return the next message that is wanted."""
    while True:
        said = json.loads(socket.recv(timeout=30))
        if wanted(said):
            return said


def waits(said):
    return "wants" in said


def move(socket, view, action="", kind="act"):
    socket.send(json.dumps({"type": kind, "number": view["number"], "action": action}))


def test_two_pages_show_one_hand_and_only_one_of_them_can_act(client):
    session = sit(client)
    with at_table(client, session) as one, at_table(client, session) as other:
        first, second = hear(one, waits), hear(other, waits)
        assert first == second
        move(one, first, "c")
        move(other, second, "c")
        assert "decided already" in hear(other, lambda said: said["type"] == "error")["text"]
        later = hear(one, lambda said: waits(said) and said["number"] > first["number"])
        assert sum(each["seat"] == later["you"] for each in later["actions"] if each["street"] == 0) <= 1
        with at_table(client, session) as again:  # a reload shows the same
            assert hear(again, waits) == later
        move(one, later, "c", kind="next" if later["wants"] == "act" else "act")
        assert hear(one, lambda said: said["type"] == "error")["text"]
    status, _, body = client.get("/api/lobby")
    assert status == 200 and session in json.loads(body)["open"]
    assert [one["void"] for one in json.loads(body)["sessions"] if one["session"] == session] == [0]
    client.post("/api/leave", {"session": session})
    assert session not in json.loads(client.get("/api/lobby")[2])["open"]
    with client.open_socket(path="/table") as socket:
        socket.send(json.dumps({"session": session}))
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=30)
        assert closed.value.rcvd.code == 4400 and "this table is not open" in closed.value.rcvd.reason
    sessions = json.loads(client.get("/api/lobby")[2])["sessions"]
    assert [one["void"] for one in sessions if one["session"] == session] == [1]


BROKEN = [
    "{}",
    '{"type": "act", "number": 1, "action": 2}',
    '{"type": "act", "number": -1, "action": "c"}',
    '{"type": "act", "number": 1, "action": "c", "more": 1}',
    "x",
    b"\x00",
]


def test_malformed_frames_close_the_page_and_not_the_table(client):
    session = sit(client)
    with at_table(client, session) as socket:
        view = hear(socket, waits)
    for frame in BROKEN:
        with at_table(client, session) as socket:
            socket.send(frame)
            with pytest.raises(ConnectionClosed) as closed:
                hear(socket, lambda said: False)
            assert closed.value.rcvd.code == 4400
    with at_table(client, session) as socket:
        assert hear(socket, waits) == view
    client.post("/api/leave", {"session": session})


def test_wrong_wishes_are_refused_with_the_reason(client):
    for changed, words in [
        ({"agents": ["nobody"]}, "the server lists no agent"),
        ({"seats": 9}, "seats here"),
        ({"seed": "x"}, "a seed is"),
    ]:
        status, _, body = client.post("/api/sit", wish() | changed)
        assert status == 400 and words in json.loads(body)["error"]
    assert client.post("/api/sit", {})[0] == client.post("/api/continue", {"session": 10**6})[0] == 400
    assert client.post("/api/export", {"session": 10**6})[0] == 400
    assert client.get("/api/lobby", key=None)[0] == client.post("/api/sit", wish(), key="x")[0] == 403


def test_no_more_than_a_few_tables_are_open(client, monkeypatch):
    monkeypatch.setattr(table, "MAX_TABLES", 1)
    session = sit(client)
    status, _, body = client.post("/api/sit", wish())
    assert status == 400 and "leave one of them first" in json.loads(body)["error"]
    assert json.loads(client.post("/api/continue", {"session": session})[2]) == {"session": session}
    client.post("/api/leave", {"session": session})


def descendants(pid):
    """Return the ids of all processes below a process."""
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children = {}
    for line in found.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    seen, todo = set(), [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            if child not in seen:
                seen.add(child)
                todo.append(child)
    return seen


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL])
def test_all_processes_end_with_the_server(tmp_path, number):
    command = [sys.executable, "-m", "plurispiel", "web", "--no-open"]
    environment = os.environ | {"PLURISPIEL_HOME": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        server = type("Address", (), {"address": process.stdout.readline().strip()})
        server.port = int(server.address.split(":")[2].split("/")[0])
        client = RawClient(server).enter()
        session = sit(client, assist="advice")
        with at_table(client, session) as socket:
            hear(socket, lambda said: "ranges" in said.get("help", {}))
            family = descendants(process.pid)
            assert len(family) >= 3  # the table's process, and wardens and agents below it
            process.send_signal(number)
            process.wait(20)
    limit = time.monotonic() + 20
    while not all(map(is_gone, family)):
        assert time.monotonic() < limit, "processes are left over"
        time.sleep(0.05)
