"""The machines of a run, and those whose results differ."""

import contextlib
import socket
import sqlite3

import numpy as np
import pytest

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.tournaments.run import schema
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.block_rows import Played, pack_rows
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.machines import machine_notes, machine_records, machine_text
from plurispiel.tournaments.run.results import make_results, table_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunRefused, RunStore

CONFIG = TournamentConfig(agents=("call", "fold"), decks=24)


def score(chips, faults=0):
    return AgentScore(2, chips, chips * chips, faults, bytes(2 * len(COUNTERS)))


def groups(*chips):
    return [{0: score(c), 1: score(-c)} for c in chips]


def block(first, scores, machine):
    return Played(*pack_rows(CONFIG, 0, first, scores), machine=machine)


@pytest.fixture
def filled(tmp_path):
    """A run of 16 decks by two machines, the second with a fault."""
    with contextlib.closing(RunStore(tmp_path / "run", CONFIG)) as store:
        store.add_block(block(8, groups(*range(8)), "slow"), 1.0)
        store.add_block(block(0, [{0: score(0.0, faults=1), 1: score(0.0)}, *groups(1.0)], "fast"), 1.0)
    return tmp_path / "run"


def test_each_block_names_its_machine(filled):
    with contextlib.closing(RunStore.reading(filled)) as store:
        names, machine = store.machines()
        assert names == ["fast", "slow"] and machine.tolist() == [0] * 4 + [1] * 16
        results = make_results(CONFIG, store)
        store.decks = 9
        assert store.machines()[1].tolist() == [0] * 4 + [1] * 2
    first, second = results["machines"]
    assert (first["machine"], first["groups"], first["hands"], first["groups_with_faults"]) == ("fast", 2, 4, 1)
    assert first["faults_chance"] == pytest.approx(0.2) and second["faults_chance"] is None
    assert first["residual"] is None
    assert "machines: fast: 4 hands, 1 groups with faults; slow: 16 hands" in table_text(results)


def test_a_shortened_block_keeps_its_machine(filled):
    with contextlib.closing(RunStore(filled, CONFIG)) as store:
        store.forget_after((1, 0, 10))
        assert store.machines()[1].tolist() == [0] * 4 + [1] * 6


def test_a_run_is_played_on_this_machine(tmp_path):
    config = TournamentConfig(agents=("call", "random"), decks=8, game="leduc_poker", score="duplicate", referee="none")
    for workers in (1, 2):
        with contextlib.closing(RunStore(tmp_path / str(workers), config)) as store:
            play_run(config, store, Conduct(workers))
            assert store.machines()[0] == [socket.gethostname()]
            assert machine_notes(make_results(config, store)["machines"]) == []


def test_a_run_of_the_format_before_is_read_and_not_resumed(filled):
    with contextlib.closing(RunStore.reading(filled)) as store:
        before = store.scores().tobytes()
    columns = schema.READABLE[7]["blocks"]
    with contextlib.closing(sqlite3.connect(filled / "run.sqlite")) as database, database:
        for row in database.execute(f"SELECT {', '.join(columns)} FROM blocks").fetchall():
            database.execute("UPDATE blocks SET checksum = ? WHERE first = ?", (schema.checksum_of(row), row[1]))
        database.execute("ALTER TABLE blocks DROP COLUMN machine")
        database.execute(
            "UPDATE run SET value = 7, checksum = ? WHERE key = 'format'", [schema.checksum_of(["format", 7])]
        )
    with contextlib.closing(RunStore.reading(filled)) as store:
        store.check()
        assert store.scores().tobytes() == before
        assert make_results(CONFIG, store)["machines"] == []
    with pytest.raises(RunRefused, match="was written by another version of plurispiel"):
        RunStore(filled, CONFIG)


def rows(chips, faults=()):
    """Return the rows of two agents in groups with the chips of the first."""
    found = np.zeros(2 * len(chips), schema.SCORES)
    for name in schema.FULL_CORRECTIONS + schema.REDUCED_CORRECTIONS:
        found[name] = np.nan
    found["deck"], found["agent"], found["hands"] = np.repeat(np.arange(len(chips)), 2), [0, 1] * len(chips), 2
    found["chips"] = np.outer(chips, [1, -1]).ravel()
    found["faults"][2 * np.array(faults, int)] = 1
    return found


def test_residuals_are_those_of_equal_machines_unless_one_differs():
    random = np.random.default_rng(0)
    where = np.arange(4_000) % 4
    machine = np.repeat(where, 2)
    residuals = []
    for _ in range(100):
        records = machine_records(CONFIG, rows(random.normal(size=4_000)), list("abcd"), machine)
        residuals += [record["residual"] for record in records]
        assert machine_notes(records)[1:] == []
    assert 0.9 < np.std(residuals) < 1.1 and abs(np.mean(residuals)) < 0.2
    shifted = random.normal(size=4_000) + 0.3 * (where == 2)
    notes = machine_notes(machine_records(CONFIG, rows(shifted), list("abcd"), machine))
    assert len(notes) == 2 and "WARNING: scores on c are" in notes[1]


def test_many_faults_on_one_machine_are_told():
    machine = np.repeat(np.arange(400) % 2, 2)
    alike = machine_records(CONFIG, rows(np.zeros(400), range(40)), ["a", "b"], machine)
    assert alike[0]["faults_chance"] == pytest.approx(0.563, abs=0.001) and len(machine_notes(alike)) == 1
    apart = machine_records(CONFIG, rows(np.zeros(400), range(0, 40, 2)), ["a", "b"], machine)
    assert apart[0]["faults_chance"] == pytest.approx(0.5**20) and apart[1]["faults_chance"] is None
    assert "a has more groups with faults than the other machines" in machine_notes(apart)[1]
    assert machine_text(apart[0]) == "a: 400 hands, 20 groups with faults"
