"""The program that gives a player a port to connect to, inside the player's sandbox.

A sandbox has a network of its own by default, which the run cannot reach. Therefore the relay runs inside. It listens
on loopback, and starts the player with the port as its last argument. It passes bytes between the player's connection
and its own standard streams, which are pipes to the run. It takes one connection only. The relay and the player are one
process group: if the player kills the relay, the player ends, too. Without a sandbox, or with `--agent-network`, all
programs of this machine could connect before the player does. Therefore the relay accepts only the player and processes
that the player has started, where the system can tell (`peer`).
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Sequence

from plurispiel.tournaments.contestants.launcher import become, wait_to_go_on
from plurispiel.tournaments.contestants.peer import is_descendant
from plurispiel.tournaments.contestants.process import die_with

LOOPBACK = "127.0.0.1"
CONNECTED = "connected"
"""Line that the relay writes to standard output when the player has connected."""

_CHUNK = 1 << 16
_GLANCE_S = 0.2  # seconds between two checks of whether a player that has not connected has ended


def main(memory: str, folder: str, *command: str) -> None:
    """Report the process id as a line, read one byte, start the player, and pass on bytes until either side ends.

    The line `CONNECTED` precedes the player's bytes. At the end the process exits as the player did, or kills the
    player if it still runs. The parameters are those of `launcher.main`.
    """
    wait_to_go_on()
    with socket.create_server((LOOPBACK, 0), backlog=1) as listener:
        player = _start(int(memory), folder, [*command, str(listener.getsockname()[1])])
        connection = _accept(listener, player)
    os.write(1, f"{CONNECTED}\n".encode())
    with connection:
        _pass_on(connection)
    _leave(player)


def _start(memory: int, folder: str, command: Sequence[str]) -> int:
    """Start the player, whose standard output leads to standard error, and return its process id."""
    relay = os.getpid()
    player = os.fork()
    if player == 0:
        die_with(relay)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        become(memory, folder, command)
    return player


def _accept(listener: socket.socket, player: int) -> socket.socket:
    """Return the player's connection; if the player ends first, exit as the player did."""
    listener.settimeout(_GLANCE_S)
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            ended, status = os.waitpid(player, os.WNOHANG)
            if ended:
                _exit_as(status)
            continue
        if not is_descendant(connection, os.getppid()):  # the warden, which adopts the player's orphans
            print("a connection of another program was refused", file=sys.stderr, flush=True)
            connection.close()
            continue
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _pass_on(connection: socket.socket) -> None:
    """Pass on bytes in both directions until either side ends; a full pipe or socket delays both directions."""
    connection.setblocking(True)
    with_player = connection.fileno()
    while True:
        ready, _, _ = select.select([0, with_player], [], [])
        for source in ready:
            try:
                data = os.read(source, _CHUNK)
                if not data:
                    return
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(1 if source == with_player else with_player, rest) :]
            except OSError:
                return


def _leave(player: int) -> None:
    """Exit as the player did, if the player has ended or ends within 0.2 s; otherwise kill the player."""
    for _ in range(10):
        ended, status = os.waitpid(player, os.WNOHANG)
        if ended:
            _exit_as(status)
        select.select([], [], [], 0.02)
    os.kill(player, signal.SIGKILL)
    print("the program closed its connection", file=sys.stderr, flush=True)
    os._exit(0)


def _exit_as(status: int) -> None:
    """End this process as the process with the wait status `status` ended: with its exit code, or by its signal."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if code != -signal.SIGKILL:  # whose handling cannot be set
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
