"""The kept hands: once each, for one table only, and damage is noticed."""

import contextlib
import sqlite3

import pytest

from plurispiel.tournaments.remote.store import BROKEN, SCORED, HandStore, ServiceHand

SETTINGS = {"agent": "call", "seed": 1}


def store_of(folder, settings=SETTINGS):
    return contextlib.closing(HandStore(folder, settings))


def test_hands_come_back(tmp_path):
    first = ServiceHand(
        1, "a", SCORED, "x", 0, "MATCHSTATE", 50.0, None, 3.5, 12.0, "", ("timeout: slow",), ("{}", "é")
    )
    second = ServiceHand(2, "b", BROKEN, trouble="no")
    with store_of(tmp_path) as store:
        store.begin(1, "a", "x")
        assert [hand.hand_id for hand in store.open_hands()] == ["a"] and store.next_number == 2
        store.keep(first)
        store.keep(second)
    with store_of(tmp_path) as store:
        assert list(store.hands()) == [first, second] and not store.open_hands() and store.next_number == 3
        with pytest.raises(ValueError, match="hand 1 is kept already"):
            store.keep(first)
        with pytest.raises(ValueError, match="hand b is kept already"):
            store.begin(3, "b", "x")
        assert store.next_number == 3


def test_other_settings_and_a_second_process(tmp_path):
    with store_of(tmp_path), pytest.raises(ValueError, match="another process uses"):
        HandStore(tmp_path, SETTINGS)
    with pytest.raises(ValueError, match="other hands: seed differ; give another --out"):
        HandStore(tmp_path, {"agent": "call", "seed": 2})


def test_damage_is_noticed(tmp_path):
    with store_of(tmp_path) as store:
        store.keep(ServiceHand(1, "a", SCORED, payoff=50.0))
    with contextlib.closing(sqlite3.connect(store.path)) as database, database:
        database.execute("UPDATE hands SET payoff = 51.0")
    with pytest.raises(ValueError, match="damaged: the row of hand 1"):
        HandStore(tmp_path, SETTINGS)
    store.path.write_bytes(b"not a database" * 100)
    with pytest.raises(ValueError, match="is damaged"):
        HandStore(tmp_path, SETTINGS)


def test_a_database_that_cannot_be_opened(tmp_path):
    (tmp_path / "remote.sqlite").mkdir()
    for _ in range(2):  # the folder is released
        with pytest.raises(ValueError, match="cannot use .*remote.sqlite: .*; give another --out"):
            HandStore(tmp_path, SETTINGS)
