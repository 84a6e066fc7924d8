"""`plurispiel export`: what a run has kept, in both formats, and back through `plurispiel replay`."""

import json
from pathlib import Path

import pytest

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.formats.acpc import read_acpc
from plurispiel.tournaments.formats.game_definition import read_game_definition
from plurispiel.tournaments.formats.history import BrokenHistory
from plurispiel.tournaments.formats.phh import read_phh
from plurispiel.tournaments.run.kept_hands import stored_hands

BOT = """\
from plurispiel.agents import CALL, Agent


class Caller(Agent):
    def act(self, view):
        return CALL
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def play(capsys, *arguments):
    """Play into the folder `run` and return its hands."""
    assert main(["tournament", *arguments, "--out", "run", "--workers", "1"]) == 0
    capsys.readouterr()
    return list(stored_hands(Path("run")))


def replayed(capsys, *paths):
    assert main(["replay", *paths, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_acpc_game_needs_no_file(folder, capsys):
    (folder / "bot.py").write_text(BOT)
    hands = play(capsys, "--agents", "random,bot.py:Caller", "--seats", "2", "--decks", "6", "--hands", "all")
    assert len(hands) == 12 and hands[0].rules == HUNL
    assert main(["export", "run", "--format", "acpc", "--out", "hands.log"]) == 0
    assert capsys.readouterr().out == ""
    lines = (folder / "hands.log").read_text().splitlines()
    assert lines[0] == "# name/game/hands/seed run holdem.nolimit.2p.reverse_blinds.game 12 0"
    assert all("bot.py%3ACaller" in line for line in lines[1:])
    assert list(read_acpc(folder / "hands.log")) == hands
    record = replayed(capsys, "hands.log")
    assert (record["hands"], record["mismatches"], record["errors"]) == (12, [], [])
    assert set(record["players"]) == {"random", "bot.py:Caller"}
    assert not list(folder.glob("*.game"))
    assert main(["export", "run", "--out", "hands.log"]) == 0  # another form of the same hands
    for form in ("acpc", "phh"):
        capsys.readouterr()
        assert main(["export", "run", "--format", form, "--out", "bot.py"]) == 2
        assert "cannot write bot.py: the file is of another kind, and would be lost" in capsys.readouterr().err
    assert (folder / "bot.py").read_text() == BOT


def test_the_file_of_another_game_is_not_replaced(folder, capsys):
    (folder / "six.game").write_text("mine")
    play(capsys, "--agents", "random,call,tag,raise,fold,equity", "--game", "SIXMAX", "--decks", "2", "--hands", "all")
    assert main(["export", "run", "--format", "acpc", "--out", "six.log"]) == 2
    assert "six.game is the file of another game" in capsys.readouterr().err
    assert (folder / "six.game").read_text() == "mine" and not (folder / "six.log").exists()


def test_another_game_gets_its_file_beside_the_log(folder, capsys):
    hands = play(capsys, "--agents", "random,call,tag,call,random,tag", "--decks", "2", "--hands", "all")
    (folder / "my logs").mkdir()
    assert main(["export", "run", "--format", "acpc", "--out", "my logs/six max.log"]) == 0
    assert "wrote my logs/six max.log" in capsys.readouterr().err
    assert read_game_definition(folder / "my logs" / "six_max.game") == SIXMAX
    assert list(read_acpc(folder / "my logs" / "six max.log")) == hands
    assert main(["export", "run", "--format", "acpc"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(f"# name/game/hands/seed run run.game {len(hands)} 0\nSTATE:0:")
    assert (
        "plurispiel replay needs the game file run.game beside this log; --out FILE.log writes both files"
        in captured.err
    )


def test_phh(folder, capsys):
    hands = play(capsys, "--agents", "random,call,tag", "--decks", "4", "--hands", "all")
    assert main(["export", "run", "--format", "phh", "--out", "hands.phhs"]) == 0
    read = list(read_phh(folder / "hands.phhs"))
    assert not any(isinstance(hand, BrokenHistory) for hand in read)
    assert [hand.actions for hand in read] == [hand.actions for hand in hands]
    assert main(["export", "run"]) == 0  # PHH, to standard output
    assert capsys.readouterr().out == (folder / "hands.phhs").read_text() == (folder / "run/hands.phhs").read_text()
    assert replayed(capsys, "run")["hands"] == len(hands) == 12  # the run folder itself, by its hands.phhs


def test_leduc_has_no_phh(folder, capsys):
    hands = play(capsys, "--game", "LEDUC", "--agents", "random,call", "--decks", "5", "--hands", "all")
    assert main(["export", "run", "--out", "hands.phhs"]) == 2
    assert "PHH has no such game" in capsys.readouterr().err
    assert not (folder / "hands.phhs").exists()
    assert main(["export", "run", "--format", "acpc", "--out", "hands.log"]) == 0
    assert "leduc.limit.2p.game" in (folder / "hands.log").read_text()
    assert list(read_acpc(folder / "hands.log")) == hands


def test_runs_without_hands(folder, capsys):
    play(capsys, "--agents", "random,call", "--seats", "2", "--decks", "2", "--hands", "none")
    assert main(["export", "run"]) == 2
    assert "run holds no hands: play the tournament, with --hands" in capsys.readouterr().err
    assert main(["export", "nowhere"]) == 2
    assert capsys.readouterr().err.startswith("plurispiel export: nowhere is no run folder")


def test_what_cannot_be_written(folder, capsys):
    play(capsys, "--agents", "random,call", "--seats", "2", "--decks", "2", "--hands", "all")
    for out, message in (("none/hands.phhs", "No such file or directory"), (".", "it is no plain file")):
        assert main(["export", "run", "--out", out]) == 2
        err = f"plurispiel export: cannot write {out}: {message}; give another file (--out)\n"
        assert capsys.readouterr().err == err
