"""The schema of a run's database, and the checksum of its rows."""

import dataclasses
import operator
import zlib
from array import array
from collections.abc import Iterable
from math import nan
from typing import Any

import numpy as np

from plurispiel.evaluation.duplicate import AgentScore

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
"""The dtype of the numbers of one agent in one group (`AgentScore`); NaN where the database holds NULL."""

FULL_CORRECTIONS = ("imaginary_hands", "chance", "own_actions", "other_actions")
REDUCED_CORRECTIONS = ("true_chance", "true_other_actions")
"""The columns that AIVAT adds to the chips: with all corrections, and with those that need no own strategy."""

SCORE_COLUMNS = tuple(field.name for field in dataclasses.fields(AgentScore))
score_values = operator.attrgetter(*SCORE_COLUMNS)  # dataclasses.astuple takes twenty times as long

SCHEMA = """
CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS groups (
    lineup INTEGER NOT NULL,
    deck INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    hands INTEGER NOT NULL,
    chips REAL NOT NULL,
    chips_squared REAL NOT NULL,
    faults INTEGER NOT NULL,
    play BLOB NOT NULL,
    first_fault TEXT NOT NULL,
    fault_kinds TEXT NOT NULL,
    seconds REAL NOT NULL,
    imaginary_hands REAL,
    chance REAL,
    own_actions REAL,
    other_actions REAL,
    true_chance REAL,
    true_own_actions REAL,
    true_other_actions REAL,
    aivat_squared REAL,
    reduced_squared REAL,
    refused TEXT NOT NULL,
    calibration BLOB NOT NULL,
    seat_sums BLOB NOT NULL,
    table_sum REAL,
    answers INTEGER NOT NULL,
    answer_seconds REAL NOT NULL,
    slowest_answer REAL NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (lineup, deck, agent)
) WITHOUT ROWID;
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
# A row of `groups` is one agent in one group; the Control has the number after the last agent. The columns are the key,
# the fields of `AgentScore` with NULL for None, the playing time (`seconds`) and the checksum.

COLUMNS = {
    "run": ("key", "value"),
    "groups": ("lineup", "deck", "agent", *SCORE_COLUMNS, "seconds"),
    "hands": ("lineup", "deck", "hands"),
    "stories": ("lineup", "deck", "stories"),
}
"""The columns of each table in the order in which the checksum covers them; the checksum is one more column."""


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
