"""The key of a run with an agent from outside: drawn once, kept in the run folder, told when the run has ended.

Whoever knows the key can deal the decks. So a key that was told deals no further deck: for those that a run goes on
with, another key is drawn.
"""

import contextlib
import dataclasses
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically

NAME = "run.key"
_BITS = 128


@dataclass(frozen=True)
class RunKey:
    """The keys of a run.

    Attributes
    ----------
    keys : tuple of (int, int)
        The first deck of each key, and the key.
    is_told : bool
        Whether the run has ended, so that its results tell the keys.
    """

    keys: tuple[tuple[int, int], ...]
    is_told: bool = False

    def going_on(self, deck: int) -> "RunKey":
        """Return the keys of a run that goes on from a deck: what was told deals nothing more."""
        if not self.is_told:
            return self
        dealt = [(first, key) for first, key in self.keys if first < deck]  # a later one was told before it dealt any
        return RunKey((*dealt, (deck, secrets.randbits(_BITS))))

    def told(self) -> "RunKey":
        """Return the keys of a run that has ended."""
        return dataclasses.replace(self, is_told=True)

    def record(self) -> list[dict[str, int | str]]:
        """Return the keys as plain values."""
        return [{"first_deck": deck, "key": hex(key)} for deck, key in self.keys]


def draw_key() -> RunKey:
    """Return a key that nobody knows."""
    return RunKey(((0, secrets.randbits(_BITS)),))


def write_key(folder: Path, key: RunKey) -> None:
    """Keep a run's key in its folder, for its owner alone."""
    text = json.dumps({"keys": key.record(), "is_told": key.is_told}) + "\n"
    write_atomically(folder / NAME, text, mode=0o600)


def read_key(folder: Path) -> RunKey | None:
    """Return the key that a run's folder keeps, or None if it keeps none.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    path = folder / NAME
    with contextlib.suppress(ValueError, TypeError, LookupError, RecursionError):
        try:
            record = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        keys = tuple((entry["first_deck"], int(entry["key"], 16)) for entry in record["keys"])
        decks = [deck for deck, _ in keys]
        is_told = record["is_told"]
        if all(type(deck) is int for deck in decks) and decks[0] == 0 and decks == sorted(set(decks)):
            if type(is_told) is bool and all(0 <= key < 1 << _BITS for _, key in keys):
                return RunKey(keys, is_told)
    raise ValueError(f"{path} is damaged")
