"""The run folder: resuming, refusing, and what it leaves untouched."""

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest
from bit_flips import flipped

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.run.config import TournamentConfig, read_config
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.results import make_results
from plurispiel.tournaments.run.schedule import Block
from plurispiel.tournaments.run.schema import SCHEMA, SCORES
from plurispiel.tournaments.run.store import RunRefused, RunStore

CONFIG = TournamentConfig(agents=("call", "fold"), decks=4)


def score(chips, play=1, faults=0, message=""):
    return AgentScore(2, chips, chips * chips, faults, bytes([play] * 2 * len(COUNTERS)), message)


def groups(*chips):
    return [{0: score(c), 1: score(-c)} for c in chips]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a" / "run"


@pytest.fixture
def filled(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(Block(0, 0, 2), groups(1.5, 2.0), 0.25)
    store.add_block(Block(0, 3, 1), groups(1 / 3), 0.5)
    store.close()
    return folder


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_new_run_is_empty(folder):
    store = RunStore(folder, CONFIG)
    assert store.done() == []
    assert store.seconds() == 0.0
    assert len(store.scores()) == 0
    assert store.scores().dtype == SCORES
    assert {agent: table.sum() for agent, table in store.play_counts().items()} == {0: 0, 1: 0}
    assert store.first_faults() == {}
    store.close()
    assert TournamentConfig(**read_config(folder / "config.toml")) == CONFIG


def test_what_was_stored_is_there_again(filled):
    store = RunStore(filled, CONFIG)
    assert sorted(store.done()) == [(0, 0), (0, 1), (0, 3)]
    assert store.seconds() == 0.75
    scores = store.scores()
    assert scores[["lineup", "deck", "agent"]].tolist() == [(0, d, a) for d in (0, 1, 3) for a in (0, 1)]
    assert scores["chips"].tolist() == [1.5, -1.5, 2.0, -2.0, 1 / 3, -1 / 3]
    assert scores["chips_squared"].tolist() == [2.25, 2.25, 4.0, 4.0, 1 / 9, 1 / 9]
    assert np.array_equal(store.play_counts()[1], np.full((2, len(COUNTERS)), 3))
    store.add_block(Block(0, 2, 1), groups(5.0), 0.25)
    assert len(store.done()) == 4
    assert store.seconds() == 1.0
    store.close()


def test_counts_may_reach_255(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(Block(0, 0, 2), [{0: score(0.0, play=255)}] * 2, 0.0)
    assert store.play_counts()[0].tolist() == [[510] * len(COUNTERS)] * 2
    store.close()


def test_the_first_fault_is_that_of_the_first_deck(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(Block(0, 1, 1), [{0: score(0.0, faults=1, message="later"), 1: score(0.0)}], 0.0)
    store.add_block(Block(0, 0, 1), [{0: score(0.0, faults=1, message="first"), 1: score(0.0)}], 0.0)
    assert store.first_faults() == {0: "first"}
    store.close()


def test_more_decks_go_on_and_fewer_report_only_those(filled):
    more = TournamentConfig(agents=CONFIG.agents, decks=9)
    store = RunStore(filled, more)
    store.add_block(Block(0, 8, 1), groups(7.0), 0.0)
    assert len(store.scores()) == 8
    store.close()
    assert read_config(filled / "config.toml")["decks"] == 9
    store = RunStore(filled, TournamentConfig(agents=CONFIG.agents, decks=2))
    assert store.scores()["chips"].tolist() == [1.5, -1.5, 2.0, -2.0]
    assert store.play_counts()[0].max() == 2
    assert len(store.done()) == 4  # they stay
    store.close()


def test_a_block_is_stored_whole_or_not_at_all(filled):
    store = RunStore(filled, CONFIG)
    with pytest.raises(RunRefused, match="another process"):
        store.add_block(Block(0, 2, 2), groups(1.0, 1.0), 9.0)  # deck 3 is there already
    assert sorted(store.done()) == [(0, 0), (0, 1), (0, 3)]
    assert store.seconds() == 0.75
    store.close()


def refused(folder, message, config=CONFIG):
    before = snapshot(folder)
    with pytest.raises(RunRefused, match=message) as caught:
        RunStore(folder, config)
    assert "\n" not in str(caught.value)
    assert "--out" in str(caught.value)
    after = snapshot(folder)
    for name in ("run.sqlite-wal", "run.sqlite-shm"):
        assert not after.pop(name, b"")
    assert after == before


def test_another_tournament_is_refused(filled):
    refused(filled, "holds another tournament", TournamentConfig(agents=CONFIG.agents, seed=2))


def test_a_newer_format_is_refused(filled):
    edit(filled, "UPDATE run SET value = 99 WHERE key = 'format'")
    refused(filled, "another version")


def test_another_version_of_the_package_is_refused(filled):
    edit(filled, "UPDATE run SET value = '99.0' WHERE key = 'version'")
    refused(filled, r"another version of plurispiel \(99.0 with run format \d, this is")


def test_missing_facts_are_refused(filled):
    edit(filled, "DELETE FROM run")
    refused(filled, "another version")


def edit(folder, statement):
    database = sqlite3.connect(folder / "run.sqlite")
    with database:
        database.execute(statement)
    database.close()


def columns():
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    tables = [table for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = [(table, row[1]) for table in tables for row in database.execute(f"PRAGMA table_info({table})")]
    database.close()
    return found


@pytest.mark.parametrize(("table", "column"), columns())
def test_every_column_is_under_the_checksum(folder, table, column):
    store = RunStore(folder, CONFIG)
    store.add_block(Block(0, 0, 2), groups(1.5, 2.0), 0.25, hands=[b"one", b"two"], stories=[b"", b"x"])
    store.close()
    one = "key = 'machine'" if table == "run" else "deck = 1 AND agent = 1" if table == "groups" else "deck = 1"
    edit(folder, f"UPDATE {table} SET {column} = CAST(IFNULL({column}, '') AS TEXT) || '7' WHERE {one}")
    row = "the fact 'machine" if table == "run" else "the row of line-up "
    refused(folder, f"{row}.* is damaged; .*--fresh")
    for read in (lambda: read_run(folder, "A"), lambda: list(stored_hands(folder))):
        with pytest.raises(RunRefused, match=f"{row}.* is damaged; .*--fresh"):
            read()


def test_a_damaged_row_is_named(filled):
    edit(filled, "UPDATE groups SET chips = 3 WHERE deck = 1 AND agent = 1")
    refused(filled, "the row of line-up 0, deck 1, agent 'fold' is damaged")


def test_a_row_that_the_index_does_not_find_is_noticed(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(Block(0, 0, 2), groups(1.5, 2.0), 0.25, hands=[b"one", b"two"])
    store.close()
    content = (folder / "run.sqlite").read_bytes()
    database = sqlite3.connect(folder / "run.sqlite")
    ((page,),) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_hands_1'")
    database.close()
    entry = content.index(bytes([4, 8, 9, 1, 2]), 4096 * (page - 1))  # line-up 0 and deck 1 are in row 2
    damaged = bytearray(content)
    damaged[entry + 2] = 8
    (folder / "run.sqlite").write_bytes(damaged)
    refused(folder, "it is damaged")


def test_what_a_database_gives_back_has_the_checksum_of_what_it_took(folder):
    odd = AgentScore(2, -0.0, 3, 0, b"\0" * 2 * len(COUNTERS), "", chance=float("nan"), own_actions=1 / 3)
    store = RunStore(folder, CONFIG)
    store.add_block(Block(0, 0, 1), [{0: odd, 1: score(np.float64(1e100), message="\0 ä")}], np.float64(0.1))
    store.check()
    store.close()


@pytest.mark.parametrize("num_flips", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_refused_or_changes_nothing(folder, num_flips):
    """In rows and in what leads to them: the first bytes of pages."""
    config = TournamentConfig(agents=CONFIG.agents, decks=30, score="raw")
    store = RunStore(folder, config)
    store.add_block(Block(0, 0, 30), groups(*range(30)), 0.5, hands=[b"h" * 300] * 30, stories=[b"s" * 300] * 30)
    want, path = told(store), folder / "run.sqlite"
    store.close()
    good = path.read_bytes()
    outcomes = set()
    for number, content in enumerate(flipped(good, num_flips, head_of=4096)):
        path.write_bytes(content)
        try:
            store = RunStore(folder, config)
        except RunRefused as error:
            assert "\n" not in str(error)
            outcomes.add("refused")
        else:
            assert told(store) == want, f"flip {number}"
            store.close()
            outcomes.add("harmless")
    assert outcomes == {"refused", "harmless"}


def told(store):
    """All that a run tells, as text."""
    results = make_results(store.config, store)
    kept = [(store.hands_of(*group), store.stories_of(*group)) for group in sorted(store.done())]
    return repr((results, kept, list(store.hands()), store.num_kept(), sorted(store.told())))


@pytest.mark.parametrize("content", [b"garbage" * 1_000, b"x", b"SQLite format 3\0" + b"\xff" * 4_080])
def test_garbage_is_refused(folder, content):
    folder.mkdir(parents=True)
    (folder / "run.sqlite").write_bytes(content)
    refused(folder, "run.sqlite")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_database_is_refused(filled, share):
    path = filled / "run.sqlite"
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    refused(filled, "cannot use .*run.sqlite")


@pytest.mark.parametrize("page", [3, 10, -1])
def test_a_damaged_page_is_refused(folder, page):
    config = TournamentConfig(agents=CONFIG.agents, decks=400)
    store = RunStore(folder, config)
    store.add_block(Block(0, 0, 400), groups(*range(400)), 0.0)
    store.close()
    content = bytearray((folder / "run.sqlite").read_bytes())
    pages = len(content) // 4096
    start = page % pages * 4096
    content[start : start + 4096] = b"\x5a" * 4096
    (folder / "run.sqlite").write_bytes(content)
    refused(folder, "cannot use .*run.sqlite.*(damaged|malformed)", config)


def test_damage_done_meanwhile_is_refused(filled):
    store = RunStore(filled, CONFIG)
    edit(filled, "DROP TABLE groups")
    for read in (store.done, store.scores, store.play_counts, lambda: store.add_block(Block(0, 2, 1), groups(1), 0)):
        with pytest.raises(RunRefused, match="no such table: groups"):
            read()
    store.close()


def test_another_programs_database_is_refused(folder):
    folder.mkdir(parents=True)
    database = sqlite3.connect(folder / "run.sqlite")
    database.execute("CREATE TABLE money (owner, amount)")
    database.close()
    refused(folder, "no such table: run")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    for folder in (path, path / "run"):
        with pytest.raises(RunRefused, match="cannot use the folder"):
            RunStore(folder, CONFIG)
    assert path.read_text() == "mine"


@pytest.fixture
def powerless():
    """A folder that others own, seen without the rights of an administrator."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    else:
        folder.chmod(0o555)
    yield folder
    if user == 0:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")
def test_a_read_only_folder_is_refused(powerless):
    with pytest.raises(RunRefused, match="cannot use .*unable to open database file"):
        RunStore(powerless, CONFIG)
    with pytest.raises(RunRefused, match="cannot use the folder .*Permission denied"):
        RunStore(powerless / "new", CONFIG)
