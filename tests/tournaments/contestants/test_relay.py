"""The relay: what it writes before the player's bytes, and how it passes on bytes and ends."""

import os
import socket
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


def relay(folder, player):
    """A relay with a player in Python."""
    code = "import sys; from plurispiel.tournaments.contestants.relay import main; main(*sys.argv[1:])"
    command = [sys.executable, "-c", code, "300", str(folder), sys.executable, "-I", "-S", "-c", player, "127.0.0.1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **pipes)


def test_lines_pass_in_both_directions(tmp_path):
    with relay(tmp_path, ECHO) as process:
        assert int(process.stdout.readline()) == process.pid
        process.stdin.write(b"\n")
        process.stdin.flush()
        assert process.stdout.readline() == f"{CONNECTED}\n".encode()
        process.stdin.write(b"hello\nquit\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"HELLO\n"
        assert process.wait(timeout=60) == 7
        assert process.stderr.read() == b"to standard output\n"


WAITS = """
import os, socket, subprocess, sys
print(sys.argv[2], flush=True)
while not os.path.exists("go"):
    pass
code = "import socket, sys; stream = socket.create_connection(('::ffff:127.0.0.1', int(sys.argv[1]))); "
code += "print(stream.recv(9), flush=True)"
subprocess.run([sys.executable, "-I", "-S", "-c", code, sys.argv[2]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a connection is")
def test_a_program_that_connects_before_the_player_is_refused(tmp_path):
    with relay(tmp_path, WAITS) as process:
        process.stdout.readline()
        process.stdin.write(b"\n")
        process.stdin.flush()
        port = int(process.stderr.readline())
        with socket.create_connection(("127.0.0.1", port), timeout=60) as stranger:
            assert stranger.recv(1) == b""
        assert process.stderr.readline() == b"a connection of another program was refused\n"
        (tmp_path / "go").touch()
        assert process.stdout.readline() == f"{CONNECTED}\n".encode()  # a child of the player, over IPv6
        process.stdin.write(b"hello\n")
        process.stdin.flush()
        assert process.stderr.readline() == b"b'hello\\n'\n"
