"""A table of `plurispiel web` in this process: a random player makes the moves, and every line is kept."""

import json
import random

from plurispiel.tournaments.contestants.outside_options import OutsideOptions
from plurispiel.tournaments.web.dealer import Dealer
from plurispiel.tournaments.web.play_setting import LISTED, Move, Order, Sit, checked
from plurispiel.tournaments.web.seat import Inbox, Said


def sit_down(game="holdem", agents=("call",), **changed):
    """Return a wish to sit down, with usual choices where nothing else is given."""
    usual = {"stack": 0, "seed": "1", "pace": "at once", "assist": "off", "adviser": "call"}
    return checked(Sit(game, len(agents) + 1, agents=tuple(agents), **(usual | changed)), LISTED)


class RandomTable:
    """A dealer whose pages are played by random legal keys.

    Attributes
    ----------
    lines : list of (str, str)
        What the dealer has said: the kind of each line, and its JSON text.
    """

    def __init__(self, folder, sit, *, session=0, seed=1, choose=None, waits_for_help=False):
        self.lines = []
        self.inbox = Inbox()
        self._random = random.Random(seed)
        self._choose = choose or self.random_key
        self._waits_for_help = waits_for_help
        self._answered = 0
        self.dealer = Dealer(Order(sit, session, str(folder), OutsideOptions()), self.inbox, self._hear)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.dealer.close()

    def play(self, num_hands):
        """Play hands; return for each the texts of its views."""
        hands = []
        for _ in range(num_hands):
            first = len(self.lines)
            self.dealer.play_hand()
            hands.append([text for kind, text in self.lines[first:] if kind == "view"])
        return hands

    def random_key(self, view):
        legal = view["legal"]
        keys = ["c", "c", *["f"] * legal["fold"]]
        if legal["raise"]:
            keys += [f"r{self._random.choice(legal['menu'] or [*legal['raise'], *(m for _, m in legal['marks'])])}"]
        return self._random.choice(keys)

    def _hear(self, kind, found):
        self.lines.append((kind, json.dumps(found)))
        if "wants" not in found or found["number"] == self._answered:
            return
        if found["wants"] == "act":
            if self._waits_for_help and "ranges" not in found["help"]:
                return
            move = Move("act", found["number"], self._choose(found))
        else:
            move = Move("next", found["number"], "")
        self._answered = found["number"]
        self.inbox.put(Said(1, move))
