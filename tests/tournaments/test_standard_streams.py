"""Standard streams that are closed, full, left by their reader, or that a terminal is behind."""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest

from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shells of another kind")


TOURNAMENT = "tournament --agents call,fold --score raw --decks 3 --workers 1 --out run"


EXTRA = (
    "ls agents",
    "ls presets",
    "ls games --json",
    "solve kuhn_poker --iterations 3",
    "exploitability kuhn_poker --agent random",
    "export run",
    "compliance call --game KUHN --hands 2",
    "blueprint info sixmax-wide",
    "report run",
)
"""Commands that print as others do."""

COMMANDS = (
    *(pytest.param(command, marks=pytest.mark.slow) for command in EXTRA),
    "tournament --help",
    "--help",
    "--version",
    "replay hands.phhs",
    TOURNAMENT,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    assert in_this_process(folder, f"{TOURNAMENT} --hands all") == 0
    shutil.copy(folder / "run" / "hands.phhs", folder)
    return folder


def in_this_process(folder, command):
    """Run a command with the streams of the tests, and return its exit code."""
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLURISPIEL_HOME", str(folder / "home"))
        return main(command.split())


def shell(folder, command, streams=""):
    """Run a command whose standard streams a shell redirects."""
    environment = os.environ | {"PLURISPIEL_HOME": str(folder / "home"), "PYTHONFAULTHANDLER": ""}
    program = f"exec {sys.executable} -m plurispiel {command} {streams}"
    return subprocess.run(
        ["sh", "-c", program], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_nobody_can_take_is_one_line(folder, command):
    done = shell(folder, command, ">&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "plurispiel: cannot write to standard output: Bad file descriptor"
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full disk to write to")
def test_a_full_disk_is_one_line(folder):
    for command in (TOURNAMENT, "--help"):
        done = shell(folder, command, ">/dev/full")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines()[-1] == "plurispiel: cannot write to standard output: No space left on device"
        assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("ls agents", marks=pytest.mark.slow),
        TOURNAMENT,
        pytest.param("export run", marks=pytest.mark.slow),
        "tournament --sets 3",
    ],
)
def test_notes_that_nobody_can_take_are_lost_and_nothing_else(folder, capfd, command):
    try:
        usual = in_this_process(folder, command)
    except SystemExit as end:  # argparse's own
        usual = end.code
    printed = capfd.readouterr().out
    for notes in ["2>&-", "2>/dev/full"] if os.path.exists("/dev/full") else ["2>&-"]:
        deaf = shell(folder, command, notes)
        assert (deaf.returncode, deaf.stdout) == (usual, printed), notes


def test_results_are_kept_where_everything_is_closed(folder, capsys):
    shutil.rmtree(folder / "closed", ignore_errors=True)
    done = shell(folder, TOURNAMENT.replace("--out run", "--out closed --workers 2"), "<&- >&- 2>&-")
    assert done.returncode == 1
    assert json.loads((folder / "closed" / "results.json").read_text())["hands"] == 6
    assert in_this_process(folder, TOURNAMENT.replace("--out run", "--out closed") + " --json") == 0
    captured = capsys.readouterr()
    assert "nothing left to play" in captured.err and json.loads(captured.out)["hands"] == 6


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_may_leave(folder, command):
    program = f"{{ {sys.executable} -m plurispiel {command}; echo $? >&2; }} | head -c 1 >{os.devnull}"
    environment = os.environ | {"PLURISPIEL_HOME": str(folder / "home")}
    done = subprocess.run(["sh", "-c", program], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] in ("0", "1")
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


ESCAPE = "\x1b[31m\x07\x9b2J\u202e"


@pytest.mark.parametrize(
    "arguments",
    [
        ["tournament", "--agents", f"{ESCAPE}.py:Bot,call"],
        ["tournament", f"--{ESCAPE}"],
        ["tournament", "--format", ESCAPE],
        ["tournament", "--agents", f"call{ESCAPE},fold", "--decks", "1"],
        ["tournament", "--out", ESCAPE, "--agents", "call,fold", "--decks", "1", "--score", "raw", "--workers", "1"],
        ["tournament", f"{ESCAPE}.toml"],
        [ESCAPE],
        ["solve", ESCAPE],
        ["spot", f"{ESCAPE}.toml"],
        ["report", ESCAPE],
        ["replay", ESCAPE],
        ["replay", "there"],
        ["export", ESCAPE],
        ["compliance", f"{ESCAPE}.py:Bot"],
        ["lbr", "--agent", f"{ESCAPE}.py:Bot"],
        ["blueprint", "info", ESCAPE],
        ["abstraction", "info", ESCAPE],
        ["bench", ESCAPE],
    ],
    ids=lambda arguments: " ".join(arguments).encode("ascii", "replace").decode()[:30],
)
def test_names_do_not_command_the_terminal(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / f"{ESCAPE}.phh").write_text(f'variant = "{ESCAPE}"\n')
    try:
        main(arguments)
    except SystemExit as end:
        assert end.code == 2
    captured = capsys.readouterr()
    shown = captured.out + captured.err
    assert shown and not set(ESCAPE) & set(shown) - set("[31m2J")


@pytest.mark.slow
def test_the_name_of_an_agent_that_plays_commands_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    (tmp_path / f"{ESCAPE}.py").write_text(
        "from plurispiel.agents.base import Agent\nclass Bot(Agent):\n    def act(self, view):\n        return 7\n"
    )
    spec = f"{ESCAPE}.py:Bot"
    assert main(["tournament", "--agents", f"{spec},call", "--decks", "1", "--workers", "1", "--score", "raw"]) == 0
    assert main(["compliance", spec, "--game", "LEDUC", "--hands", "3"]) in (0, 1)
    captured = capsys.readouterr()
    shown = captured.out + captured.err
    assert ".py:Bot" in shown and not set(ESCAPE) & set(shown) - set("[31m2J")
