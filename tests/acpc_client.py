"""An ACPC player for tests, which keeps no rules: it reads lines, and answers them by their text alone.

It also runs as a program, ``python acpc_client.py HOST PORT [STYLE]``, with nothing but the standard library.
"""

import random
import re
import socket
import sys


def is_own_turn(line):
    """Whether a heads-up state waits for its player: seat 1 acts first before the flop, seat 0 after it."""
    _, seat, _, betting, cards = line.split(":")
    if "f" in betting or all(cards.partition("/")[0].split("|")):  # a fold or a showdown
        return False
    streets = betting.split("/")
    first = 1 if len(streets) == 1 else 0
    return (first + len(re.findall(r"[cr]", streets[-1]))) % 2 == int(seat)


class Client:
    """A connection to a dealer, and all bytes that came over it."""

    def __init__(self, port, host="127.0.0.1", version=b"VERSION:2.0.0\r\n"):
        self.socket = socket.create_connection((host, port), timeout=60.0)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(version)
        self.received = b""
        self._rest = b""

    def line(self):
        """Return the next line, None at the end."""
        while b"\r\n" not in self._rest:
            try:
                data = self.socket.recv(1 << 16)
            except ConnectionError:
                return None
            if not data:
                return None
            self.received += data
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\r\n")
        return line.decode()

    def states(self):
        """Yield the lines that wait for this player."""
        while (line := self.line()) is not None:
            if is_own_turn(line):
                yield line

    def answer(self, line, action, end=b"\r\n"):
        """Answer a line."""
        self.socket.sendall(f"{line}:{action}".encode() + end)

    def close(self):
        self.socket.close()


def play(client, style="call", seed=1):
    """Answer all states to the end of the match; return how many."""
    rng = random.Random(seed)
    answers = 0
    for line in client.states():
        action = {"call": "c", "fold": "f"}.get(style) or rng.choice(["c", "c", "f", f"r{rng.randint(100, 20_500)}"])
        client.answer(line, action, rng.choice([b"\n", b"\r\n"]))
        answers += 1
    client.close()
    return answers


if __name__ == "__main__":
    play(Client(int(sys.argv[2]), sys.argv[1]), *sys.argv[3:4])
