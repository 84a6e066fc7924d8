"""`plurispiel league`: from an empty folder to standings, exit codes, and refusals in one line."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from played_run import num_stored
from small_league import BOT

from plurispiel.tournaments.cli import main
from plurispiel.tournaments.league import standings

pytestmark = pytest.mark.usefixtures("home")

CREATE = "league mine create --game LEDUC --placement 8 --score duplicate --referee none --processes one".split()


def run(capsys, *arguments):
    """Return the exit code, standard output and standard error of a league command."""
    code = main(["league", "mine", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(standings, "NUM_RESAMPLES", 20)


@pytest.fixture
def league(home, capsys):
    """A league of three in the current folder."""
    assert main(CREATE) == 0
    assert main(["league", "mine", "add", "call", "raise", "random"]) == 0
    capsys.readouterr()


def test_from_an_empty_folder_to_standings(capsys, tmp_path):
    code, out, err = run(capsys, "add", "call", "fold")
    assert code == 0 and "began a league of HUNL in mine" in err
    assert [line.rpartition(",")[0] for line in out.splitlines()] == ["added call, number 1", "added fold, number 2"]
    assert run(capsys, "add", "call")[1].startswith("is in the league already: call, number 1")
    assert run(capsys, "add")[1] == "no agent has changed\n"
    code, out, err = run(capsys, "add", "raise", "none", "tag")
    assert code == 2 and out.startswith("added raise, number 3") and out.count("\n") == 1 and "unknown agent" in err
    run(capsys, "remove", "raise")
    code, out, err = run(capsys, "play", "--hands", "16", "--workers", "1", "--json")
    assert code == 0 and json.loads(out)["hands"] == 16 and "call against fold: decks 1 to 8" in err
    code, out, err = run(capsys, "standings", "--html", "pages/mine.html")
    assert code == 0 and out.startswith("agent") and err == "wrote pages/mine.html\n"
    assert (tmp_path / "pages" / "mine.html").read_text().startswith("<!DOCTYPE html>")
    code, out, err = run(capsys, "standings", "--html", "pages")
    assert code == 2 and "cannot write pages: it is no plain file" in err
    code, out, err = run(capsys, "standings", "--html", "mine/league.toml")
    assert code == 2 and "cannot write mine/league.toml: the file is of another kind" in err
    assert main(["report", "mine/pairings/1-2", "--hands", "0"]) == 0
    capsys.readouterr()
    assert main(["ls", "runs"]) == 0
    assert capsys.readouterr().out == "no runs yet: plurispiel tournament plays one\n"  # pairings are not listed


def test_the_list_tells_states_and_hands(league, capsys, tmp_path):
    run(capsys, "play", "--workers", "1")
    assert run(capsys, "remove", "random")[1] == "removed random; its results count again if it is added again\n"
    found = json.loads(run(capsys, "list", "--json")[1])
    assert [(each["name"], each["active"], each["hands"], each["change"]) for each in found] == [
        ("call", True, 32, None),
        ("raise", True, 32, None),
        ("random", False, 32, None),
    ]
    assert [line.split()[:2] for line in run(capsys, "list")[1].splitlines()[2:]] == [
        *(["call", "plays"], ["raise", "plays"], ["random", "removed"])
    ]


def test_fresh_plays_all_pairings_again(league, capsys):
    before = json.loads(run(capsys, "play", "--workers", "1", "--json")[1])
    code, out, err = run(capsys, "play", "--workers", "1", "--fresh", "--json")
    assert code == 0 and err.count("decks 1 to 8") == 3 and json.loads(out) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give an action: create, add"),
        (["play", "--hands", "0"], "hands must be at least 1, got 0"),
        (["play", "--hours", "nan"], "hours must be above 0 and finite, got nan"),
        (["create"], "is a league already"),
        (["add", "rais"], "unknown agent 'rais', did you mean 'raise'?"),
        (["remove", "cal"], "no agent 'cal' in the league, did you mean 'call'?"),
    ],
)
def test_refusals_are_one_line(league, capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert code == 2 and out == "" and len(err.splitlines()) == 1 and message in err


@pytest.mark.parametrize("action", ["list", "play", "standings"])
@pytest.mark.parametrize("name", ["league.toml", "entries.toml", "pairings/1-2/run.sqlite", "pairings/1-2/config.toml"])
def test_damaged_files_are_refused_in_one_line(league, capsys, tmp_path, action, name):
    path = tmp_path / "mine" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if "pairings" in name:
        for file in ("run.sqlite", "config.toml"):
            (path.parent / file).write_text("agents = ['call', 'raise']\nseats = 2\n")
    path.write_bytes(b"\x1b[31m = [")
    code, out, err = run(capsys, action)
    assert code == 2 and out == "" and len(err.splitlines()) == 1 and path.name in err and "\x1b" not in err


def test_one_agent_does_not_play(capsys):
    run(capsys, "add", "call")
    code, _, err = run(capsys, "play")
    assert code == 2 and err.endswith("a league needs two agents or more; plurispiel league mine add AGENT adds one\n")


def test_a_missing_league_is_refused(capsys):
    code, _, err = run(capsys, "play")
    assert code == 2 and err == "plurispiel league: mine is no league; plurispiel league mine add AGENT begins one\n"


def test_too_many_faults_have_their_exit_code(home, capsys, tmp_path):
    (tmp_path / "bot.py").write_text(BOT.format(action="None"))
    assert main([*CREATE, "--sandbox", "none", "--max-faults", "2"]) == 0
    assert run(capsys, "add", "call", "bot.py:Bot")[0] == 0
    assert run(capsys, "play", "--workers", "1")[0] == 3


@pytest.mark.slow
def test_processes_killed_at_any_moment_end_with_the_same_standings(home, tmp_path):
    def command(folder, *words):
        return [sys.executable, "-m", "plurispiel", "league", folder, *words]

    play = "play", "--hands", "6000", "--workers", "1", "--json"
    for folder in ("straight", "killed"):
        subprocess.run(command(folder, *CREATE[2:]), check=True, capture_output=True)
        subprocess.run(command(folder, "add", "call", "random", "tag"), check=True, capture_output=True)
    for kill in range(4):
        process = subprocess.Popen(command("killed", *play), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        runs = list((tmp_path / "killed" / "pairings").glob("*-*"))
        before = sum(map(num_stored, runs))
        while process.poll() is None and sum(map(num_stored, (tmp_path / "killed" / "pairings").glob("*-*"))) <= before:
            time.sleep(0.01)
        time.sleep(0.05 * kill)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    ends = [subprocess.run(command(folder, *play), capture_output=True, text=True) for folder in ("straight", "killed")]
    assert ends[0].stdout and ends[0].stdout == ends[1].stdout
