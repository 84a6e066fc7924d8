"""`plurispiel play` as a person uses it: through a terminal, and with keys from a pipe."""

import contextlib
import fcntl
import io
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals on this system")

TABLE = ("play", "--game", "KUHN", "--agents", "tag", "--seed", "3")


class Terminal:
    """The command at a pseudo-terminal of its own."""

    def __init__(self, folder, *arguments, columns=80, **environment):
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))

        def sit_down():
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "plurispiel", *arguments],
            cwd=folder,
            env=kept | {"PLURISPIEL_HOME": str(folder / "home"), "TERM": "xterm"} | environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            preexec_fn=sit_down,
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def wait_for(self, text):
        """Read until a text is shown, after all that was waited for before."""
        end = time.monotonic() + 60
        while (found := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < end and self._read(), self.shown
        self._seen = found + len(text)

    def type(self, text):
        os.write(self._ours, text.encode())

    def end(self):
        """Read to the end and return the exit code."""
        while self._read():
            pass
        return self.process.wait(30)

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def _read(self):
        ready, _, _ = select.select([self._ours], [], [], 60)
        try:
            data = os.read(self._ours, 1 << 16) if ready else b""
        except OSError:  # the other side has gone
            data = b""
        self.shown += data.decode()
        return bool(data)


def test_at_a_terminal_hands_are_played_and_an_interrupt_loses_none(tmp_path):
    with contextlib.closing(Terminal(tmp_path, *TABLE, "--out", "table", columns=44)) as terminal:
        terminal.wait_for("your action")
        terminal.type("?\n")
        terminal.wait_for("Ctrl-C leave now")
        terminal.wait_for("your action")
        terminal.type("c\n")
        terminal.wait_for("next hand?")
        terminal.type("\n")
        terminal.wait_for("hand 2")
        terminal.wait_for("your action")
        terminal.type("\x03")
        assert terminal.end() == 130
        text = terminal.shown
    assert "1 hand kept in table/hands.log; the same command continues with hand 2" in " ".join(text.split())
    assert "\x1b[1m" in text and "Traceback" not in text
    plain = re.sub(r"\x1b\[\d*m", "", text.partition("hand 1")[2].partition("interrupted")[0])
    assert "\x1b" not in plain and max(map(len, plain.replace("\r", "").split("\n"))) <= 44
    with contextlib.closing(Terminal(tmp_path, *TABLE, "--out", "table", NO_COLOR="1")) as terminal:
        terminal.wait_for("KUHN: 2 seats")
        terminal.wait_for("so far at this table:")
        terminal.wait_for("hand 2")
        terminal.wait_for("your action")
        terminal.type("q\n")
        assert terminal.end() == 0
        assert "\x1b" not in terminal.shown
    main(["replay", str(tmp_path / "table")])


def test_a_terminal_that_closes_ends_the_command(tmp_path):
    terminal = Terminal(tmp_path, *TABLE)
    try:
        terminal.wait_for("your action")
        os.close(terminal._ours)
        assert terminal.process.wait(30) in (1, 129)  # its output is lost, or it hangs up
    finally:
        terminal.process.kill()
        terminal.process.wait()


def run(monkeypatch, capsys, keys, *arguments):
    monkeypatch.setattr(sys, "stdin", io.StringIO(keys))
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def test_keys_from_a_pipe(home, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "c\n\nc\nc\n" * 9, *TABLE, "--hands", "2", "--hint", "equity")
    assert code == 0 and "\x1b" not in out
    assert out.count(" is over: ") == 2 and "hint from equity: " in out
    (folder,) = (home / "play").iterdir()
    assert f"2 hands kept in {folder / 'hands.log'}; the same command continues with hand 3" in err
    assert run(monkeypatch, capsys, "", "replay", str(folder))[0] == 0


def test_the_last_hand_ends_the_command(home, monkeypatch, capsys):
    """No key is asked for after it; the result is also there as JSON."""
    code, out, err = run(monkeypatch, capsys, "c\n\nc\nc\n", *TABLE, "--hands", "2", "--json")
    assert code == 0 and err.count(" is over: ") == 2 and err.count("next hand?") == 1
    record = json.loads(out)
    assert (record["game"], record["agents"], record["hint"], record["hands"]) == ("KUHN", ["tag"], None, 2)
    assert record["new_hands"] == 2 and record["ci95"] is not None and record["aivat_ci95"] is not None
    assert record["mbb_per_hand"] == 1000.0 * record["chips"] / 2
    code, out, err = run(monkeypatch, capsys, "", *TABLE, "--json")
    assert code == 0 and json.loads(out) == record | {"new_hands": 0} and record["file"].endswith("hands.log")


def test_an_empty_input_is_no_error(home, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, "", *TABLE)
    assert code == 0 and "hand 1" in out and "within a hand: this hand does not count" in err
    assert "0 hands kept" in err


def test_tables_have_folders_of_their_own(home, monkeypatch, capsys):
    for more in ((), (), ("--hint", "tag"), ("--agents", "call")):
        words = [*TABLE[:3], *(("--agents", "tag") if "--agents" not in more else ()), *more]
        assert run(monkeypatch, capsys, "q\n", *words)[0] == 0
    names = sorted(path.name.rpartition("-")[0] for path in (home / "play").iterdir())
    assert names == ["call", "tag", "tag"]


def test_a_table_continues_from_another_folder(home, tmp_path, monkeypatch, capsys):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "bot.py").write_text("from plurispiel.agents.baselines.simple import CallAgent as Bot\n")
    for folder, spec in ((tmp_path, "bot.py:Bot"), (tmp_path / "elsewhere", "../bot.py:Bot")):
        monkeypatch.chdir(folder)
        words = [*TABLE[:3], "--agents", spec, "--hint", spec, "--out", str(tmp_path / "table")]
        code, _, err = run(monkeypatch, capsys, "q\n", *words)
        assert code == 0 and "hands.log; the same command continues" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seats", "1"], "seats must be 2 to 10, got 1"),
        (["--seats", "11"], "seats must be 2 to 10"),
        (["--agents", "call,tag", "--seats", "2"], "2 agents and you need 3 seats, and this game has 2"),
        (["--agents", ",".join(["call"] * 10)], "a table has at most 10 seats, got 10 agents and you"),
        (["--game", "KUHN", "--seats", "3"], "the game 'KUHN' has 2 seats, got --seats 3"),
        (["--hands", "0"], "hands must be at least 1, got 0"),
        (["--seed", "-1"], "the seed must not be negative"),
        (["--time-limit", "nan"], "time_limit must be above 0"),
        (["--memory-limit", "0"], "memory_limit must be at least 1 MiB"),
        (["--agents", "call", "--hint", "nobody"], "unknown agent 'nobody'"),
        (["--agents", "cal"], "unknown agent 'cal', did you mean 'call'?"),
        (["--game", "KUHN", "--agents", "blueprint"], "blueprint"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_line(home, monkeypatch, capsys, arguments, message):
    code, out, err = run(monkeypatch, capsys, "", "play", *arguments)
    assert code == 2 and message in err and out == "" and len(err.strip().splitlines()) <= 2
    assert not (home / "play").exists()


def test_a_seed_with_agents_from_outside_is_warned_of(home, monkeypatch, capsys):
    (home.parent / "bot.py").write_text(
        "from plurispiel.agents import Agent\nclass Bot(Agent):\n    def act(self, view):\n        return 1\n"
    )
    code, out, err = run(monkeypatch, capsys, "q\n", "play", "--game", "KUHN", "--agents", "bot.py:Bot", "--seed", "5")
    assert code == 0 and "seed 5: an agent from outside that guesses the seed" in err and "bot.py:Bot: " in out
