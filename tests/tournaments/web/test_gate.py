"""The gate: what comes from the page passes, and everything else is refused."""

import contextlib
import json

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from web_server import RawClient, served  # noqa: E402
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402

from plurispiel.tournaments.web.gate import BURST  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(tmp_path_factory.mktemp("runs")) as server:
        yield server


@pytest.fixture(scope="module")
def entered(server):
    return RawClient(server).enter()


@pytest.fixture
def client(server, entered):
    server.server.config.app._allowance = float(BURST)
    return entered


ELSEWHERE = "http://evil.example"


def other_port(client):
    return f"http://127.0.0.1:{client.port + 1 if client.port < 65535 else 1}"


REFUSED = {
    "no host": (400, lambda c: c.get("/api/runs", host=None)),
    "another host": (403, lambda c: c.get("/api/runs", host="evil.example")),
    "another host for a file": (403, lambda c: c.get("/", host="evil.example")),
    "a rebound name with the port": (403, lambda c: c.get("/api/runs", host=f"evil.example:{c.port}")),
    "host without port": (403, lambda c: c.get("/api/runs", host="127.0.0.1")),
    "host with another port": (403, lambda c: c.get("/api/runs", host="127.0.0.1:1")),
    "another address of the loop": (403, lambda c: c.get("/api/runs", host=f"127.0.0.2:{c.port}")),
    "host with a user": (403, lambda c: c.get("/api/runs", host=f"me@{c.host}")),
    "another origin": (403, lambda c: c.get("/api/runs", origin=ELSEWHERE)),
    "origin null": (403, lambda c: c.get("/api/runs", origin="null")),
    "origin of another port": (403, lambda c: c.get("/api/runs", origin=other_port(c))),
    "origin with https": (403, lambda c: c.get("/api/runs", origin=f"https://{c.host}")),
    "origin that begins like ours": (403, lambda c: c.get("/api/runs", origin=f"{c.origin}.evil.example")),
    "post without origin": (403, lambda c: c.post("/api/report", {"run": "x"}, origin=None)),
    "post of another origin": (403, lambda c: c.post("/api/report", {"run": "x"}, origin=ELSEWHERE)),
    "another site": (403, lambda c: c.get("/api/runs", site="cross-site")),
    "another port is the same site": (403, lambda c: c.get("/", site="same-site")),
    "enter from another site": (403, lambda c: c.post("/api/enter", {"token": "x"}, key=None, site="cross-site")),
    "no key": (403, lambda c: c.get("/api/runs", key=None)),
    "empty key": (403, lambda c: c.get("/api/runs", key="")),
    "wrong key": (403, lambda c: c.get("/api/runs", key="x" * 43)),
    "half the key": (403, lambda c: c.get("/api/runs", key=c.key[:20])),
    "key in a cookie": (403, lambda c: c.get("/api/runs", key=None, cookie=f"key={c.key}")),
    "key in the address": (403, lambda c: c.get(f"/api/runs?key={c.key}", key=None)),
    "token a second time": (403, lambda c: c.post("/api/enter", {"token": c.token}, key=None)),
    "wrong token": (403, lambda c: c.post("/api/enter", {"token": "x"}, key=None)),
    "empty token": (403, lambda c: c.post("/api/enter", {"token": ""}, key=None)),
    "token as a number": (400, lambda c: c.post("/api/enter", {"token": 1}, key=None)),
    "a key too many": (400, lambda c: c.post("/api/report", {"run": "x", "out": "/tmp/x"})),
    "a key twice": (400, lambda c: c.post("/api/report", b'{"run": "x", "run": "y"}')),
    "no JSON": (400, lambda c: c.post("/api/report", b"run=x")),
    "NaN": (400, lambda c: c.post("/api/report", b'{"run": NaN}')),
    "no UTF-8": (400, lambda c: c.post("/api/report", b"\xff\xfe")),
    "JSON of 50,000 brackets": (400, lambda c: c.post("/api/report", b"[" * 50_000)),
    "a run above the folder": (400, lambda c: c.post("/api/report", {"run": "../../etc"})),
    "a run by its path": (400, lambda c: c.post("/api/report", {"run": "/etc"})),
    "hands of a run elsewhere": (400, lambda c: c.post("/api/run-hands", {"run": "..", "hand": ""})),
    "a hand without a run": (400, lambda c: c.post("/api/run-hands", {"hand": "0.0.0"})),
    "a body of 300 KB": (413, lambda c: c.post("/api/report", b" " * 300_000)),
    "an address of 3 KB": (414, lambda c: c.get("/api/runs?" + "x" * 3000)),
    "PUT": (405, lambda c: c.send("PUT", "/api/runs")),
    "OPTIONS": (405, lambda c: c.send("OPTIONS", "/api/runs")),
    "POST to a file": (405, lambda c: c.post("/", {})),
    "a path above the files": (404, lambda c: c.get("/../gate.py")),
    "an escaped path": (404, lambda c: c.get("/%2e%2e/%2e%2e/etc/passwd")),
    "the program's text": (404, lambda c: c.get("/app.py")),
}


