import importlib

from behaves import Bot as Behaves

NAMES = (
    *("raises", "recurses", "exits_politely", "illegal", "answers_none", "answers_nan", "answers_too_much"),
    *("answers_huge", "answers_nonsense"),
)


class Bot(Behaves):
    """Misbehaves as each of the others does whose process goes on, by turns."""

    turns = 0

    def misbehave(self, view):
        name = NAMES[self.turns % len(NAMES)]
        self.turns += 1
        return importlib.import_module(name).Bot().misbehave(view)
