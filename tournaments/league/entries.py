"""The entries of a league. An entry is an agent with one content: after a change of its file it is a new entry.

Entries are numbered from 1 in the order in which they were added. Numbers are never used again, because they name the
folders of pairings.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.settings import make_record, read_settings
from plurispiel.agents.specs import agent_digest, parse_spec, unique_names

_FILE = "entries.toml"


@dataclass(frozen=True)
class Entry:
    """An agent in a league.

    Attributes
    ----------
    number : int
        The entry's number, from 1.
    name : str
        The spec's title; later entries with the same title end with ``#2``, ``#3``, ...
    spec : str
        The agent's spec, with an absolute path if it has a file.
    digest : str
        Hash of the title and the content of the agent (`content_digest`).
    active : bool
        Whether the entry plays and is ranked; an entry that was removed keeps its results.
    """

    number: int
    name: str
    spec: str
    digest: str
    active: bool = True

    def __post_init__(self):
        is_number = type(self.number) is int and type(self.active) is bool
        if not is_number or not all(isinstance(text, str) for text in (self.name, self.spec, self.digest)):
            raise ValueError("an entry has a number, a name, a spec, a digest, and active = true or false")
        if len(self.digest) != 12 or set(self.digest) - set("0123456789abcdef"):
            raise ValueError(f"a digest has twelve hexadecimal digits, got {self.digest!r:.40}")
        parse_spec(self.spec)


def content_digest(spec: str) -> str:
    """Return the hash of an agent's title and of its file or stored strategy (`agent_digest`), of 12 digits.

    Raises
    ------
    ValueError
        If the file or the stored strategy cannot be read.
    """
    return hashlib.sha256(f"{parse_spec(spec).title}\0{agent_digest(spec)}".encode()).hexdigest()[:12]


def entry_name(spec: str, entries: Sequence[Entry]) -> str:
    """Return the name of a new entry."""
    return unique_names([*(entry.spec for entry in entries), spec])[-1]


def read_entries(folder: Path) -> list[Entry]:
    """Return the entries of a league, by number; none if no agent was ever added.

    Raises
    ------
    ValueError
        If the file is damaged; the message begins with its path.
    """
    path = folder / _FILE
    if not path.exists():
        return []
    tables = read_settings(path)
    try:
        given = tables.pop("entry", [])
        if tables or not isinstance(given, list) or not all(isinstance(table, dict) for table in given):
            raise ValueError("it holds tables [[entry]] and nothing else")
        entries = [make_record(Entry, table, "an entry") for table in given]
        for number, entry in enumerate(entries, start=1):
            if entry.number != number or entry.name != entry_name(entry.spec, entries[: number - 1]):
                raise ValueError(f"entry {number} has the number {entry.number} and the name {entry.name!r:.80}")
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    return entries


def write_entries(folder: Path, entries: Sequence[Entry]) -> None:
    """Write the entries of a league, atomically."""
    text = "\n".join(
        "[[entry]]\n"
        + "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in vars(entry).items())
        for entry in entries
    )
    write_atomically(folder / _FILE, text.replace("\x7f", "\\u007f"))
