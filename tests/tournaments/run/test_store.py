"""The run folder: resuming, refusing, and what it leaves untouched."""

import contextlib
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
from plurispiel.tournaments.run.block_rows import Played, pack_rows
from plurispiel.tournaments.run.config import TournamentConfig, read_config
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.machines import machine_records
from plurispiel.tournaments.run.results import make_results
from plurispiel.tournaments.run.schema import SCHEMA, SCORES
from plurispiel.tournaments.run.store import RunRefused, RunStore

CONFIG = TournamentConfig(agents=("call", "fold"), decks=4)


def score(chips, play=1, faults=0, message="", kinds=""):
    return AgentScore(2, chips, chips * chips, faults, bytes([play] * 2 * len(COUNTERS)), message, kinds)


def groups(*chips):
    return [{0: score(c), 1: score(-c)} for c in chips]


def played(first, scores, config=CONFIG, lineup=0, **kept):
    """Return the result of a block of groups of scores by agent number."""
    return Played(*pack_rows(config, lineup, first, scores), **kept)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "a" / "run"


@pytest.fixture
def filled(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(played(0, groups(1.5, 2.0)), 0.25)
    store.add_block(played(3, groups(1 / 3)), 0.5)
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
    store.add_block(played(2, groups(5.0)), 0.25)
    assert len(store.done()) == 4
    assert store.seconds() == 1.0
    store.close()


def test_counts_may_reach_255(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(played(0, [{0: score(0.0, play=255)}] * 2), 0.0)
    assert store.play_counts()[0].tolist() == [[510] * len(COUNTERS)] * 2
    store.close()


def test_the_first_fault_is_that_of_the_first_deck(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(played(1, [{0: score(0.0, faults=1, message="later"), 1: score(0.0)}]), 0.0)
    store.add_block(played(0, [{0: score(0.0, faults=1, message="first"), 1: score(0.0)}]), 0.0)
    assert store.first_faults() == {0: "first"}
    store.close()


def test_more_decks_go_on_and_fewer_report_only_those(filled):
    more = TournamentConfig(agents=CONFIG.agents, decks=9)
    store = RunStore(filled, more)
    store.add_block(played(8, groups(7.0)), 0.0)
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
        store.add_block(played(2, groups(1.0, 1.0)), 9.0)  # deck 3 is there already
    assert sorted(store.done()) == [(0, 0), (0, 1), (0, 3)]
    assert store.seconds() == 0.75
    store.close()


def test_blocks_stored_together_are_stored_all_or_none(filled):
    store = RunStore(filled, CONFIG)
    store.add_blocks([(played(2, groups(1.0)), 0.5), (played(4, groups(1.0)), 0.5)])
    assert sorted(store.done()) == [(0, deck) for deck in range(5)]
    with pytest.raises(RunRefused, match="another process"):
        store.add_blocks([(played(5, groups(1.0)), 1.0), (played(2, groups(1.0)), 1.0)])
    store.close()
    with contextlib.closing(RunStore.reading(filled)) as stored:
        assert sorted(stored.done()) == [(0, deck) for deck in range(5)]
        assert stored.seconds() == 1.25  # deck 4 is beyond the settings' decks


def test_a_reader_sees_one_moment_of_a_run_that_is_played(folder):
    config = TournamentConfig(agents=CONFIG.agents, decks=240, score="raw")

    def reads(store):
        names, machine = store.machines()
        records = [
            (record["machine"], record["groups"]) for record in machine_records(config, store.scores(), names, machine)
        ]
        return records, sorted(store.done()), machine.tolist(), store.seat_sums().tolist(), store.seconds()

    with contextlib.closing(RunStore(folder, config)) as live:
        for first in range(0, 232, 8):
            live.add_block(played(first, groups(*range(8)), config, machine="ab"[first // 8 % 2]), 1.0)
        with contextlib.closing(RunStore.reading(folder)) as store:
            before, scores = reads(store), store.scores()
            live.add_block(played(232, groups(*range(8)), config, machine="b"), 1.0)
            assert machine_records(config, scores, *store.machines())[1]["groups"] == 112
            assert reads(store) == before and len(store.seat_sums()) == len(scores) == 464
        with contextlib.closing(RunStore.reading(folder)) as store:
            assert reads(store) == reads(live) != before


def test_blocks_are_cut_where_the_groups_after_a_position_are_forgotten(folder):
    config = TournamentConfig(agents=("call", "fold", "raise"), seats=2, decks=24, score="raw")
    late = score(1.0, faults=1, message="late", kinds="timeout")
    store = RunStore(folder, config)
    for lineup, first, num_decks in ((0, 0, 5), (1, 0, 5), (2, 0, 5), (0, 5, 3), (1, 5, 3), (0, 8, 8)):
        kept = {deck: b"x" for deck in range(first, first + num_decks)}
        scores = [{0: late, 1: score(-1.0)}] * num_decks
        store.add_block(played(first, scores, config, lineup, hands=kept, stories=kept), float(num_decks))
    assert store.holds(1, 7) and not store.holds(2, 5) and not store.holds(1, 8) and store.seconds() == 29.0
    store.forget_after((0, 1, 2))
    store.check()
    stays = [(0, deck) for deck in range(8)] + [(1, deck) for deck in range(3)]
    assert sorted(store.done()) == sorted(store.told()) == stays == [group[:2] for group in store.hands()]
    assert [row[:2] for row in store.faults()] == stays and store.seconds() == 11.0
    assert store.fault_kinds() == {0: {"timeout": 11}}
    assert store.holds(1, 2) and not store.holds(1, 3)
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


@pytest.mark.parametrize("name", ["config.toml", "results.json", "hands.phhs"])
@pytest.mark.parametrize("fresh", [False, True])
def test_files_of_others_are_not_overwritten(folder, name, fresh):
    folder.mkdir(parents=True)
    (folder / name).write_text("mine")
    with pytest.raises(RunRefused, match=f"holds a file {name}, but no run; give another folder"):
        RunStore(folder, CONFIG, fresh=fresh)
    assert [path.name for path in folder.iterdir()] == [name] and (folder / name).read_text() == "mine"


def test_logs_of_others_are_not_deleted(filled):
    (filled / "logs").mkdir()
    for name in ("agent-0.log", "mine.txt"):
        (filled / "logs" / name).write_text("text")
    RunStore(filled, CONFIG, fresh=True).close()
    assert [path.name for path in (filled / "logs").iterdir()] == ["mine.txt"]


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
    scores = [{0: score(1.5), 1: score(-1.5, message="late", kinds="timeout")}]
    store.add_block(played(1, scores, hands={1: b"one"}, stories={1: b"x"}), 0.25)
    store.close()
    one = {"run": "key = 'machine'", "blocks": "first = 1"}.get(table, "deck = 1")
    kind = "BLOB" if column == "rows" else "TEXT"
    edit(folder, f"UPDATE {table} SET {column} = CAST({column} || '7' AS {kind}) WHERE {one}")
    row = "the fact 'machine" if table == "run" else "the row of line-up "
    refused(folder, f"{row}.* is damaged; .*--fresh")
    for read in (lambda: read_run(folder, "A"), lambda: list(stored_hands(folder))):
        with pytest.raises(RunRefused, match=f"{row}.* is damaged; .*--fresh"):
            read()


def test_a_damaged_row_is_named(filled):
    edit(filled, "UPDATE blocks SET rows = zeroblob(length(rows)) WHERE first = 3")
    refused(filled, "the row of line-up 0, deck 3 in the table of blocks is damaged")


@pytest.mark.parametrize("change", ["num_decks = 1000000000000", "num_decks = 'x'", "rows = x'00'"])
def test_blocks_that_do_not_fit_the_settings_are_refused(filled, change):
    """Also where nobody compares checksums, as in a list of runs."""
    edit(filled, f"UPDATE blocks SET {change} WHERE first = 3")
    with contextlib.closing(RunStore.reading(filled)) as store:
        with pytest.raises(RunRefused, match="is damaged: its config.toml does not fit its run.sqlite"):
            store.done()
            store.scores()


def test_a_row_that_the_index_does_not_find_is_noticed(folder):
    store = RunStore(folder, CONFIG)
    store.add_block(played(0, groups(1.5, 2.0), hands={0: b"one", 1: b"two"}), 0.25)
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
    store.add_block(played(0, [{0: odd, 1: score(np.float64(1e100), message="\0 ä")}]), np.float64(0.1))
    store.check()
    store.close()


@pytest.mark.parametrize("num_flips", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_refused_or_changes_nothing(folder, num_flips):
    """In rows and in what leads to them: the first bytes of pages."""
    config = TournamentConfig(agents=CONFIG.agents, decks=30, score="raw")
    store = RunStore(folder, config)
    for first in range(0, 30, 3):
        hands, stories = ({deck: letter * 300 for deck in range(first, first + 3)} for letter in (b"h", b"s"))
        scores = groups(*range(first, first + 3))
        store.add_block(played(first, scores, config, hands=hands, stories=stories), 0.5)
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
    for first in range(0, 400, 8):
        store.add_block(played(first, groups(*range(8)), config), 0.0)
    store.close()
    content = bytearray((folder / "run.sqlite").read_bytes())
    pages = len(content) // 4096
    start = page % pages * 4096
    content[start : start + 4096] = b"\x5a" * 4096
    (folder / "run.sqlite").write_bytes(content)
    refused(folder, "cannot use .*run.sqlite.*(damaged|malformed)", config)


def test_damage_done_meanwhile_is_refused(filled):
    store = RunStore(filled, CONFIG)
    edit(filled, "DROP TABLE blocks")
    for read in (store.done, store.scores, store.play_counts, lambda: store.add_block(played(2, groups(1)), 0)):
        with pytest.raises(RunRefused, match="no such table: blocks"):
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
