"""The relay: what it writes before the player's bytes, and how it passes on bytes and ends."""

import os
import subprocess
import sys

import pytest

from plurispiel.tournaments.contestants.relay import CONNECTED

pytestmark = pytest.mark.skipif(os.name != "posix", reason="forks")

ECHO = """
import socket, sys
print("to standard output", flush=True)
stream = socket.create_connection((sys.argv[1], int(sys.argv[2])))
for line in stream.makefile("rb"):
    if line == b"quit\\n":
        sys.exit(7)
    stream.sendall(line.upper())
"""


def test_lines_pass_in_both_directions(tmp_path):
    player = [sys.executable, "-I", "-S", "-c", ECHO, "127.0.0.1"]
    code = "import sys; from plurispiel.tournaments.contestants.relay import main; main(*sys.argv[1:])"
    relay = [sys.executable, "-c", code, "300", str(tmp_path), *player]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(relay, **pipes) as process:
        assert int(process.stdout.readline()) == process.pid
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == f"{CONNECTED}\n".encode()
        process.stdin.write(b"hello\nquit\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"HELLO\n"
        assert process.wait(timeout=60) == 7
        assert process.stderr.read() == b"to standard output\n"
