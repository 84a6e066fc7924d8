"""The user's runs: which there are, how far they are, and the last."""

import contextlib
import json
import os
from pathlib import Path

import pytest

from plurispiel.tournaments.cli import main
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.known_runs import find_run, known_runs, runs_folder
from plurispiel.tournaments.run.store import RunStore

pytestmark = pytest.mark.usefixtures("home")


def play(*arguments):
    options = ["--agents", "call,fold", "--decks", "2", "--score", "raw", "--workers", "1"]
    assert main(["tournament", *options, *map(str, arguments)]) == 0


def date(folder, seconds):
    """Say that a run was written last so many seconds after 1970."""
    for path in folder.glob("run.sqlite*"):
        os.utime(path, (seconds, seconds))


def test_runs_are_listed_the_latest_first(capsys, tmp_path):
    assert main(["ls", "runs"]) == 0
    assert capsys.readouterr().out == "no runs yet: plurispiel tournament plays one\n"
    play()
    play("--seed", 2, "--out", "mine")
    play("--seed", 2, "--out", "mine")
    (inside,) = (path for path in runs_folder().iterdir() if path.is_dir())
    date(inside, 1_000_000_000)
    date(tmp_path / "mine", 1_000_100_000)
    capsys.readouterr()
    assert main(["ls", "runs", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)
    assert list(runs) == [str(tmp_path / "mine"), inside.name]
    assert list(runs[inside.name]) == [
        *("folder", "game", "format", "agents", "hands", "hands_wanted", "state", "date")
    ]
    assert {run["state"] for run in runs.values()} == {"finished"}
    assert (runs[inside.name]["game"], runs[inside.name]["agents"], runs[inside.name]["hands"]) == (
        *("HUNL", ["call", "fold"], 4),
    )
    assert main(["ls", "runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and lines[2].startswith(str(tmp_path / "mine")) and "finished" in lines[3]


def test_a_run_is_finished_unfinished_or_being_played(capsys):
    play()
    (folder,) = (run.folder for run in known_runs())
    config = TournamentConfig(agents=("call", "fold"), decks=6, score="raw")
    with contextlib.closing(RunStore(folder, config)):
        assert [run.state for run in known_runs()] == ["being played"]
    (run,) = known_runs()
    assert (run.state, run.hands, run.hands_wanted) == ("unfinished", 4, 12)
    (folder / "run.sqlite").write_text("nothing")
    (run,) = known_runs()
    assert run.state.startswith("cannot be read: ") and run.date > 0
    assert main(["ls", "runs"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("cannot be read")


def test_a_run_that_stopped_early_is_finished():
    play("--stop-when", "ci<=100000", "--decks", 2000)
    (run,) = known_runs()
    assert run.state == "finished" and run.hands == run.hands_wanted < 4000


def test_the_last_run_has_a_name(capsys, tmp_path):
    for command in (["report", "last"], ["export", "last"], ["replay", "last"]):
        assert main(command) == 2
        assert "there is no last run; plurispiel tournament plays one" in capsys.readouterr().err
    play("--out", "mine")
    play("--seed", 2)
    date(tmp_path / "mine", 1_000_000_000)
    (inside,) = (path for path in runs_folder().iterdir() if path.is_dir())
    assert find_run("last") == inside
    date(inside, 900_000_000)
    assert find_run("last") == tmp_path / "mine"
    assert find_run(inside.name) == inside
    assert main(["report", "last"]) == 0 and (tmp_path / "mine" / "report.html").exists()
    assert main(["replay", inside.name]) == 0
    capsys.readouterr()
    assert main(["export", "last"]) == 0 and capsys.readouterr().out
    Path("last").mkdir()
    assert find_run("last") == Path("last")  # what is there goes first


def test_a_home_that_cannot_be_written_is_no_reason_not_to_play(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "file"))
    play("--out", "mine")
    assert known_runs() == []
