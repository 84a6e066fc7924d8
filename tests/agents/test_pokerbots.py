"""Folders of Pokerbots: how they are read, found, moved, titled, hashed and built, and for which games."""

import dataclasses
import json
import sys

import pytest

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, no_limit_holdem
from plurispiel.agents.agent_files import agent_digest, program_of
from plurispiel.agents.factory import game_note, make_agent
from plurispiel.agents.pokerbots import build_pokerbot, check_pokerbots_game
from plurispiel.agents.specs import parse_spec, relocate_spec


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a bot, in the current folder."""
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "bots" / "mine"
    made.mkdir(parents=True)
    write(made, build=["true"], run=["python3", "player.py"])
    (made / "player.py").write_text("print()\n")
    return made


def write(folder, **commands):
    (folder / "commands.json").write_text(json.dumps(commands))


def test_a_bot_is_found(folder):
    found = program_of("pokerbots:bots/mine")
    assert (found.arguments, found.folder, found.is_installed) == (("player.py",), folder, True)
    assert found.files == [folder / "player.py", folder / "commands.json"]
    assert (found.hands, found.match_clock(2.0)) == (1000, 6000.0)
    found = program_of("pokerbots:bots/mine?seconds=2&hands=10&clock=7.5")
    assert (found.seconds, found.hands, found.match_clock(2.0)) == (2.0, 10, 7.5)


def test_the_run_command_is_relative_to_the_folder(folder):
    (folder / "bot").write_text("#!/bin/sh\n")
    (folder / "bot").chmod(0o755)
    write(folder, run=["./bot"])
    found = program_of("pokerbots:bots/mine")
    assert (found.file, found.is_installed, found.hint) == (folder / "bot", False, "")


def test_titles_moves_and_digests(folder, monkeypatch):
    spec = parse_spec("pokerbots:bots/mine?hands=10")
    assert spec.is_program and spec.is_foreign and spec.title == "pokerbots:mine?hands=10"
    assert parse_spec("pokerbots:bots/it's?hands=10").argument == "bots/it's"
    before = agent_digest("pokerbots:bots/mine")
    monkeypatch.chdir(folder)
    moved = relocate_spec("pokerbots:mine?hands=10", folder.parent)
    assert moved == f"pokerbots:{folder}?hands=10" and agent_digest(moved) == before
    assert parse_spec("pokerbots:.").title == "pokerbots:mine"
    write(folder, build=["false"], run=["python3", "player.py"])
    assert agent_digest(moved) != before


@pytest.mark.parametrize(
    ("commands", "options", "message"),
    [
        ({"run": []}, "", "has no run command"),
        ({"run": "python3 player.py"}, "", "must be an object with two lists of words, build and run"),
        ({"run": ["a\0b"]}, "", "must be an object with two lists"),
        (["run"], "", "must be an object with two lists"),
        ({"run": ["x"], "build": [1]}, "", "must be an object with two lists"),
        ({"run": ["no-such-program"]}, "", "no program 'no-such-program' on the PATH [(]agent"),
        (
            {"run": ["./bot"], "build": ["make"]},
            "",
            "'./bot' in the folder '.*mine'; plurispiel compliance pokerbots:bots/mine --build",
        ),
        ({"run": ["sh"]}, "?cwd=x", "takes the options seconds, hands, clock, got cwd"),
        ({"run": ["sh"]}, "?hands=0", "hands must be a whole number from 1 to 1,000,000,000, got '0'"),
        ({"run": ["sh"]}, f"?hands={'0' * 19}1{'0' * 9}", "hands must be a whole number from 1 to 1,000,000,000"),
        ({"run": ["sh"]}, "?clock=-1", "clock must be a number above 0, got '-1'"),
    ],
)
def test_a_bot_that_cannot_be_started_is_refused(folder, commands, options, message):
    (folder / "commands.json").write_text(json.dumps(commands))
    with pytest.raises(ValueError, match=message):
        program_of(f"pokerbots:bots/mine{options}")


def test_a_folder_without_commands_is_refused(folder):
    for text in ("{", '{"run": ["sh"]}' + " " * 70_000, "[" * 60_000):
        (folder / "commands.json").write_text(text)
        with pytest.raises(ValueError, match=r"cannot read '.*commands.json' as JSON"):
            program_of("pokerbots:bots/mine")
    with pytest.raises(ValueError, match="a Pokerbots folder has a file commands.json; cannot read"):
        program_of("pokerbots:bots")
    with pytest.raises(ValueError, match="a program is written pokerbots:FOLDER, got 'pokerbots'"):
        make_agent("pokerbots")


def test_a_bot_is_built_in_its_folder(folder):
    write(folder, build=[sys.executable, "-c", "open('built', 'w')"], run=["./built"])
    build_pokerbot("bots/mine")
    assert (folder / "built").exists()
    write(folder, build=["false"], run=["./built"])
    with pytest.raises(ValueError, match="the build command 'false' failed in 'bots/mine' [(]exit code 1[)]"):
        build_pokerbot("bots/mine")
    write(folder, run=["./built"])
    with pytest.raises(ValueError, match="nothing to build"):
        build_pokerbot("bots/mine")


def test_only_plain_games_are_played():
    check_pokerbots_game(HUNL)
    check_pokerbots_game(no_limit_holdem(2, 400, (1, 2)))
    with pytest.raises(ValueError, match="heads-up no-limit hold'em .* this game has 6 seats"):
        game_note("pokerbots:mine", SIXMAX)
    for changed in (
        {"stacks": (10_000, 20_000)},
        {"betting_abstraction": "fcpa"},
        {"first_seats": (0, 0, 0, 0)},
        {"num_ranks": 9},
        {"blinds": (50, 100), "first_seats": (0, 1, 1, 1)},
    ):
        with pytest.raises(ValueError, match="this game is another one"):
            check_pokerbots_game(dataclasses.replace(HUNL, **changed))
