"""The entries of a league. An entry is an agent with one content.

An agent whose content has changed becomes a new entry when it is added again.

The content of an agent from outside is its file or program. The content of an agent of this package is its stored
strategy, if any, and the code of this package that it plays by (`own_code`). An upgrade may change this code. Every
content also has the title of the spec, and whether reported strategies are believed.

Entries are numbered from 1 in the order in which they were added. Numbers are never used again, because they name the
folders of pairings.
"""

import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.abstraction.machine.settings import make_record, read_settings
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.own_code import own_code_digest
from plurispiel.agents.specs import parse_spec

CHANGES = {"file": "its file or stored strategy has changed", "code": "the code of this package has changed"}
"""The changes of an agent, in words (`change_of`)."""

_FILE = "entries.toml"


@dataclass(frozen=True)
class Entry:
    """An agent in a league.

    Attributes
    ----------
    number : int
        The entry's number, from 1.
    name : str
        The spec's title when the entry was added; later entries with the same title end with ``#2``, ``#3``, ...
    spec : str
        The agent's spec, with an absolute path if it has a file.
    digest : str
        Hash of the agent's title and of its file, program or stored strategy (`content_digest`).
    active : bool
        Whether the entry plays and is ranked; an entry that was removed keeps its results.
    code : str
        Hash of the code of this package that the agent plays by; empty for agents from outside.
    believe : bool
        Whether the strategy that the agent reports corrects its scores ``aivat`` and ``aivat_duplicate``, as with
        `TournamentConfig.believe`; only for agents from outside.

    Raises
    ------
    ValueError
        If a field has a wrong type or form, the spec names no agent, or an agent from outside has `code`.
    """

    number: int
    name: str
    spec: str
    digest: str
    active: bool = True
    code: str = ""
    believe: bool = False

    def __post_init__(self):
        texts, truths = (self.name, self.spec, self.digest, self.code), (self.active, self.believe)
        is_typed = all(isinstance(text, str) for text in texts) and all(type(truth) is bool for truth in truths)
        if type(self.number) is not int or not is_typed:
            raise ValueError(
                "an entry's number must be an integer, its name, spec, digest and code must be texts, "
                "and its active and believe must be true or false"
            )
        for digest in filter(None, (self.digest, self.code)):
            if len(digest) != 12 or set(digest) - set("0123456789abcdef"):
                raise ValueError(f"a digest has twelve hexadecimal digits, got {digest!r:.40}")
        if not self.name or not self.digest:
            raise ValueError("an entry needs a name and a digest")
        if parse_spec(self.spec).is_foreign and self.code:
            raise ValueError(f"{self.spec!r:.80} is an agent from outside, which plays by no code of this package")

    @property
    def content(self) -> tuple[str, str, bool]:
        """The values that distinguish entries: two entries with the same content are one entry."""
        return self.digest, self.code, self.believe


def content_digest(spec: str) -> str:
    """Return the hash of an agent's title and of its file, program or stored strategy (`agent_digest`), of 12 digits.

    Raises
    ------
    ValueError
        If the spec names no agent, or the file, program or stored strategy cannot be read.
    """
    return hashlib.sha256(f"{parse_spec(spec).title}\0{agent_digest(spec)}".encode()).hexdigest()[:12]


def change_of(entry: Entry) -> str:
    """Return how an entry's agent has changed since it was added: a key of `CHANGES`; empty without a change.

    A file, program or stored strategy that can no longer be read counts as changed.
    """
    try:
        if content_digest(entry.spec) != entry.digest:
            return "file"
    except ValueError:
        return "file"
    return "code" if own_code_digest(entry.spec) != entry.code else ""


def new_entry(spec: str, entries: Sequence[Entry], *, believe: bool = False) -> Entry:
    """Return the entry of an agent with its present content, with the next number and name.

    Raises
    ------
    ValueError
        If the spec names no agent, or the file, program or stored strategy cannot be read.
    """
    name = entry_name(spec, entries)
    return Entry(len(entries) + 1, name, spec, content_digest(spec), code=own_code_digest(spec), believe=believe)


def entry_name(spec: str, entries: Sequence[Entry]) -> str:
    """Return the name of a new entry: its title, with a number if another entry has this name.

    Raises
    ------
    ValueError
        If the spec names no agent.
    """
    title = parse_spec(spec).title
    taken = {entry.name for entry in entries}
    numbered = (f"{title}#{number}" for number in itertools.count(2))
    return next(name for name in itertools.chain([title], numbered) if name not in taken)


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
            raise ValueError("it must hold tables [[entry]] and nothing else")
        entries = [make_record(Entry, table, "an entry") for table in given]
        names = [entry.name for entry in entries]
        for number, entry in enumerate(entries, start=1):  # a name stays when a later version gives other titles
            if entry.number != number or entry.name in names[: number - 1]:
                raise ValueError(
                    f"entry {number} has a wrong number ({entry.number}) or another's name ({entry.name!r:.80})"
                )
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
