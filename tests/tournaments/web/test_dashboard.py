"""The runs of a folder, and the figures of a run."""

import json

import pytest
from played_run import play

from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.web.dashboard import Runs, last_lines, run_figures, stamp


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    play(folder / "first", agents=("tag", "call"), seats=2, decks=12)
    play(folder / "deep" / "second", agents=("call", "random"), seats=2, decks=4)
    (folder / "broken").mkdir()
    (folder / "broken" / "run.sqlite").write_bytes(b"no database")
    return folder


def test_runs_are_listed(folder):
    runs = {run["name"]: run for run in Runs(folder).listed()}
    assert set(runs) == {"first", "deep/second", "broken"}
    assert runs["first"]["agents"] == ["tag", "call"] and runs["first"]["state"] == "finished"
    assert runs["first"]["hands"] == runs["first"]["hands_wanted"] == 24
    assert runs["broken"]["state"].startswith("cannot be read")
    assert Runs(folder / "nothing").listed() == []


def test_only_runs_of_the_folder_are_found(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder / "first")
    runs = Runs(tmp_path)
    assert runs.listed() == []
    for name in ("link", "../first", str(folder / "first"), "", "."):
        with pytest.raises(ValueError, match="there is no run"):
            runs.find(name)
    assert Runs(folder).find("deep/second") == (folder / "deep" / "second").resolve()


def test_figures_are_those_of_the_results(folder):
    figures = run_figures(folder / "first", "first")
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    results = read_run(folder / "first", "A").results
    expected = {agent["name"]: agent for agent in results["agents"]}
    for agent in figures["agents"]:
        known = expected[agent["name"]]
        assert agent["mbb_per_hand"] == known["mbb_per_hand"] and agent["ci95"] == known["ci95"]
        assert agent["raw"] == known["scores"]["raw"]["mbb_per_hand"]
        assert agent["sequential_ci95"] == known["sequential_ci95"]
    rates = [agent["mbb_per_hand"] for agent in figures["agents"]]
    assert rates == sorted(rates, reverse=True)
    for curve, agent in zip(figures["curves"], figures["agents"], strict=True):
        assert curve["points"][-1]["score"] == pytest.approx(agent["mbb_per_hand"])
        assert curve["points"][-1]["hands"] == agent["hands"] == 24


def test_the_last_lines_of_a_log_are_shown(folder):
    logs = folder / "deep" / "second" / "logs"
    logs.mkdir()
    (logs / "bot.txt").write_bytes(b"old\n" * 9000 + b"\x1b[31mred \xff\n")
    log = last_lines(logs)
    assert len(log) == 30 and "red" in log[-1] and "\x1b" not in log[-1]


def test_a_stamp_changes_when_a_run_grows(folder):
    before = stamp(folder / "first")
    play(folder / "first", agents=("tag", "call"), seats=2, decks=16)
    assert stamp(folder / "first") != before
    assert run_figures(folder / "first", "first")["hands"] == 32
