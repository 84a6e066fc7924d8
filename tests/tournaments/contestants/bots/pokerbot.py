"""A player of the Pokerbots' protocol with plain sockets, which plays by its cards, and misbehaves with an ace.

Started as ``pokerbot.py MODE PORT``. Its play depends on its cards and the board alone, as that of `by_cards.py` does.
"""

import os
import signal
import socket
import sys
import time

mode, port = sys.argv[1:3]
BIG, SMALL = 100, 50


class Seat:
    """What the clauses of a hand tell."""

    def __init__(self):
        self.player = -1
        self.cards = ""
        self.board = ""
        self.bets = [SMALL, BIG]
        self.paid = [0, 0]  # on earlier streets
        self.actor = 0
        self.clock = 0.0
        self.is_over = True

    def read(self, clause):
        letter, rest = clause[0], clause[1:]
        if letter == "T":
            self.clock = float(rest)
        elif letter == "P":
            clock = self.clock
            assert self.is_over
            self.__init__()
            self.clock, self.player, self.is_over = clock, int(rest), False
        elif letter == "H":
            self.cards = rest
        elif letter == "B":
            assert self.bets[0] == self.bets[1]
            self.board = rest
            self.paid = [before + bet for before, bet in zip(self.paid, self.bets, strict=True)]
            self.bets, self.actor = [0, 0], 1
        elif letter in "FKCR":
            if letter == "C":
                self.bets[self.actor] = self.bets[1 - self.actor]
            elif letter == "R":
                self.bets[self.actor] = int(rest)
            elif letter == "K":
                assert self.bets[0] == self.bets[1]
            self.actor = 1 - self.actor
        elif letter == "D":
            int(rest)
            self.is_over = True
        elif letter != "O":
            sys.exit(f"unknown clause {clause}")

    def answer(self):
        """Return an action that hangs on the last card told, and on the chips to call."""
        assert self.actor == self.player
        cards = (self.cards + self.board).replace(",", "")
        rank = "23456789TJQKA".index(cards[-2])
        price = self.bets[1 - self.player] - self.bets[self.player]
        if rank < 2 and price:
            return "F"
        highest = max(self.bets)
        if rank > 8 and highest + BIG + price < 10_000 - self.paid[0] and highest < 3_000:
            return f"R{highest + max(BIG, price) + rank}"
        if rank == 8 and price:
            return f"R{10_000 - self.paid[0]}" if highest + self.paid[0] < 10_000 else "C"
        return "C" if price else "K"


def odd(engine, seat):
    """Do what the mode says; True if the answer has been given."""
    answers = {
        "garbage": b"hello \xff\n",
        "bid": b"A20\n",
        "words": b"K 3\n",
        "no-number": b"R\n",
        "huge": b"R" + b"9" * 400 + b"\n",
        "tiny": b"R1\n",
        "too-large": b"R99999\n",
        "twice": b"C\nC\n" if seat.bets[0] != seat.bets[1] else b"K\nK\n",
        "wrong-check": b"K\n" if seat.bets[0] != seat.bets[1] else b"C\n",
        "no-end": b"C" * 5_000,
    }
    if mode in answers:
        engine.sendall(answers[mode])
        return True
    if mode == "silent":
        time.sleep(5.0)
    elif mode == "exits":
        sys.exit(3)
    elif mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return False


def main():
    if mode == "exits-at-start":
        sys.exit("no licence")
    if mode == "never-connects":
        time.sleep(60.0)
    seat = Seat()
    with socket.create_connection(("localhost", int(port))) as engine:
        for line in engine.makefile("r"):
            for clause in line.split():
                if clause == "Q":
                    print("quits", file=sys.stderr, flush=True)
                    return
                seat.read(clause)
            if seat.is_over:
                engine.sendall(b"C\n" if mode == "no-check" else b"K\n")
            elif not ("A" in seat.cards and odd(engine, seat)):
                engine.sendall(seat.answer().encode() + b"\n")


main()
