#!/usr/bin/env python3
"""A poker bot that speaks plurispiel's line protocol: it raises with good cards and folds bad ones to large bets."""

import json
import sys

RANKS = "23456789TJQKA"


def choose(question):
    """Return the action: ``f``, ``c``, or ``r`` with the chips over the whole hand, as in ``r300``."""
    own = [RANKS.index(card) for card in question["cards"][::2]]  # every second letter is a rank
    board = [RANKS.index(card) for card in question["board"][::2]]
    pairs = sum(rank in board for rank in own) + (own[0] == own[-1] and len(own) > 1)
    is_good = pairs > 0 or (not board and min(own) >= RANKS.index("T"))
    legal = question["legal"]
    pot, price = question["pot"], question["to_call"]
    if is_good and legal["raise"] and price < pot:
        smallest, largest = legal["raise"]
        pot_raise = max(question["contributions"]) + pot + price
        return f"r{smallest}" if legal["menu"] else f"r{max(smallest, min(largest, pot_raise))}"
    if legal["fold"] and not is_good and price > pot / 4:
        return "f"
    return "c"


def main():
    """Answer the questions on standard input until ``quit`` or the end of the input."""
    for line in sys.stdin:
        message = json.loads(line)
        answer = None
        if message["type"] == "hello":
            answer = {"type": "ready", "protocol": 1, "name": "example", "answers": ["act"], "deterministic": True}
        elif message["type"] == "act":
            answer = {"type": "action", "id": message["id"], "action": choose(message)}
        elif message["type"] == "quit":
            break
        if answer:
            print(json.dumps(answer), flush=True)  # prints to standard error go to the log of the run


if __name__ == "__main__":
    main()
