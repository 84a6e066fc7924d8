"""A person's table of `plurispiel play` with typed keys and shown text, in this process."""

import contextlib
import io
import random

from plurispiel.agents.specs import unique_names
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.play.adviser import HintAdviser
from plurispiel.tournaments.play.dealing import YOU, Table
from plurispiel.tournaments.play.history import PlayHistory
from plurispiel.tournaments.play.opponents import Opponents, with_opponents
from plurispiel.tournaments.play.person import Person
from plurispiel.tournaments.play.screen import Screen
from plurispiel.tournaments.play.session import Session


class RandomKeys(io.TextIOBase):
    """Types keys at random for ever; keys that are not legal are refused and tried again."""

    KEYS = ("c", "c", "c", "c", "h", "p", "f", "r", "r300", "a", "t", "?", "", "\n", "k", "zz", "r1,000")

    def __init__(self, seed):
        self._random = random.Random(seed)

    def readline(self, size=-1):
        return self._random.choice(self.KEYS) + "\n"


def play_table(folder, rules, agents, keys, *, hands=None, hint=None, seed=1, width=80):
    """Play at a table in a folder; return whether the last hand was finished, and the text."""
    out = io.StringIO()
    source = io.StringIO("".join(f"{key}\n" for key in keys)) if isinstance(keys, list) else keys
    specs = with_opponents(rules, agents)
    with contextlib.closing(PlayHistory(folder, rules, {"agents": specs})) as history:
        with Opponents(specs, Limits(), None, folder / "agents.txt") as opponents:
            screen = Screen(out, source, width)
            adviser = HintAdviser(opponents.make(hint), hint) if hint else None
            table = Table(rules, (YOU, *unique_names(specs)), "checkdown", seed)
            return Session(table, Person(screen, adviser), opponents, history, screen).play(hands), out.getvalue()
