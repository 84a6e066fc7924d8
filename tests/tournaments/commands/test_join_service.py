"""`plurispiel join slumbot` and `gtowizard` against stand-ins: silent without leave, resumable, and no key anywhere."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from web_services import KEY, GtoWizard, Slumbot

from plurispiel import __version__
from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.usefixtures("home")

CONTACT = ("--contact", "me@example.org")


@pytest.fixture(autouse=True)
def loopback(monkeypatch):
    """Refuse connections to any other machine."""
    connect = socket.socket.connect

    def guarded(self, address):
        assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), address
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.delenv("GTOWIZARD_API_KEY", raising=False)


def join(service, hands, *more, name="slumbot", agent="call"):
    arguments = ["--agent", agent, "--hands", str(hands), *CONTACT, "--allow-network", "--base-url", service.url]
    return main(["join", name, *arguments, *more])


@pytest.mark.parametrize("name", ["slumbot", "gtowizard"])
def test_nothing_is_sent_without_leave(capsys, monkeypatch, name):
    monkeypatch.setattr(socket, "socket", None)
    assert main(["join", name, "--agent", "call", "--hands", "1000", *CONTACT]) == 2
    told = capsys.readouterr().err
    host = {"slumbot": "https://slumbot.com", "gtowizard": "https://researcher.gtowizard.com"}[name]
    assert host in told and "POST /" in told and "nothing was sent; add --allow-network" in told


def test_a_call_goes_on_where_the_last_one_stopped(capsys, tmp_path):
    service = Slumbot()
    assert join(service, 8, "--json", "--out", "ours") == 0
    first = json.loads(capsys.readouterr().out)
    assert join(service, 12, "--json", "--out", "ours") == 0
    second = json.loads(capsys.readouterr().out)
    assert (first["hands"], second["hands"], len(service.hands)) == (8, 12, 12)
    assert second["mbb_per_hand"] == pytest.approx(sum(service.finished) * 10.0 / 12)
    assert second["aivat"]["ci95"] < second["ci95"] and second["by_service"] is None and second["service"] == "slumbot"
    assert main(["replay", second["log"], "--json"]) == 0
    replayed = json.loads(capsys.readouterr().out)
    assert (replayed["hands"], replayed["mismatches"], replayed["errors"]) == (12, [], [])
    assert replayed["players"]["call"]["chips"] == sum(service.finished)
    headers = service.requests[0][1]
    assert headers["User-Agent"] == f"plurispiel/{__version__} (me@example.org)"
    assert join(service, 12, "--out", "ours") == 0  # nothing left to play
    assert len(service.hands) == 12 and "by AIVAT with" in capsys.readouterr().out
    assert join(service, 12, "--out", "ours", agent="fold") == 2
    assert "agent differ; give another --out" in capsys.readouterr().err


def test_the_key_is_nowhere(capsys, tmp_path, monkeypatch):
    service = GtoWizard(spoil=lambda number, path, status, data: (status, data.replace(b"HUNL", KEY.encode())))
    assert join(service, 4, name="gtowizard") == 2
    assert "GTOWIZARD_API_KEY has to hold the key" in capsys.readouterr().err
    monkeypatch.setenv("GTOWIZARD_API_KEY", KEY)
    assert join(service, 4, "--out", "ours", name="gtowizard") == 0
    captured = capsys.readouterr()
    assert "by the service's own correction of luck" in captured.out and "GTO Wizard AI version 2" in captured.out
    assert KEY not in captured.out + captured.err
    stored = b"".join(path.read_bytes() for path in (tmp_path / "ours").iterdir())
    assert stored and KEY.encode() not in stored
    monkeypatch.setenv("GTOWIZARD_API_KEY", "wrong-key")
    assert join(service, 6, "--out", "ours", name="gtowizard") == 1
    told = capsys.readouterr().err
    assert "status 403" in told and "wrong-key" not in told
    monkeypatch.setenv("GTOWIZARD_API_KEY", "wrong\r\nkey")
    assert join(service, 6, name="gtowizard") == 2
    assert "wrong" not in capsys.readouterr().err


def test_broken_hands_are_told(capsys):
    def spoil(number, path, status, data):
        return (200, b'{"error_msg": "no \\u001b[2J"}') if number == 3 else None

    assert join(Slumbot(spoil=spoil), 6, "--json") == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert (record["hands"], record["broken"]) == (5, 1) and "\x1b" not in captured.err
    assert f"{record['first_trouble'].split(':')[0]} is broken" in captured.err


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--hands", "0"], "hands must be at least 1"),
        (["--seed", "-1"], "the seed must not be negative"),
        (["--time-limit", "0"], "time_limit must be above 0"),
        (["--contact", "a\nb"], "contact is an e-mail or web address"),
        (["--request-timeout", "nan"], "request-timeout must be above 0"),
        (["--base-url", "http://example.org:80"], "a base URL is an address of this machine"),
        (["--base-url", "https://127.0.0.1:80"], "a base URL is an address of this machine"),
        (["--base-url", "http://127.0.0.1"], "a base URL is an address of this machine"),
        (["--base-url", "http://127.0.0.1@example.org:80"], "a base URL is an address of this machine"),
        (["--agent", "cal"], "did you mean 'call'"),
    ],
)
def test_refusals(capsys, more, what):
    assert main(["join", "slumbot", "--agent", "call", "--hands", "5", *CONTACT, "--allow-network", *more]) == 2
    assert what in capsys.readouterr().err


def test_nobody_listens(capsys, monkeypatch):
    monkeypatch.setattr("plurispiel.tournaments.remote.http._FIRST_WAIT_S", 0.0)
    service = Slumbot()
    service.shutdown()
    service.server_close()
    assert join(service, 5) == 1
    assert "the connection failed: Connection refused" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_process(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("GTOWIZARD_API_KEY", KEY)
    service = GtoWizard(before=lambda number, path: time.sleep(0.02))
    arguments = ["--agent", "tag", "--hands", "60", *CONTACT, "--allow-network", "--base-url", service.url]
    command = [sys.executable, "-m", "plurispiel", "join", "gtowizard", *arguments, "--out", "ours"]
    for stop in (30, 70):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
        while len(service.requests) < stop and process.poll() is None:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert join(service, 60, "--out", "ours", "--json", name="gtowizard", agent="tag") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["hands"] + record["broken"] == 60 and record["broken"] <= 2
    # At most the hands whose begin was lost are not in the folder.
    assert 60 <= len(service.hands) <= 62


def test_a_report_shows_the_hands_of_several_folders(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("GTOWIZARD_API_KEY", KEY)
    found = {}
    for name, service in (("slumbot", Slumbot()), ("gtowizard", GtoWizard())):
        assert join(service, 12, "--json", "--out", name, name=name) == 0
        found[name] = json.loads(capsys.readouterr().out)
    assert main(["report", "slumbot", "gtowizard", "--out", "page.html", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["csv"]) == 2
    page = (tmp_path / "page.html").read_text()
    rates = [(found["slumbot"], "AIVAT"), (found["slumbot"]["aivat"], ""), (found["gtowizard"]["by_service"], "")]
    for record, word in rates:
        assert f"{record['mbb_per_hand']:+,.1f}".replace("-", "−") in page and word in page
    assert page.count("<th>agent</th>") == 1 and KEY not in page and "GTO Wizard AI version 2" in page
    rows = (tmp_path / "page" / "hands.csv").read_text().splitlines()
    assert len(rows) == 25 and rows[0].startswith("folder,number,status,opponent,seat,payoff,aivat")
    assert sum(float(row.split(",")[5]) for row in rows[1:13]) == pytest.approx(found["slumbot"]["mbb_per_hand"] * 1.2)
    for arguments, words in (
        (["slumbot", "--hand", "0.1.2"], "are not replayed in a report"),
        (["slumbot", "page"], "page holds no hands at a service"),
    ):
        assert main(["report", *arguments]) == 2
        assert words in capsys.readouterr().err
    (tmp_path / "slumbot" / "remote.sqlite").write_bytes(b"no database" * 100)
    assert main(["report", "slumbot"]) == 2
    assert "remote.sqlite is damaged" in capsys.readouterr().err
