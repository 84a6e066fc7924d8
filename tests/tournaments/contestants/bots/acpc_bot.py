"""A player of the ACPC's protocol: it calls, and misbehaves in the way of its argument when it holds an ace.

Started as ``acpc_bot.py MODE HOST PORT``. Heads-up and three-handed, seat 2 acts first before the flop.
"""

import os
import re
import signal
import socket
import struct
import sys
import time

mode, host, port = sys.argv[1:4]


def is_own_turn(line):
    """Whether the state of a hand in which all others call waits for seat 2 of three."""
    _, seat, _, betting, cards = line.split(":")
    assert seat == "2"
    if "f" in betting or all(cards.partition("/")[0].split("|")):
        return False
    streets = betting.split("/")
    moves = len(re.findall(r"[cr]", streets[-1]))
    return moves == (0 if len(streets) == 1 else 2)


def misbehave(dealer, line):
    """Do what the mode says; True if the answer has been given, or none will be."""
    odd = {
        "garbage": b"garbage \xff\n",
        "nul": b"\x00\n",
        "long": b"x" * 5_000 + b"\n",
        "no-end": b"x" * 5_000,
        "other-hand": (line.replace(b":", b":9", 2) + b":c\n") * 30,
        "states": (line + b"\r\n") * 30,
        "empty-lines": b"\r\n" * 30,
        "comments": b"# hello\n" * 30,
        "half": line + b":",
        "no-word": line + b":call\n",
        "r1": line + b":r1\n",
        "too-small": line + b":r2\n",
        "too-large": line + b":r999999999\n",
        "huge": line + b":r" + b"9" * 500 + b"\n",
        "no-raise": line + b":r\n",
        "fold": line + b":f\n",
    }
    if mode in odd:
        dealer.sendall(odd[mode])
        return True
    if mode == "late":
        time.sleep(5.0)
    elif mode == "exits":
        sys.exit(3)
    elif mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "kills-its-relay":
        os.kill(os.getppid(), signal.SIGKILL)
    elif mode == "closes":
        os.close(dealer.detach())
        time.sleep(60.0)
    elif mode == "resets":
        dealer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(dealer.detach())
        time.sleep(60.0)
    elif mode == "floods":
        for _ in range(40):
            print("x" * 100_000, flush=True)
    elif mode == "eats":
        bytearray(10**9)
    elif mode == "prints":
        print("to standard output", flush=True)
    elif mode == "early":
        dealer.sendall(b"MATCHSTATE:2:0::||:c\r\n" * 3)
    elif mode == "second-connection":
        try:
            socket.create_connection((host, int(port)))
        except OSError:
            dealer.sendall(line + b":c\r\n")
        return True
    elif mode == "in-pieces":
        for byte in line + b":c\n":
            dealer.sendall(bytes([byte]))
        return True
    return False


def main():
    if mode == "exits-at-start":
        sys.exit("no licence")
    if mode == "silent":
        time.sleep(60.0)
    with socket.create_connection((host, int(port))) as dealer:
        if mode == "no-version":
            time.sleep(60.0)
        version = {"version-1": b"VERSION:1.0.0", "hello": b"HELLO", "version-2.9": b"VERSION:2.9.12"}
        dealer.sendall(version.get(mode, b"VERSION:2.0.0") + b"\n")
        for line in dealer.makefile("rb"):
            line = line.rstrip(b"\r\n")
            if is_own_turn(line.decode()):
                if b"A" in line.split(b":")[4].split(b"/")[0] and misbehave(dealer, line):
                    continue
                dealer.sendall(line + b":c\r\n")


main()
