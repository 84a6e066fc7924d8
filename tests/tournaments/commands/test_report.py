"""`plurispiel report`: what it refuses."""

import contextlib
import shutil
import sqlite3

import pytest
from played_run import play

from plurispiel.tournaments import cli


@pytest.fixture(scope="module")
def heads_up(tmp_path_factory):
    """A round-robin of three."""
    agents = ("tag", "call", "random")
    return play(tmp_path_factory.mktemp("runs") / "headsup", agents=agents, game="leduc_poker", seats=2, decks=12)


def test_a_number_of_hands_out_of_range_is_named(heads_up, capsys):
    assert cli.main(["report", str(heads_up), "--hands", "-1"]) == 2
    assert "a report shows 0..100 hands of a run, got -1" in capsys.readouterr().err


@pytest.mark.parametrize(("out", "message"), [("..", "is a file with a suffix"), ("a.b", "it is no plain file")])
def test_a_folder_is_no_report(tmp_path, monkeypatch, heads_up, capsys, out, message):
    (tmp_path / "a.b").mkdir()
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report", str(heads_up), "--hands", "0", "--out", out]) == 2
    assert message in capsys.readouterr().err
    assert [each.name for each in tmp_path.rglob("*")] == ["a.b"]


def test_a_file_of_another_kind_is_no_report(tmp_path, heads_up, capsys):
    (tmp_path / "bot.py").write_text("mine")
    assert cli.main(["report", str(heads_up), "--hands", "0", "--out", str(tmp_path / "bot.py")]) == 2
    assert "bot.py: the file is of another kind, and would be lost; give another file" in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["bot.py"] and (tmp_path / "bot.py").read_text() == "mine"
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "win_rate.csv").write_text("mine")
    assert cli.main(["report", str(heads_up), "--hands", "0", "--out", str(tmp_path / "page.html")]) == 2
    assert "win_rate.csv is not of a report" in capsys.readouterr().err
    (tmp_path / "page" / "win_rate.csv").unlink()
    for _ in range(2):
        assert cli.main(["report", str(heads_up), "--hands", "0", "--out", str(tmp_path / "page.html")]) == 0


@pytest.mark.parametrize("harm", ["empty", "torn", "other config", "no database", "torn hands"])
def test_what_is_no_run_is_refused_in_a_line(tmp_path, heads_up, capsys, harm):
    folder = shutil.copytree(heads_up, tmp_path / "run")
    database = folder / "run.sqlite"
    if harm == "empty":
        shutil.rmtree(folder)
        folder.mkdir()
    elif harm == "torn":
        database.write_bytes(database.read_bytes()[:-9000])
    elif harm == "other config":
        config = (
            (folder / "config.toml").read_text(encoding="utf-8").replace('"tag", "call", "random"', '"tag", "call"')
        )
        (folder / "config.toml").write_text(config, encoding="utf-8")
    elif harm == "torn hands":
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("UPDATE hands SET hands = x'00'")
            connection.commit()
    else:
        database.write_bytes(b"no database at all" * 100)
    assert cli.main(["report", str(folder)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("plurispiel report: ") and said.count("\n") == 1 and str(folder) in said
    assert not (folder / "report.html").exists()
