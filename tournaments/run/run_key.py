"""The secret random key from which a run with outside agents deals its decks, in place of a seed.

The key is drawn when the run begins, kept in the run folder, and published when the run ends. Anyone with the key can
compute the decks, so a published key deals no further deck: a run that is extended draws another key for its new decks.
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
        Pairs (first deck, key) in ascending order. A key deals the decks from its first deck on, up to but not
        including the first deck of the next key.
    is_published : bool
        Whether the run has ended and its results publish the keys.
    """

    keys: tuple[tuple[int, int], ...]
    is_published: bool = False

    def extended_from(self, deck: int) -> "RunKey":
        """Return the keys of a run that is extended from a deck on.

        Published keys get a new key for the decks from `deck` on; keys that are still secret are returned unchanged.
        """
        if not self.is_published:
            return self
        # A key whose first deck is `deck` or later was published before it dealt a deck.
        dealt = [(first, key) for first, key in self.keys if first < deck]
        return RunKey((*dealt, (deck, secrets.randbits(_BITS))))

    def published(self) -> "RunKey":
        """Return the same keys, marked as published."""
        return dataclasses.replace(self, is_published=True)

    def record(self) -> list[dict[str, int | str]]:
        """Return each key as plain values: its ``first_deck``, and ``key`` as a hexadecimal text."""
        return [{"first_deck": deck, "key": hex(key)} for deck, key in self.keys]


def draw_key() -> RunKey:
    """Return a new secret key, which deals all decks."""
    return RunKey(((0, secrets.randbits(_BITS)),))


def write_key(folder: Path, key: RunKey) -> None:
    """Write a run's keys into its folder, in a file that only the user can read."""
    text = json.dumps({"keys": key.record(), "is_told": key.is_published}) + "\n"
    write_atomically(folder / NAME, text, mode=0o600)


def read_key(folder: Path) -> RunKey | None:
    """Return the keys in a run's folder, or None if there is no key file.

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
        is_published = record["is_told"]
        if all(type(deck) is int for deck in decks) and decks[0] == 0 and decks == sorted(set(decks)):
            if type(is_published) is bool and all(0 <= key < 1 << _BITS for _, key in keys):
                return RunKey(keys, is_published)
    raise ValueError(f"{path} is damaged")
