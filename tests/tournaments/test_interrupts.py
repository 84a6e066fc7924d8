"""Signals that end commands: at any moment within seconds, with the command to go on, and each with its exit code."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from played_run import num_stored

from plurispiel.abstraction.machine.interrupts import SIGNALS

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals on this system")


COMMANDS = {
    "tournament": (("tournament", "--agents", "call,random", "--decks", "4294967296", "--workers", "2"), "config.toml"),
    "lbr": (("lbr", "--agent", "call", "--hands", "4294967296", "--workers", "2"), "plurispiel lbr --agent call"),
    "solve": (("solve", "leduc", "--iterations", "1000000"), "plurispiel solve --resume"),
    "blueprint": (("blueprint", "train", "leduc", "--iterations", "1000000000"), "plurispiel blueprint resume"),
    "abstraction": (("abstraction", "build", "pluribus"), "the same command resumes"),
    "spot": (("spot", "flop"), "run the same command again"),
    "exploitability": (("exploitability", "holdem-flop", "--agent", "random"), "run the same command again"),
    "compliance": (("compliance", "call", "--hands", "1000000"), "run the same command again"),
    "bench": (("bench", "engine", "--seconds", "100"), "run the same command again"),
}


@contextlib.contextmanager
def started(folder, *arguments, before=lambda: None, **environment):
    """A command in a session of its own, with a user's folder of its own."""

    def prepare():
        for number in SIGNALS:  # tests may run where they are ignored: in the background, under nohup
            signal.signal(number, signal.SIG_DFL)
        before()

    with subprocess.Popen(
        [sys.executable, "-m", "plurispiel", *arguments],
        cwd=folder,
        env=os.environ | {"PLURISPIEL_HOME": str(folder / "home")} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=prepare,
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def obeys(process):
    """Whether the program has begun: the start of Python itself is not ours."""
    try:
        with open(f"/proc/{process.pid}/status") as stream:
            caught = next(line for line in stream if line.startswith("SigCgt"))
    except (OSError, StopIteration):
        return True  # another system, or over already
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def ends_by(process, number, last_words):
    """Whether the process ends by a signal to all of its group as it should."""
    begin = time.monotonic()
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() < begin + 5.0
    assert process.returncode == 128 + number
    assert out == "" and "Traceback" not in err and "Warning" not in err
    assert "interrupted" in err and last_words in err.rstrip().splitlines()[-1]


def num_played(folder):
    """Return how much a tournament or an `lbr` run has stored."""
    groups = folder / "groups.csv"
    return groups.stat().st_size if groups.exists() else num_stored(folder)


@pytest.mark.parametrize(("name", "number"), [("tournament", signal.SIGTERM), ("lbr", signal.SIGHUP)])
def test_a_long_command_ends_by_a_signal(tmp_path, name, number):
    """Of four billion hands at that, of which nothing is planned before it is played."""
    arguments, last_words = COMMANDS[name]
    with started(tmp_path, *arguments, "--out", "run") as process:
        while not num_played(tmp_path / "run"):
            assert process.poll() is None
            time.sleep(0.05)
        ends_by(process, number, last_words)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("after", [0.1, 1.5, 10.0])
def test_every_long_command_ends_by_every_signal(tmp_path, name, number, after):
    arguments, _ = COMMANDS[name]
    with started(tmp_path, *arguments) as process:
        while not obeys(process):
            time.sleep(0.01)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
            pytest.skip("it was done before")
        ends_by(process, number, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("after", [1.5, 3.0, 6.0])
def test_a_command_that_compiles_ends_by_a_signal(tmp_path, name, after):
    arguments, _ = COMMANDS[name]
    with started(tmp_path, *arguments, PLURISPIEL_CACHE=str(tmp_path / "cache")) as process:
        time.sleep(after)
        ends_by(process, signal.SIGTERM, "")


@pytest.mark.slow
def test_a_hangup_that_is_ignored_stays_ignored(tmp_path):
    with started(
        tmp_path, *COMMANDS["solve"][0], before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    ) as process:
        assert "leduc" in process.stderr.readline()
        for _ in range(3):
            os.killpg(process.pid, signal.SIGHUP)
            time.sleep(0.3)
        assert process.poll() is None
        ends_by(process, signal.SIGTERM, "")


def test_more_interrupts_while_it_ends_do_no_harm(tmp_path):
    with started(tmp_path, *COMMANDS["tournament"][0], "--out", "run") as process:
        while not (tmp_path / "run" / "run.sqlite").exists():
            time.sleep(0.05)
        time.sleep(1.0)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGINT, signal.SIGHUP, signal.SIGINT):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            time.sleep(0.02)
        _, err = process.communicate(timeout=60)
    # Signals that come while they are held back are delivered together, the lowest number first.
    assert process.returncode - 128 in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    assert "Traceback" not in err and "To continue:" in err
    assert err.rstrip().splitlines()[-1].startswith("  plurispiel tournament ")