@pytest.mark.parametrize("attack", REFUSED)
def test_an_attack_is_refused(client, attack):
    expected, send = REFUSED[attack]
    status, headers, body = send(client)
    assert status == expected, body
    assert client.key.encode() not in body and b"Traceback" not in body
    assert expected in (400, 403) or "content-security-policy" in {name.lower() for name in headers}


def test_what_is_refused_passes_when_it_comes_from_the_page(client):
    assert client.get("/api/runs")[0] == 200
    assert client.get("/api/runs", host=f"localhost:{client.port}")[0] == 200
    assert client.get("/enter", key=None, site="cross-site", origin=None)[0] == 200  # the redirect file is another site
    assert client.post("/api/report", {"run": "x"})[0] == 400  # there is no such run, and it was looked for


SOCKETS = {
    "another origin": {"origin": ELSEWHERE},
    "no origin": {"origin": None},
    "another site": {"Sec-Fetch-Site": "cross-site"},
}


@pytest.mark.parametrize("attack", SOCKETS)
def test_a_socket_is_refused_before_it_opens(client, attack):
    with pytest.raises(InvalidStatus) as refused:
        with client.open_socket(**SOCKETS[attack]):
            pass
    assert refused.value.response.status_code == 403


FRAMES = {
    "wrong key": (4403, lambda socket, key: socket.send(json.dumps({"key": "x"}))),
    "bytes": (4403, lambda socket, key: socket.send(json.dumps({"key": key}).encode())),
    "a run before the key": (4403, lambda socket, key: socket.send(json.dumps({"run": "x"}))),
    "17 KB": (1009, lambda socket, key: socket.send("x" * 17_000)),
    "an unknown run": (4400, lambda s, key: [s.send(json.dumps(m)) for m in ({"key": key}, {"run": "../x"})]),
    "binary after the key": (4400, lambda s, key: [s.send(json.dumps({"key": key})), s.send(b"x")]),
}


@pytest.mark.parametrize("attack", FRAMES)
def test_a_socket_is_closed_for_a_bad_frame(client, attack):
    code, send = FRAMES[attack]
    with client.open_socket(key=None) as socket:
        with pytest.raises(ConnectionClosed) as closed:
            send(socket, client.key)
            socket.recv(timeout=10)
    assert closed.value.rcvd.code == code


QUESTION = {
    **{"adviser": "blueprint", "seconds": 1, "hand": "0", "game": "GAMEDEF", "actions": [1], "cards": ["", ""]},
    **{"board": "", "decisions": [0]},
}
QUESTIONS = {
    "an adviser that does not exist": QUESTION | {"adviser": "../sh"},
    "an adviser with an option": QUESTION | {"adviser": "search?time=3600"},
    "an hour": QUESTION | {"seconds": 3600},
    "no time": QUESTION | {"seconds": 0},
    "501 decisions": QUESTION | {"decisions": [0] * 501},
    "a decision before the first": QUESTION | {"decisions": [-1]},
    "decisions as text": QUESTION | {"decisions": "0"},
    "cards of 11 seats": QUESTION | {"cards": [""] * 11},
    "an action beyond all chips": QUESTION | {"actions": [10**18]},
    "a key too many": QUESTION | {"agent": "my_bot.py:MyBot"},
    "no hand": {"adviser": "blueprint"},
}


@pytest.mark.parametrize("attack", QUESTIONS)
def test_a_bad_question_closes_the_socket_and_starts_no_process(server, client, attack):
    with client.open_socket(path="/advise") as socket:
        assert json.loads(socket.recv(timeout=10)) == {"type": "ready"}
        socket.send(json.dumps(QUESTIONS[attack]))
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                assert json.loads(socket.recv(timeout=10)) == {"type": "alive"}
    assert closed.value.rcvd.code == 4400 and "Traceback" not in closed.value.rcvd.reason


def test_eight_sockets_are_open_together(client):
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(client.open_socket())
        with pytest.raises(InvalidStatus):
            stack.enter_context(client.open_socket())


def test_two_hosts_and_two_lengths_are_refused(client):
    hosts = f"GET /api/runs HTTP/1.1\r\nHost: {client.host}\r\nHost: evil.example\r\n\r\n"
    lengths = f"POST /api/enter HTTP/1.1\r\nHost: {client.host}\r\nContent-Length: 5\r\nContent-Length: 900\r\n\r\n"
    for request in (hosts, lengths, "\x00\x01\x02\r\n\r\n"):
        assert b" 400 " in client.raw(request.encode())


def test_headers_are_strict(client):
    for path in ("/", "/dashboard.js", "/api/runs", "/nothing"):
        headers = {name.lower(): value for name, value in client.get(path)[1].items()}
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store" and headers["cross-origin-opener-policy"] == "same-origin"
        assert not {"server", "set-cookie", "access-control-allow-origin"} & set(headers)


def test_a_burst_passes_and_a_flood_does_not(client):
    codes = [client.get("/icon.svg")[0] for _ in range(BURST)]
    assert codes == [200] * BURST
    assert any(client.get("/icon.svg")[0] == 429 for _ in range(2000))


def test_the_socket_is_bound_to_this_machine_alone(server):
    assert server._socket.getsockname()[0] == "127.0.0.1"
