"""The command line: its help, what it asks and refuses in one line, and what it imports."""

import os
import subprocess
import sys

import pytest

from plurispiel import __version__
from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.usefixtures("home")


def run_program(folder, *arguments):
    """Run the program in a process of its own."""
    command = [sys.executable, "-m", "plurispiel", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_without_a_command_the_help_is_shown(capsys):
    assert main([]) == 2
    assert "tournament" in capsys.readouterr().err


def test_the_package_runs_as_a_module(tmp_path, home):
    done = run_program(tmp_path, "--version")
    assert done.stdout == f"plurispiel {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tournamnet"], "invalid choice: 'tournamnet', did you mean 'tournament'?"),
        (["ls", "agnts"], "did you mean 'agents'?"),
        (["blueprint", "trian"], "did you mean 'train'?"),
        (["blueprint", "train", "headsupp"], "got 'headsupp', did you mean 'headsup'?"),
        (
            ["blueprint", "train", "leduc", "--itertions", "5"],
            "did you mean '--iterations'? (plurispiel blueprint train --",
        ),
        (["abstraction", "build", "pluribsu"], "did you mean 'pluribus'?"),
        (["spot", "rivr"], "there is no file rivr, did you mean 'river'?"),
    ],
)
def test_what_was_meant_is_asked(capsys, arguments, message):
    try:
        code = main(arguments)
    except SystemExit as end:
        code = end.code
    err = capsys.readouterr().err
    assert code == 2 and len(err.splitlines()) == 1 and message in err


@pytest.mark.parametrize("command", ["blueprint", "abstraction"])
def test_a_command_alone_says_all_that_it_can_do(capsys, command):
    assert main([command]) == 2
    told = capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([command, "nothing"])
    actions = capsys.readouterr().err.partition("choose from ")[2].partition(")")[0].split(", ")
    assert len(actions) > 1 and all(f" {action}" in told for action in actions)


def test_an_interrupt_outside_play_is_one_line(capsys, monkeypatch):
    def interrupt(spec):
        raise KeyboardInterrupt

    monkeypatch.setattr("plurispiel.tournaments.run.tournament_run.make_agent", interrupt)
    assert main(["tournament"]) == 130
    assert capsys.readouterr().err == "plurispiel tournament: interrupted; run the same command again\n"


HELP = """
import contextlib, io, sys
from plurispiel.tournaments.cli import main

for arguments in ([], ["tournament"], ["exploitability"], ["ls"], ["bench"], ["warmup"]):
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text):
            main([*arguments, "--help"])
    except SystemExit as end:
        assert end.code == 0
    assert "plurispiel" in text.getvalue()
    assert "examples:" in text.getvalue()
    assert "(default: None)" not in text.getvalue() and "(default: False)" not in text.getvalue()
heavy = {"numpy", "numba", "pyspiel", "scipy", "tqdm", "sqlite3"} & set(sys.modules)
assert not heavy, heavy
"""


def test_help_imports_nothing_heavy():
    subprocess.run([sys.executable, "-c", HELP], check=True, timeout=60)


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"plurispiel {__version__}\n"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX pipe")
def test_a_reader_that_leaves_is_no_error():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "plurispiel.tournaments.cli", "ls", "presets"]
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert ended.returncode == 1
    assert ended.stderr == ""
