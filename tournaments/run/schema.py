"""The schema of a run's database, and the checksum of its rows."""

import zlib
from array import array
from collections.abc import Iterable
from math import nan
from typing import Any

import numpy as np

SCORE_TYPES = {
    "lineup": "i8",
    "deck": "i8",
    "agent": "i8",
    "hands": "i8",
    "chips": "f8",
    "chips_squared": "f8",
    "faults": "i8",
    "imaginary_hands": "f8",
    "chance": "f8",
    "own_actions": "f8",
    "other_actions": "f8",
    "true_chance": "f8",
    "true_own_actions": "f8",
    "true_other_actions": "f8",
    "aivat_squared": "f8",
    "reduced_squared": "f8",
    "table_sum": "f8",
}
SCORES = np.dtype(list(SCORE_TYPES.items()))
"""The dtype of an agent's numbers in a group (`AgentScore`), from which scores are computed; NaN for None."""

FULL_CORRECTIONS = ("imaginary_hands", "chance", "own_actions", "other_actions")
REDUCED_CORRECTIONS = ("true_chance", "true_other_actions")
"""The columns that AIVAT adds to the chips: all corrections, and those that need no report by the agent itself."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (
    lineup INTEGER NOT NULL,
    first INTEGER NOT NULL,
    num_decks INTEGER NOT NULL,
    seconds REAL NOT NULL,
    machine TEXT NOT NULL,
    rows BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (lineup, first)
);
CREATE TABLE IF NOT EXISTS remarks (
    lineup INTEGER NOT NULL,
    deck INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    first_fault TEXT NOT NULL,
    fault_kinds TEXT NOT NULL,
    refused TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (lineup, deck, agent)
);
CREATE TABLE IF NOT EXISTS hands (
    lineup INTEGER NOT NULL,
    deck INTEGER NOT NULL,
    hands BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (lineup, deck)
);
CREATE TABLE IF NOT EXISTS stories (
    lineup INTEGER NOT NULL,
    deck INTEGER NOT NULL,
    stories BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (lineup, deck)
);
"""
# `rows` are the bytes of a block's rows (`block_rows`). `seconds` is the block's share of the time in which the run was
# played (`runner`). `machine` is the name of the computer that played the block.

COLUMNS = {
    "run": ("key", "value"),
    "blocks": ("lineup", "first", "num_decks", "seconds", "machine", "rows"),
    "remarks": ("lineup", "deck", "agent", "first_fault", "fault_kinds", "refused"),
    "hands": ("lineup", "deck", "hands"),
    "stories": ("lineup", "deck", "stories"),
}
"""The columns of each table in the order in which the checksum covers them; the checksum is one more column."""

FORMAT_VERSION = 8

READABLE = {
    7: COLUMNS | {"blocks": tuple(name for name in COLUMNS["blocks"] if name != "machine")},
    FORMAT_VERSION: COLUMNS,
}
"""The columns by the version of the format, for each version that can be read; only the last version is written."""


def checksum_of(row: Iterable[Any]) -> int:
    """Return the CRC-32 of a row, which detects any single flipped bit.

    Every number is hashed as float64, with 0.0 for -0.0 and NaN for None. SQLite may store 2 as 2.0, -0.0 as 0.0 and
    NaN as NULL; hashed in this way, a row still has the same checksum before and after its storage.
    """
    numbers, texts = array("d"), []
    for value in row:
        if isinstance(value, bytes):
            numbers.append(len(value))
            texts.append(value)
        elif isinstance(value, str):
            texts.append(value.encode())
            numbers.append(-1.0 - len(texts[-1]))  # tells a text from the same bytes as a blob
        else:
            numbers.append(nan if value is None else value + 0.0)
    return zlib.crc32(b"".join(texts), zlib.crc32(numbers))
